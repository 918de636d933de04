"""Maximum entropy: the points whose class probabilities are the most even."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import entropy, largest


@strategy(
    "maximum-entropy",
    "points whose class probabilities are the most even",
    needs="probabilities",
    model=True,
    seeded=False,
)
def maximum_entropy(task: Task) -> NDArray[np.int64]:
    r"""Pick the points of the largest :math:`-\sum_c p_c(x) \log p_c(x)`.

    Settles 2009, *Active learning literature survey*, University of Wisconsin, section 3.1.
    """
    scores = entropy(task.require_probabilities("maximum-entropy"))
    return largest(scores, task.open, task.budget)
