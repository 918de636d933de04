"""Transport to few picks: the same optimum as other people's solvers, with a plan and prices that prove it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import handful.transport as transport_module
from handful.transport import Plan, point_prices, transport
from oracles import emd_cost, linear_program

Floats = NDArray[np.float64]
Random = np.random.Generator


def clustered(random: Random, picks: int, points: int) -> Floats:
    centres = random.normal(size=(4, 3))
    where = centres[random.integers(4, size=points)] + 0.3 * random.normal(size=(points, 3))
    return cdist(where[random.choice(points, picks, replace=picks > points)], where)


def doubled(random: Random, picks: int, points: int) -> Floats:
    """Duplicate points, duplicate picks too."""
    where = random.integers(3, size=(points, 2)).astype(float)
    return cdist(where[random.integers(points, size=picks)], where)


COSTS: dict[str, Callable[[Random, int, int], NDArray[Any]]] = {
    "clustered": clustered,
    "squares": lambda random, picks, points: clustered(random, picks, points) ** 2,
    "duplicates": doubled,
    "few whole numbers": lambda random, picks, points: random.integers(4, size=(picks, points)).astype(float),
    "mostly zero": lambda random, picks, points: (random.random((picks, points)) < 0.2).astype(float),
    "all equal": lambda random, picks, points: np.full((picks, points), 0.7),
    "identical picks": lambda random, picks, points: np.tile(random.random(points), (picks, 1)),
    "any": lambda random, picks, points: random.random((picks, points)),
    "single precision": lambda random, picks, points: clustered(random, picks, points).astype(np.float32),
    "tiny": lambda random, picks, points: 1e-9 * clustered(random, picks, points),
    "huge": lambda random, picks, points: 1e9 * random.random((picks, points)),
    "far from zero": lambda random, picks, points: 100 + clustered(random, picks, points),
}
MASSES: dict[str, Callable[[Random, int], Floats]] = {
    "equal": lambda random, points: np.ones(points),
    "any": lambda random, points: random.random(points) + 1e-3,
    "some zero": lambda random, points: np.append(1.0, random.integers(3, size=points - 1)),
    "whole numbers": lambda random, points: random.integers(1, 6, size=points).astype(float),
    "one heavy": lambda random, points: np.append(random.random(points - 1), 5.0 * points),
    "very uneven": lambda random, points: 10.0 ** random.uniform(-8, 0, size=points),
}


def normal(weights: Floats) -> Floats:
    return weights / weights.sum()


def shares(random: Random, picks: int) -> Iterator[tuple[float, float]]:
    """Mass ranges of all kinds."""
    even = 1 / picks
    yield even, even
    yield 0.0, 1.0
    yield 0.0, even * (1 + random.random())
    yield even * random.random(), 1.0
    yield even * random.random(), min(1.0, even * (1 + random.random()))
    yield even, 1.0  # the lower end alone leaves no choice
    yield 0.0, even


def check(plan: Plan, costs: NDArray[Any], masses: Floats, low: float, high: float) -> None:
    """The plan is feasible and costs what it says, and its prices prove that nothing costs less."""
    picks, points = costs.shape
    exact = costs.astype(np.float64)
    assert (plan.mass > 0).all()
    pairs = plan.rows * picks + plan.columns
    assert len(np.unique(pairs)) == len(pairs)
    flow = np.bincount(pairs, plan.mass, minlength=picks * points).reshape(points, picks)
    np.testing.assert_allclose(flow.sum(axis=1), masses, rtol=1e-12, atol=points * 2.0**-59)
    carried = flow.sum(axis=0)
    np.testing.assert_allclose(plan.shares(picks), carried, rtol=1e-12, atol=1e-15)
    assert (carried >= low - 1e-12).all()
    assert (carried <= high + 1e-12).all()
    assert plan.distance == pytest.approx(float((flow * exact.T).sum()), rel=1e-12)

    prices = plan.pick_prices
    served = point_prices(costs, prices)
    np.testing.assert_allclose(served, (exact - prices[:, None]).min(axis=0), rtol=1e-12, atol=1e-13 * exact.max())
    least = exact.max() * 1e-12
    assert (served[:, None] + prices <= exact.T + least).all()
    # Complementary: what flows is cheapest, a pick below its most gives nothing back, one above its least asks nothing.
    assert (served[plan.rows] + prices[plan.columns] >= exact[plan.columns, plan.rows] - least).all()
    if not np.isclose(low * picks, 1, rtol=1e-12) and not np.isclose(high * picks, 1, rtol=1e-12):
        assert (prices[carried < high - 1e-12] >= -least).all()
        assert (prices[carried > low + 1e-12] <= least).all()
        proven = masses @ served + low * prices.clip(0).sum() + high * prices.clip(max=0).sum()
    else:
        proven = masses @ served + prices.sum() / picks
    assert proven == pytest.approx(plan.distance, rel=1e-9, abs=least)


@pytest.mark.parametrize("kind", COSTS)
def test_thousands_of_transports_cost_what_the_network_simplex_finds(kind: str) -> None:
    random = np.random.default_rng([1, *kind.encode()])
    for weights in MASSES.values():
        for _ in range(6):
            points = int(random.integers(2, 50))
            picks = int(random.integers(1, min(points, 9) + 1))
            costs, masses = COSTS[kind](random, picks, points), normal(weights(random, points))
            for low, high in shares(random, picks):
                plan = transport(costs, masses, low, high)
                check(plan, costs, masses, low, high)
                expected = emd_cost(costs, masses, low, high)
                assert plan.distance == pytest.approx(expected, rel=1e-9, abs=1e-13 * float(costs.max()))


@pytest.mark.parametrize("kind", COSTS)
def test_ranges_cost_what_linear_programming_finds(kind: str) -> None:
    random = np.random.default_rng([2, *kind.encode()])
    for weights in MASSES.values():
        points = int(random.integers(5, 25))
        picks = int(random.integers(2, 6))
        costs, masses = COSTS[kind](random, picks, points), normal(weights(random, points))
        scale = float(costs.max()) or 1.0
        for low, high in shares(random, picks):
            expected = scale * linear_program(costs / scale, masses, low, high)
            found = transport(costs, masses, low, high).distance
            assert found == pytest.approx(expected, rel=1e-7, abs=1e-9 * scale)  # as far as HiGHS goes


@given(st.data(), st.integers(1, 9), st.sampled_from(list(MASSES)))
@settings(max_examples=200, deadline=None)
def test_whole_numbers_that_tie_a_lot(data: st.DataObject, points: int, weights: str) -> None:
    picks = data.draw(st.integers(1, points))
    numbers = st.lists(st.integers(0, 3), min_size=points, max_size=points)
    costs = np.array([data.draw(numbers) for _ in range(picks)], float)
    masses = normal(MASSES[weights](np.random.default_rng(data.draw(st.integers(0, 9))), points))
    low = data.draw(st.sampled_from([0, 0.5, 1])) / picks
    high = min(1.0, data.draw(st.sampled_from([1, 1.5, picks])) / picks)
    plan = transport(costs, masses, low, high)
    check(plan, costs, masses, low, high)
    assert plan.distance == pytest.approx(emd_cost(costs, masses, low, high), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("points", [1, 2, 7, 40])
def test_as_many_picks_as_points_serve_themselves(points: int) -> None:
    """B = N: at equal masses the plan is the assignment at cost 0; one pick serves all, whatever the prices."""
    random = np.random.default_rng(points)
    where = random.normal(size=(points, 3))
    costs, equal = cdist(where, where), np.full(points, 1 / points)
    plan = transport(costs, equal, 1 / points, 1 / points)
    check(plan, costs, equal, 1 / points, 1 / points)
    assert plan.distance == 0
    assert (plan.rows[np.argsort(plan.columns)] == np.arange(points)).all()
    uneven = normal(random.random(points) + 0.1)
    plan = transport(costs, uneven, 1 / points, 1 / points)
    check(plan, costs, uneven, 1 / points, 1 / points)
    for low, high in [(1.0, 1.0), (0.0, 1.0), (0.3, 1.0)]:
        alone = transport(costs[:1], uneven, low, high)
        check(alone, costs[:1], uneven, low, high)
        assert alone.distance == pytest.approx(float(uneven @ costs[0]), rel=1e-12)


@pytest.mark.parametrize("picks", [2, 5, 12])
def test_points_are_shared_only_where_they_must_be(picks: int) -> None:
    """With N / B whole and equal masses none is."""
    random = np.random.default_rng(picks)
    for points in (picks, picks * 7, picks * 20):
        masses = np.full(points, 1 / points)
        for kind in ("clustered", "duplicates", "few whole numbers"):
            plan = transport(COSTS[kind](random, picks, points), masses, 1 / picks, 1 / picks)
            assert (np.sort(plan.rows) == np.arange(points)).all()


def test_a_point_too_heavy_for_one_pick_is_split() -> None:
    masses = np.array([0.7, 0.1, 0.1, 0.1])
    costs = np.array([[0.0, 3, 3, 3], [1, 0, 3, 3], [2, 3, 0, 3]])
    plan = transport(costs, masses, 1 / 3, 1 / 3)
    check(plan, costs, masses, 1 / 3, 1 / 3)
    assert plan.distance == pytest.approx(emd_cost(costs, masses, 1 / 3, 1 / 3), rel=1e-12)
    assert np.bincount(plan.rows)[0] == 3


@pytest.mark.parametrize("kind", ["clustered", "duplicates", "few whole numbers", "any", "single precision"])
def test_where_the_prices_start_changes_no_cost(kind: str) -> None:
    """From the prices before one pick was exchanged, and from nonsense."""
    random = np.random.default_rng([3, *kind.encode()])
    for weights in MASSES.values():
        for _ in range(4):
            points = int(random.integers(3, 200))
            picks = int(random.integers(2, min(points, 12) + 1))
            costs, masses = COSTS[kind](random, picks + 1, points), normal(weights(random, points))
            before, after = costs[:-1], costs[1:]
            for low, high in shares(random, picks):
                known = transport(before, masses, low, high).pick_prices
                expected = emd_cost(after, masses, low, high)
                scale = float(costs.max())
                nonsense = [
                    known,
                    scale * random.normal(size=picks),
                    30 * scale * random.normal(size=picks),
                    np.full(picks, -5 * scale),
                    np.where(np.arange(picks) == 0, 50 * scale, 0.0),
                ]
                for start in nonsense:
                    given = start.copy()
                    plan = transport(after, masses, low, high, start=start)
                    assert (start == given).all()
                    check(plan, after, masses, low, high)
                    assert plan.distance == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize("picks", [3, 16, 60])
@pytest.mark.parametrize("weights", ["equal", "some zero", "any"])
def test_large_pools_are_solved_by_way_of_samples(picks: int, weights: str) -> None:
    """From 4,096 points on, prices come from samples and Newton steps first."""
    random = np.random.default_rng(picks)
    points = 5003
    costs = clustered(random, picks, points).astype(np.float32)
    masses = normal(MASSES[weights](random, points))
    ranges = list(itertools.islice(shares(random, picks), 6))
    for low, high in [ranges[0], ranges[4]]:
        cold = transport(costs, masses, low, high)
        check(cold, costs, masses, low, high)
        assert cold.distance == pytest.approx(emd_cost(costs, masses, low, high), rel=1e-9)
        warm = transport(costs, masses, low, high, start=cold.pick_prices)
        assert warm.distance == pytest.approx(cold.distance, rel=1e-12)


def test_a_point_passed_on_through_a_pick_ends() -> None:
    """Paths that bring a point to a pick and move it on from there would go round for ever by the least of pieces."""
    random = np.random.default_rng(5)
    for points in [40, 100, 180] * 300:
        costs, masses = clustered(random, 12, points) ** 2, normal(MASSES["some zero"](random, points))
        ranged = transport(costs, masses, 0.0, 1 / 12).distance
        assert ranged == pytest.approx(transport(costs, masses, 1 / 12, 1 / 12).distance, rel=1e-12)


def test_a_sample_without_mass_is_passed_over() -> None:
    """All mass on a few of many points: the samples that prices would come from weigh nothing."""
    random = np.random.default_rng(0)
    costs, masses = clustered(random, 5, 6000), np.zeros(6000)
    masses[random.choice(6000, 7, replace=False)] = 1 / 7
    plan = transport(costs, masses, 0.2, 0.2)
    check(plan, costs, masses, 0.2, 0.2)
    assert plan.distance == pytest.approx(emd_cost(costs[:, masses > 0], masses[masses > 0], 0.2, 0.2), rel=1e-9)


def test_labels_follow_the_mass() -> None:
    """A shared point belongs to the pick that serves the most of it, one without mass to the cheapest at the prices."""
    random = np.random.default_rng(4)
    for _ in range(50):
        points, picks = int(random.integers(5, 40)), int(random.integers(2, 6))
        costs = clustered(random, picks, points)
        masses = normal(MASSES["some zero"](random, points))
        for low, high in shares(random, picks):
            plan = transport(costs, masses, low, high)
            labels = plan.labels(costs)
            flow = np.zeros((points, picks))
            flow[plan.rows, plan.columns] = plan.mass
            some = masses > 0
            assert (flow[some, labels[some]] == flow[some].max(axis=1)).all()
            reduced = costs - plan.pick_prices[:, None]
            assert (reduced[labels[~some], ~some] == reduced[:, ~some].min(axis=0)).all()


@pytest.mark.parametrize(("low", "high"), [(1 / 12, 1 / 12), (0.03, 0.2), (0.0, 0.1)])
def test_a_start_far_off_goes_through_samples_to_the_same_cost(
    low: float, high: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prices that give most points to few picks would have them moved one by one."""
    random = np.random.default_rng(4)
    costs = random.random((12, 9_000)) ** 2
    masses = random.random(9_000)
    masses /= masses.sum()
    cold = transport(costs, masses, low, high)
    solved = []
    solve = transport_module._solve

    def counted(costs: Floats, *rest: Any) -> Any:
        solved.append(costs.shape[1])
        return solve(costs, *rest)

    monkeypatch.setattr(transport_module, "_solve", counted)
    far = transport(costs, masses, low, high, start=np.linspace(0, 1, 12))
    assert solved == [1125, 9000]
    solved.clear()
    near = transport(costs, masses, low, high, start=cold.pick_prices)
    assert solved == [9000]
    for plan in (far, near):
        assert plan.distance == pytest.approx(cold.distance, rel=1e-12)
        assert (plan.shares(12) >= low - 1e-12).all()
        assert (plan.shares(12) <= high + 1e-12).all()
