"""Wasserstein: the picks nearest to the whole pool, by the engine, with proof."""

from __future__ import annotations

from handful.errors import HandfulError
from handful.problem import PicksWeight
from handful.selection import Selection
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task

RANGE = (0.25, 3.0)
"""Shares that "range" allows a pick, as multiples of an even one."""


@strategy("wasserstein", "picks of least Wasserstein distance to the pool, with proof; all carry the same share")
def wasserstein(task: Task, *, picks_weight: PicksWeight = "uniform") -> Selection:
    """Minimise the Wasserstein distance between picks and pool: `handful.select`.

    Mahmood, Fidler & Law 2022, *Low-budget active learning via Wasserstein distance: an integer programming approach*,
    ICLR, by a stronger method; see the page on the certificate.

    Parameters
    ----------
    picks_weight : "uniform", "free", "range" or (low, high)
        Share of the pool that a pick carries; "range" is ¼ to 3 times an even share.
    """
    if picks_weight == "range":
        picks_weight = (RANGE[0] / task.total, min(1.0, RANGE[1] / task.total))
    elif isinstance(picks_weight, str) and picks_weight not in ("uniform", "free"):
        raise HandfulError(f'picks_weight must be "uniform", "free", "range" or (low, high); got {picks_weight!r}')
    return optimised(task, task.pool, picks_weight)
