"""Least confidence: the points whose likeliest class the model finds least likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import lack_of_confidence, largest


@strategy(
    "least-confidence",
    "points whose likeliest class the model finds least likely",
    needs="probabilities",
    model=True,
    seeded=False,
)
def least_confidence(task: Task) -> NDArray[np.int64]:
    r"""Pick the points of the smallest :math:`\max_c p_c(x)`.

    Lewis & Gale 1994, *A sequential algorithm for training text classifiers*, SIGIR.
    """
    scores = lack_of_confidence(task.require_probabilities("least-confidence"))
    return largest(scores, task.open, task.budget)
