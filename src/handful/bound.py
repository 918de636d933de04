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

_FIRST = np.zeros(1, np.int64)
_TALL, _WIDTH = 256, 1024  # candidates and points of a tile of costs that stays in the cache
_SAMPLE = 1024  # points on which thresholds are first guessed

@dataclass(frozen=True)
class Evaluation:
    """The bound at some prices: its value, which candidates were counted, and a supergradient.

    ``open_values`` are the values of the open candidates, or bounds below them where they are too large to count.
    """

    prices: Floats
    value: float
    open_values: Floats
    chosen: Indices
    gradient: Floats


class Field:
    """A set of candidates over which the bound is evaluated.

    ``forced`` and ``open`` are positions in ``candidates``: those counted in every evaluation (earlier picks), and
    those of which the cheapest are counted. `restrict` leaves candidates out or forces others in.
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
        self._rounding = pool.rounding(dtype)
        self._no_costs = np.zeros((1, pool.n), dtype)
        self._block = max(1, min(256, 4_000_000 // pool.n))
        # Of every candidate: a bound below its value, its threshold, and how far off that may be.
        self._floors = np.full(len(self.candidates), -np.inf)
        self._thresholds = np.zeros(len(self.candidates))
        self._widths = np.full(len(self.candidates), np.inf)
        self._last: Floats | None = None
        # A fixed seed: the sample only decides how sharp the floors are, not what they mean.
        self._sample = np.random.default_rng(0).choice(pool.n, min(_SAMPLE, pool.n), p=pool.masses)
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
        same = np.concatenate([self.forced, np.sort(positions)])
        part._floors, part._thresholds, part._widths = self._floors[same], self._thresholds[same], self._widths[same]
        part._last = self._last
        return part

    def cheapest(self, count: int) -> Indices:
        """Open positions of least value, at most so many."""
        return np.sort(self.open[np.argsort(self._floors[self.open], kind="stable")[:count]])

    def restrict(self, forced: Indices, open_ones: Indices) -> None:
        """Go on with these positions only."""
        self.forced, self.open = forced, open_ones

    def drop_closed(self) -> None:
        """Forget the candidates that are neither open nor forced."""
        kept = np.concatenate([self.forced, self.open])
        self.candidates = self.candidates[kept]
        self._floors, self._thresholds, self._widths = self._floors[kept], self._thresholds[kept], self._widths[kept]
        self.forced, self.open = np.arange(len(self.forced)), np.arange(len(self.forced), len(kept))
        if self._costs is not None:
            self._costs = self._costs[kept]

    def evaluate(self, prices: Floats) -> Evaluation:
        """The bound at ``prices``, free of any error but that of the distances' precision.

        Candidates whose value is known from earlier prices to be too large to be counted are not looked at.
        """
        self._aim(prices)
        self._look(self.forced, prices)
        missing = self.budget - len(self.forced)
        if missing:
            self._look_at_least(missing, prices)
        values = self._floors[self.open]
        cheapest = np.argsort(values, kind="stable")[:missing]
        chosen = np.concatenate([self.forced, self.open[cheapest]])
        value = float(self.pool.masses @ prices + self._floors[chosen].sum())
        costs, rows = self._rows(chosen)
        taken = lifted.served(costs, rows, prices, self.pool.masses, self.shares, self._thresholds[chosen])
        return Evaluation(prices, value, values, self.candidates[chosen], self.pool.masses - taken)

    def safe(self, evaluation: Evaluation) -> float:
        """The bound less all that rounding may have added to it.

        An error of e in every distance changes any plan's cost by at most e, as the pool's mass is 1; a sum of n
        terms in double precision is off by at most n u times the sum of their magnitudes.
        """
        largest = float(np.abs(evaluation.open_values).max(initial=0))
        terms = float(np.abs(evaluation.prices).max()) + self.budget * largest
        sums = 4 * (self.pool.n + self.budget) * 2.0**-53 * (terms + abs(evaluation.value))
        return evaluation.value - self._rounding - sums

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
        """Carry what is known of the candidates from the last prices over to these."""
        if self._last is not None:
            change = prices - self._last
            masses = self.pool.masses
            mean = float(masses @ change)
            self._thresholds -= mean
            self._widths += float(np.sqrt(masses @ np.square(change - mean))) + 1e-9 * (1 + abs(mean))
            # A value falls by no more than the change weighs in any share: the least value of costs 0 at this change.
            nothing = self._no_costs
            least, _ = lifted.values(nothing, _FIRST, change, masses, self.shares, np.zeros(1), np.full(1, np.inf))
            self._floors += least[0] - 1e-13 * float(np.abs(change).max())
        self._last = prices

    def _look_at_least(self, missing: int, prices: Floats) -> None:
        """Compute the values of open candidates until the least ``missing`` of them are certain."""
        if not self.kept:
            self._sweep(self.open, prices)
        unseen = self.open[np.argsort(self._floors[self.open], kind="stable")]
        seen = np.empty(0, np.int64)
        count = 2 * missing
        while len(unseen):
            seen, unseen = np.append(seen, unseen[:count]), unseen[count:]
            self._look(np.sort(seen[-count:]), prices)
            enough = np.partition(self._floors[seen], missing - 1)[missing - 1]
            unseen = unseen[: np.searchsorted(self._floors[unseen], enough, side="right")]
            count *= 4

    def _sweep(self, positions: Indices, prices: Floats) -> None:
        """Bound the values at these positions from below, in one pass over their costs that selects nothing."""
        sample = self._sample
        sample_prices = prices[sample]
        masses = self.pool.masses

        def floors(part: Indices) -> tuple[Floats, Floats]:
            picks = self.candidates[part]
            few = self.pool.distances(picks, sample, dtype=self._dtype)
            thresholds = lifted.sampled_thresholds(few, sample_prices, self.shares)
            taken = np.zeros(len(part))
            for points, costs in self.pool.tiles(picks, _WIDTH, self._dtype):
                lifted.add_taken(costs, prices[points], masses[points], thresholds, taken)
            return lifted.floors(taken, self.shares, thresholds), thresholds

        parts = [positions[block] for block in slices(len(positions), _TALL)]
        for part, (found, thresholds) in zip(parts, self._workers.map(floors, parts), strict=True):
            self._floors[part] = np.maximum(self._floors[part], found)
            self._thresholds[part], self._widths[part] = thresholds, np.inf

    def _look(self, positions: Indices, prices: Floats) -> None:
        """Compute the values at these positions."""
        parts = [positions[block] for block in slices(len(positions), self._block)]

        def values(part: Indices) -> tuple[Floats, Floats]:
            costs, rows = self._rows(part)
            thresholds, widths = self._thresholds[part], self._widths[part]
            return lifted.values(costs, rows, prices, self.pool.masses, self.shares, thresholds, widths)

        for part, (found, thresholds) in zip(parts, self._workers.map(values, parts), strict=True):
            self._floors[part], self._thresholds[part], self._widths[part] = found, thresholds, 0.0

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
