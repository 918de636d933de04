r"""The known heuristics of scenario reduction, to compare with.

Both work with :math:`D_{ij}`, the cost between scenarios, and the mass :math:`a_i` of each. Forward selection takes,
one at a time, the scenario that lowers :math:`\sum_i a_i \min_{j \in S} D_{ij}` most; backward reduction starts with
all and drops the one that raises it least (Dupačová, Gröwe-Kuska & Römisch 2003, *Scenario reduction in stochastic
programming*, Math. Program. 95; Heitsch & Römisch 2003, *Scenario reduction algorithms in stochastic programming*,
Comput. Optim. Appl. 24). Of equals the first counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CELLS = 2_000_000  # distances of a block


def forward_selection(pool: Pool, k: int) -> Indices:
    """The picks, in the order in which they are taken.

    What a scenario gains only falls as others are taken, so one whose last known gain is too small need not be looked
    at again.
    """
    _check(pool, k)
    step = max(1, _CELLS // pool.n)
    candidates = pool.candidates
    # What serving everything at the dearest cost would lose: a gain below no scenario's first one.
    nearest = np.full(pool.n, _dearest(pool, step))
    gains = np.full(len(candidates), np.inf)
    picks: list[int] = []
    for _ in range(k):
        order = np.argsort(-gains, kind="stable")
        best = -np.inf
        for start in range(0, len(order), step):
            part = order[start : start + step]
            if gains[part[0]] < best:
                break
            costs = np.asarray(pool.distances(candidates[part]), np.float64)
            gains[part] = np.maximum(nearest - costs, 0) @ pool.masses
            best = max(best, float(gains[part].max()))
        taken = int(np.argmax(gains))
        picks.append(int(candidates[taken]))
        gains[taken] = -np.inf
        nearest = np.minimum(nearest, pool.distances(candidates[[taken]])[0])
    return np.array(picks)


def backward_reduction(pool: Pool, k: int) -> Indices:
    """The picks that are left, in increasing order."""
    _check(pool, k)
    kept = pool.candidates.copy()
    first, second = np.empty(pool.n, np.int64), np.empty(pool.n, np.int64)
    nearest, farther = np.empty(pool.n), np.empty(pool.n)
    _look_up(pool, kept, np.arange(pool.n), first, second, nearest, farther)
    while len(kept) > k:
        lost = np.bincount(first, pool.masses * (farther - nearest), minlength=pool.n)
        out = int(kept[np.argmin(lost[kept])])
        kept = kept[kept != out]
        _look_up(pool, kept, np.flatnonzero((first == out) | (second == out)), first, second, nearest, farther)
    return kept


def _look_up(
    pool: Pool, kept: Indices, rows: Indices, first: Indices, second: Indices, nearest: Floats, farther: Floats
) -> None:
    """The nearest and second nearest of the kept scenarios, for these rows."""
    step = max(1, _CELLS // len(kept))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        costs = np.asarray(pool.distances(kept, part), np.float64)
        best = costs.argmin(axis=0)
        each = np.arange(len(part))
        first[part], nearest[part] = kept[best], costs[best, each]
        costs[best, each] = np.inf
        best = costs.argmin(axis=0)
        second[part], farther[part] = kept[best], costs[best, each]


def _dearest(pool: Pool, step: int) -> float:
    blocks = (pool.candidates[start : start + step] for start in range(0, len(pool.candidates), step))
    return max(float(pool.distances(block).max()) for block in blocks)


def _check(pool: Pool, k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= len(pool.candidates):
        raise HandfulError(f"k must be a whole number from 1 to the number of scenarios, {pool.n}; got {k!r}")
