"""The way into the engine for strategies whose objective it can optimise, with its certificate."""

from __future__ import annotations

from handful.engine import select
from handful.pool import Pool
from handful.problem import PicksWeight
from handful.selection import Selection
from handful.strategies.common.task import Task


def optimised(task: Task, pool: Pool, picks_weight: PicksWeight) -> Selection:
    """The picks of least transport cost under the costs and masses of ``pool``, with proof.

    With ``"free"`` picks that is the coverage objective: the least ``sum_i a_i min_j c(x_i, x_j)``.
    """
    effort = task.effort
    return select(
        pool,
        task.budget,
        picks_weight=picks_weight,
        already=task.already,
        gap=effort.gap,
        time_limit=effort.time_limit,
        rounds=effort.rounds,
        seed=task.seed,
        threads=effort.threads,
        memory=effort.memory,
        progress=effort.progress,
    )
