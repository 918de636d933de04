"""The radius by purity: the largest at which the share of pure balls is reached."""

import numpy as np
import pytest
from strategy_cases import clustered, euclidean, unit

from handful.strategies import Task
from handful.strategies.common.clusters import k_means_clusters
from handful.strategies.common.radius import ball_pool, pure_radius


def pure_share(distances: np.ndarray, labels: np.ndarray, radius: float) -> float:
    inside = distances <= radius
    return float(np.mean([(labels[ball] == label).all() for ball, label in zip(inside, labels, strict=True)]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("purity", [0.8, 0.95])
def test_no_larger_radius_is_as_pure(seed: int, purity: float) -> None:
    points = unit(clustered(seed, 120)).astype(np.float32)
    task = Task.of(points, 5, seed=seed)
    radius = pure_radius(task, points, purity, 5)
    labels = k_means_clusters(points, task.pool.masses, 5, seed, batches=False).labels
    distances = euclidean(points.astype(np.float64))
    assert pure_share(distances, labels, radius) >= purity
    others = np.unique(distances[distances > radius * (1 + 1e-4)])
    assert max(pure_share(distances, labels, larger) for larger in others[:400]) < purity


def test_classes_are_those_of_the_model_or_one_per_pick() -> None:
    points = clustered(0)
    radii = {
        "three": pure_radius(Task.of(points, 7), points.astype(np.float32), 0.9, 3),
        "seven": pure_radius(Task.of(points, 7), points.astype(np.float32), 0.9, 7),
    }
    thirds = Task.of(points, 7, probabilities=np.full((60, 3), 1 / 3))
    assert pure_radius(thirds, points.astype(np.float32), 0.9, None) == radii["three"]
    assert pure_radius(Task.of(points, 7), points.astype(np.float32), 0.9, None) == radii["seven"]


def test_a_pool_of_balls_keeps_its_own_radius() -> None:
    task = Task.of(clustered(0), 3, metric="ball:1.5")
    assert ball_pool(task, None, 0.95, None, "probcover") is task.pool


def test_points_that_are_all_the_same_have_a_radius_too() -> None:
    points = np.ones((8, 3), np.float32)
    assert pure_radius(Task.of(points, 3), points, 0.95, None) > 0
