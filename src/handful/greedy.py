r"""The greedy rule of the coverage family, without the costs of all pairs.

Every pick is the candidate that lowers :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` most. What a candidate would gain
never grows as picks are added, so an old gain bounds the present one, and only candidates whose bound may still win
are brought up to date (Minoux 1978, *Accelerated greedy algorithms for maximizing submodular set functions*,
Optimization Techniques); for that only the points count whose nearest pick has changed since. With c = 1 - k this is
generalised coverage, with a 0/1 ball maximum coverage, with distances facility location; the greedy picks gain at least
1 - 1/e of what the best picks could (Nemhauser, Wolsey & Fisher 1978).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers, slices, workers
from handful.clock import Clock
from handful.lifted import add_taken
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_TALL, _WIDTH = 256, 1024  # candidates and points of a tile of costs that stays in the cache
_KEPT = 200  # picks whose costs of the nearest are remembered, so that gains can be brought up to date from there
_FIRST = 256  # bounds that are brought up to date at a time, at first


def greedy(
    pool: Pool, budget: int, already: Indices, candidates: Indices, threads: int | None
) -> tuple[Indices, float]:
    """Pick ``budget`` of the candidates one after the other; of equal gains the first in order is taken.

    Returns the picks in order, and the cost that they leave.
    """
    with workers(threads, Clock(math.inf)) as crew:
        return picked(pool, budget, already, candidates, crew)


def picked(pool: Pool, budget: int, already: Indices, candidates: Indices, crew: Workers) -> tuple[Indices, float]:
    """The same with workers that are there already."""
    bounds = _Bounds(pool, candidates, nearest_costs(pool, already), crew)
    picks: list[int] = []
    while True:
        best = bounds.largest()
        picks.append(int(candidates[best]))
        bounds.take(best, pool.distances(picks[-1:], dtype=np.float32)[0])
        if len(picks) == budget:
            return np.array(picks, np.int64), float(pool.masses @ bounds.nearest)


class _Bounds:
    """The gain of every candidate as it was when it was last brought up to date, and when that was."""

    def __init__(self, pool: Pool, candidates: Indices, nearest: Floats, crew: Workers) -> None:
        self._pool = pool
        self._candidates = candidates
        self._crew = crew
        self.nearest = nearest.astype(np.float32)  # for every point the cost of its cheapest pick
        self._history = {0: self.nearest}  # the same after each of the last picks
        self._picks = 0
        self._gains = coverage_gains(pool, candidates, self.nearest, crew)
        self._seen = np.zeros(len(candidates), np.int64)  # how many picks each gain knows of

    def take(self, best: int, costs: NDArray[np.floating[Any]]) -> None:
        """Count this candidate among the picks."""
        self._gains[best] = -np.inf
        self._picks += 1
        self.nearest = np.minimum(self.nearest, costs.astype(np.float32))
        self._history[self._picks] = self.nearest
        self._history.pop(self._picks - _KEPT, None)

    def largest(self) -> int:
        """Position of the candidate of the largest gain; brings gains up to date until no bound is above it."""
        count = _FIRST
        while True:
            fresh = self._seen == self._picks
            floor = self._gains[fresh].max(initial=-np.inf)
            rivals = np.flatnonzero(~fresh & (self._gains > floor))
            if not len(rivals):
                return int(np.argmax(np.where(fresh, self._gains, -np.inf)))
            if len(rivals) > count:
                rivals = rivals[np.argpartition(-self._gains[rivals], count - 1)[:count]]
            self._refresh(rivals)
            count *= 2

    def _refresh(self, rivals: Indices) -> None:
        for then in np.unique(self._seen[rivals]).tolist():
            some = np.sort(rivals[self._seen[rivals] == then])
            block = self._candidates[some]
            before = self._history.get(then)
            changed = np.arange(0) if before is None else np.flatnonzero(before > self.nearest)
            if before is None or 2 * len(changed) > self._pool.n:
                self._gains[some] = coverage_gains(self._pool, block, self.nearest, self._crew)
            else:
                lost = coverage_losses(self._pool, block, before, self.nearest, changed, self._crew)
                self._gains[some] = np.maximum(0.0, self._gains[some] - lost)
        self._seen[rivals] = self._picks


def nearest_costs(pool: Pool, picks: Indices) -> Floats:
    """For every point the cost of its cheapest pick; without picks, a cost that no candidate exceeds."""
    if not len(picks):
        return np.full(pool.n, _ceiling(pool))
    nearest = np.full(pool.n, np.inf)
    for part in slices(len(picks), _TALL):
        np.minimum(nearest, pool.distances(picks[part], dtype=np.float32).min(axis=0), out=nearest)
    return nearest


def coverage_gains(pool: Pool, candidates: Indices, nearest: NDArray[np.floating[Any]], crew: Workers) -> Floats:
    """What each candidate would gain: ``sum_i a_i (nearest_i - c_ij)+``."""
    prices = nearest.astype(np.float64)

    def add(block: Indices, sums: Floats) -> None:
        for points, costs in pool.tiles(block, _WIDTH, np.float32):
            add_taken(costs, prices[points], pool.masses[points], np.zeros(len(block)), sums)

    return -_summed(pool, candidates, add, crew)


def coverage_losses(
    pool: Pool,
    candidates: Indices,
    before: NDArray[np.floating[Any]],
    after: NDArray[np.floating[Any]],
    rows: Indices,
    crew: Workers,
) -> Floats:
    """How much less each candidate gains once these rows are as near as ``after`` and not ``before``."""
    tiles = []
    for part in slices(len(rows), _WIDTH):
        some = rows[part]
        tiles.append((some, before[some].astype(np.float64), after[some].astype(np.float64), pool.masses[some]))

    def add(block: Indices, sums: Floats) -> None:
        gained = np.zeros(len(block))
        for some, old, new, masses in tiles:
            costs = pool.distances(block, some, dtype=np.float32)
            add_taken(costs, old, masses, np.zeros(len(block)), sums)
            add_taken(costs, new, masses, np.zeros(len(block)), gained)
        sums -= gained

    return -_summed(pool, candidates, add, crew)


def _summed(pool: Pool, candidates: Indices, add: Callable[[Indices, Floats], None], crew: Workers) -> Floats:
    """What ``add`` sums for each candidate, block by block."""
    pool.rounding(np.float32)  # prepares the points, once, before the threads would

    def of(part: slice) -> Floats:
        block = candidates[part]
        sums = np.zeros(len(block))
        add(block, sums)
        return sums

    tall = max(32, min(_TALL, len(candidates) // 8))  # a few blocks for each thread also where they are few
    return np.concatenate([np.zeros(0), *crew.map(of, slices(len(candidates), tall))])


def _ceiling(pool: Pool) -> float:
    """A cost that none exceeds; with points served by nobody at this cost, the first pick is the medoid of all."""
    name = pool.metric.name
    if name in ("rbf", "ball"):
        return 1.0
    if name == "cosine":
        return 2.0
    if name == "precomputed":
        return max(float(pool.points[part].max()) for part in slices(pool.n, 4096))
    reach = float(pool.distances(np.zeros(1, np.int64), dtype=np.float32).max())
    return reach * (4 if name == "sqeuclidean" else 2) * (1 + 1e-5)
