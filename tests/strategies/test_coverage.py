"""The coverage family: greedy rules against looking at every candidate, exact forms against looking at every set."""

import itertools

import numpy as np
import pytest
from strategy_cases import (
    QUICK,
    assert_greedy,
    clustered,
    cosine_costs,
    cover_cost,
    euclidean,
    gaussian_costs,
    pick,
    probabilities,
    unit,
)

from handful import Pool, strategies
from handful.strategies import Task
from handful.strategies.common.uncertainty import lack_of_margin

EVEN = np.full(60, 1 / 60)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("already", [(), (4, 50)])
def test_facility_location_is_the_plain_greedy_rule(seed: int, already: tuple[int, ...]) -> None:
    points = clustered(seed)
    masses = np.random.default_rng(seed).dirichlet(np.ones(60))
    candidates = np.arange(0, 60, 2)
    pool = Pool(points, masses=masses, candidates=candidates)
    picks = strategies.get("facility-location")(pool, 9, already=already)
    assert_greedy(picks, cosine_costs(points), masses, candidates, already)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "precomputed"])
def test_the_first_pick_is_the_medoid_of_all_whatever_the_metric(metric: str) -> None:
    points = clustered(11)
    costs = {
        "euclidean": euclidean(points),
        "sqeuclidean": euclidean(points) ** 2,
        "manhattan": np.abs(points[:, None] - points).sum(axis=2),
        "precomputed": euclidean(points) ** 3,
    }[metric]
    given = costs if metric == "precomputed" else points
    picks = strategies.get("facility-location")(given, 5, metric=metric)
    assert_greedy(picks, costs, EVEN, np.arange(60))


def test_many_picks_of_a_larger_pool() -> None:
    """Enough rounds that gains are brought up to date from different rounds before."""
    points = np.random.default_rng(0).normal(size=(400, 10))
    picks = strategies.get("facility-location")(points, 40)
    assert_greedy(picks, cosine_costs(points), np.full(400, 1 / 400), np.arange(400))


def test_gains_older_than_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    points = clustered(3, 120)
    plain = strategies.get("facility-location")(points, 30)
    monkeypatch.setattr("handful.greedy._KEPT", 2)
    monkeypatch.setattr("handful.greedy._FIRST", 1)
    picks = strategies.get("facility-location")(points, 30)
    assert_greedy(picks, cosine_costs(points), np.full(120, 1 / 120), np.arange(120))
    assert picks[:10].tolist() == plain[:10].tolist()


def test_max_herding_has_the_kernel_of_the_paper_on_unit_vectors() -> None:
    points = clustered(2)
    costs = 1 - np.exp(-np.square(unit(points)[:, None] - unit(points)).sum(axis=2))
    assert_greedy(pick("max-herding", points, 10), costs, EVEN, np.arange(60))
    narrow = gaussian_costs(unit(points), 0.2)
    picks = strategies.get("max-herding")(points, 10, already=[3], sigma=0.2)
    assert_greedy(picks, narrow, EVEN, np.arange(60), (3,))


def test_elsewhere_its_width_goes_with_the_spread_of_the_points() -> None:
    points = clustered(2)
    for scale in (1.0, 1e4):
        picks = pick("max-herding", scale * points, 10, metric="euclidean")
        spread = np.square(points - points.mean(axis=0)).sum(axis=1).mean()
        costs = gaussian_costs(points, np.sqrt(spread / 2))
        assert_greedy(picks, costs, EVEN, np.arange(60))


def test_uncertainty_herding_weighs_points_and_shrinks_its_kernel() -> None:
    points, p = clustered(3), probabilities(3)
    weights = lack_of_margin(p) / lack_of_margin(p).sum()
    two = np.sort(p, axis=1)[:, -2:]
    np.testing.assert_allclose(lack_of_margin(p), 1 - two[:, 1] + two[:, 0])
    earlier = (5, 17, 44)
    apart = euclidean(unit(points))[np.ix_(earlier, earlier)]
    radius = apart[apart > 0].min()
    costs = 1 - np.exp(-np.square(euclidean(unit(points))) / radius**2)
    picks = strategies.get("uncertainty-herding")(points, 7, already=earlier, probabilities=p)
    assert_greedy(picks, costs, weights, np.arange(60), earlier)
    first = strategies.get("uncertainty-herding")(points, 7, probabilities=p)
    paper = 1 - np.exp(-np.square(euclidean(unit(points))))
    assert_greedy(first, paper, weights, np.arange(60))


def test_a_model_that_is_sure_of_everything_leaves_max_herding() -> None:
    points, sure = clustered(3), np.eye(4)[np.arange(60) % 4]
    plain = pick("max-herding", points, 6)
    assert pick("uncertainty-herding", points, 6, probabilities=sure).tolist() == plain.tolist()


def test_probcover_covers_most_at_its_radius() -> None:
    points = clustered(4)
    for delta in (0.3, 0.8):
        costs = (euclidean(unit(points)) > delta).astype(float)
        assert_greedy(strategies.get("probcover")(points, 6, delta=delta), costs, EVEN, np.arange(60))


EXACT = {
    "k-medoids-exact": lambda x: cosine_costs(x),
    "facility-location-exact": lambda x: cosine_costs(x),
    "wasserstein-free": lambda x: cosine_costs(x),
    "max-herding-exact": lambda x: gaussian_costs(unit(x), 0.5**0.5),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("seed", range(3))
def test_exact_forms_are_the_best_of_all_sets(name: str, seed: int) -> None:
    points = clustered(seed, 14)
    costs, masses = EXACT[name](points), np.full(14, 1 / 14)
    best = min(cover_cost(costs, masses, picks) for picks in itertools.combinations(range(14), 3))
    outcome = strategies.get(name).run(Task.of(points, 3, effort=QUICK))
    assert outcome.selection is not None
    assert cover_cost(costs, masses, outcome.indices) == pytest.approx(best, rel=1e-6)
    assert outcome.objective == pytest.approx(best, rel=1e-6)
    assert best * (1 - 2e-6) <= outcome.selection.lower_bound * (1 + 1e-5) <= best * (1 + 2e-5)


def test_exact_probcover_and_uncertainty_herding() -> None:
    points, p = clustered(7, 14), probabilities(7, 14)
    balls = (euclidean(unit(points)) > 0.7).astype(float)
    outcome = strategies.get("probcover-exact").run(Task.of(points, 3, effort=QUICK), delta=0.7)
    best = min(cover_cost(balls, np.full(14, 1 / 14), s) for s in itertools.combinations(range(14), 3))
    assert cover_cost(balls, np.full(14, 1 / 14), outcome.indices) == pytest.approx(best, abs=1e-12)
    weights = lack_of_margin(p) / lack_of_margin(p).sum()
    costs = gaussian_costs(unit(points), 0.5**0.5)
    outcome = strategies.get("uncertainty-herding-exact").run(Task.of(points, 3, probabilities=p, effort=QUICK))
    best = min(cover_cost(costs, weights, s) for s in itertools.combinations(range(14), 3))
    assert outcome.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("name", ["facility-location", "max-herding", "probcover"])
def test_greedy_says_what_it_leaves_which_the_exact_form_undercuts(name: str) -> None:
    points = clustered(9)
    given = {"delta": 0.6} if name == "probcover" else {}
    task = Task.of(points, 6, effort=QUICK)
    greedy, exact = (strategies.get(form).run(task, **given) for form in (name, f"{name}-exact"))
    costs = {
        "facility-location": cosine_costs(points),
        "max-herding": gaussian_costs(unit(points), 0.5**0.5),
        "probcover": (euclidean(unit(points)) > 0.6).astype(float),
    }[name]
    assert greedy.objective == pytest.approx(cover_cost(costs, EVEN, greedy.indices), abs=1e-6)
    assert exact.selection is not None
    assert exact.selection.lower_bound <= exact.objective <= greedy.objective + 1e-6
