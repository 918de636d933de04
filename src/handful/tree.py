"""Closing the gap: branch and bound over the candidates that are left, with prices raised again in every case.

A case is split by the candidate whose share in the relaxed problem is nearest to one half. Each half starts from the
prices of the whole, and a few steps of the bundle raise its bound; the case of least bound is split next.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handful.clock import Stopped
from handful.bound import Evaluation, Field
from handful.bundle import Bundle
from handful.proof import NONE, ROOT, Proof
from handful.transport import point_prices, transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CLOSED = 1e-7  # a case whose bound is this near to the distance, relative to it, is closed
_STEPS = 20


@dataclass(order=True)
class _Case:
    bound: float
    number: int
    prices: Floats = field(compare=False)
    forced: Indices = field(compare=False)
    open: Indices = field(compare=False)
    branch: int = field(compare=False)


class Tree:
    """Cases still to be split, by their bounds.

    Parameters
    ----------
    field : Field
        The candidates left, with their distances kept.
    prices : array
        The best prices of the root.
    limit : int
        Vectors of prices that the proof may hold.
    """

    def __init__(self, field: Field, prices: Floats, proof: Proof, distance: float, limit: int) -> None:
        self.field = field
        self._proof = proof
        self._limit = limit
        self._closed = np.inf
        self._cases: list[_Case] = []
        self._add(ROOT, prices, field.forced, field.open, -np.inf, distance)

    @property
    def lower_bound(self) -> float:
        """The least bound of any case."""
        return min(self._closed, self._cases[0].bound if self._cases else np.inf)

    @property
    def finished(self) -> bool:
        """Whether no case is left to be split, or no room to do so."""
        return not self._cases or self._proof.size >= self._limit

    def split(self, distance: float) -> list[Indices]:
        """Split the case of least bound; returns the picks that its halves suggest."""
        case = heapq.heappop(self._cases)
        if case.bound >= distance * (1 - CLOSED):
            self._closed = min(self._closed, case.bound)
            return []
        position = np.array([case.branch])
        rest = np.setdiff1d(case.open, position)
        inside, outside = self._proof.split(case.number, int(self.field.candidates[case.branch]))
        suggestions = []
        try:
            for number, forced in ((inside, np.append(case.forced, position)), (outside, case.forced)):
                suggestions += self._add(number, case.prices, forced, rest, case.bound, distance)
        except Stopped:
            self._closed = min(self._closed, case.bound)
            raise
        return suggestions

    def _add(
        self, number: int, prices: Floats, forced: Indices, rest: Indices, bound: float, distance: float
    ) -> list[Indices]:
        """Raise the bound of a new case and keep it if it may hold better picks."""
        missing = self.field.budget - len(forced)
        if missing > len(rest):
            return []  # the case holds no selection
        rest = rest if missing else rest[:0]
        self.field.restrict(forced, rest)
        if missing == len(rest):
            best, branch = self._only(np.concatenate([forced, rest])), NONE
        else:
            best, branch = self._raise(prices, distance)
        value = max(bound, self.field.safe(best))
        self._proof.close(number, best.prices)
        if branch == NONE or value >= distance * (1 - CLOSED):
            self._closed = min(self._closed, value)
            return [best.chosen]
        alive = self.field.survivors(best, distance)
        self._proof.discard(number, self.field.candidates[np.setdiff1d(rest, alive)], best.prices)
        if len(alive) >= missing:
            branch = branch if branch in alive else int(alive[0])
            heapq.heappush(self._cases, _Case(value, number, best.prices, forced, alive, branch))
        return [best.chosen]

    def _only(self, positions: Indices) -> Evaluation:
        """The evaluation of a case with one selection: the prices of its optimal plan prove its very distance."""
        pool, shares = self.field.pool, self.field.shares
        costs = pool.distances(self.field.candidates[positions])
        plan = transport(costs, pool.masses, shares.low, shares.high)
        return self.field.evaluate(point_prices(costs, plan.pick_prices))

    def _raise(self, prices: Floats, distance: float) -> tuple[Evaluation, int]:
        """The best evaluation within a few steps, and the candidate to split by."""
        best = self.field.evaluate(prices)
        bundle = Bundle(self.field.pool.masses, best, distance)
        for _ in range(_STEPS):
            if best.value >= distance * (1 + CLOSED) or bundle.predicted < 1e-7 * distance:
                break
            trial = self.field.evaluate(bundle.propose())
            bundle.learn(trial)
            if trial.value > best.value:
                best = trial
        return best, self._branch(bundle)

    def _branch(self, bundle: Bundle) -> int:
        positions = self.field.open
        support = bundle.support()
        parts = np.array([support.get(candidate, 0.0) for candidate in self.field.candidates[positions].tolist()])
        return int(positions[np.argmin(np.abs(parts - 0.5))])
