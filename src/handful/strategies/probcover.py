"""ProbCover: balls of one radius that cover as much of the pool as possible."""

from __future__ import annotations

from handful.greedy import greedy
from handful.strategies.common.engine import optimised
from handful.strategies.common.radius import ball_pool
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task


@strategy("probcover", "always the point with the most uncovered points in a ball around it")
def probcover(
    task: Task,
    *,
    delta: float | None = None,
    purity: float = 0.95,
    classes: int | None = None,
    exact: bool = False,
) -> Found:
    """Cover the most points by balls of radius δ around the picks, one pick at a time.

    Yehuda, Dekel, Hacohen & Weinshall 2022, *Active learning through a covering lens*, NeurIPS.

    Parameters
    ----------
    delta : float, optional
        Radius of the balls: Euclidean distance, of unit vectors where the metric is cosine. Default: the paper's
        purity rule, see `handful.strategies.common.radius`.
    purity : float
        Share of the balls that must be pure.
    classes : int, optional
        Clusters that stand for classes in that rule. Default: as many as ``probabilities`` has, or one per pick.
    exact : bool
        Optimise the same objective with the engine, with its certificate.
    """
    pool = ball_pool(task, delta, purity, classes, "probcover")
    if exact:
        return optimised(task, pool, "free")
    return greedy(pool, task.budget, task.already, task.open, task.effort.threads)
