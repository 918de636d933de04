"""Closing the gap: branch and bound over the candidates that are left, with prices raised again in every case.

A case is split by the candidate whose share in the relaxed problem is nearest to one half. Each half starts from the
prices of the whole, and a few steps of the bundle raise its bound; the case of least bound is split next. Every now
and then the tree *plunges*: it splits the half with the candidate in, then that one's half, down to where nothing is
left to split, which leads to good picks.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handful.bound import Evaluation, Field
from handful.bundle import ascend
from handful.proof import NONE, ROOT, Proof
from handful.transport import point_prices, transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CLOSED = 1e-7  # a case whose bound is this near to the distance, relative to it, is closed
_PLUNGE = 50  # splits from one plunge to the next


@dataclass(order=True)
class _Case:
    bound: float
    number: int
    prices: Floats = field(compare=False)
    forced: Indices = field(compare=False)
    open: Indices = field(compare=False)
    branch: int = field(compare=False)
    done: bool = field(default=False, compare=False)


class Tree:
    """Cases still to be split, by their bounds.

    Parameters
    ----------
    field : Field
        The candidates left, with their distances kept.
    prices : array
        The best prices of the root.
    distance : float
        That of the best picks known.
    limit : int
        Vectors of prices that the proof may hold.
    """

    def __init__(self, field: Field, prices: Floats, proof: Proof, distance: float, limit: int) -> None:
        self.field = field
        self._proof = proof
        self._limit = limit
        self._closed = np.inf
        self._splits = 0
        self._deeper: _Case | None = None
        root, self.suggestion = self._case(ROOT, prices, field.forced, field.open, -np.inf, distance)
        self._cases = [root] if root else []

    @property
    def lower_bound(self) -> float:
        """The least bound of any case."""
        return min(self._closed, self._cases[0].bound if self._cases else np.inf)

    @property
    def finished(self) -> bool:
        """Whether no case is left to be split, or no room to do so."""
        return not self._cases or self._proof.size >= self._limit

    def split(self, distance: float) -> list[Indices]:
        """Split a case; returns the picks that its halves suggest."""
        case = self._deeper or self._cases[0]
        plunging = self._deeper is not None or self._splits % _PLUNGE == 0
        self._splits += 1
        halves: list[_Case] = []
        suggestions: list[Indices] = []
        if case.bound >= distance * (1 - CLOSED):
            self._closed = min(self._closed, case.bound)
        else:
            rest = case.open[case.open != case.branch]
            inside, outside = self._proof.split(case.number, int(self.field.candidates[case.branch]))
            for number, forced in ((inside, np.append(case.forced, case.branch)), (outside, case.forced)):
                half, picks = self._case(number, case.prices, forced, rest, case.bound, distance)
                halves += [half] if half else []
                suggestions += [picks] if len(picks) else []
        # Only now, so that the case still counts if the clock stops the work before its halves are done.
        case.done = True
        for half in halves:
            heapq.heappush(self._cases, half)
        while self._cases and self._cases[0].done:
            heapq.heappop(self._cases)
        self._deeper = halves[0] if plunging and halves else None
        return suggestions

    def _case(
        self, number: int, prices: Floats, forced: Indices, rest: Indices, bound: float, distance: float
    ) -> tuple[_Case | None, Indices]:
        """Raise the bound of a new case; it is returned if it may hold better picks, with the picks it suggests."""
        missing = self.field.budget - len(forced)
        if missing > len(rest):
            return None, rest[:0]  # the case holds no selection
        rest = rest if missing else rest[:0]
        self.field.restrict(forced, rest)
        if missing == len(rest):
            best, branch = self._single(np.concatenate([forced, rest])), NONE
        else:
            best, branch = self._raise(prices, distance)
        value = max(bound, self.field.safe(best))
        self._proof.close(number, best.prices)
        if branch == NONE or value >= distance * (1 - CLOSED):
            self._closed = min(self._closed, value)
            return None, best.chosen
        alive = self.field.survivors(best, distance)
        self._proof.discard(number, self.field.candidates[np.setdiff1d(rest, alive)], best.prices)
        if len(alive) < missing:
            return None, best.chosen
        branch = branch if branch in alive else int(alive[0])
        return _Case(value, number, best.prices, forced, alive, branch), best.chosen

    def _single(self, positions: Indices) -> Evaluation:
        """The evaluation of a case with one selection: the prices of its optimal plan prove its very distance."""
        pool, shares = self.field.pool, self.field.shares
        costs = pool.distances(self.field.candidates[positions])
        plan = transport(costs, pool.masses, shares.low, shares.high)
        return self.field.evaluate(point_prices(costs, plan.pick_prices))

    def _raise(self, prices: Floats, distance: float) -> tuple[Evaluation, int]:
        """The best evaluation within a few steps, and the candidate to split by."""
        best, parts = ascend(self.field, prices, distance, distance * (1 + CLOSED))
        return best, int(self.field.open[np.argmin(np.abs(parts - 0.5))])
