r"""The lower bound that prices prove, over a set of candidates.

.. math:: L(u) = \sum_i a_i u_i + \sum_{j \in F} v_j(u) + \text{the sum of the } B - |F| \text{ smallest } v_j(u)

with :math:`v_j` the value of the lifted cut (`handful.lifted`), F the forced candidates and the smallest taken over the
open ones. For every :math:`u` it is a bound on the cost of all selections that hold F and otherwise open candidates.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.blocks import Passes, Workers, slices
from handful.lifted import Shares
from handful.pool import Pool
from handful.regions import Rule, cheapest
from handful.rows import Rows
from handful.sample import Sample

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

AWAY = 10_000_000  # costs from which on it is worth the way to ask another executor than threads for them

_FIRST = np.zeros(1, np.int64)
_PRECISE = 2_000_000  # costs in double precision that a thread looks at together
_MANY = 256  # rows not kept from which on a sweep is faster than looking at each


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
    those of which the cheapest that obey the ``rules`` are counted. The costs of up to ``room`` open candidates stay in
    memory.
    """

    def __init__(
        self,
        pool: Pool | Sample,
        shares: Shares,
        budget: int,
        forced: Indices,
        candidates: Indices,
        workers: Workers,
        *,
        room: int,
        dtype: type[np.floating[Any]],
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.budget = budget
        self.candidates = np.concatenate([forced, candidates[~np.isin(candidates, forced)]])
        self.forced = np.arange(len(forced))
        self.open = np.arange(len(forced), len(self.candidates))
        self.rules: tuple[Rule, ...] = ()
        self.workers = workers
        self._dtype = dtype
        executor = workers.executor if pool.n * len(self.candidates) >= AWAY else None
        passes = Rows if executor is None else executor.passes
        self.rows: Passes = passes(pool, shares, min(room + len(forced), len(self.candidates)), dtype)
        # Of every candidate: a bound below its value, its threshold, and how far off that may be. At prices of 0 no
        # value is negative.
        self._prices = np.zeros(pool.n)
        self._floors = np.zeros(len(self.candidates))
        self._thresholds = np.zeros(len(self.candidates))
        self._widths = np.full(len(self.candidates), np.inf)

    def narrowed(self, forced: Indices, open_ones: Indices, workers: Workers | None = None) -> Field:
        """A field of these positions only; what is kept in memory is shared with it."""
        left = np.concatenate([forced, open_ones])
        part = copy.copy(self)
        part.workers = workers or self.workers
        part.candidates = self.candidates[left]
        part._floors, part._thresholds, part._widths = self._floors[left], self._thresholds[left], self._widths[left]
        part.forced, part.open = np.arange(len(forced)), np.arange(len(forced), len(left))
        part.rules = tuple(rule.among(left) for rule in self.rules)
        return part

    def ruled(self, members: Indices, least: int, most: int) -> Field:
        """The same field, with one rule more: so many picks are among these candidates."""
        ruled = copy.copy(self)
        rules = [*self.rules, Rule(np.isin(self.candidates, members), least, most)]
        ruled.rules = tuple(sorted(rules, key=lambda rule: int(rule.members.sum())))
        return ruled

    @property
    def possible(self) -> bool:
        """Whether any selection obeys the rules."""
        return self._cheapest(np.zeros(len(self.open))) is not None

    def _cheapest(self, values: Floats) -> Indices | None:
        """Which of the open positions are counted at these values of theirs."""
        rules = []
        for rule in self.rules:
            inside = int(rule.members[self.forced].sum())
            rules.append(Rule(rule.members[self.open], rule.least - inside, rule.most - inside))
        return cheapest(values, self.budget - len(self.forced), rules)

    def keep(self, positions: Indices) -> None:
        """Have in memory the costs of the forced candidates and of these, and of others only as there is room left."""
        wanted = self.candidates[np.concatenate([self.forced, positions])]
        self.rows.keep(wanted, self.candidates, self.workers)

    def cheapest(self, count: int) -> Indices:
        """Open positions, those of least value first, at most so many."""
        return self.open[np.argsort(self._floors[self.open], kind="stable")[:count]]

    def spread(self, count: int) -> Indices:
        """Open positions of least value: so many of all, and some that obey each of the rules and its contrary."""
        found = [self.cheapest(max(count, 4 * self.budget))]
        for rule in self.rules:
            for side in (rule.members[self.open], ~rule.members[self.open]):
                some = self.open[side]
                order = np.argsort(self._floors[some], kind="stable")
                found.append(some[order[: max(count // 4, self.budget)]])
        return np.unique(np.concatenate(found))

    def evaluate(self, prices: Floats, slack: float = 0.0) -> Evaluation:
        """The bound at ``prices``, free of any error but that of the distances' precision.

        Candidates whose value is known from earlier prices to be too large to be counted, even with ``slack`` taken off
        it, are not looked at.
        """
        self._aim(prices)
        self._look(self.forced)
        missing = self.budget - len(self.forced)
        counted = self._look_by_rules(missing) if self.rules else self._look_for(missing, slack)
        chosen = np.concatenate([self.forced, counted])
        value = float(self.pool.masses @ prices + self._floors[chosen].sum())
        picks = self.candidates[chosen]
        taken = self.rows.taken(picks, prices, self._thresholds[chosen], self.workers)
        return Evaluation(prices, value, self._floors[self.open], picks, self.pool.masses - taken)

    def prove(self, evaluation: Evaluation) -> tuple[float, Floats]:
        """What is certain in spite of rounding: the bound and, for every open candidate, one for selections with it.

        The values that count are computed again from distances in double precision. An error of e in every distance
        changes a value by at most h e, as no pick carries more than h, and any plan's cost by at most e, as the pool's
        mass is 1; a sum of n terms in double precision is off by at most n u times the sum of their magnitudes. A
        selection with candidate j costs at least the bound with j in place of the costliest one counted.
        """
        pool, missing = self.pool, self.budget - len(self.forced)
        values, forced = evaluation.open_values, self._precise(self.forced, evaluation.prices)
        precise = np.full(len(values), self._dtype is np.float64)
        if not precise.all():
            values = values - pool.rounding(self._dtype) * self.shares.high
        while True:
            counted = self._cheapest(values)
            assert counted is not None
            vague = counted[~precise[counted]]
            if not len(vague):
                break
            values[vague] = self._precise(self.open[vague], evaluation.prices)
            precise[vague] = True
        chosen = values[counted]
        value = float(pool.masses @ evaluation.prices + forced.sum() + chosen.sum())
        terms = float(np.abs(evaluation.prices).max()) + np.abs(forced).sum() + np.abs(chosen).sum()
        bound = value - pool.rounding(np.float64) - 4 * (pool.n + self.budget) * 2.0**-53 * (terms + abs(value))
        if not 0 < missing < len(values):
            return bound, np.full(len(values), bound)
        return bound, bound - chosen.max() + values

    def _precise(self, positions: Indices, prices: Floats) -> Floats:
        """Values at these positions from distances in double precision."""

        def values(part: slice) -> Floats:
            costs = self.pool.distances(self.candidates[positions[part]])
            rows = np.arange(len(costs))
            anywhere = np.full(len(rows), np.inf)
            found, _ = lifted.values(costs, rows, prices, self.pool.masses, self.shares, np.zeros(len(rows)), anywhere)
            return found

        parts = slices(len(positions), max(1, _PRECISE // self.pool.n))
        return np.concatenate([np.zeros(0), *self.workers.map(values, parts)])

    def _aim(self, prices: Floats) -> None:
        """Carry what is known of the candidates from the last prices over to these."""
        change = prices - self._prices
        masses = self.pool.masses
        mean = float(masses @ change)
        self._thresholds -= mean
        self._widths += float(np.sqrt(masses @ np.square(change - mean))) + 1e-9 * (1 + abs(mean))
        # A value falls by no more than the change weighs in any share: the least value of costs 0 at this change.
        nothing = np.zeros((1, self.pool.n), np.float32)
        least, _ = lifted.values(nothing, _FIRST, change, masses, self.shares, np.zeros(1), np.full(1, np.inf))
        self._floors += least[0] - 1e-13 * float(np.abs(change).max())
        self._prices = prices

    def _look_for(self, count: int, slack: float) -> Indices:
        """The ``count`` open positions of least value; values are computed until it is certain which they are."""
        if not count:
            return self.open[:0]
        unseen = self.open[np.argsort(self._floors[self.open], kind="stable")]
        seen = unseen[:0]
        batch = 2 * count
        while len(unseen):
            seen, unseen = np.append(seen, unseen[:batch]), unseen[batch:]
            self._look(np.sort(seen[-batch:]))
            enough = np.partition(self._floors[seen], count - 1)[count - 1] if len(seen) >= count else np.inf
            unsharp = unseen[self._floors[unseen] <= enough + slack]
            unsharp = unsharp[~self.rows.kept(self.candidates[unsharp])]
            if len(unsharp) > _MANY and len(seen) <= 2 * count:
                self._sweep(np.sort(unsharp))
                unseen = unseen[np.argsort(self._floors[unseen], kind="stable")]
            unseen = unseen[: np.searchsorted(self._floors[unseen], enough, side="right")]
            batch *= 4
        return seen[np.argsort(self._floors[seen], kind="stable")[:count]]

    def _look_by_rules(self, count: int) -> Indices:
        """The ``count`` open positions of least value that obey the rules."""
        batch = 2 * count
        while True:
            counted = self._cheapest(self._floors[self.open])
            assert counted is not None
            chosen = self.open[counted]
            vague = self._widths[self.open] > 0
            if not vague[counted].any():
                return chosen
            wanted = [counted[vague[counted]]]
            for rule in self.rules:
                inside = np.flatnonzero(vague & rule.members[self.open])
                wanted.append(inside[np.argsort(self._floors[self.open[inside]], kind="stable")[:batch]])
            anywhere = np.flatnonzero(vague)
            wanted.append(anywhere[np.argsort(self._floors[self.open[anywhere]], kind="stable")[:batch]])
            self._look(self.open[np.unique(np.concatenate(wanted))])
            batch *= 2

    def _sweep(self, positions: Indices) -> None:
        """Bound the values at these positions from below, in one pass over their costs that selects nothing."""
        found, thresholds = self.rows.floors(self.candidates[positions], self._prices, self.workers)
        self._floors[positions] = np.maximum(self._floors[positions], found)
        self._thresholds[positions], self._widths[positions] = thresholds, np.inf

    def _look(self, positions: Indices) -> None:
        """Compute the values at these positions."""
        picks, thresholds, widths = self.candidates[positions], self._thresholds[positions], self._widths[positions]
        found, thresholds = self.rows.values(picks, self._prices, thresholds, widths, self.workers)
        self._floors[positions], self._thresholds[positions], self._widths[positions] = found, thresholds, 0.0
