"""WAAL: points that the classifier is unsure of and that a critic finds unlike those with a label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.learning import need_torch
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import largest
from handful.strategies.common.views import coordinates


@strategy(
    "waal",
    "points that a classifier is unsure of and a critic finds unlike the labelled ones",
    needs="labels, once there are earlier picks",
)
def waal(task: Task, *, weight: float = 10.0, steps: int = 200) -> NDArray[np.int64]:
    r"""Train a classifier and a Wasserstein critic on the labels so far, and take the points of the best score.

    Shui, Zhou, Gagné & Wang 2020, *Deep active learning: unified and principled method for query and training*,
    AISTATS. The score is low, and better, where the classifier is unsure (its largest and its mean loss over all
    classes bound the true one), and where the critic g is large:

    .. math:: \frac12 \max_y \ell(h(x), y) + \frac12 \frac1K \sum_y \ell(h(x), y) - \text{weight} \cdot g(x)

    Without earlier picks the points are drawn at random, as the paper draws its first.

    Parameters
    ----------
    weight : float
        Of the critic.
    steps : int
        Of the classifier; the critic makes three before each.
    """
    points = coordinates(task.pool, "waal")
    if not (np.isfinite(weight) and weight >= 0):
        raise HandfulError(f"weight must be a number of 0 or more; got {weight!r}")
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise HandfulError(f"steps must be a whole number of 1 or more; got {steps!r}")
    if not len(task.already):
        return task.random().choice(task.open, task.budget, replace=False)
    if task.labels is None:
        raise HandfulError("waal needs the labels of the earlier picks: it trains a classifier on them")
    need_torch("waal")
    from handful.learning.waal import WAAL, judged

    _, classes = np.unique(task.labels, return_inverse=True)
    found = judged(points, task.already, classes.astype(np.int64), WAAL(steps=int(steps), seed=task.seed))
    bounds = (-found.logs).max(axis=1) / 2 + (-found.logs).mean(axis=1) / 2
    return largest(weight * found.critic - bounds, task.open, task.budget)
