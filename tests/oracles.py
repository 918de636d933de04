"""What the engine is compared with: other people's solvers, and slow code that does what the formula says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import ot
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from handful import Pool, Selection
from handful.blocks import Workers, workers
from handful.clock import Clock
from handful.lifted import Shares
from handful.proof import NONE, ROOT

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@contextmanager
def crew(threads: int = 1) -> Iterator[Workers]:
    """Threads under a clock that never runs out."""
    with workers(threads, Clock(np.inf)) as team:
        yield team


def emd_cost(costs: NDArray[Any], masses: Floats, low: float, high: float) -> float:
    """Optimum of the transport of points to picks (rows of ``costs``), by POT's network simplex.

    A range becomes a balanced problem with two columns per pick, of capacity l and h - l, and one more row for the
    capacity that stays idle, which may only be of the second kind.
    """
    costs = np.asarray(costs, np.float64)
    picks = len(costs)
    if low <= 0 and high >= 1:
        return float(masses @ costs.min(axis=0))
    if np.isclose(low * picks, 1, rtol=1e-13) or np.isclose(high * picks, 1, rtol=1e-13):
        return _emd(masses, np.full(picks, 1 / picks), costs.T)
    never = 10 * float(costs.max())
    idle = np.concatenate([np.full(picks, never), np.zeros(picks)])
    rows = np.vstack([np.tile(costs.T, 2), idle])
    columns = np.repeat([low, high - low], picks)
    return _emd(np.append(masses, columns.sum() - 1), columns, rows)


def _emd(rows: Floats, columns: Floats, costs: Floats) -> float:
    # POT wants equal sums to the last digit that it looks at, and takes differences of 1e-15 or so for none.
    columns = columns * (rows.sum() / columns.sum())
    scaled = np.ascontiguousarray(costs) / (float(costs.max()) or 1.0)
    flow, log = ot.emd(rows, columns, scaled, numItermax=10_000_000, log=True)
    assert log["warning"] is None
    return float((flow * costs).sum())


def linear_program(costs: NDArray[Any], masses: Floats, low: float, high: float) -> float:
    """The same optimum by HiGHS, as a linear program."""
    picks, points = costs.shape
    carried = np.kron(np.eye(picks), np.ones(points))
    solved = linprog(
        np.asarray(costs, np.float64).ravel(),
        A_eq=np.tile(np.eye(points), picks),
        b_eq=masses,
        A_ub=np.vstack([carried, -carried]),
        b_ub=np.repeat([high * (1 + 1e-12), -low * (1 - 1e-12)], picks),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)


def knapsack(terms: Floats, masses: Floats, low: float, high: float) -> tuple[float, Floats]:
    """The lifted value and the mass of every term: cheapest first up to ``low``, then negative ones up to ``high``."""
    taken = np.zeros(len(terms))
    total = 0.0
    for i in np.argsort(terms, kind="stable"):
        most = high if terms[i] < 0 else low
        taken[i] = min(masses[i], max(0.0, most - total))
        total += taken[i]
    return float(taken @ terms), taken


def lifted_values(costs: NDArray[Any], prices: Floats, masses: Floats, low: float, high: float) -> Floats:
    """`knapsack` for every row of ``costs``, sorted and accumulated."""
    terms = np.asarray(costs, np.float64) - prices
    order = np.argsort(terms, axis=1)
    terms = np.take_along_axis(terms, order, axis=1)
    before = np.cumsum(masses[order], axis=1) - masses[order]
    taken = np.clip(np.where(terms < 0, high, low) - before, 0, masses[order])
    return np.asarray((taken * terms).sum(axis=1))


def lower_bound(values: Floats, prices: Floats, masses: Floats, inside: Indices, others: Indices, picks: int) -> float:
    """L(u): the values of ``inside`` and the least of ``others``, up to so many picks."""
    cheapest = np.sort(values[others])[: picks - len(inside)]
    return float(masses @ prices + values[inside].sum() + cheapest.sum())


@dataclass(frozen=True)
class Tiny:
    """A problem small enough to look at every selection."""

    points: NDArray[Any]
    budget: int
    metric: str = "cosine"
    picks_weight: str | tuple[float, float] = "uniform"
    masses: Floats | None = None
    candidates: tuple[int, ...] | None = None
    already: tuple[int, ...] = ()
    count_already: bool = False

    @property
    def pool(self) -> Pool:
        return Pool(self.points, self.metric, masses=self.masses, candidates=self.candidates)

    @property
    def picks(self) -> int:
        """All picks of the plan, earlier ones too."""
        return self.budget + (0 if self.count_already else len(self.already))

    @property
    def shares(self) -> Shares:
        if isinstance(self.picks_weight, tuple):
            return Shares(*self.picks_weight)
        return Shares(0.0, 1.0) if self.picks_weight == "free" else Shares(1 / self.picks, 1 / self.picks)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of ``select`` beside pool and budget."""
        return {"picks_weight": self.picks_weight, "already": self.already, "count_already": self.count_already}

    def selections(self) -> Iterator[tuple[int, ...]]:
        """Every feasible set of picks, earlier ones first."""
        free = np.setdiff1d(self.pool.candidates, self.already).tolist()
        for new in itertools.combinations(free, self.picks - len(self.already)):
            yield (*self.already, *new)

    def costs(self) -> dict[tuple[int, ...], float]:
        """The transport cost of every feasible set of picks."""
        pool = self.pool
        all_costs = pool.distances(np.arange(pool.n))
        return {
            picks: emd_cost(all_costs[list(picks)], pool.masses, self.shares.low, self.shares.high)
            for picks in self.selections()
        }


@dataclass(frozen=True)
class Part:
    """Selections with all of ``inside`` (and one of ``some``, if given), the rest from ``others``, and their bound."""

    inside: frozenset[int]
    others: frozenset[int]
    some: frozenset[int] | None
    bound: float
    limits: tuple[tuple[frozenset[int], int, int], ...] = ()

    def covers(self, picks: tuple[int, ...]) -> bool:
        chosen = frozenset(picks)
        fits = self.inside <= chosen <= self.inside | self.others
        counts = all(least <= len(chosen & members) <= most for members, least, most in self.limits)
        return fits and counts and (self.some is None or bool(chosen & self.some))


Limits = tuple[tuple[frozenset[int], int, int], ...]


def limited_sum(values: Floats, rows: tuple[Indices, Indices], picks: int, limits: Limits) -> float:
    """The least sum of values of the other rows that complete the picks within the limits; infinite if none do.

    Among all subsets where these are few; otherwise HiGHS is asked, whose answer may be a little above the least.
    """
    inside, others = rows
    counts = [np.isin(others, list(members)).astype(float) for members, _, _ in limits]
    held = [int(np.isin(inside, list(members)).sum()) for members, _, _ in limits]
    least = [low - known for (_, low, _), known in zip(limits, held, strict=True)]
    most = [high - known for (_, _, high), known in zip(limits, held, strict=True)]
    missing = picks - len(inside)
    if math.comb(len(others), missing) <= 20_000:
        table = np.array(counts)
        sums = [
            math.fsum(values[list(some)])
            for some in itertools.combinations(range(len(others)), missing)
            if (least <= (within := table[:, list(some)].sum(axis=1))).all() and (within <= most).all()
        ]
        return min(sums, default=np.inf)
    scale = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    found = milp(
        values / scale,
        integrality=np.ones(len(others)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.array([*counts, np.ones(len(others))]), [*least, missing], [*most, missing]),
    )
    return float(values[found.x > 0.5].sum()) if found.status == 0 else np.inf


def proof_parts(selection: Selection) -> list[Part]:
    """Walk the proof case by case; the bound of each part is computed over all of its candidates, by sorting."""
    pool, proof = selection.pool, selection.proof
    masses, picks = pool.masses, len(selection.picks)
    costs = pool.distances(np.arange(pool.n))
    values = [lifted_values(costs, prices, masses, selection.low, selection.high) for prices in proof.prices]

    def bound(vector: int, inside: list[int], others: list[int], limits: Limits) -> float:
        rows = np.array(inside, np.int64), np.array(others, np.int64)
        if not limits:
            return lower_bound(values[vector], proof.prices[vector], masses, *rows, picks)
        fixed = float(masses @ proof.prices[vector]) + float(values[vector][rows[0]].sum())
        return fixed + limited_sum(values[vector][rows[1]], rows, picks, limits)

    parts: list[Part] = []

    def walk(case: int, inside: list[int], others: list[int], limits: Limits) -> None:
        for candidate, vector in [(j, vector) for number, j, vector in proof.discarded if number == case]:
            assert candidate in others
            rest = [j for j in others if j != candidate]
            if 0 < picks - len(inside) <= len(others):
                least = bound(vector, [*inside, candidate], rest, limits)
                parts.append(Part(frozenset(inside), frozenset(others), frozenset([candidate]), least, limits))
            others = rest
        halves = [number for number, parent in enumerate(proof.parents) if parent == case]
        if not halves:
            if 0 <= picks - len(inside) <= len(others):
                least = bound(proof.closing[case], inside, others, limits)
                parts.append(Part(frozenset(inside), frozenset(others), None, least, limits))
            return
        assert sorted(proof.included[half] for half in halves) == [False, True]
        assert len({proof.branches[half] for half in halves}) == 1
        branch = proof.branches[halves[0]]
        if branch < NONE:
            members, most = proof.regions[-2 - branch]
            some = frozenset(members.tolist())
            for half in halves:
                limit = (some, most + 1, len(some)) if proof.included[half] else (some, 0, most)
                walk(half, inside, others, (*limits, limit))
            return
        assert branch in others
        for half in halves:
            rest = [j for j in others if j != branch]
            walk(half, [*inside, branch] if proof.included[half] else inside, rest, limits)

    assert proof.parents[ROOT] == NONE
    already = selection.already.tolist()
    walk(ROOT, already, np.setdiff1d(pool.candidates, already).tolist(), ())
    return parts


def proven(selection: Selection) -> float:
    """What the proof of a selection proves: the least bound of any part."""
    return min(part.bound for part in proof_parts(selection))
