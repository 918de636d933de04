"""The paper's own algorithm, Generalized Benders Decomposition, in its three printed forms."""

from __future__ import annotations

from handful.errors import HandfulError
from handful.selection import Selection
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

PRINTED = ("wass", "wass+eoc", "wass+eoc+p")


@strategy("gbd", "the paper's Benders decomposition for the Wasserstein distance, as printed, with basic cuts")
def gbd(task: Task, *, preset: str = "wass") -> Selection:
    """Minimise the Wasserstein distance by Algorithm 1 of the paper; only the basic cuts prove anything.

    Mahmood, Fidler & Law 2022, *Low-budget active learning via Wasserstein distance: an integer programming approach*,
    ICLR.

    Parameters
    ----------
    preset : "wass", "wass+eoc" or "wass+eoc+p"
        Basic cuts; with the enhanced optimality cuts; and with pruning constraints too.
    """
    from handful.benders import solve

    if preset not in PRINTED:
        raise HandfulError(f"preset must be one of {', '.join(PRINTED)}; got {preset!r}")
    effort = task.effort
    return solve(
        task.pool,
        task.budget,
        preset=preset,
        already=task.already,
        time_limit=effort.time_limit,
        solve_limit=min(180.0, effort.time_limit),
        iterations=effort.rounds,
        seed=task.seed,
        threads=effort.threads,
        memory=effort.memory,
        progress=effort.progress,
    )
