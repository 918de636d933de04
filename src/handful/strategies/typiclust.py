"""TypiClust: the most typical point of every cluster that has no pick yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from handful.kernel import coordinates
from handful.strategies.common.clusters import k_means_clusters
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

Indices = NDArray[np.int64]

_MOST = 500  # clusters
_LEAST = 5  # points of a cluster that counts
_EXACT = 50  # clusters up to which k-means sees all points in every step


@strategy("typiclust", "the most typical point of every large cluster without a pick")
def typiclust(task: Task, *, neighbours: int = 20) -> Indices:
    """Cluster by k-means into one cluster per pick, earlier ones too, and pick the most typical point of each.

    Hacohen, Dekel & Weinshall 2022, *Active learning on a budget: opposite strategies suit high and low budgets*, ICML.
    The typicality of a point is the inverse of its mean distance to its nearest neighbours in its cluster. Clusters
    with the fewest picks come first, and of these the largest; there are 500 at most, and those of fewer than 5 points
    come last.

    Parameters
    ----------
    neighbours : int
        How many nearest neighbours count; fewer where the cluster has fewer.
    """
    points = coordinates(task.pool, "typiclust")
    count = min(task.total, _MOST)
    found = k_means_clusters(points, task.pool.masses, count, task.seed, batches=count > _EXACT)
    sizes, held = found.sizes, found.fewest(task.already)
    queues: dict[int, list[int]] = {}
    members = {int(c): np.intersect1d(np.flatnonzero(found.labels == c), task.open) for c in np.unique(found.labels)}
    picks: list[int] = []
    while len(picks) < task.budget:
        usable = [c for c, rows in members.items() if (len(queues[c]) if c in queues else len(rows))]
        cluster = min(usable, key=lambda c: (sizes[c] < _LEAST, held[c], -sizes[c], c))
        if cluster not in queues:
            everyone = np.flatnonzero(found.labels == cluster)
            apart = _mean_distance(points[everyone], neighbours)
            order = everyone[np.argsort(apart, kind="stable")]
            queues[cluster] = order[np.isin(order, members[cluster])].tolist()
        picks.append(queues[cluster].pop(0))
        held[cluster] += 1
    return np.array(picks, np.int64)


def _mean_distance(points: NDArray[np.float32], neighbours: int) -> NDArray[np.float64]:
    """Mean distance of each point to its nearest neighbours among these, itself not counted."""
    count = min(neighbours, len(points) - 1)
    if count < 1:
        return np.zeros(len(points))
    apart = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points).kneighbors()[0]
    return np.asarray(apart.mean(axis=1), np.float64)
