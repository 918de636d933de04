"""Swap search for picks of free weight: every point goes to its nearest pick, and one pick is exchanged for another.

The nearest and second nearest pick of every point are kept, so that one pass over a candidate's costs tells what it
would change in place of *any* pick (Schubert & Rousseeuw 2021, *Fast and eager k-medoids clustering: O(k) runtime
improvement of the PAM, CLARA, and CLARANS algorithms*, Inf. Syst. 101), and a swap is made as soon as it helps.

A candidate near pick b mostly serves points of b and of the groups that border on b's. So candidates are looked at
group by group, the nearest to the pick first, over the points of those groups only: for the others the candidate counts
as of no use, which can make a swap look worse than it is, never better. A group is looked at again only once it, or one
that borders on it, has changed; that makes a perturbation of one pick cheap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from handful import _swap
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CELLS = 2_000_000  # distances of a block
_FEW = 48  # candidates of a group that are looked at before all others
_PRECISION = 1e-7  # share of the distance below which a gain may be rounding
_NOISE = 1e-12  # the same, of the terms that a gain is made of


class Swaps:
    """Picks, and what is known of every point: its two nearest picks.

    Parameters
    ----------
    rows, masses : arrays
        The points that count, and their masses.
    candidates : array
        What may be picked.
    picks : array
        Where to start; the first ``fixed`` of them stay.
    check : callable
        Called between blocks; may raise to end the search.
    """

    def __init__(
        self,
        pool: Pool,
        rows: Indices,
        masses: Floats,
        candidates: Indices,
        picks: Indices,
        fixed: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.pool = pool
        self.rows = rows
        self.masses = masses
        self.candidates = candidates
        self.picks = picks.copy()
        self.fixed = fixed
        self._check = check
        self._part = slice(None) if len(rows) == pool.n else rows
        self._table = np.ascontiguousarray(self._costs(picks).T)
        n = len(rows)
        self._first, self._second = np.empty(n, np.int64), np.empty(n, np.int64)
        self._nearest, self._next = np.empty(n, np.float32), np.empty(n, np.float32)
        _swap.look_up(self._table, self._first, self._second, self._nearest, self._next)
        # The group of every candidate, and its cost as a point, also where it is not one that counts.
        self._group, self._away = self._first, self._nearest
        self._apart = len(candidates) != n or bool((candidates != rows).any())
        if self._apart:
            groups = pool.distances(picks, candidates, dtype=np.float32)
            self._group, self._away = groups.argmin(axis=0), groups.min(axis=0)
        self.changed = np.ones(len(picks), bool)

    @property
    def distance(self) -> float:
        """Cost of the nearest picks."""
        return _swap.total(self._nearest, self.masses)

    @property
    def nearest(self) -> NDArray[np.float32]:
        """For every point the cost of its nearest pick."""
        return self._nearest

    def replace(self, position: int, candidate: int) -> None:
        """Exchange a pick."""
        before = self._bordering(position)
        costs = self._costs(np.array([candidate]))[0]
        _swap.exchange(self._table, self._first, self._second, self._nearest, self._next, position, costs)
        self.picks[position] = candidate
        self._regroup(position, candidate)
        self.changed |= before | self._bordering(position)

    def descend(self, *, thorough: bool = True) -> None:
        """Swap until no candidate helps, or, if not ``thorough``, none of a few in every group."""
        if len(self.picks) == self.fixed:
            return
        if len(self.picks) == 1:
            self._take_medoid()
            return
        waiting = np.zeros(len(self.picks), bool)
        turn = 0
        while True:
            waiting |= self.changed
            for position in np.flatnonzero(self.changed).tolist():
                if self.changed[position]:
                    self.changed[position] = False
                    self._look(position, _FEW)
            if self.changed.any():
                continue
            # The few no longer help anywhere; the others of the groups that changed are left, one group after another.
            left = np.flatnonzero(waiting)
            if not thorough or not len(left):
                return
            position = int(left[np.searchsorted(left, turn) % len(left)])
            waiting[position] = False
            turn = position + 1
            self._look(position, len(self.candidates))

    def _look(self, position: int, most: int) -> None:
        """Swap with candidates of a group, the best of a block at a time, where that helps.

        Of a group at most so many candidates are looked at, the nearest to its pick and some farther away.
        """
        options = np.flatnonzero(self._group == position)
        options = options[np.argsort(self._away[options], kind="stable")]
        options = self.candidates[options[_thinned(len(options), most)]]
        rows = np.flatnonzero(self._bordering(position)[self._first])
        if not len(rows):
            return
        step = max(1, _CELLS // len(rows))
        every = self._part if len(rows) == len(self.rows) else self.rows[rows]
        for begin in range(0, len(options), step):
            self._check()
            names = options[begin : begin + step]
            block = self.pool.distances(names, every, dtype=np.float32)
            lost = _swap.losses(self._first, self._nearest, self._next, self.masses, len(self.picks))
            row, out, change = _swap.best_swap(
                block, rows, self._first, self._nearest, self._next, self.masses, lost, self.fixed
            )
            if -change > _PRECISION * self.distance + _NOISE * float(lost.sum()):
                self._try(out, int(names[row]))

    def _try(self, position: int, candidate: int) -> None:
        """Exchange a pick if that gains what was promised: between equals a gain may be nothing but rounding."""
        before, pick, changed = self.distance, int(self.picks[position]), self.changed.copy()
        self.replace(position, candidate)
        if self.distance >= before:
            self.replace(position, pick)
            self.changed = changed

    def _take_medoid(self) -> None:
        """The best single pick: its points have no second one that a swap could fall back on."""
        costs = self.pool.group_costs(self.rows, np.zeros(1, np.int64), self.masses, self.candidates)[0]
        best = int(self.candidates[np.argmin(costs)])
        before = self.distance, int(self.picks[0])
        self.replace(0, best)
        if self.distance > before[0]:
            self.replace(0, before[1])

    def _bordering(self, position: int) -> NDArray[np.bool_]:
        """A pick, and those to which it is second nearest for some point or which are that to it."""
        border = np.zeros(len(self.picks), bool)
        if len(self.picks) > 1:
            border[self._second[self._first == position]] = True
        border[self._first[self._second == position]] = True
        border[position] = True
        return border

    def _regroup(self, position: int, candidate: int) -> None:
        """Bring the groups of the candidates up to date after an exchange."""
        if not self._apart:
            return
        lost = np.flatnonzero(self._group == position)
        if len(lost):
            costs = self.pool.distances(self.picks, self.candidates[lost], dtype=np.float32)
            self._group[lost], self._away[lost] = costs.argmin(axis=0), costs.min(axis=0)
        costs = self.pool.distances(np.array([candidate]), self.candidates, dtype=np.float32)[0]
        nearer = costs < self._away
        self._group[nearer], self._away[nearer] = position, costs[nearer]

    def _costs(self, picks: Indices) -> NDArray[np.float32]:
        costs: NDArray[np.float32] = self.pool.distances(picks, self._part, dtype=np.float32)
        return costs


def _thinned(count: int, few: int) -> Indices:
    """Of so many candidates, the nearest first, half of the few from the start and the others evenly from the rest."""
    if count <= few:
        return np.arange(count)
    return np.append(np.arange(few // 2), np.linspace(few // 2, count - 1, few - few // 2).astype(np.int64))
