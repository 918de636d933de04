r"""The radius of a ball around a pick by its purity (Yehuda, Dekel, Hacohen & Weinshall 2022, *Active learning
through a covering lens*, NeurIPS, section 3.3).

A ball is pure where all points in it have the label of its centre. Labels are not known, so clusters by k-means stand
for them, as many as there are classes. The radius is the largest at which a share p of all balls is pure. A ball of
radius δ around i is pure as long as δ is below the distance :math:`m_i` to the nearest point of another cluster, so
one blocked pass that finds all :math:`m_i` gives the radius: their (1 - p)-quantile.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from handful.blocks import slices, workers
from handful.clock import Clock
from handful.errors import HandfulError
from handful.kernel import coordinates
from handful.pool import Pool
from handful.strategies.common.clusters import k_means_clusters
from handful.strategies.common.task import Task

Indices = NDArray[np.int64]

_TALL, _WIDTH = 256, 1024


def ball_pool(task: Task, delta: float | None, purity: float, classes: int | None, name: str) -> Pool:
    """The pool under the cost of a ball, 0 within its radius and 1 outside.

    The radius is ``delta``, the pool's own if its metric is a ball already, or the one that the purity rule gives.
    """
    pool = task.pool
    if delta is None and pool.metric.name == "ball":
        return pool
    points = coordinates(pool, name)
    if delta is None:
        delta = pure_radius(task, points, purity, classes)
    elif not (np.isfinite(delta) and delta > 0):
        raise HandfulError(f"delta must be a number above 0; got {delta!r}")
    return Pool(points, f"ball:{float(delta)!r}", masses=pool.masses, candidates=pool.candidates)


def pure_radius(task: Task, points: NDArray[np.float32], purity: float, classes: int | None) -> float:
    """The largest radius at which the share ``purity`` of all balls is pure."""
    if not 0 < purity < 1:
        raise HandfulError(f"purity must be between 0 and 1; got {purity!r}")
    count = _classes(task, classes)
    found = k_means_clusters(points, task.pool.masses, count, task.seed, batches=count > 50)
    reach = _nearest_stranger(Pool(points, "euclidean"), found.labels, task.effort.threads)
    order = np.argsort(reach)
    impure = np.cumsum(task.pool.masses[order])
    allowed = 1 - purity + 1e-9  # masses that sum to the share exactly may seem to pass it by a rounding
    at = min(int(np.searchsorted(impure, allowed, side="right")), len(order) - 1)
    radius = float(reach[order[at]])
    if not (np.isfinite(radius) and radius > 0):  # one cluster only, or copies of a point in several
        usable = reach[np.isfinite(reach) & (reach > 0)]
        radius = float(usable.min()) if len(usable) else 1.0
    return radius * (1 - 1e-6)  # the nearest stranger of the ball at the quantile stays outside


def _classes(task: Task, classes: int | None) -> int:
    """How many clusters stand for classes: as many as are known of, or else one per pick."""
    if classes is not None:
        if isinstance(classes, bool) or not isinstance(classes, int | np.integer) or classes < 2:
            raise HandfulError(f"classes must be a whole number of 2 or more; got {classes!r}")
        return int(classes)
    if task.probabilities is not None:
        return int(task.probabilities.shape[1])
    return max(2, task.total)


def _nearest_stranger(pool: Pool, labels: Indices, threads: int | None) -> NDArray[np.float64]:
    """For every point the distance to the nearest point of another cluster; infinity where there is none."""
    pool.rounding(np.float32)

    def of(part: slice) -> NDArray[np.float64]:
        reach = np.full(part.stop - part.start, np.inf)
        for columns, costs in pool.tiles(np.arange(part.start, part.stop), _WIDTH, np.float32):
            _lower_to_strangers(costs, labels[part], labels[columns], reach)
        return reach

    with workers(threads, Clock(math.inf)) as crew:
        return np.concatenate(crew.map(of, slices(pool.n, _TALL)))


@njit(cache=True, nogil=True)
def _lower_to_strangers(
    costs: NDArray[np.floating[Any]], rows: Indices, columns: Indices, reach: NDArray[np.float64]
) -> None:
    for k in range(len(rows)):
        own = rows[k]
        nearest = reach[k]
        for i in range(len(columns)):
            if columns[i] != own:
                nearest = min(nearest, costs[k, i])
        reach[k] = nearest
