"""Bounds over near pairs, the exact relaxation, and the tree, against dense formulas, SciPy and brute force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import handful
from handful import Pool
from handful.blocks import workers
from handful.clock import Clock
from handful.near import Cells, NearPairs, savings
from handful.near_ascent import NearAscent
from handful.radius import Radius
from oracles import Tiny, lifted_values, proven

METRICS = ["euclidean", "sqeuclidean", "manhattan", "cosine", "rbf:1.5", "precomputed"]


def pool_of(seed: int, n: int, metric: str, dimension: int = 2) -> Pool:
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, dimension)) + 2 * random.integers(0, 4, size=(n, 1))
    if metric == "precomputed":
        points = random.integers(0, 30, size=(n, n)).astype(float)
    return Pool(points, metric, masses=random.random(n) + 0.1)


@given(st.integers(0, 10_000), st.sampled_from(METRICS), st.sampled_from([1, 2, 12]))
@settings(max_examples=30, deadline=None)
def test_near_pairs_give_the_values_of_all_pairs(seed: int, metric: str, dimension: int) -> None:
    pool = pool_of(seed, 230, metric, dimension)
    random = np.random.default_rng(seed)
    candidates = np.sort(random.choice(230, 90, replace=False))
    costs = pool.distances(candidates)
    horizon = random.uniform(0.05, 0.6, 230) * costs.max()
    prices = horizon * random.uniform(0, 1, 230)
    expected = -lifted_values(costs, prices, pool.masses, 0.0, 1.0)
    cells = Cells(pool)
    with workers(2, Clock(60)) as crew:
        assert savings(cells, candidates, prices, crew) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        pairs = NearPairs(cells, candidates, horizon, crew)
    assert len(pairs.costs) == (costs < horizon).sum()
    everyone = np.arange(90)
    assert pairs.savings(everyone, prices) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    some = np.array([4, 7, 50])
    assert pairs.taken(some, prices) == pytest.approx((costs[some] < prices).sum(axis=0) * pool.masses)
    kept = np.flatnonzero(random.random(90) < 0.5)
    pairs.keep(kept)
    assert pairs.savings(np.arange(len(kept)), prices) == pytest.approx(expected[kept], rel=1e-12, abs=1e-15)


def relaxation(pool: Pool, budget: int, inside: list[int], outside: list[int]) -> float:
    """The linear relaxation with y_ij <= z_j, by SciPy."""
    n = pool.n
    costs = np.append((pool.distances(np.arange(n)) * pool.masses).ravel(), np.zeros(n))
    linked = np.hstack([np.eye(n * n), -np.kron(np.eye(n), np.ones((n, 1)))])
    served = np.hstack([np.tile(np.eye(n), n), np.zeros((n, n))])
    counted = np.append(np.zeros(n * n), np.ones(n))
    bounds = [(0, None)] * (n * n) + [(float(j in inside), float(j not in outside)) for j in range(n)]
    equal, sides = np.vstack([served, counted]), np.append(np.ones(n), budget)
    solved = linprog(costs, linked, np.zeros(n * n), equal, sides, bounds)
    assert solved.status == 0
    return float(solved.fun)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", ["precomputed", "euclidean"])
def test_the_relaxation_is_that_of_linprog_and_its_prices_prove_it(seed: int, metric: str) -> None:
    pool = pool_of(seed, 18, metric)
    random = np.random.default_rng(seed)
    picks = random.permutation(18)
    inside, outside = [[], []] if seed == 0 else [picks[:1].tolist(), picks[1:4].tolist()]
    budget = int(random.integers(2, 6))
    costs = pool.distances(np.arange(18))
    with workers(1, Clock(60)) as crew:
        pairs = NearPairs(Cells(pool), np.arange(18), np.full(18, np.inf), crew)
        pairs.close_horizon()
        radius = Radius(pairs, budget, np.quantile(costs, 0.2, axis=0), 1.0)
        picked, prices = radius.solve(np.array(inside, np.int64), np.array(outside, np.int64), crew.clock)
    expected = relaxation(pool, budget, inside, outside)
    assert picked.sum() == pytest.approx(budget)
    assert picked[inside] == pytest.approx(1)
    assert picked[outside] == pytest.approx(0)
    values = lifted_values(costs, prices, pool.masses, 0.0, 1.0)
    free = np.setdiff1d(np.arange(18), [*inside, *outside])
    bound = pool.masses @ prices + values[inside].sum() + np.sort(values[free])[: budget - len(inside)].sum()
    assert bound == pytest.approx(expected, rel=1e-7)


def problems() -> list[Tiny]:
    found = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        n = int(random.integers(6, 12))
        metric = ["precomputed", "euclidean", "sqeuclidean", "manhattan", "cosine", "rbf:1.0"][seed % 6]
        points = random.integers(1, 20, (n, n)).astype(float) if metric == "precomputed" else random.normal(size=(n, 3))
        masses = random.integers(0, 4, n) + (np.arange(n) < 2) if seed % 3 == 0 else None
        candidates = tuple(sorted(random.choice(n, n - 2, replace=False).tolist())) if seed % 4 == 1 else None
        already = (0, 3) if seed % 5 == 2 else ()
        budget = 2 if already else int(random.integers(1, 4))
        weights = None if masses is None else masses.astype(float)
        found.append(Tiny(points, budget, metric, "free", weights, candidates, already))
    return found


@pytest.mark.parametrize("problem", problems(), ids=lambda tiny: f"{tiny.metric}-{tiny.budget}-{len(tiny.already)}")
def test_free_picks_are_the_best_there_are_and_proven_so(problem: Tiny, tmp_path: Path) -> None:
    best = min(problem.costs().values())
    run = handful.select(problem.pool, problem.budget, gap=0, time_limit=30, threads=1, **problem.options)
    assert run.distance == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert run.lower_bound == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert run.lower_bound <= best + 1e-12
    assert proven(run) >= run.lower_bound - 1e-12
    run.save(tmp_path / "run")
    assert handful.verify(problem.pool, tmp_path / "run").valid


def test_a_gap_of_the_relaxation_is_closed_by_cases() -> None:
    """Two lines of the Fano plane hold five of its seven points; parts of 2/7 of each line hold 6/7 of every point."""
    lines = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
    costs = np.ones((14, 14))
    for number, line in enumerate(lines):
        costs[list(line), 7 + number] = 0
    pool = Pool(costs, "precomputed", masses=np.repeat([1.0, 0.0], 7), candidates=np.arange(7, 14))
    run = handful.select(pool, 2, picks_weight="free", gap=0, time_limit=30, threads=1)
    assert (run.status, run.distance) == ("optimal", pytest.approx(2 / 7))
    assert run.lower_bound == pytest.approx(2 / 7, rel=1e-6)
    assert proven(run) >= run.lower_bound - 1e-12
    assert len(run.proof.parents) > 1


def test_a_pool_in_the_plane_is_solved_the_same_on_any_number_of_threads(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(1500, 2)) + 6 * random.integers(0, 3, size=(1500, 2))
    runs = [
        handful.select(points, 11, metric="euclidean", picks_weight="free", gap=0, time_limit=60, threads=threads)
        for threads in (1, 2)
    ]
    assert [run.status for run in runs] == ["optimal", "optimal"]
    assert np.array_equal(runs[0].indices, runs[1].indices)
    assert runs[0].lower_bound == runs[1].lower_bound
    runs[0].save(tmp_path / "run")
    assert handful.verify(points, tmp_path / "run").valid


def test_the_ascent_goes_on_from_an_earlier_proof() -> None:
    random = np.random.default_rng(3)
    pool = Pool(random.normal(size=(300, 2)), "euclidean")
    earlier = handful.select(pool, 4, picks_weight="free", gap=0, time_limit=30, threads=1)
    with workers(1, Clock(60)) as crew:
        ascent = NearAscent(pool, 4, np.empty(0, np.int64), crew, 10**9, 0)
        ascent.resume(earlier.proof, earlier.distance)
        bound = ascent.lower_bound
        assert 0.95 * earlier.distance <= bound <= earlier.distance
        assert len(ascent.survivors()) < 300
        assert np.isin(earlier.picks, ascent.survivors()).all()
        ascent.round(earlier.picks, earlier.distance)
        assert bound <= ascent.lower_bound <= earlier.distance * (1 + 1e-12)
    selection = replace(earlier, proof=ascent.proof, lower_bound=ascent.lower_bound)
    assert proven(selection) >= ascent.lower_bound - 1e-12
