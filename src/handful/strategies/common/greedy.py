r"""The greedy rule of the coverage family, without the costs of all pairs.

Every pick is the candidate that lowers :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` most. What a candidate would gain
never grows as picks are added, so an old gain bounds the present one, and only candidates whose bound may still win
are computed again (Minoux 1978, *Accelerated greedy algorithms for maximizing submodular set functions*, Optimization
Techniques). With c = 1 - k this is generalised coverage, with a 0/1 ball maximum coverage, with distances facility
location; the greedy picks gain at least 1 - 1/e of what the best picks could (Nemhauser, Wolsey & Fisher 1978).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers, slices, workers
from handful.clock import Clock
from handful.lifted import add_taken
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_TALL, _WIDTH = 256, 1024  # candidates and points of a tile of costs that stays in the cache
_FIRST = 64  # bounds that are computed again at a time, at first


def greedy(pool: Pool, budget: int, already: Indices, candidates: Indices, threads: int | None) -> Indices:
    """Pick ``budget`` of the candidates one after the other; of equal gains the first in order is taken."""
    with workers(threads, Clock(math.inf)) as crew:
        nearest = nearest_costs(pool, already)
        gains = coverage_gains(pool, candidates, nearest, crew)
        fresh = np.ones(len(candidates), bool)
        picks: list[int] = []
        while True:
            best = _best(pool, candidates, nearest, gains, fresh, crew)
            picks.append(int(candidates[best]))
            if len(picks) == budget:
                return np.array(picks, np.int64)
            gains[best] = -np.inf
            nearest = np.minimum(nearest, pool.distances(picks[-1:], dtype=np.float32)[0])
            fresh[:] = False


def nearest_costs(pool: Pool, picks: Indices) -> Floats:
    """For every point the cost of its cheapest pick; without picks, a cost that no candidate exceeds."""
    if not len(picks):
        return np.full(pool.n, _ceiling(pool))
    nearest = np.full(pool.n, np.inf)
    for part in slices(len(picks), _TALL):
        np.minimum(nearest, pool.distances(picks[part], dtype=np.float32).min(axis=0), out=nearest)
    return nearest


def coverage_gains(
    pool: Pool, candidates: Indices, nearest: Floats, crew: Workers, rows: Indices | None = None
) -> Floats:
    """What each candidate would gain, ``sum_i a_i (nearest_i - c_ij)+``, over all points or these ``rows``."""
    pool.rounding(np.float32)  # prepares the points, once, before the threads would

    def gains_of(part: slice) -> Floats:
        block = candidates[part]
        sums, thresholds = np.zeros(len(block)), np.zeros(len(block))
        if rows is None:
            for points, costs in pool.tiles(block, _WIDTH, np.float32):
                add_taken(costs, nearest[points], pool.masses[points], thresholds, sums)
        else:
            for some in slices(len(rows), _WIDTH):
                points_of = rows[some]
                costs = pool.distances(block, points_of, dtype=np.float32)
                add_taken(costs, nearest[points_of], pool.masses[points_of], thresholds, sums)
        return -sums

    parts = slices(len(candidates), _TALL if rows is None or len(rows) > _WIDTH else 16 * _TALL)
    return np.concatenate(crew.map(gains_of, parts)) if parts else np.zeros(0)


def _best(
    pool: Pool, candidates: Indices, nearest: Floats, gains: Floats, fresh: NDArray[np.bool_], crew: Workers
) -> int:
    """Position of the candidate of the largest gain; computes gains again until no bound is above it."""
    count = _FIRST
    while True:
        best = int(np.argmax(np.where(fresh, gains, -np.inf))) if fresh.any() else -1
        floor = gains[best] if best >= 0 else -np.inf
        rivals = np.flatnonzero(~fresh & (gains > floor))
        if best < 0:
            rivals = np.flatnonzero(gains > -np.inf)
        if not len(rivals):
            return best
        if len(rivals) > count:
            rivals = np.sort(rivals[np.argpartition(-gains[rivals], count - 1)[:count]])
        gains[rivals] = coverage_gains(pool, candidates[rivals], nearest, crew)
        fresh[rivals] = True
        count *= 2


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
