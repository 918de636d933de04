"""Uncertainty Herding: generalised coverage of the points that the model is unsure of."""

from __future__ import annotations

import numpy as np

from handful.greedy import greedy
from handful.kernel import coordinates, kernel_pool
from handful.pool import Pool
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import uncertainty
from handful.strategies.common.views import reweighted


@strategy(
    "uncertainty-herding",
    "max-herding, with every point counting as much as the model is unsure of it",
    needs="probabilities",
    model=True,
    seeded=False,
)
def uncertainty_herding(
    task: Task, *, sigma: float | None = None, measure: str = "margin", exact: bool = False
) -> Found:
    r"""Raise the uncertainty coverage :math:`\sum_i a_i U(x_i) \max_{j \in S} k(x_i, x_j)` one pick at a time.

    Bae, Oliveira & Sutherland 2025, *Uncertainty Herding: one active learning method for all label budgets*, ICLR. The
    radius of the kernel exp(-|x - y|² / h²) shrinks as picks are added: h is the least distance between two earlier
    picks. The paper also calibrates the probabilities by temperature scaling, which is up to whoever has the model.

    Parameters
    ----------
    sigma : float, optional
        Width of the kernel, h/√2, in place of the paper's rule; see `max_herding` for fewer than two earlier picks.
    measure : "margin", "entropy" or "confidence"
        The uncertainty U.
    exact : bool
        Optimise the same objective with the engine, with its certificate.
    """
    unsure = uncertainty(task.require_probabilities("uncertainty-herding"), measure)
    if sigma is None:
        sigma = _radius(task)
    pool = reweighted(kernel_pool(task.pool, sigma, "uncertainty-herding"), unsure)
    if exact:
        return optimised(task, pool, "free")
    return greedy(pool, task.budget, task.already, task.open, task.effort.threads)


def _radius(task: Task) -> float | None:
    """The least distance between two earlier picks over √2; None where no two are apart."""
    if len(task.already) < 2 or task.pool.metric.name == "rbf":
        return None
    points = coordinates(task.pool, "uncertainty-herding")[task.already]
    among = Pool(points, "euclidean").distances(np.arange(len(points)))
    apart = among[among > 0]
    return float(apart.min() / np.sqrt(2)) if len(apart) else None
