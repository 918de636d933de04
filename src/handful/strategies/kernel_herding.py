"""Kernel herding: picks whose mean in the kernel's space follows that of the pool."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers, slices, workers
from handful.clock import Clock
from handful.kernel import kernel_pool
from handful.pool import Pool
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

Floats = NDArray[np.float64]

_TALL, _WIDTH = 256, 1024


@strategy("kernel-herding", "picks whose mean in a Gaussian kernel's space follows that of the pool", seeded=False)
def kernel_herding(task: Task, *, sigma: float | None = None) -> NDArray[np.int64]:
    r"""Pick :math:`\arg\max_x \sum_i a_i k(x, x_i) - \frac{1}{t+1} \sum_{j \in S} k(x, x_j)`, with t picks so far.

    Chen, Welling & Smola 2010, *Super-samples from kernel herding*, UAI. Earlier picks are the first of S.

    Parameters
    ----------
    sigma : float, optional
        Of the kernel exp(-|x - y|² / (2 s²)); see `max_herding`.
    """
    pool = kernel_pool(task.pool, sigma, "kernel-herding")
    with workers(task.effort.threads, Clock(math.inf)) as crew:
        means = _kernel_means(pool, task.open, crew)
        taken = np.zeros(len(task.open))
        for pick in task.already:
            taken += 1 - pool.distances([pick], task.open, dtype=np.float32)[0]
        left = np.ones(len(task.open), bool)
        picks: list[int] = []
        for count in range(len(task.already), task.total):
            best = int(np.argmax(np.where(left, means - taken / (count + 1), -np.inf)))
            left[best] = False
            picks.append(int(task.open[best]))
            taken += 1 - pool.distances(picks[-1:], task.open, dtype=np.float32)[0]
    return np.array(picks, np.int64)


def _kernel_means(pool: Pool, rows: NDArray[np.int64], crew: Workers) -> Floats:
    """``sum_i a_i k(x, x_i)`` for each of these rows."""
    pool.rounding(np.float32)  # prepares the points, once, before the threads would

    def of(part: slice) -> Floats:
        costs_of = np.zeros(part.stop - part.start)
        for points, costs in pool.tiles(rows[part], _WIDTH, np.float32):
            costs_of += costs @ pool.masses[points]
        return 1 - costs_of

    return np.concatenate(crew.map(of, slices(len(rows), _TALL)))
