r"""BADGE: points of large and different loss gradients.

The gradient embedding of a point is :math:`g(x) = (p(x) - e_{\hat y}) \otimes h(x)`, with p the class probabilities,
:math:`\hat y` the likeliest class and h the features before the last layer. It has as many coordinates as classes
times features, but two embeddings differ by

.. math:: |q \otimes h - q' \otimes h'|^2 = |q|^2 |h|^2 + |q'|^2 |h'|^2 - 2\,(q \cdot q')(h \cdot h')

so it is never written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.kernel import coordinates
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

Floats = NDArray[np.floating[Any]]


@strategy("badge", "points of large and different loss gradients, by k-means++", needs="probabilities or gradients")
def badge(task: Task) -> NDArray[np.int64]:
    """Draw points by k-means++ among the gradient embeddings of those without a label.

    Ash, Zhang, Krishnamurthy, Langford & Agarwal 2020, *Deep batch active learning by diverse, uncertain gradient lower
    bounds*, ICLR; k-means++ by Arthur & Vassilvitskii 2007, SODA. Embeddings are the ``gradients`` given, or made of
    the ``probabilities`` and the points of the pool as features.
    """
    first, second = _factors(task)
    sizes = _squares(first) * _squares(second)
    random = task.random()
    chances = np.ones(len(task.open))
    nearest = np.full(len(task.open), np.inf)
    picks: list[int] = []
    for _ in range(task.budget):
        total = chances.sum()
        at = random.choice(len(task.open), p=chances / total)
        picks.append(at)
        products = (first @ first[at]).astype(np.float64) * (second @ second[at])
        nearest = np.minimum(nearest, np.maximum(0.0, sizes + sizes[at] - 2 * products))
        nearest[picks] = 0
        chances = nearest
        if not chances.sum() > 0:  # copies of the picks only
            chances = np.ones(len(task.open))
            chances[picks] = 0
    return task.open[picks]


def _factors(task: Task) -> tuple[Floats, Floats]:
    """The two factors of the embeddings of the open points."""
    if task.gradients is not None:
        return task.gradients[task.open], np.ones((len(task.open), 1), np.float32)
    if task.probabilities is None:
        raise HandfulError("badge needs a model: give its class probabilities, or gradients, one row for each point")
    slopes = task.probabilities[task.open].astype(np.float32)
    slopes[np.arange(len(slopes)), slopes.argmax(axis=1)] -= 1
    return slopes, coordinates(task.pool, "badge")[task.open]


def _squares(table: Floats) -> NDArray[np.float64]:
    return np.einsum("ij,ij->i", table, table, dtype=np.float64)
