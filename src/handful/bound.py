r"""Lower bounds: the concave function of the prices that every vector of prices proves.

.. math:: L(u) = \sum_i a_i u_i + \sum_{j \in F} v_j(u) + \text{(sum of the } B - |F| \text{ smallest } v_j(u)
          \text{ of the other candidates)}

with :math:`v_j` from `handful.lifted` and F the earlier picks. `Field` evaluates it over a set of candidates, whose
distances it keeps if they fit in the memory it is given and computes again, block by block, if not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.blocks import Workers, slices
from handful.lifted import Shares
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Evaluation:
    """The bound at some prices: its value, the values of the candidates, which were counted, and a supergradient."""

    prices: Floats
    value: float
    candidate_values: Floats
    chosen: Indices
    gradient: Floats


class Field:
    """A set of candidates over which the bound is evaluated.

    ``candidates`` are rows of the pool; the first ``forced`` of them are earlier picks, counted in every evaluation.
    """

    def __init__(
        self,
        pool: Pool,
        shares: Shares,
        budget: int,
        candidates: Indices,
        forced: int,
        workers: Workers,
        *,
        keep: bool,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.budget = budget
        self.candidates = candidates
        self.forced = forced
        self._workers = workers
        self._dtype = dtype
        self._blocks = slices(len(candidates), block_rows(pool.n))
        self._thresholds = np.zeros(len(candidates))
        self._last: Floats | None = None
        self._costs = self._gather() if keep else None

    def evaluate(self, prices: Floats) -> Evaluation:
        """The bound at ``prices`` over these candidates, free of any error but that of the distances' precision."""
        width = self._aim(prices)
        found = self._workers.map(lambda block: self._values(block, prices, width), self._blocks)
        values = np.concatenate([value for value, _ in found])
        self._thresholds = np.concatenate([threshold for _, threshold in found])
        chosen = self._counted(values)
        value = float(self.pool.masses @ prices + values[chosen].sum())
        costs = self._rows(chosen)
        taken = lifted.served(costs, prices, self.pool.masses, self.shares, self._thresholds[chosen])
        return Evaluation(prices, value, values, self.candidates[chosen], self.pool.masses - taken)

    def safe(self, evaluation: Evaluation) -> float:
        """The bound less all that rounding may have added to it.

        An error of e in every distance changes any plan's cost by at most e, as the pool's mass is 1; a sum of n
        terms in double precision is off by at most n u times the sum of their magnitudes.
        """
        prices = evaluation.prices
        largest = float(np.abs(prices).max()) + float(np.abs(evaluation.candidate_values).max()) * self.budget
        sums = 4 * (self.pool.n + self.budget) * 2.0**-53 * (largest + abs(evaluation.value))
        return evaluation.value - self.pool.rounding(self._dtype) - sums

    def survivors(self, evaluation: Evaluation, distance: float) -> NDArray[np.bool_]:
        """Which candidates may still be in picks better than ``distance``.

        A selection with candidate j costs at least the bound with j in place of the costliest one counted.
        """
        free = self.budget - self.forced
        values = evaluation.candidate_values
        alive = np.ones(len(values), np.bool_)
        if free > 0:
            others = values[self.forced :]
            costliest = np.partition(others, free - 1)[free - 1]
            alive[self.forced :] = self.safe(evaluation) - costliest + others <= distance
        return alive

    def only(self, kept: NDArray[np.bool_]) -> None:
        """Go on with these candidates alone."""
        self.candidates = self.candidates[kept]
        self._thresholds = self._thresholds[kept]
        self._blocks = slices(len(self.candidates), block_rows(self.pool.n))
        if self._costs is not None:
            self._costs = self._costs[kept]

    def _counted(self, values: Floats) -> Indices:
        free = self.budget - self.forced
        order = np.argsort(values[self.forced :], kind="stable")[:free] + self.forced
        return np.concatenate([np.arange(self.forced), order])

    def _aim(self, prices: Floats) -> float:
        """Move the thresholds along with the prices; returns how far off they may be."""
        if self._last is None:
            width = np.inf
        else:
            change = prices - self._last
            mean = float(self.pool.masses @ change)
            self._thresholds = self._thresholds - mean
            width = 3 * float(np.sqrt(self.pool.masses @ np.square(change - mean))) + 1e-9 * (1 + abs(mean))
        self._last = prices
        return width

    def _values(self, block: slice, prices: Floats, width: float) -> tuple[Floats, Floats]:
        costs = self._rows(block)
        return lifted.values(costs, prices, self.pool.masses, self.shares, self._thresholds[block], width)

    def _rows(self, which: slice | Indices) -> NDArray[np.floating[Any]]:
        if self._costs is not None:
            return self._costs[which]
        return self.pool.distances(self.candidates[which], dtype=self._dtype)

    def _gather(self) -> NDArray[np.floating[Any]]:
        costs = np.empty((len(self.candidates), self.pool.n), self._dtype)

        def fill(block: slice) -> None:
            costs[block] = self.pool.distances(self.candidates[block], dtype=self._dtype)

        self._workers.map(fill, self._blocks)
        return costs


def block_rows(points: int) -> int:
    """Candidates per block: enough for an efficient matrix product, few enough for some 16 MiB."""
    return max(1, min(256, 4_000_000 // points))
