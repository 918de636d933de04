"""k-centers, k-means, k-medoids, TypiClust, kernel herding, random: against short code of their definitions."""

import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from strategy_cases import clustered, cosine_costs, cover_cost, euclidean, pick, unit

from handful import Pool, strategies
from handful.strategies.common.clusters import k_means_clusters


@pytest.mark.parametrize("seed", range(4))
def test_k_centers_takes_the_farthest_point(seed: int) -> None:
    points = clustered(seed)
    distances = euclidean(points)
    picks = pick("k-centers", points, 8, metric="euclidean", already=(2, 40)).tolist()
    chosen = [2, 40]
    for new in picks:
        reach = distances[:, chosen].min(axis=1)
        assert reach[new] == pytest.approx(reach.max())
        chosen.append(new)


def test_k_centers_starts_anywhere_and_ends_within_twice_the_least_radius() -> None:
    points = clustered(1, 16)
    distances = euclidean(points)
    best = min(distances[:, list(picks)].min(axis=1).max() for picks in itertools.combinations(range(16), 4))
    firsts = set()
    for seed in range(30):
        picks = pick("k-centers", points, 4, metric="euclidean", seed=seed)
        firsts.add(int(picks[0]))
        assert distances[:, picks].min(axis=1).max() <= 2 * best * (1 + 1e-9)
    assert len(firsts) > 8


@pytest.mark.parametrize("seed", range(4))
def test_k_medoids_of_small_pools_are_the_best(seed: int) -> None:
    points = clustered(seed, 16)
    costs, masses = cosine_costs(points), np.random.default_rng(seed).dirichlet(np.ones(16))
    for already in ((), (3,)):
        rest = [row for row in range(16) if row not in already]
        best = min(cover_cost(costs, masses, (*already, *new)) for new in itertools.combinations(rest, 3))
        picks = strategies.get("k-medoids")(Pool(points, masses=masses), 3, already=already)
        assert cover_cost(costs, masses, (*already, *picks)) == pytest.approx(best, rel=1e-6)


def test_k_medoids_beside_fasterpam() -> None:
    kmedoids = pytest.importorskip("kmedoids")
    points = clustered(5, 300)
    costs = cosine_costs(points)
    theirs = kmedoids.fasterpam(costs, 8, random_state=0)
    ours = cover_cost(costs, np.full(300, 1 / 300), pick("k-medoids", points, 8))
    assert ours <= 1.02 * theirs.loss / 300


def test_k_means_takes_the_points_nearest_to_scikit_learns_centres() -> None:
    points = unit(clustered(3, 90))
    centres = KMeans(6, n_init=1, random_state=2).fit(points.astype(np.float32)).cluster_centers_
    nearest = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=0)
    assert set(pick("k-means", points, 6, seed=2).tolist()) == set(nearest.tolist())


def test_k_means_leaves_out_clusters_that_hold_earlier_picks() -> None:
    centres = 10 * np.eye(9)[:4]
    points = np.repeat(centres, 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(40, 9))
    picks = pick("k-means", points, 2, already=(0, 35), metric="euclidean")
    assert sorted(picks // 10) == [1, 2]


@pytest.mark.parametrize("already", [(), (0, 31, 77)])
def test_typiclust_takes_the_most_typical_of_the_largest_clusters(already: tuple[int, ...]) -> None:
    points = unit(clustered(6, 90))
    picks = pick("typiclust", points, 4, seed=3, already=already)
    found = k_means_clusters(points.astype(np.float32), np.full(90, 1 / 90), 4 + len(already), 3, batches=False)
    held = np.bincount(found.labels[list(already)], minlength=4 + len(already))
    sizes = np.bincount(found.labels, minlength=4 + len(already))
    big = [c for c in range(len(sizes)) if sizes[c] >= 5]
    expected = []
    for cluster in sorted(big, key=lambda c: (held[c], -sizes[c]))[:4]:
        rows = np.flatnonzero(found.labels == cluster)
        apart = np.sort(euclidean(points[rows]), axis=1)[:, 1 : min(20, len(rows) - 1) + 1].mean(axis=1)
        order = [row for row in rows[np.argsort(apart)].tolist() if row not in already]
        expected.append(order[0])
    assert picks.tolist() == expected


def test_typiclust_has_500_clusters_at_most_and_then_goes_round() -> None:
    points = np.random.default_rng(0).normal(size=(1200, 3))
    picks = strategies.get("typiclust")(points, 700, metric="euclidean")
    assert len(set(picks.tolist())) == 700


@pytest.mark.parametrize("already", [(), (8, 9)])
def test_kernel_herding_follows_the_mean(already: tuple[int, ...]) -> None:
    points = unit(clustered(7))
    masses = np.random.default_rng(7).dirichlet(np.ones(60))
    kernel = np.exp(-np.square(euclidean(points)))
    chosen = list(already)
    picks = strategies.get("kernel-herding")(Pool(points, masses=masses), 9, already=already)
    for new in picks.tolist():
        scores = kernel @ masses - kernel[:, chosen].sum(axis=1) / (len(chosen) + 1)
        scores[chosen] = -np.inf
        assert scores[new] == pytest.approx(scores.max(), abs=1e-6)
        chosen.append(new)


def test_random_picks_are_even() -> None:
    points = clustered(0, 10)
    counts = np.zeros(10)
    for seed in range(600):
        counts[pick("random", points, 3, seed=seed, already=(0,))] += 1
    assert counts[0] == 0
    # 200 of 600 expected for each, with a standard deviation of 11.5.
    assert (np.abs(counts[1:] - 200) < 5 * 11.6).all()
