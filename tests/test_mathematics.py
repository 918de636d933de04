"""Statements of docs/mathematics.md that no other test holds: against HiGHS, or all selections of small pools."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from handful import lifted
from handful.bound import Field
from handful.lifted import Shares
from oracles import Tiny, crew, emd_cost, lifted_values

Floats = NDArray[np.float64]

RANGES = ["uniform", "free", (0.1, 0.5)]


def values(costs: Floats, prices: Floats, masses: Floats, shares: Shares) -> Floats:
    """The values that the package computes, with nothing known of the thresholds."""
    count = len(costs)
    found, _ = lifted.values(costs, np.arange(count), prices, masses, shares, np.zeros(count), np.full(count, np.inf))
    return found


def tiny(seed: int, weight: object = "uniform", metric: str = "euclidean") -> Tiny:
    random = np.random.default_rng(seed)
    points = random.normal(size=(9, 2)) + 3 * random.integers(0, 2, (9, 1))
    masses = random.random(9) + 0.2 if seed % 2 else None
    already = (4,) if seed % 3 == 0 else ()
    return Tiny(points, 3 - len(already), metric, weight, masses, None, already)  # type: ignore[arg-type]


def relaxation(tiny: Tiny, coupled: bool) -> tuple[float, Floats]:
    """Value of the linear relaxation, and the duals of "every point is served"; shares first, then parts of picks."""
    pool, shares, n = tiny.pool, tiny.shares, tiny.pool.n
    costs = pool.distances(np.arange(n))  # rows are candidates
    every = np.eye(n)
    carried = np.kron(every, np.ones(n))
    rows = [np.hstack([carried, -shares.high * every]), np.hstack([-carried, shares.low * every])]
    if coupled:
        rows.append(np.hstack([np.eye(n * n), -np.kron(every, pool.masses[:, None])]))
    upper = np.vstack(rows)
    served = np.hstack([np.tile(every, n), np.zeros((n, n))])
    counted = np.append(np.zeros(n * n), np.ones(n))
    solved = linprog(
        np.append(costs.ravel(), np.zeros(n)),
        A_ub=upper,
        b_ub=np.zeros(len(upper)),
        A_eq=np.vstack([served, counted]),
        b_eq=np.append(pool.masses, tiny.picks),
        bounds=[*[(0, None)] * (n * n), *((float(j in tiny.already), 1) for j in range(n))],
    )
    assert solved.status == 0
    return float(solved.fun), solved.eqlin.marginals[:n]


def bound(tiny: Tiny, prices: Floats) -> float:
    """L(u), by the package's field of candidates."""
    pool = tiny.pool
    with crew() as workers:
        forced = np.array(tiny.already, np.int64)
        field = Field(pool, tiny.shares, tiny.picks, forced, pool.candidates, workers, room=99, dtype=np.float64)
        return field.evaluate(prices).value


@pytest.mark.parametrize("weight", RANGES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_the_best_prices_reach_the_linear_relaxation(seed: int, weight: object) -> None:
    problem = tiny(seed, weight)
    value, prices = relaxation(problem, coupled=True)
    assert bound(problem, prices) == pytest.approx(value, rel=1e-7, abs=1e-9)
    random = np.random.default_rng(seed)
    for size in (0.01, 0.3, 3.0):
        assert bound(problem, prices + size * random.normal(size=9)) <= value + 1e-9
    assert value <= min(problem.costs().values()) + 1e-9
    weak, _ = relaxation(problem, coupled=False)
    assert weak <= value + 1e-9
    if weight == "uniform" and problem.masses is None and not problem.already:
        assert weak == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("weight", RANGES, ids=str)
def test_what_was_known_at_other_prices_bounds_the_values(weight: object) -> None:
    random = np.random.default_rng(0)
    tight = 0
    for seed in range(30):
        problem = tiny(seed, weight)
        pool, shares = problem.pool, problem.shares
        costs, masses = pool.distances(np.arange(9)), pool.masses
        # A constant added to prices so high that candidates carry all they can changes all values by the same.
        before = random.normal(size=9) + (9 if seed % 3 == 0 else 0)
        change = np.full(9, 0.7) if seed % 3 == 0 else random.normal(size=9)
        least = values(np.zeros((1, 9)), change, masses, shares)[0]
        old = lifted_values(costs, before, masses, shares.low, shares.high)
        new = lifted_values(costs, before + change, masses, shares.low, shares.high)
        assert (new >= old + least - 1e-12).all()
        tight += bool((new <= old + least + 1e-12).any())
    assert tight >= 5


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("weight", RANGES, ids=str)
def test_the_value_of_one_candidate_bounds_those_around_it(weight: object, metric: str) -> None:
    random = np.random.default_rng(1)
    for seed in range(30):
        problem = tiny(seed, weight, metric)
        pool, shares = problem.pool, problem.shares
        costs = pool.distances(np.arange(9))
        found = values(costs, random.normal(size=9), pool.masses, shares)
        assert (found[:, None] >= found[None, :] - shares.high * costs - 1e-12).all()


@pytest.mark.parametrize("weight", RANGES, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_candidates_are_left_out_and_forced_in_rightly(seed: int, weight: object) -> None:
    """Theorems 7 and 8, at any prices: on the selections with a candidate, and on those without it."""
    problem = tiny(seed, weight)
    pool, costs = problem.pool, problem.costs()
    already = np.array(problem.already, np.int64)
    _, good = relaxation(problem, coupled=True)
    random = np.random.default_rng(seed)
    with crew() as workers:
        field = Field(pool, problem.shares, problem.picks, already, pool.candidates, workers, room=99, dtype=np.float64)
        for size in (0.0, 0.1, 1.0):
            evaluation = field.evaluate(good + size * random.normal(size=9))
            value, with_each = field.prove(evaluation)
            rows = field.candidates[field.open]
            for row, least in zip(rows.tolist(), with_each, strict=True):
                assert least <= min(cost for picks, cost in costs.items() if row in picks) + 1e-12
            found, free = evaluation.open_values, problem.picks - len(already)
            order = np.argsort(found)
            for j in order[:free]:
                without = [cost for picks, cost in costs.items() if rows[j] not in picks]
                assert value - found[j] + found[order[free]] <= min(without) + 1e-12


def test_a_mean_of_prices_proves_the_mean_of_the_bounds() -> None:
    random = np.random.default_rng(2)
    for seed in range(20):
        problem = tiny(seed, RANGES[seed % 3])
        pool, shares = problem.pool, problem.shares
        costs = pool.distances(np.arange(9))
        some = random.normal(size=(4, 9))
        weights = random.dirichlet(np.ones(4))
        each = np.array([lifted_values(costs, prices, pool.masses, shares.low, shares.high) for prices in some])
        assert (values(costs, weights @ some, pool.masses, shares) >= weights @ each - 1e-12).all()


def test_the_lines_of_the_first_theorem_are_equal_at_an_optimal_plan() -> None:
    """Tightness: at the duals of the transport to a selection, the bound by its values is its cost."""
    for seed in range(10):
        problem = tiny(seed)
        pool = problem.pool
        costs = pool.distances(np.arange(9))
        picks = np.array(next(itertools.islice(problem.selections(), seed, None)))
        n, count = 9, len(picks)
        solved = linprog(
            costs[picks].ravel(),
            A_eq=np.vstack([np.tile(np.eye(n), count), np.kron(np.eye(count), np.ones(n))]),
            b_eq=np.append(pool.masses, np.full(count, 1 / count)),
        )
        prices = solved.eqlin.marginals[:n]
        found = values(costs[picks], prices, pool.masses, problem.shares)
        cost = emd_cost(costs[picks], pool.masses, 1 / count, 1 / count)
        assert pool.masses @ prices + found.sum() == pytest.approx(cost, rel=1e-8)


# Any two nested or disjoint, with the least and the greatest number of picks of each.
COUNTED = [({0, 1, 2}, 1, 2), ({0, 1, 2, 3, 4}, 1, 3), ({5, 6}, 0, 1), ({5, 6, 7}, 1, 2)]


@pytest.mark.parametrize("count", [3, 4, 5])
def test_two_selections_may_exchange_a_candidate(count: int) -> None:
    def obeys(picks: set[int]) -> bool:
        return all(least <= len(picks & members) <= most for members, least, most in COUNTED)

    allowed = [picks for picks in map(set, itertools.combinations(range(9), count)) if obeys(picks)]
    assert len(allowed) > 20
    for one, other in itertools.product(allowed, repeat=2):
        for j in other - one:
            assert any(obeys(one - {i} | {j}) and obeys(other - {j} | {i}) for i in one - other)
    values = np.random.default_rng(count).normal(size=9)
    best = min(allowed, key=lambda picks: values[list(picks)].sum())
    for j in set(range(9)) - best:
        places = [values[i] for i in best if obeys(best - {i} | {j})]
        least = min((values[list(picks)].sum() for picks in allowed if j in picks), default=np.inf)
        assert least == pytest.approx(values[list(best)].sum() - max(places, default=-np.inf) + values[j])
