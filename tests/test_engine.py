"""The whole engine against every selection there is, and against what must hold of any."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, hstack, kron, vstack
from scipy.sparse import eye_array as identity

import handful
from handful import Selection
from oracles import Tiny, emd_cost, proven

Floats = NDArray[np.float64]

METRICS = ("cosine", "euclidean", "sqeuclidean", "manhattan", "rbf:0.8", "ball:1.1", "precomputed")


def points_of(seed: int, n: int, metric: str) -> NDArray[Any]:
    """Points in clusters; costs that are neither symmetric nor obey a triangle inequality if they are precomputed."""
    random = np.random.default_rng(seed)
    if metric == "precomputed":
        return random.random((n, n))
    return random.normal(size=(3, 4))[random.integers(3, size=n)] + 0.4 * random.normal(size=(n, 4))


def solve(tiny: Tiny, **options: Any) -> Selection:
    return handful.select(tiny.pool, tiny.budget, threads=1, **tiny.options, **options)


def check(selection: Selection, tiny: Tiny) -> None:
    """What must hold of any selection."""
    pool, picks = selection.pool, selection.picks
    assert selection.already.tolist() == list(tiny.already)
    assert len(picks) == tiny.picks == len(set(picks.tolist()))
    assert np.isin(selection.indices, pool.candidates).all()
    low, high = tiny.shares.low, tiny.shares.high
    costs = pool.distances(picks)
    flow = np.zeros((len(picks), pool.n))
    np.add.at(flow, (selection.flow_picks, selection.flow_rows), selection.flow_masses)
    np.testing.assert_allclose(flow.sum(axis=0), pool.masses, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(flow.sum(axis=1), selection.masses, rtol=1e-12, atol=1e-15)
    assert (selection.masses >= low - 1e-12).all()
    assert (selection.masses <= high + 1e-12).all()
    assert selection.distance == pytest.approx(float((flow * costs).sum()), rel=1e-12, abs=1e-15)
    expected = emd_cost(costs, pool.masses, low, high)
    assert selection.distance == pytest.approx(expected, rel=1e-9, abs=1e-12 * float(costs.max()))
    assert (picks[selection.labels] == selection.plan).all()
    some = pool.masses > 0
    assert (flow[selection.labels[some], np.flatnonzero(some)] >= flow[:, some].max(axis=0) - 1e-15).all()
    assert 0 <= selection.lower_bound <= selection.distance
    assert selection.gap == pytest.approx(1 - selection.lower_bound / selection.distance if selection.distance else 0)
    if selection.status == "optimal":  # to the last digits that distances have
        assert selection.gap <= 1e-6 or selection.distance <= pool.rounding(np.float64)
    for before, after in itertools.pairwise(selection.trace):
        assert before.elapsed <= after.elapsed
        # Distances on the way are those of single precision, the last one is that of double precision.
        assert after.distance <= before.distance * (1 + 1e-5) + pool.rounding(np.float32)
        assert after.lower_bound >= min(before.lower_bound, selection.distance) - 1e-15
    last = selection.trace[-1]
    assert (last.distance, last.lower_bound, last.phase) == (selection.distance, selection.lower_bound, "done")


def check_optimal(tiny: Tiny) -> Selection:
    """With a gap of 0 the engine finds the optimum and proves it."""
    costs = tiny.costs()
    optimum = min(costs.values())
    scale = float(tiny.pool.distances(np.arange(tiny.pool.n)).max())
    selection = solve(tiny, gap=0)
    check(selection, tiny)
    assert selection.lower_bound <= optimum + 1e-13 * scale
    assert selection.distance >= optimum - 1e-12 * scale
    assert selection.status == "optimal"
    assert selection.distance == pytest.approx(optimum, rel=1e-6, abs=1e-9 * scale)
    assert selection.lower_bound >= selection.distance * (1 - 1e-6)
    proof = max(0.0, proven(selection))
    assert selection.lower_bound <= proof + 1e-12 * scale
    assert proof <= optimum + 1e-12 * scale
    return selection


def modes(seed: int, n: int) -> dict[str, dict[str, Any]]:
    """Every kind of problem but the metric."""
    random = np.random.default_rng(seed)
    uneven = random.random(n) + 0.05
    holes = np.append(1.0, random.integers(3, size=n - 1))
    few = tuple(random.choice(n, n - 3, replace=False).tolist())
    return {
        "uniform": {},
        "two of them": {"budget": 2},
        "not whole": {"budget": 4},
        "one": {"budget": 1},
        "free": {"picks_weight": "free"},
        "ranged": {"picks_weight": (0.2, 0.5)},
        "at least": {"picks_weight": (0.25, 1.0)},
        "at most": {"picks_weight": (0.0, 0.4)},
        "masses": {"masses": uneven},
        "masses, some zero": {"masses": holes},
        "masses, free": {"masses": holes, "picks_weight": "free"},
        "masses, ranged": {"masses": uneven, "picks_weight": (0.15, 0.45)},
        "candidates": {"candidates": few},
        "candidates, free": {"candidates": few, "picks_weight": "free"},
        "earlier picks": {"already": (4, 1), "budget": 2},
        "earlier picks counted": {"already": (4, 1), "count_already": True},
        "earlier picks only": {"already": (4, 1, 3), "count_already": True},
        "earlier picks, free": {"already": (2,), "picks_weight": "free", "budget": 2},
        "earlier picks, ranged": {"already": (0,), "picks_weight": (0.1, 0.6), "budget": 2},
        "earlier picks, no candidates": {
            "already": (0, 2),
            "candidates": tuple(range(3, n)),
            "masses": holes,
            "budget": 2,
        },
        "every candidate": {"candidates": (0, 2, 5)},
    }


@pytest.mark.parametrize("mode", modes(0, 8))
@pytest.mark.parametrize("metric", METRICS)
def test_the_optimum_of_all_selections_is_found_and_proven(metric: str, mode: str) -> None:
    for seed in range(2):
        n = 8 + seed
        case = modes(seed, n)[mode]
        check_optimal(Tiny(points_of(seed, n, metric), **({"budget": 3, "metric": metric} | case)))


@pytest.mark.parametrize("mode", ["uniform", "free", "ranged", "masses, some zero", "not whole", "earlier picks"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean", "ball:1.0", "precomputed"])
def test_duplicates_and_ties(metric: str, mode: str) -> None:
    """Points that are the same, on a lattice where distances tie, and whole costs of 0 to 3."""
    random = np.random.default_rng(8)
    lattice = random.integers(1, 4, size=(9, 2)).astype(float)
    points = random.integers(4, size=(9, 9)) if metric == "precomputed" else lattice
    check_optimal(Tiny(points, **({"budget": 3, "metric": metric} | modes(3, 9)[mode])))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weight", ["uniform", "free", (0.05, 0.5)])
def test_points_that_are_all_the_same_and_picks_of_them_all(metric: str, weight: Any) -> None:
    same = np.zeros((7, 7)) if metric == "precomputed" else np.ones((7, 3))
    some = check_optimal(Tiny(same, 3, metric, weight))
    assert some.distance == some.lower_bound == some.gap == 0
    points = points_of(5, 7, metric)
    if metric == "precomputed":
        np.fill_diagonal(points, 0)
    everything = check_optimal(Tiny(points, 7, metric, weight))
    assert everything.distance == 0
    assert sorted(everything.indices.tolist()) == list(range(7))
    alone = points[:1, :1] if metric == "precomputed" else points[:1]
    check_optimal(Tiny(alone, 1, metric, (0.05, 1.0) if isinstance(weight, tuple) else weight))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_costs_does_not_matter(scale: float) -> None:
    for metric in ("euclidean", "sqeuclidean", "manhattan", "precomputed"):
        points = points_of(6, 9, metric)
        plain, scaled = (check_optimal(Tiny(points * factor, 3, metric)) for factor in (1, scale))
        expected = plain.distance * (scale**2 if metric == "sqeuclidean" else scale)
        assert scaled.distance == pytest.approx(expected, rel=1e-6)


def test_points_on_a_few_rays_have_a_distance_of_nothing_under_cosine() -> None:
    """Parallel points differ by rounding alone: the picks are optimal, and the run ends."""
    rays = np.random.default_rng(7).normal(size=(3, 4))
    tiny = Tiny(np.concatenate([rays * factor for factor in (1, 2.7, 0.1)]), 3)
    selection = solve(tiny, gap=0)
    check(selection, tiny)
    assert selection.status == "optimal"
    assert selection.distance < 1e-30
    assert {pick % 3 for pick in selection.indices.tolist()} == {0, 1, 2}


@st.composite
def problems(draw: st.DrawFn) -> Tiny:
    """Pools of up to 40 points with everything that can be asked for, in any combination."""
    n = draw(st.integers(2, 40))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    metric = draw(st.sampled_from(METRICS))
    points = points_of(int(random.integers(1000)), n, metric)
    if draw(st.booleans()):
        points = np.round(points, 1) + (0.05 if metric == "cosine" else 0)
    candidates = None
    if draw(st.booleans()):
        candidates = tuple(random.choice(n, int(random.integers(1, n + 1)), replace=False).tolist())
    already = tuple(random.choice(n, int(random.integers(0, min(n, 4))), replace=False).tolist())
    free = len(np.setdiff1d(np.arange(n) if candidates is None else candidates, already))
    count_already = draw(st.booleans())
    new = draw(st.integers(0 if count_already and already else 1, max(1, min(free, 8))))
    if new > free:
        candidates, free = None, n - len(already)
    budget = new + len(already) * count_already
    total = new + len(already)
    weight: Any = draw(st.sampled_from(["uniform", "free", "range"]))
    if weight == "range":
        weight = (random.random() / total, min(1.0, (1 + 2 * random.random()) / total))
    masses = None
    if draw(st.booleans()):
        masses = np.append(random.integers(4, size=n - 1), 1.0) * random.random(n)
        masses[random.integers(n)] += 0.1
    return Tiny(points, budget, metric, weight, masses, candidates, already, count_already)


@given(problems(), st.integers(1, 2), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_no_selection_is_better_than_the_bound(tiny: Tiny, rounds: int, seed: int) -> None:
    """Bounds hold for random picks and for those of other seeds; everything else that must hold does."""
    selection = solve(tiny, rounds=rounds, seed=seed, gap=0)
    check(selection, tiny)
    pool = selection.pool
    assert selection.lower_bound <= max(0.0, proven(selection)) + 1e-12 * pool.distances(selection.picks).max()
    random = np.random.default_rng(seed)
    free = np.setdiff1d(pool.candidates, tiny.already)
    others = [random.choice(free, tiny.picks - len(tiny.already), replace=False) for _ in range(8)]
    for other in [*others, solve(tiny, rounds=1, seed=seed + 1).indices]:
        picks = np.append(np.array(tiny.already, np.int64), other)
        cost = emd_cost(pool.distances(picks), pool.masses, tiny.shares.low, tiny.shares.high)
        assert selection.lower_bound <= cost + 1e-12


def strong_form(costs: Floats, masses: Floats, low: float, high: float, budget: int) -> tuple[float, float]:
    """Objective and proven bound of the mixed-integer program with y_ij <= a_i z_j, by HiGHS."""
    candidates, n = costs.shape
    served = hstack([kron(np.ones((1, candidates)), identity(n)), coo_array((n, candidates))])
    linked = hstack([identity(candidates * n), -kron(identity(candidates), masses[:, None])])
    carried = kron(identity(candidates), np.ones((1, n)))
    most = hstack([carried, -high * identity(candidates)])
    least = hstack([carried, -low * identity(candidates)])
    count = hstack([coo_array((1, candidates * n)), np.ones((1, candidates))])
    zeros, ones = np.zeros(candidates), np.ones(candidates)
    solved = milp(
        np.append(costs.ravel(), zeros),
        integrality=np.append(np.zeros(candidates * n), ones),
        bounds=Bounds(0, np.append(np.full(candidates * n, np.inf), ones)),
        constraints=[
            LinearConstraint(served.tocsr(), masses, masses),
            LinearConstraint(vstack([linked, most]).tocsr(), -np.inf, 0),
            LinearConstraint(least.tocsr(), 0, np.inf),
            LinearConstraint(count.tocsr(), budget, budget),
        ],
        options={"mip_rel_gap": 1e-6},
    )
    assert solved.status == 0, solved.message
    return float(solved.fun), float(solved.mip_dual_bound)


@pytest.mark.parametrize(
    ("metric", "budget", "weight"), [("cosine", 3, "uniform"), ("cosine", 6, "free"), ("manhattan", 4, (0.2, 0.5))]
)
def test_sixty_points_as_a_mixed_integer_program(metric: str, budget: int, weight: Any) -> None:
    tiny = Tiny(points_of(60, 60, metric), budget, metric, weight)
    pool, shares = tiny.pool, tiny.shares
    found, bound = strong_form(pool.distances(np.arange(60)), pool.masses, shares.low, shares.high, budget)
    selection = solve(tiny, gap=0)
    assert selection.status == "optimal"
    assert selection.distance == pytest.approx(found, rel=2e-6)
    assert selection.lower_bound <= found * (1 + 1e-6)
    assert bound <= selection.distance * (1 + 1e-6)
