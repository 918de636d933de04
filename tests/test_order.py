"""The order of the picks: every prefix is a good smaller selection."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import handful
from handful import Pool
from handful.lifted import Shares
from handful.order import ordered
from oracles import emd_cost

Floats = NDArray[np.float64]


def clusters(seed: int, sizes: tuple[int, ...], spread: float = 0.1) -> Floats:
    """Groups of points of these sizes, far apart."""
    random = np.random.default_rng(seed)
    centres = 5 * random.normal(size=(len(sizes), 6))
    return np.repeat(centres, sizes, axis=0) + spread * random.normal(size=(sum(sizes), 6))


def prefix_costs(pool: Pool, picks: NDArray[np.int64], free: bool) -> list[float]:
    """Distance of every prefix to the pool, with the mass range of its size."""
    return [
        emd_cost(pool.distances(picks[:size]), pool.masses, *((0.0, 1.0) if free else (1 / size, 1 / size)))
        for size in range(1, len(picks) + 1)
    ]


@pytest.mark.parametrize("weight", ["uniform", "free"])
def test_every_next_pick_is_the_one_that_helps_most(weight: str) -> None:
    """Greedy by exact transport, checked step by step on pools of which no sample is taken."""
    for seed in range(6):
        points = clusters(seed, (9, 14, 5, 12, 7), spread=1.0)
        pool = Pool(points, "euclidean", masses=np.random.default_rng(seed).random(len(points)) + 0.1)
        selection = handful.select(pool, 6, picks_weight=weight, gap=0.05, rounds=2, threads=1)
        picks, free = selection.indices, weight == "free"
        for size in range(1, 6):
            shares = (0.0, 1.0) if free else (1 / size, 1 / size)
            costs = [
                emd_cost(pool.distances([*picks[: size - 1], other]), pool.masses, *shares)
                for other in picks[size - 1 :]
            ]
            assert costs[0] <= min(costs) * (1 + 1e-5)


def test_prefixes_come_near_to_solving_for_their_size() -> None:
    """On the digits within 15 % of the best known for that size, and far better than picks in any order."""
    digits = pytest.importorskip("sklearn.datasets").load_digits().data[:600]
    pool = Pool(digits)
    whole = handful.select(pool, 16, rounds=2, gap=0.05, threads=1)
    random = np.random.default_rng(0)
    costs = prefix_costs(pool, whole.indices, free=False)
    shuffled = np.mean([prefix_costs(pool, random.permutation(whole.indices), free=False) for _ in range(4)], axis=0)
    for size in (4, 8):
        direct = handful.select(pool, size, rounds=2, gap=0.01, threads=1)
        assert direct.lower_bound <= costs[size - 1] <= 1.15 * direct.distance
        assert costs[size - 1] < 0.97 * shuffled[size - 1]


def test_clusters_come_by_weight_before_any_comes_twice() -> None:
    """Free picks: with one pick per cluster first, and the one that saves most before the others."""
    points = clusters(3, (30, 20, 10))
    selection = handful.select(points, 5, metric="sqeuclidean", picks_weight="free", gap=0, rounds=3, threads=1)
    cluster = np.repeat([0, 1, 2], [30, 20, 10])
    assert sorted(cluster[selection.indices[:3]].tolist()) == [0, 1, 2]


def test_earlier_picks_stay_first_and_all_picks_stay() -> None:
    points = clusters(4, (20, 20, 20))
    pool = Pool(points, "euclidean")
    picks = np.array([41, 3, 59, 22, 0])
    for shares in (Shares(0.2, 0.2), Shares(0.0, 1.0), Shares(0.1, 0.4)):
        order = ordered(pool, shares, picks, 2)
        assert order[:2].tolist() == [41, 3]
        assert sorted(order.tolist()) == sorted(picks.tolist())
    # After picks in the clusters 2 and 0, the next stands in cluster 1.
    assert ordered(pool, Shares(0.0, 1.0), picks, 2)[2] == 22


@pytest.mark.parametrize("points", [1500, 5000])
def test_large_pools_are_ordered_by_a_sample(points: int) -> None:
    """The order is the same every time, and the first pick serves the pool best alone, or nearly so."""
    sizes = (points // 2, points // 4, points - points // 2 - points // 4)
    pool = Pool(clusters(5, sizes), "euclidean")
    picks = np.array([0, 1, points // 2, points // 2 + 1, points - 2, points - 1])
    first, second = (ordered(pool, Shares(1 / 6, 1 / 6), order, 0) for order in (picks, picks))
    assert (first == second).all()
    alone = pool.distances(picks).mean(axis=1)
    assert pool.distances(first[:1]).mean() <= 1.02 * alone.min()
    assert ordered(pool, Shares(1 / 6, 1 / 6), picks[::-1].copy(), 0)[0] == first[0]


def test_mass_on_points_outside_the_sample() -> None:
    """All mass on one of many points: whatever the sample, the picks come back whole."""
    points = clusters(6, (2000, 1000))
    masses = np.zeros(3000)
    masses[17] = 1
    pool = Pool(points, "euclidean", masses=masses)
    picks = np.array([2500, 17, 3])
    assert sorted(ordered(pool, Shares(0.0, 1.0), picks, 0).tolist()) == [3, 17, 2500]
