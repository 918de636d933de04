"""The candidates of the master problem, and passes over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.benders.cut import Cut
from handful.blocks import Workers, slices
from handful.bound import Evaluation
from handful.lifted import Shares
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Costs = NDArray[np.floating[Any]]

_CELLS = 4_000_000  # distances in one block
_ZERO = 1e-12  # distances up to here count as those of duplicates


class Candidates:
    """Which candidates may be picked beside the forced ones, and what each is worth at given prices.

    The master problem has one variable per *open* candidate, a row of `open`; ``columns`` are positions in it. Earlier
    picks are ``forced``: their part of every cut is in the constant. ``budget`` counts them. Distances are in double
    precision, and kept in memory if ``keep``.
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
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.budget = budget
        self.forced = forced
        self.open = np.setdiff1d(candidates, forced)
        self.workers = workers
        self.alive = np.ones(len(self.open), dtype=bool)
        self._rows = np.concatenate([forced, self.open])
        self._thresholds = np.zeros(len(self._rows))
        self._last: Floats | None = None
        self._blocks = slices(len(self._rows), max(1, min(256, _CELLS // pool.n)))
        self._keep = keep
        self._kept: list[Costs | None] = [None] * len(self._blocks)

    @property
    def free(self) -> int:
        """How many open candidates a selection takes."""
        return self.budget - len(self.forced)

    def picks(self, columns: Indices) -> Indices:
        """The rows of the pool that a solution of the master stands for."""
        return np.concatenate([self.forced, self.open[columns]])

    def columns(self, picks: Indices) -> Indices:
        """The solution of the master that stands for these rows, forced ones left out."""
        return np.searchsorted(self.open, np.setdiff1d(picks, self.forced))

    def evaluate(self, prices: Floats) -> tuple[Cut, Evaluation]:
        """The lifted cut at these prices, and the bound that it proves with the candidates counted in it.

        Closed candidates have coefficients of 0.
        """
        masses, count = self.pool.masses, len(self.forced)
        widths = self._aim(prices)
        values = np.zeros(len(self._rows))
        live = np.concatenate([np.ones(count, dtype=bool), self.alive])

        def fill(block: slice, costs: Costs) -> None:
            rows = np.flatnonzero(live[block])
            known = self._thresholds[block][rows]
            found = lifted.values(costs, rows, prices, masses, self.shares, known, widths[: len(rows)])
            values[block.start + rows], self._thresholds[block.start + rows] = found

        self.scan(fill)
        cut = Cut("lifted", float(masses @ prices + values[:count].sum()), values[count:], prices)
        shown = np.where(self.alive, cut.coefficients, np.inf)
        columns = np.sort(np.argsort(shown, kind="stable")[: self.free])
        counted = np.concatenate([np.arange(count), count + columns])
        costs = self.pool.distances(self._rows[counted])
        thresholds = self._thresholds[counted]
        taken = lifted.served(costs, np.arange(len(counted)), prices, masses, self.shares, thresholds)
        return cut, Evaluation(prices, cut.at(columns), cut.coefficients, self._rows[counted], masses - taken)

    def single_bound(self, cut: Cut) -> float:
        """What one cut proves by itself of all selections left, less all that rounding may have added to it.

        An error of e in every distance changes the cost of any plan by at most e, as the pool's mass is 1; a sum of n
        terms in double precision is off by at most n u times the sum of their magnitudes.
        """
        return self.case_bound(cut, np.empty(0, np.int64), np.flatnonzero(self.alive))

    def case_bound(self, cut: Cut, inside: Indices, others: Indices) -> float:
        """The same of those selections that have all columns ``inside``, and for the rest some of the ``others``."""
        missing = self.free - len(inside)
        left = cut.coefficients[others]
        smallest = np.partition(left, missing - 1)[:missing] if missing < len(left) else left
        value = cut.constant + float(cut.coefficients[inside].sum()) + float(smallest.sum())
        largest = 0.0 if cut.prices is None else float(np.abs(cut.prices).max())
        terms = largest + self.budget * float(np.abs(cut.coefficients).max(initial=0.0)) + abs(value)
        return value - self.pool.rounding(np.float64) - 4 * (self.pool.n + self.budget) * 2.0**-53 * terms

    def hopeless(self, cut: Cut, distance: float) -> Indices:
        """The columns that, by this valid cut, no selection better than ``distance`` can have."""
        costliest = float(self._smallest(cut).max(initial=-np.inf))
        with_each = self.single_bound(cut) - costliest + cut.coefficients
        return np.flatnonzero(self.alive & (with_each > distance))

    def shut(self, columns: Indices) -> None:
        """Take these candidates out of every later evaluation."""
        self.alive[columns] = False

    def cheapest(self, prices: Floats) -> tuple[Floats, Floats]:
        """The c-transform ``min_i (D_ij - u_i)`` of every forced and every open candidate."""
        reduced = np.empty(len(self._rows))

        def fill(block: slice, costs: Costs) -> None:
            reduced[block] = (costs - prices).min(axis=1)

        self.scan(fill)
        return reduced[: len(self.forced)], reduced[len(self.forced) :]

    @cached_property
    def neighbours(self) -> tuple[Floats, Floats]:
        """For every forced, then every open candidate: the mass at distance 0, and the smallest positive distance."""
        mass = np.empty(len(self._rows))
        nearest = np.empty(len(self._rows))

        def fill(block: slice, costs: Costs) -> None:
            own = costs <= _ZERO
            mass[block] = own @ self.pool.masses
            nearest[block] = np.where(own, np.inf, costs).min(axis=1)

        self.scan(fill)
        nearest[np.isinf(nearest)] = 0.0  # where all points are duplicates of one
        return mass, nearest

    def scan(self, use: Callable[[slice, Costs], None]) -> None:
        """Call ``use`` with every block of the forced and open candidates and its costs."""

        def visit(number: int) -> None:
            block = self._blocks[number]
            known = self._kept[number]
            costs = self.pool.distances(self._rows[block]) if known is None else known
            if self._keep:
                self._kept[number] = costs
            use(block, costs)

        self.workers.map(visit, range(len(self._blocks)))

    def _aim(self, prices: Floats) -> Floats:
        """Move the thresholds along with the prices, and say how far off they may be, for a block of candidates."""
        width = np.inf
        if self._last is not None:
            change = prices - self._last
            mean = float(self.pool.masses @ change)
            self._thresholds -= mean
            width = 3 * float(np.sqrt(self.pool.masses @ np.square(change - mean))) + 1e-9 * (1 + abs(mean))
        self._last = prices
        return np.full(max(1, min(256, _CELLS // self.pool.n)), width)

    def _smallest(self, cut: Cut) -> Floats:
        left: Floats = cut.coefficients[self.alive]
        return np.partition(left, self.free - 1)[: self.free] if self.free < len(left) else left
