"""Selections of tiny problems, proven best by looking at all of them, for the tests of certificates and runs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from handful.certificate import Certificate
from handful.pool import Pool
from handful.proof import ROOT, Proof
from handful.selection import Progress, Selection
from handful.transport import point_prices, transport

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    points: NDArray
    budget: int
    """All picks, those of earlier rounds too."""
    low: float
    high: float
    metric: str = "cosine"
    masses: Floats | None = None
    candidates: list[int] | None = None
    already: list[int] = field(default_factory=list)

    @property
    def pool(self) -> Pool:
        return Pool(self.points, self.metric, masses=self.masses, candidates=self.candidates)

    def with_one(self, candidate: int, prices: Floats) -> float:
        """The bound for the selections that hold this candidate."""
        return replace(self, already=[*self.already, int(candidate)]).bound(prices)

    def bound(self, prices: Floats) -> float:
        """L(u), each v_j by filling the knapsack term by term."""
        pool = self.pool
        values = {
            int(j): knapsack(pool.distances([j])[0] - prices, pool.masses, self.low, self.high)
            for j in np.union1d(pool.candidates, self.already).astype(np.int64)
        }
        others = sorted(value for j, value in values.items() if j not in self.already)
        forced = sum(values[j] for j in self.already)
        return float(pool.masses @ prices) + forced + sum(others[: self.budget - len(self.already)])


def knapsack(terms: Floats, masses: Floats, low: float, high: float) -> float:
    taken, value = 0.0, 0.0
    for i in np.argsort(terms):
        room = (high if terms[i] < 0 else low) - taken
        part = min(masses[i], max(0.0, room))
        taken += part
        value += part * terms[i]
    return float(value)


def _points(seed: int, n: int = 10) -> Floats:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(3, 4))
    return centres[np.arange(n) % 3] + 0.4 * random.normal(size=(n, 4))


def _masses(n: int = 10) -> Floats:
    return np.random.default_rng(7).integers(0, 5, n) / 16


CASES = {
    "uniform": Problem(_points(0, 9), 3, 1 / 3, 1 / 3),
    "not whole": Problem(_points(1), 3, 1 / 3, 1 / 3),
    "one pick": Problem(_points(2), 1, 1.0, 1.0),
    "free": Problem(_points(3), 3, 0.0, 1.0, "euclidean"),
    "ranged": Problem(_points(4), 3, 0.2, 0.36),
    "at least": Problem(_points(4), 3, 0.3, 1.0, "sqeuclidean"),
    "at most": Problem(_points(5), 3, 0.0, 0.35, "manhattan"),
    "masses": Problem(_points(6), 3, 1 / 3, 1 / 3, masses=_masses()),
    "masses, free": Problem(_points(7), 3, 0.0, 1.0, masses=_masses()),
    "masses, ranged": Problem(_points(8), 3, 0.25, 0.4, "rbf:1.5", masses=_masses()),
    "already": Problem(_points(9), 3, 1 / 3, 1 / 3, already=[7]),
    "candidates": Problem(_points(10), 3, 1 / 3, 1 / 3, candidates=[1, 2, 3, 5, 8, 9]),
    "already, no candidate": Problem(_points(11), 3, 0.1, 0.5, candidates=[1, 3, 4, 5, 8, 9], already=[0, 2]),
    "duplicates": Problem(_points(12)[np.arange(10) % 7], 3, 1 / 3, 1 / 3, "euclidean"),
    "precomputed": Problem(
        np.random.default_rng(13).integers(1, 30, (10, 10)).astype(np.float32), 3, 1 / 3, 1 / 3, "precomputed"
    ),
}


@lru_cache
def best(name: str) -> Selection:
    """The best picks of a case, with the prices of the best bound there is."""
    problem, pool = CASES[name], CASES[name].pool
    free = np.setdiff1d(pool.candidates, problem.already)
    sets = [
        np.array([*problem.already, *new], np.int64)
        for new in itertools.combinations(free, problem.budget - len(problem.already))
    ]
    plans = [transport(pool.distances(picks), pool.masses, problem.low, problem.high) for picks in sets]
    at = int(np.argmin([plan.distance for plan in plans]))
    picks, plan = sets[at], plans[at]
    prices = strongest_prices(problem)
    bound = min(problem.bound(prices) - 1e-13, plan.distance)
    return Selection(
        indices=picks[len(problem.already) :],
        already=picks[: len(problem.already)],
        distance=plan.distance,
        lower_bound=bound,
        masses=plan.shares(len(picks)),
        plan=picks[plan.labels(pool.distances(picks))],
        flow_rows=plan.rows,
        flow_picks=plan.columns,
        flow_masses=plan.mass,
        proof=Proof(prices=[prices], closing=[0]),
        low=problem.low,
        high=problem.high,
        status="gap",
        seconds=1.5,
        trace=(Progress(0.5, plan.distance * 2, 0.0, "search"), Progress(1.5, plan.distance, bound, "bound")),
        pool=pool,
    )


def strongest_prices(problem: Problem) -> Floats:
    """Duals of "every point is served" in the relaxation with y_ij <= a_i z_j."""
    pool, n = problem.pool, len(problem.points)
    open_ones = np.union1d(pool.candidates, problem.already).astype(np.int64)
    m = len(open_ones)
    costs = np.append(pool.distances(open_ones).ravel(), np.zeros(m))  # y of candidate 0, of candidate 1, ..., then z
    per_candidate, per_point = np.kron(np.eye(m), np.ones(n)), np.tile(np.eye(n), m)
    linked = np.hstack([np.eye(m * n), -np.kron(np.eye(m), pool.masses[:, None])])
    most = np.hstack([per_candidate, -problem.high * np.eye(m)])
    least = np.hstack([-per_candidate, problem.low * np.eye(m)])
    served = np.hstack([per_point, np.zeros((n, m))])
    counted = np.append(np.zeros(m * n), np.ones(m))
    solved = linprog(
        costs,
        A_ub=np.vstack([linked, most, least]),
        b_ub=np.zeros(m * n + 2 * m),
        A_eq=np.vstack([served, counted]),
        b_eq=np.append(pool.masses, problem.budget),
        bounds=[(0, None)] * (m * n) + [(float(j in problem.already), 1) for j in open_ones],
    )
    assert solved.status == 0
    return np.asarray(solved.eqlin.marginals[:n])


@lru_cache
def in_cases(name: str) -> Selection:
    """The best picks of a case, proven best: candidate after candidate is in or out, until one selection is left."""
    problem, pool, selection = CASES[name], CASES[name].pool, best(name)
    root = selection.prices
    proof = Proof()
    proof.close(ROOT, root)
    hopeless = [
        int(j)
        for j in np.setdiff1d(pool.candidates, problem.already)
        if problem.with_one(j, root) > best(name).distance
    ]
    proof.discard(ROOT, np.array(hopeless, np.int64), root)
    todo = [(ROOT, list(problem.already), np.setdiff1d(pool.candidates, [*problem.already, *hopeless]).tolist())]
    while todo:
        case, inside, others = todo.pop()
        missing = problem.budget - len(inside)
        if missing > len(others):
            continue
        if missing in (0, len(others)):
            picks = inside + others * (missing > 0)
            costs = pool.distances(picks)
            plan = transport(costs, pool.masses, problem.low, problem.high)
            proof.close(case, point_prices(costs, plan.pick_prices))
            continue
        within, without = proof.split(case, others[0])
        todo += [(within, [*inside, others[0]], others[1:]), (without, inside, others[1:])]
    return replace(selection, proof=proof, lower_bound=selection.distance * (1 - 1e-12), status="optimal")


def claim(problem: Problem, vectors: Floats, **proof: list) -> Certificate:
    """A certificate of these vectors of prices, with nothing in it about picks but their number."""
    tables = {"cases": [(-1, -1, 0, 0)], "discarded": [], "regions": [], "region_most": []} | proof
    return Certificate(
        picks=np.arange(problem.budget),
        shares=np.full(problem.budget, 1 / problem.budget),
        prices=vectors[0],
        further_prices=vectors[1:],
        cases=np.array(tables["cases"], np.int64).reshape(-1, 4),
        regions=np.array(tables["regions"], np.int64).reshape(-1, 2),
        region_most=np.array(tables["region_most"], np.int64),
        discarded=np.array(tables["discarded"], np.int64).reshape(-1, 3),
        distance=0.0,
        lower_bound=0.0,
        metric=problem.metric,
        low=problem.low,
        high=problem.high,
        already=np.array(problem.already, np.int64),
        candidates=problem.pool.candidates,
        masses=problem.pool.masses,
        fingerprint="",
        version="",
        claim="",
    )
