"""k-medoids: the points to which all others are nearest on average."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import workers
from handful.clock import Clock
from handful.lifted import Shares
from handful.order import ordered
from handful.search import Search
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task
from handful.swaps import Swaps

Indices = NDArray[np.int64]

_FREE = Shares(0.0, 1.0)
_FEW = 10_000  # points up to which the better of two starts is taken


@strategy("k-medoids", "cluster centres: the points to which all others are nearest on average")
def k_medoids(task: Task, *, exact: bool = False) -> Found:
    r"""Minimise :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` over the picks S; earlier picks stay where they are.

    Kaufman & Rousseeuw 1990, *Finding groups in data*, Wiley. From picks drawn far from each other, medoids are
    swapped for other points as long as that helps (Schubert & Rousseeuw 2021, *Fast and eager k-medoids clustering*,
    Information Systems 101), without the matrix of all costs.

    Parameters
    ----------
    exact : bool
        Use the engine with free weights, with its certificate.
    """
    if exact:
        return optimised(task, task.pool, "free")
    picks, cost = _medoids(task)
    return ordered(task.pool, _FREE, picks, len(task.already))[len(task.already) :], cost


def _medoids(task: Task) -> tuple[Indices, float]:
    """Medoids, the earlier picks first, and the cost that they leave."""
    pool, random = task.pool, task.random()
    everyone = np.arange(pool.n)
    with workers(task.effort.threads, Clock(math.inf)):
        search = Search(pool, _FREE, pool.candidates, task.already)
        tries = []
        for _ in range(2 if pool.n <= _FEW else 1):
            start = search.seed(task.budget, random)
            found = Swaps(pool, everyone, pool.masses, pool.candidates, start, len(task.already))
            found.descend()
            tries.append(found)
    best = min(tries, key=lambda found: found.distance)
    return best.picks, best.distance
