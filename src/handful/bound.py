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
    """The bound at some prices: its value, those of the open candidates, which were counted, and a supergradient."""

    prices: Floats
    value: float
    open_values: Floats
    chosen: Indices
    gradient: Floats


class Field:
    """A set of candidates over which the bound is evaluated.

    ``forced`` and ``open`` are positions in ``candidates``: those counted in every evaluation (earlier picks), and those
    of which the cheapest are counted. `restrict` leaves candidates out or forces others, for good or for a while.
    """

    def __init__(
        self,
        pool: Pool,
        shares: Shares,
        budget: int,
        forced: Indices,
        candidates: Indices,
        workers: Workers,
        *,
        keep: bool,
        dtype: type[np.floating[Any]],
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.budget = budget
        self.candidates = np.concatenate([forced, np.setdiff1d(candidates, forced)])
        self.forced = np.arange(len(forced))
        self.open = np.arange(len(forced), len(self.candidates))
        self._workers = workers
        self._dtype = dtype
        self._block = max(1, min(256, 4_000_000 // pool.n))
        self._thresholds = np.zeros(len(self.candidates))
        self._last: Floats | None = None
        self._costs = self._gather() if keep else None

    @property
    def kept(self) -> bool:
        """Whether the distances are kept in memory."""
        return self._costs is not None

    def part(self, positions: Indices) -> Field:
        """A field of the forced candidates and some of the open ones, with their distances kept."""
        part = Field(
            self.pool,
            self.shares,
            self.budget,
            self.candidates[self.forced],
            self.candidates[positions],
            self._workers,
            keep=True,
            dtype=self._dtype,
        )
        part._thresholds = self._thresholds[np.concatenate([self.forced, np.sort(positions)])]
        part._last = self._last
        return part

    def restrict(self, forced: Indices, open_ones: Indices) -> None:
        """Go on with these positions only."""
        self.forced, self.open = forced, open_ones

    def drop_closed(self) -> None:
        """Forget the candidates that are neither open nor forced."""
        kept = np.concatenate([self.forced, self.open])
        self.candidates, self._thresholds = self.candidates[kept], self._thresholds[kept]
        self.forced, self.open = np.arange(len(self.forced)), np.arange(len(self.forced), len(kept))
        if self._costs is not None:
            self._costs = self._costs[kept]

    def evaluate(self, prices: Floats) -> Evaluation:
        """The bound at ``prices``, free of any error but that of the distances' precision."""
        self._aim(prices)
        width = self._width
        positions = np.concatenate([self.forced, self.open])
        blocks = slices(len(positions), self._block)
        found = self._workers.map(lambda block: self._values(positions[block], prices, width), blocks)
        values = np.concatenate([value for value, _ in found])
        self._thresholds[positions] = np.concatenate([threshold for _, threshold in found])
        fixed, others = values[: len(self.forced)], values[len(self.forced) :]
        cheapest = np.argsort(others, kind="stable")[: self.budget - len(self.forced)]
        chosen = np.concatenate([self.forced, self.open[cheapest]])
        value = float(self.pool.masses @ prices + fixed.sum() + others[cheapest].sum())
        costs, rows = self._rows(chosen)
        taken = lifted.served(costs, rows, prices, self.pool.masses, self.shares, self._thresholds[chosen])
        return Evaluation(prices, value, others, self.candidates[chosen], self.pool.masses - taken)

    def safe(self, evaluation: Evaluation) -> float:
        """The bound less all that rounding may have added to it.

        An error of e in every distance changes any plan's cost by at most e, as the pool's mass is 1; a sum of n
        terms in double precision is off by at most n u times the sum of their magnitudes.
        """
        terms = float(np.abs(evaluation.prices).max()) + self.budget * float(np.abs(evaluation.open_values).max(initial=0))
        sums = 4 * (self.pool.n + self.budget) * 2.0**-53 * (terms + abs(evaluation.value))
        return evaluation.value - self.pool.rounding(self._dtype) - sums

    def survivors(self, evaluation: Evaluation, distance: float) -> Indices:
        """The open positions that may still be in picks better than ``distance``.

        A selection with candidate j costs at least the bound with j in place of the costliest one counted.
        """
        free = self.budget - len(self.forced)
        if not 0 < free < len(self.open):
            return self.open
        values = evaluation.open_values
        costliest = np.partition(values, free - 1)[free - 1]
        return self.open[self.safe(evaluation) - costliest + values <= distance]

    def _aim(self, prices: Floats) -> None:
        """Move the thresholds along with the prices, and say how far off they may be."""
        if self._last is None:
            self._width = np.inf
        else:
            change = prices - self._last
            mean = float(self.pool.masses @ change)
            self._thresholds -= mean
            self._width = 3 * float(np.sqrt(self.pool.masses @ np.square(change - mean))) + 1e-9 * (1 + abs(mean))
        self._last = prices

    def _values(self, positions: Indices, prices: Floats, width: float) -> tuple[Floats, Floats]:
        costs, rows = self._rows(positions)
        return lifted.values(
            costs, rows, prices, self.pool.masses, self.shares, self._thresholds[positions], width
        )

    def _rows(self, positions: Indices) -> tuple[NDArray[np.floating[Any]], Indices]:
        """Costs, and the rows in them that belong to ``positions``."""
        if self._costs is not None:
            return self._costs, positions
        return self.pool.distances(self.candidates[positions], dtype=self._dtype), np.arange(len(positions))

    def _gather(self) -> NDArray[np.floating[Any]]:
        costs = np.empty((len(self.candidates), self.pool.n), self._dtype)

        def fill(block: slice) -> None:
            costs[block] = self.pool.distances(self.candidates[block], dtype=self._dtype)

        self._workers.map(fill, slices(len(costs), self._block))
        return costs
