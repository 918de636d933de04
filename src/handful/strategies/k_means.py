"""k-means: the points nearest to the centres of as many clusters as there are picks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.kernel import coordinates
from handful.strategies.common.clusters import k_means_clusters
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task


@strategy("k-means", "the points nearest to the centres of k-means, largest cluster first")
def k_means(task: Task) -> NDArray[np.int64]:
    """Cluster into as many clusters as there are picks, earlier ones too, and pick the point nearest to each centre.

    Lloyd 1982, *Least squares quantization in PCM*, IEEE Transactions on Information Theory 28, by scikit-learn.
    Clusters that hold the fewest earlier picks come first, and of these the largest.
    """
    points = coordinates(task.pool, "k-means")
    found = k_means_clusters(points, task.pool.masses, task.total, task.seed, batches=False)
    squares = np.einsum("ij,ij->i", points, points)
    left = np.zeros(task.pool.n, bool)
    left[task.open] = True
    order = np.lexsort((-found.sizes, found.fewest(task.already)))
    picks: list[int] = []
    while len(picks) < task.budget:  # more than once only where some clusters are empty
        for cluster in order[: task.budget - len(picks)]:
            apart = squares - 2 * (points @ found.centres[cluster])  # but for one and the same |centre|²
            picks.append(int(np.argmin(np.where(left, apart, np.inf))))
            left[picks[-1]] = False
    return np.array(picks, np.int64)
