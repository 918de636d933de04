"""Strategies that need a model: against explicit code of their definitions."""

import math

import numpy as np
import pytest
from scipy.stats import entropy as nats
from strategy_cases import QUICK, Floats, Indices, clustered, euclidean, pick, probabilities, unit

from handful import Pool, select, strategies
from handful.strategies import Task
from handful.strategies.common.uncertainty import lack_of_margin


def test_least_confidence_and_maximum_entropy() -> None:
    points, p = clustered(1), probabilities(1)
    sure = np.sort(p, axis=1)[:, -1]
    assert pick("least-confidence", points, 10, case=1).tolist() == np.argsort(sure)[:10].tolist()
    assert pick("maximum-entropy", points, 10, case=1).tolist() == np.argsort(-nats(p, axis=1))[:10].tolist()
    without = [row for row in np.argsort(sure).tolist() if row not in (5, 6)]
    assert pick("least-confidence", points, 60 - 2, case=1, already=(5, 6)).tolist() == without


def test_a_probability_of_zero_has_no_entropy() -> None:
    p = np.array([[1.0, 0.0], [0.5, 0.5], [0.9, 0.1]])
    assert strategies.get("maximum-entropy")(np.eye(3), 3, probabilities=p).tolist() == [1, 2, 0]


def test_badge_draws_like_k_means_plus_plus_on_the_written_out_embeddings() -> None:
    points, p = clustered(2), probabilities(2)
    slopes = p - np.eye(4)[p.argmax(axis=1)]
    embeddings = (slopes[:, :, None] * unit(points)[:, None, :]).reshape(60, -1)
    given = strategies.get("badge")(points, 12, seed=5, gradients=embeddings)
    made = strategies.get("badge")(points, 12, seed=5, probabilities=p)
    assert made.tolist() == given.tolist()
    random = np.random.default_rng([5, 0])
    chosen: list[int] = []
    chances = np.full(60, 1 / 60)
    for _ in range(12):
        chosen.append(int(random.choice(60, p=chances / chances.sum())))
        chances = np.square(embeddings[:, None] - embeddings[chosen]).sum(axis=2).min(axis=1)
        chances[chosen] = 0
    assert made.tolist() == chosen


def test_badge_draws_only_among_points_without_a_label() -> None:
    gradients = np.zeros((60, 3))
    gradients[:4] = 100 * np.eye(4)[:, :3] + 1
    picks = strategies.get("badge")(clustered(0), 5, gradients=gradients, already=(0, 1, 2, 3))
    assert not set(picks.tolist()) & {0, 1, 2, 3}


def dcom_by_looking(
    points: Floats, p: Floats, already: Indices, labels: Indices, budget: int, delta: float, most: float
) -> tuple[list[int], float]:
    distances = euclidean(unit(points))
    agreement = 0.4 + 0.2 * (distances[already] <= delta).any(axis=0).mean()
    covered = np.zeros(len(points), bool)
    radii = []
    for pick_, label in zip(already, labels, strict=True):
        reach = 0.0
        for radius in distances[pick_][distances[pick_] <= most]:
            ball = distances[pick_] <= radius
            if (p[ball].argmax(axis=1) == label).mean() >= agreement:
                reach = max(reach, radius)
        radii.append(reach)
        covered |= distances[pick_] <= reach * (1 + 1e-6)
    radius = np.mean(radii)
    competence = (1 + math.exp(-10)) / (1 + math.exp(-50 * (covered.mean() - 0.8)))
    unsure = lack_of_margin(p)
    unsure = (unsure - unsure.min()) / (unsure.max() - unsure.min())
    chosen: list[int] = []
    for _ in range(budget):
        degree = ((distances <= radius) & ~covered).sum(axis=1).astype(float)
        scores = competence * unsure + (1 - competence) * degree / max(degree.max(), 1)
        scores[[*already, *chosen]] = -1
        chosen.append(int(np.argmax(scores)))
        covered |= distances[chosen[-1]] <= radius
    return chosen, competence


@pytest.mark.parametrize("seed", range(6))
def test_dcom_mixes_coverage_and_margin(seed: int) -> None:
    points, p, already = clustered(seed), probabilities(seed), np.array([3, 20, 41])
    labels = p[already].argmax(axis=1)
    expected, competence = dcom_by_looking(points, p, already, labels, 5, 0.5, 0.6)
    assert competence < 0.5
    given = {"already": already, "labels": labels, "probabilities": p, "delta": 0.5, "most": 0.6}
    picks = strategies.get("dcom")(points, 5, **given)
    assert picks.tolist() == expected


@pytest.mark.parametrize("seed", range(6))
def test_dcom_of_a_model_that_knows_takes_small_margins(seed: int) -> None:
    points, already = clustered(seed), np.array([3, 20, 41])
    p = 0.5 * probabilities(seed) + 0.5 * np.eye(4)[np.zeros(60, int)]  # class 0 is the likeliest everywhere
    expected, competence = dcom_by_looking(points, p, already, np.zeros(3, int), 5, 0.5, 2.0)
    assert competence > 0.9
    given = {"already": already, "labels": np.zeros(3, int), "probabilities": p, "delta": 0.5, "most": 2.0}
    assert strategies.get("dcom")(points, 5, **given).tolist() == expected


def test_dcom_without_labels_is_probcover() -> None:
    points = clustered(4)
    assert pick("dcom", points, 6, delta=0.5).tolist() == strategies.get("probcover")(points, 6, delta=0.5).tolist()


def test_wasserstein_is_select_with_its_weights() -> None:
    points = clustered(0, 20)
    weights = {"wasserstein": "uniform", "wasserstein-free": "free", "wasserstein-range": (1 / 16, 3 / 4)}
    for name, weight in weights.items():
        task = Task.of(points, 3, already=[2], effort=QUICK)
        found = strategies.get(name).run(task).selection
        plain = select(points, 3, already=[2], picks_weight=weight, gap=0, rounds=3, threads=1)
        assert found is not None
        assert (found.low, found.high) == (plain.low, plain.high)
        assert found.indices.tolist() == plain.indices.tolist()
        assert found.lower_bound == plain.lower_bound


def test_uncertainty_wasserstein_has_the_masses_of_uncertainty() -> None:
    points, p = clustered(0, 20), probabilities(0, 20)
    found = strategies.get("uncertainty-wasserstein").run(Task.of(points, 3, probabilities=p, effort=QUICK)).selection
    plain = select(Pool(points, masses=lack_of_margin(p)), 3, gap=0, rounds=3, threads=1)
    assert found is not None
    assert found.indices.tolist() == plain.indices.tolist()
    assert found.distance == pytest.approx(plain.distance)


def test_gbd_presets_are_those_of_the_paper() -> None:
    points = clustered(0, 20)
    for name, preset in (("gbd", "wass"), ("gbd+eoc", "wass+eoc"), ("gbd+eoc+p", "wass+eoc+p")):
        found = strategies.get(name).run(Task.of(points, 3, effort=QUICK)).selection
        assert found is not None
        assert found.preset == preset  # type: ignore[attr-defined]
