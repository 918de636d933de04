"""Search for good picks: alternate between transport and medoids, and perturb.

Alternation is Lloyd's and Maranzana's idea with the exact plan in place of nearest points: transport the pool to the
picks, replace every pick by the best medoid of the points it serves, repeat. It ends in a local optimum, out of which
a perturbation leads: drop one or two picks and put others where the plan is dear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.lifted import Shares
from handful.pool import Pool
from handful.transport import Plan, transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MEDOID_CELLS = 2_000_000  # distances looked at, at most, to find the medoid of one group


@dataclass(frozen=True)
class Found:
    """Picks with the distance of their optimal plan, and the prices that go with it."""

    picks: Indices
    distance: float
    pick_prices: Floats


class Search:
    """Looks for picks among ``candidates``; the first ``forced`` picks are never moved.

    With ``rows``, distances are those of a sample of the pool: faster, and good enough to find where picks should be.
    Once ``over`` says so, alternation ends with what it has.
    """

    def __init__(
        self,
        pool: Pool,
        shares: Shares,
        candidates: Indices,
        forced: Indices,
        rows: Indices | None = None,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.candidates = candidates
        self.forced = forced
        self.rows = np.arange(pool.n) if rows is None else rows
        self._points = slice(None) if rows is None else rows  # all rows in their order need no copy
        self._over = over
        masses = pool.masses[self.rows]
        self.masses = masses / masses.sum()

    def solve(self, picks: Indices, start: Floats | None = None) -> Plan:
        """The optimal plan of ``picks``."""
        return transport(self._costs(picks), self.masses, self.shares.low, self.shares.high, start=start)

    def seed(self, count: int, random: np.random.Generator) -> Indices:
        """Picks drawn far from each other (k-means++; Arthur & Vassilvitskii 2007), after the forced ones."""
        picks = self.forced
        nearest = np.full(len(self.rows), np.inf)
        for new in range(count):
            if new == 0 and not len(picks):
                added = self._near(random.choice(self.rows, p=self.masses), picks)
            else:
                nearest = np.minimum(nearest, self._costs(picks[-1:] if new else picks).min(axis=0))
                added = self._draw(nearest, picks, random)
            picks = np.append(picks, added)
        return picks

    def alternate(self, picks: Indices, start: Floats | None = None) -> Found:
        """Transport and medoids in turn, until the distance no longer falls."""
        plan = self.solve(picks, start)
        best = Found(picks, plan.distance, plan.pick_prices)
        while True:
            moved = self.moved(best.picks, plan)
            if (moved == best.picks).all() or self._over():
                return best
            plan = self.solve(moved, best.pick_prices)
            if plan.distance >= best.distance:
                return best
            best = Found(moved, plan.distance, plan.pick_prices)

    def perturb(self, found: Found, random: np.random.Generator, hints: Floats | None = None) -> Found:
        """Exchange one or two picks for others, and alternate.

        The others are drawn where the plan is dear or, half of the time if there are ``hints`` (how likely each
        candidate is in a good selection), by the hints.
        """
        free = len(found.picks) - len(self.forced)
        others = len(self.candidates) - int(self._allowed(found.picks).sum())
        count = min(free, others, int(random.integers(1, 3)))
        if not count:
            return found
        dropped = len(self.forced) + random.choice(free, count, replace=False)
        picks = np.delete(found.picks, dropped)
        prices = np.delete(found.pick_prices, dropped)
        hinted = hints is not None and random.random() < 0.5
        nearest = self._costs(picks).min(axis=0) if len(picks) else np.ones(len(self.rows))
        for _ in range(count):
            chances = np.zeros(1)
            if hinted and hints is not None:
                chances = np.where(np.isin(self.candidates, picks), 0.0, hints)
            if chances.sum() > 0:
                added = int(random.choice(self.candidates, p=chances / chances.sum()))
            else:
                added = self._draw(nearest, picks, random)
            nearest = np.minimum(nearest, self._costs(np.array([added]))[0])
            picks, prices = np.append(picks, added), np.append(prices, 0.0)
        return self.alternate(picks, prices)

    def _costs(self, picks: Indices) -> NDArray[np.float32]:
        return self.pool.distances(picks, self._points, dtype=np.float32)

    def _allowed(self, rows: Indices) -> NDArray[np.bool_]:
        """Which of these rows are candidates."""
        at = np.minimum(np.searchsorted(self.candidates, rows), len(self.candidates) - 1)
        return np.asarray(self.candidates[at] == rows)

    def _draw(self, weights: Floats, picks: Indices, random: np.random.Generator) -> int:
        """A candidate near a point drawn by mass times ``weights``."""
        chances = self.masses * weights
        total = chances.sum()
        point = self.rows[random.choice(len(chances), p=chances / total if total > 0 else self.masses)]
        return self._near(point, picks)

    def _near(self, point: int, picks: Indices) -> int:
        if point not in picks and self._allowed(np.array([point]))[0]:
            return int(point)
        open_ones = np.setdiff1d(self.candidates, picks, assume_unique=True)
        return int(open_ones[np.argmin(self.pool.distances(open_ones, np.array([point]), dtype=np.float32)[:, 0])])

    def moved(self, picks: Indices, plan: Plan) -> Indices:
        """For every group of the plan the candidate that serves it at the least cost."""
        order = np.argsort(plan.columns, kind="stable")
        members, mass, columns = self.rows[plan.rows[order]], plan.mass[order], plan.columns[order]
        groups, starts = np.unique(columns, return_index=True)
        moved = picks.copy()
        linear = self.pool.metric.linear
        costs = self.pool.group_costs(members, starts, mass, self.candidates) if linear else None
        for g, b in enumerate(groups):
            if b < len(self.forced):
                continue
            part = slice(starts[g], starts[g + 1] if g + 1 < len(starts) else None)
            if costs is not None:
                options, option_costs = self.candidates, costs[g]
            else:
                options, option_costs = self._options(members[part], mass[part], picks[b])
            taken = set(np.delete(moved, b).tolist())
            best = int(np.argmin(option_costs))
            while int(options[best]) in taken:
                option_costs[best] = np.inf
                best = int(np.argmin(option_costs))
            moved[b] = options[best]
        return moved

    def _options(self, members: Indices, mass: Floats, current: int) -> tuple[Indices, Floats]:
        """Medoids to choose from where all candidates are too many: members of the group, and their costs.

        If those are many too, only the ones that serve an even sample of the group best.
        """
        whole = np.zeros(1, np.int64)
        options = np.union1d(np.intersect1d(self.candidates, members, assume_unique=True), [current])
        if len(options) * len(members) > _MEDOID_CELLS:
            even = np.linspace(0, len(members) - 1, max(16, _MEDOID_CELLS // (2 * len(options)))).astype(np.int64)
            costs = self.pool.group_costs(members[even], whole, mass[even], options)[0]
            best = np.argsort(costs, kind="stable")[: max(16, _MEDOID_CELLS // (2 * len(members)))]
            options = np.union1d(options[best], [current])
        return options, self.pool.group_costs(members, whole, mass, options)[0]
