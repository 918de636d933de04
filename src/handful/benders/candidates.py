"""The candidates of the master problem, and passes over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.benders.cut import Cut
from handful.blocks import Workers, slices
from handful.bound import Evaluation, Field
from handful.lifted import Shares
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Costs = NDArray[np.floating[Any]]

_CELLS = 4_000_000  # distances in one block
_ZERO = 1e-12  # distances up to here count as those of duplicates


class Candidates:
    """Which candidates may be picked beside the forced ones, and what each costs at given prices.

    The master problem has one variable per *open* candidate, a row of `open`; ``columns`` are positions in it. Earlier
    picks are ``forced``: their part of every cut is in the constant. ``budget`` counts them.
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
        self._field = Field(pool, shares, budget, forced, candidates, workers, keep=keep, dtype=np.float64)

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

    def evaluate(self, prices: Floats) -> Evaluation:
        """The lifted bound at these prices, with ``open_values`` for every open candidate (0 for closed ones)."""
        found = self._field.evaluate(prices)
        values = np.zeros(len(self.open))
        values[self.alive] = found.open_values
        return Evaluation(prices, found.value, values, found.chosen, found.gradient)

    def single_bound(self, cut: Cut) -> float:
        """What one cut proves by itself of all selections left, less all that rounding may have added to it."""
        return self._margin(cut, cut.constant + float(self._smallest(cut).sum()))

    def hopeless(self, cut: Cut, distance: float) -> Indices:
        """The columns that, by this valid cut, no selection better than ``distance`` can have."""
        smallest = self._smallest(cut)
        with_each = self.single_bound(cut) - float(smallest.max(initial=-np.inf)) + cut.coefficients
        return np.flatnonzero(self.alive & (with_each > distance))

    def shut(self, columns: Indices) -> None:
        """Take these candidates out of every later evaluation."""
        self.alive[columns] = False
        self._restrict()

    def proof(self, prices: Floats) -> float:
        """The lower bound on the optimum over all candidates that these prices prove, safe against rounding."""
        self._field.restrict(self._field.forced, len(self.forced) + np.arange(len(self.open)))
        found = self._field.evaluate(prices)
        self._restrict()
        return self._field.safe(found)

    def _restrict(self) -> None:
        self._field.restrict(self._field.forced, len(self.forced) + np.flatnonzero(self.alive))

    def _smallest(self, cut: Cut) -> Floats:
        left: Floats = cut.coefficients[self.alive]
        return np.partition(left, self.free - 1)[: self.free] if self.free < len(left) else left

    def _margin(self, cut: Cut, value: float) -> float:
        prices = np.zeros(1) if cut.prices is None else cut.prices
        nothing = np.empty(0)
        return self._field.safe(Evaluation(prices, value, cut.coefficients, np.empty(0, np.int64), nothing))

    def cheapest(self, prices: Floats) -> tuple[Floats, Floats]:
        """The c-transform ``min_i (D_ij - u_i)`` of every forced and every open candidate."""
        reduced = np.empty(len(self.forced) + len(self.open))

        def fill(block: slice, costs: Costs) -> None:
            reduced[block] = (costs - prices).min(axis=1)

        self.scan(fill)
        return reduced[: len(self.forced)], reduced[len(self.forced) :]

    @cached_property
    def neighbours(self) -> tuple[Floats, Floats]:
        """For every forced, then every open candidate: the mass at distance 0, and the smallest positive distance."""
        mass = np.empty(len(self.forced) + len(self.open))
        nearest = np.empty_like(mass)

        def fill(block: slice, costs: Costs) -> None:
            own = costs <= _ZERO
            mass[block] = own @ self.pool.masses
            nearest[block] = np.where(own, np.inf, costs).min(axis=1)

        self.scan(fill)
        nearest[np.isinf(nearest)] = 0.0  # where all points are duplicates of one
        return mass, nearest

    def scan(self, use: Callable[[slice, Costs], None]) -> None:
        """Call ``use`` with every block of the forced and open candidates and its costs."""
        rows = np.concatenate([self.forced, self.open])

        def visit(block: slice) -> None:
            use(block, self.pool.distances(rows[block]))

        self.workers.map(visit, slices(len(rows), max(1, _CELLS // self.pool.n)))
