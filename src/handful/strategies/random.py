"""Random picks: what every other strategy must beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task


@strategy("random", "points drawn at random, all with the same chance")
def random(task: Task) -> NDArray[np.int64]:
    """Draw from the open candidates without replacement."""
    return task.random().choice(task.open, task.budget, replace=False)
