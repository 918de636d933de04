"""k-medoids: the points to which all others are nearest on average."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import workers
from handful.clock import Clock
from handful.lifted import Shares
from handful.order import ordered
from handful.search import Found, Search
from handful.selection import Selection
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

Indices = NDArray[np.int64]

_FREE = Shares(0.0, 1.0)
_SAMPLE = 5_000  # points on which the search starts where there are more than twice as many
_ATTEMPTS = 100  # exchanges of one or two medoids that are tried


@strategy("k-medoids", "cluster centres: the points to which all others are nearest on average")
def k_medoids(task: Task, *, exact: bool = False) -> Indices | Selection:
    r"""Minimise :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` over the picks S; earlier picks stay where they are.

    Kaufman & Rousseeuw 1990, *Finding groups in data*, Wiley. The search alternates between nearest points and medoids
    (Park & Jun 2009, *A simple and fast algorithm for k-medoids clustering*, Expert Systems with Applications 36), and
    exchanges one or two medoids at a time to get out of local optima.

    Parameters
    ----------
    exact : bool
        Use the engine with free weights, with its certificate.
    """
    if exact:
        return optimised(task, task.pool, "free")
    picks = _medoids(task)
    return ordered(task.pool, _FREE, picks, len(task.already))[len(task.already) :]


def _medoids(task: Task) -> Indices:
    """Medoids, the earlier picks first."""
    pool = task.pool
    random = task.random()
    with workers(task.effort.threads, Clock(math.inf)):
        whole = Search(pool, _FREE, pool.candidates, task.already)
        rows = None
        if pool.n > 2 * _SAMPLE:
            rows = np.sort(random.choice(pool.n, _SAMPLE, replace=False))
            rows = rows if pool.masses[rows].sum() > 0 else None
        search = whole if rows is None else Search(pool, _FREE, pool.candidates, task.already, rows)
        found = search.alternate(search.seed(task.budget, random))
        for _ in range(_ATTEMPTS):
            found = _better(found, search.perturb(found, random))
        return found.picks if rows is None else whole.alternate(found.picks).picks


def _better(found: Found, other: Found) -> Found:
    return other if other.distance < found.distance else found
