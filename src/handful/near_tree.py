"""Closing the gap for picks of free weight: branch and bound in which every case is solved by the exact relaxation.

The relaxation of `handful.radius` over the candidates left usually has whole numbers or nearly so, and few cases are
needed. Each is closed by the prices that its dual solution gives.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers
from handful.bound import Evaluation
from handful.near import Cells, NearPairs
from handful.proof import ROOT, Proof
from handful.radius import Radius
from handful.waiting import Cases

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CLOSED = 2e-7  # a case whose bound is this near to the distance, relative to it, is closed
_WHOLE = 1e-6  # how far from whole numbers a solution may be


@dataclass(order=True)
class _Case:
    bound: float
    number: int
    inside: Indices = field(compare=False)
    outside: Indices = field(compare=False)
    picked: Floats = field(compare=False)


class NearTree(Cases[_Case]):
    """Cases still to be split, by their bounds; to the engine what `handful.tree.Tree` is.

    Parameters
    ----------
    pairs : NearPairs
        Of the candidates left, the forced ones first.
    prices : array
        The best prices so far.
    limit : int
        Vectors of prices that the proof may hold.
    """

    def __init__(
        self,
        cells: Cells,
        pairs: NearPairs,
        forced: int,
        budget: int,
        prices: Floats,
        proof: Proof,
        distance: float,
        limit: int,
        workers: Workers,
    ) -> None:
        super().__init__(proof, limit)
        self._pairs = pairs
        self._forced = forced
        self._budget = budget
        self._clock = workers.clock
        self._workers = workers
        self._cells = cells
        self._rounding = pairs.pool.rounding(np.float64)
        self._radius = Radius(pairs, budget, prices, distance)
        nothing = np.empty(0, np.int64)
        root = self._solve(ROOT, nothing, nothing, -np.inf, distance)
        self.suggestions: list[Indices] = []
        if root is not None:
            self._cases = [root]
            self.suggestions = [self._rounded(root)]
            self._narrow(root, distance)

    def split(self, distance: float) -> list[Indices]:
        """Split the case of least bound; returns the picks that its halves suggest."""
        case = self._cases[0]
        away = np.abs(case.picked - 0.5)
        branch = int(np.argmin(away))
        if case.bound >= distance * (1 - CLOSED) or away[branch] > 0.5 - _WHOLE:
            # Of whole numbers the bound is the distance, but for rounding: nothing is gained by going on.
            self._closed = min(self._closed, heapq.heappop(self._cases).bound)
            return []
        suggestions: list[Indices] = []
        halves: list[_Case] = []
        numbers = self._proof.split(case.number, int(self._pairs.candidates[branch]))
        for number, included in zip(numbers, (True, False), strict=True):
            inside = np.append(case.inside, branch) if included else case.inside
            outside = case.outside if included else np.append(case.outside, branch)
            half = self._solve(number, inside, outside, case.bound, distance)
            if half is not None:
                halves.append(half)
                suggestions.append(self._rounded(half))
        # Only now, so that the case still counts if the clock stops the work before its halves are done.
        heapq.heappop(self._cases)
        for half in halves:
            heapq.heappush(self._cases, half)
        return suggestions

    def _solve(self, number: int, inside: Indices, outside: Indices, bound: float, distance: float) -> _Case | None:
        """Solve and close a case; it is returned if it may hold better picks."""
        self._clock.check()
        lower, upper = np.zeros(self._radius.count), np.ones(self._radius.count)
        lower[: self._forced] = 1
        lower[inside], upper[outside] = 1, 0
        if lower.sum() > self._budget or upper.sum() < self._budget:
            return None  # the case holds no selection
        while True:
            picked, prices = self._radius.solve(np.flatnonzero(lower), np.flatnonzero(upper == 0), self._clock)
            if not self._radius.unserved.any():
                break
            self._look_farther(prices, distance)
        evaluation = self._evaluate(prices, lower > 0, upper > 0)
        value = max(bound, evaluation[1])
        self._proof.close(number, prices)
        if value >= distance * (1 - CLOSED):
            self._closed = min(self._closed, value)
            return None
        return _Case(value, number, inside, outside, picked)

    def _look_farther(self, prices: Floats, distance: float) -> None:
        """Let the points that were left unserved see farther."""
        horizon = self._pairs.horizon.copy()
        horizon[self._radius.unserved] = 2 * horizon[self._radius.unserved] + distance / 8
        self._pairs = NearPairs(self._cells, self._pairs.candidates, horizon, self._workers)
        self._radius = Radius(self._pairs, self._budget, prices, distance, self._radius)

    def _evaluate(self, prices: Floats, inside: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> tuple[Floats, float]:
        """Values of all candidates, and the bound for a case, safe from rounding."""
        pool = self._pairs.pool
        values = -self._pairs.savings(np.arange(len(allowed)), prices)
        free = np.sort(values[allowed & ~inside])[: self._budget - int(inside.sum())]
        value = float(pool.masses @ prices + values[inside].sum() + free.sum())
        evaluation = Evaluation(prices, value, values, np.empty(0, np.int64), np.empty(0))
        return values, safe(evaluation, self._rounding, pool.n, self._budget)

    def _narrow(self, root: _Case, distance: float) -> None:
        """Discard what the root rules out, and go on with the relaxation over the others."""
        prices = self._proof.prices[self._proof.closing[ROOT]]
        inside = np.arange(len(self._pairs.candidates)) < self._forced
        values, value = self._evaluate(prices, inside, np.ones(len(inside), bool))
        free = self._budget - self._forced
        alive = inside.copy()
        alive[self._forced :] = staying(values[self._forced :], free, value, distance)
        if alive.sum() > 0.9 * len(alive):
            return
        self._proof.discard(ROOT, self._pairs.candidates[~alive], prices)
        self._pairs.keep(np.flatnonzero(alive))
        root.picked = root.picked[alive]
        self._radius = Radius(self._pairs, self._budget, prices, distance)

    def _rounded(self, case: _Case) -> Indices:
        """The candidates that are picked most, those of the case and the forced ones first."""
        order = np.argsort(-case.picked[self._forced :], kind="stable")[: self._budget - self._forced]
        return self._pairs.candidates[np.concatenate([np.arange(self._forced), self._forced + order])]


def safe(evaluation: Evaluation, rounding: float, n: int, budget: int) -> float:
    """The bound less all that rounding may have added to it; see `handful.bound.Field.safe`."""
    largest = float(np.abs(evaluation.open_values).max(initial=0))
    terms = float(np.abs(evaluation.prices).max()) + budget * largest
    return evaluation.value - rounding - 4 * (n + budget) * 2.0**-53 * (terms + abs(evaluation.value))


def staying(values: Floats, free: int, value: float, distance: float) -> NDArray[np.bool_]:
    """Which open candidates may be in picks better than ``distance``, given the bound ``value`` with the cheapest."""
    if not 0 < free < len(values):
        return np.ones(len(values), bool)
    costliest = np.partition(values, free - 1)[free - 1]
    return np.asarray(value - costliest + values <= distance)
