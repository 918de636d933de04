r"""Bounds for picks of free weight from near pairs alone.

Where a pick may carry any mass, :math:`v_j(u) = -\sum_i a_i\,(u_i - D_{ij})^+`: a candidate counts only for points that
it is nearer to than their price. So with a *horizon* above every price, the pairs within it are all that matters, and
in few dimensions these are few. `Cells` finds them without looking at all pairs; `NearPairs` keeps them and gives the
same values, to the last digit that counts, as a pass over everything.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from handful.blocks import Workers
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CELL = 96  # points of a cell, at most
_DIRECT = 8  # coordinates up to which boxes say much about distances
_BOXED = ("euclidean", "sqeuclidean", "manhattan")


def boxed(pool: Pool) -> bool:
    """Whether boxes around points say how far others are at least, and are small enough to say much."""
    return pool.metric.name in _BOXED and pool.dimension <= _DIRECT


class Cells:
    """The points of a pool in cells of neighbours, with the box around each."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.boxed = boxed(pool)
        points = np.asarray(pool.points, np.float64) if self.boxed else np.zeros((pool.n, 1))
        self.members = _halved(points, np.arange(pool.n)) if self.boxed else [np.arange(pool.n)]
        self._low = np.array([points[part].min(axis=0) for part in self.members])
        self._high = np.array([points[part].max(axis=0) for part in self.members])
        self._cell_of = np.empty(pool.n, np.int64)
        for number, part in enumerate(self.members):
            self._cell_of[part] = number

    def batches(self, candidates: Indices, most: int) -> list[Indices]:
        """Candidates of the same cell together, at most so many."""
        order = candidates[np.argsort(self._cell_of[candidates], kind="stable")]
        if not self.boxed:
            return [order[k : k + most] for k in range(0, len(order), most)]
        ends = np.flatnonzero(np.diff(self._cell_of[order])) + 1
        parts = np.split(order, ends) if len(order) else []
        return [part[k : k + most] for part in parts for k in range(0, len(part), most)]

    def within(self, batch: Indices, horizon: Floats) -> Indices:
        """Points that may be nearer to some candidate of the batch than their horizon."""
        if not self.boxed:
            return np.flatnonzero(horizon > 0)
        points = np.asarray(self.pool.points[batch], np.float64)
        low, high = points.min(axis=0), points.max(axis=0)
        away = np.maximum(0.0, np.maximum(self._low - high, low - self._high))
        name = self.pool.metric.name
        least = away.sum(axis=1) if name == "manhattan" else np.square(away).sum(axis=1)
        least = np.sqrt(least) if name == "euclidean" else least
        near = np.flatnonzero(least * (1 - 1e-9) <= self._farthest(horizon))
        return np.concatenate([self.members[cell] for cell in near]) if len(near) else np.empty(0, np.int64)

    def _farthest(self, horizon: Floats) -> Floats:
        order = np.concatenate(self.members)
        starts = np.cumsum([0, *(len(part) for part in self.members[:-1])])
        return np.maximum.reduceat(horizon[order], starts)


def savings(cells: Cells, candidates: Indices, prices: Floats, workers: Workers) -> Floats:
    """``-v_j`` of every candidate, in one pass that keeps nothing."""
    pool = cells.pool
    found = np.empty(pool.n)

    def look(batch: Indices) -> None:
        total = np.zeros(len(batch))
        for points, costs in _blocks(cells, batch, prices):
            _add_savings(costs, prices[points], pool.masses[points], total)
        found[batch] = total

    workers.map(look, cells.batches(candidates, _CELL))
    return found[candidates]


def _blocks(cells: Cells, batch: Indices, horizon: Floats) -> Iterator[tuple[Indices, Floats]]:
    points = cells.within(batch, horizon)
    step = 16_384
    for start in range(0, len(points), step):
        part = points[start : start + step]
        yield part, np.asarray(cells.pool.distances(batch, part), np.float64)


class NearPairs:
    """For every candidate the points within their horizon, and their costs.

    Parameters
    ----------
    candidates : array
        Rows of the pool; values come in their order.
    horizon : array
        One per point; prices must not exceed it.
    """

    def __init__(self, cells: Cells, candidates: Indices, horizon: Floats, workers: Workers) -> None:
        self.pool = cells.pool
        self.candidates = candidates
        self.horizon = horizon

        def gather(batch: Indices) -> tuple[Indices, list[NDArray[np.int32]], list[Floats]]:
            rows: list[NDArray[np.int32]] = []
            values: list[Floats] = []
            counts = np.zeros(len(batch), np.int64)
            pieces = [
                _within(costs, points.astype(np.int32), horizon[points])
                for points, costs in _blocks(cells, batch, horizon)
            ]
            for k in range(len(batch)):
                for ends, points, costs in pieces:
                    part = slice(ends[k], ends[k + 1])
                    rows.append(points[part])
                    values.append(costs[part])
                    counts[k] += ends[k + 1] - ends[k]
            return counts, rows, values

        batches = cells.batches(candidates, _CELL)
        found = workers.map(gather, batches)
        order = np.concatenate(batches) if batches else np.empty(0, np.int64)
        counts = np.concatenate([counts for counts, _, _ in found]) if found else np.empty(0, np.int64)
        starts = np.append(0, np.cumsum(counts))
        self.points = np.concatenate([part for _, rows, _ in found for part in rows] or [np.empty(0, np.int32)])
        self.costs = np.concatenate([part for _, _, values in found for part in values] or [np.empty(0)])
        place = np.empty(self.pool.n, np.int64)
        place[order] = np.arange(len(order))
        self.first, self.last = starts[place[candidates]], starts[place[candidates] + 1]

    def savings(self, positions: Indices, prices: Floats) -> Floats:
        """``-v_j`` of the candidates at these positions."""
        return _savings(self.first[positions], self.last[positions], self.points, self.costs, prices, self.pool.masses)

    def taken(self, positions: Indices, prices: Floats) -> Floats:
        """The mass of every point that these candidates take together."""
        first, last = self.first[positions], self.last[positions]
        return _taken(first, last, self.points, self.costs, prices, self.pool.masses)

    def close_horizon(self) -> None:
        """Where a point sees everything, let its horizon be the last that it sees."""
        farthest = np.zeros(self.pool.n)
        np.maximum.at(farthest, self.points, self.costs)
        self.horizon = np.where(np.isinf(self.horizon), farthest, self.horizon)

    def keep(self, positions: Indices) -> None:
        """Forget all other candidates; positions change to places among these."""
        self.candidates = self.candidates[positions]
        counts = self.last[positions] - self.first[positions]
        starts = np.append(0, np.cumsum(counts))
        self.points, self.costs = _compact(self.first[positions], starts, self.points, self.costs)
        self.first, self.last = starts[:-1], starts[1:]


def _halved(points: Floats, part: Indices) -> list[Indices]:
    if len(part) <= _CELL:
        return [part]
    values = points[part]
    axis = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
    middle = len(part) // 2
    order = np.argpartition(values[:, axis], middle)
    return _halved(points, part[order[:middle]]) + _halved(points, part[order[middle:]])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _add_savings(costs: Floats, prices: Floats, masses: Floats, total: Floats) -> None:
    for k in range(len(costs)):
        row = costs[k]
        some = 0.0
        for i in range(len(prices)):
            some += masses[i] * max(0.0, prices[i] - row[i])
        total[k] += some


@njit(cache=True, nogil=True)
def _within(costs: Floats, points: NDArray[np.int32], horizon: Floats) -> tuple[Indices, NDArray[np.int32], Floats]:
    """The entries of a block below the horizon, row after row."""
    ends = np.zeros(len(costs) + 1, np.int64)
    count = 0
    for k in range(len(costs)):
        for i in range(len(points)):
            count += costs[k, i] < horizon[i]
        ends[k + 1] = count
    found, values = np.empty(count, np.int32), np.empty(count)
    at = 0
    for k in range(len(costs)):
        for i in range(len(points)):
            if costs[k, i] < horizon[i]:
                found[at], values[at] = points[i], costs[k, i]
                at += 1
    return ends, found, values


@njit(cache=True, nogil=True)
def _savings(
    first: Indices, last: Indices, points: NDArray[np.int32], costs: Floats, prices: Floats, masses: Floats
) -> Floats:
    total = np.empty(len(first))
    for k in range(len(first)):
        some = 0.0
        for at in range(first[k], last[k]):
            i = points[at]
            some += masses[i] * max(0.0, prices[i] - costs[at])
        total[k] = some
    return total


@njit(cache=True, nogil=True)
def _taken(
    first: Indices, last: Indices, points: NDArray[np.int32], costs: Floats, prices: Floats, masses: Floats
) -> Floats:
    total = np.zeros(len(prices))
    for k in range(len(first)):
        for at in range(first[k], last[k]):
            i = points[at]
            if costs[at] < prices[i]:
                total[i] += masses[i]
    return total


@njit(cache=True, nogil=True)
def _compact(
    first: Indices, starts: Indices, points: NDArray[np.int32], costs: Floats
) -> tuple[NDArray[np.int32], Floats]:
    kept, values = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    for k in range(len(first)):
        count = starts[k + 1] - starts[k]
        kept[starts[k] : starts[k + 1]] = points[first[k] : first[k] + count]
        values[starts[k] : starts[k + 1]] = costs[first[k] : first[k] + count]
    return kept, values
