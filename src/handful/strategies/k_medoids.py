"""k-medoids: the points to which all others are nearest on average."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import workers
from handful.clock import Clock
from handful.greedy import greedy
from handful.lifted import Shares
from handful.order import ordered
from handful.search import Search
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task

Indices = NDArray[np.int64]

_FREE = Shares(0.0, 1.0)
_SMALL = 10_000  # points up to which exchanges are tried
_WORK = 2_000  # what is tried of them, in medoids


@strategy("k-medoids", "cluster centres: the points to which all others are nearest on average")
def k_medoids(task: Task, *, exact: bool = False) -> Found:
    r"""Minimise :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` over the picks S; earlier picks stay where they are.

    Kaufman & Rousseeuw 1990, *Finding groups in data*, Wiley. The search begins with the greedy picks (their BUILD),
    alternates between nearest points and medoids (Park & Jun 2009, *A simple and fast algorithm for k-medoids
    clustering*, Expert Systems with Applications 36), and in small pools exchanges one or two medoids at a time.

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
    pool, threads = task.pool, task.effort.threads
    built, _ = greedy(pool, task.budget, task.already, task.open, threads)
    random = task.random()
    with workers(threads, Clock(math.inf)):
        search = Search(pool, _FREE, pool.candidates, task.already)
        found = search.alternate(np.append(task.already, built))
        for _ in range(min(100, _WORK // task.total) if pool.n <= _SMALL else 0):
            other = search.perturb(found, random)
            found = other if other.distance < found.distance else found
    return found.picks, found.distance
