"""Greedy k-centers: always the point farthest from all picks so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from handful.greedy import nearest_costs
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task


@strategy("k-centers", "always the point farthest from all picks so far, so that none is far from a pick")
def k_centers(task: Task) -> NDArray[np.int64]:
    r"""Pick :math:`\arg\max_i \min_{j \in S} c(x_i, x_j)` again and again, from the earlier picks or a random point.

    Gonzalez 1985, *Clustering to minimize the maximum intercluster distance*, Theoretical Computer Science 38: the
    radius is at most twice the least possible where the cost is a metric. Sener & Savarese 2018, *Active learning for
    convolutional neural networks: a core-set approach*, ICLR.
    """
    left = np.zeros(task.pool.n, bool)
    left[task.open] = True
    picks = [] if len(task.already) else [int(task.random().choice(task.open))]
    with threadpool_limits(1):  # the products of one pick with all points are too small to share
        nearest = nearest_costs(task.pool, np.append(task.already, picks).astype(np.int64))
        left[picks] = False
        while len(picks) < task.budget:
            picks.append(int(np.argmax(np.where(left, nearest, -1.0))))
            left[picks[-1]] = False
            np.minimum(nearest, task.pool.distances(picks[-1:], dtype=np.float32)[0], out=nearest)
    return np.array(picks, np.int64)
