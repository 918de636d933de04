"""Facility location: every pick the one that lowers the mean cost to the nearest pick most."""

from __future__ import annotations

from handful.greedy import greedy
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task


@strategy("facility-location", "always the point that lowers the mean cost to the nearest pick most", seeded=False)
def facility_location(task: Task, *, exact: bool = False) -> Found:
    r"""Lower :math:`\sum_i a_i \min_{j \in S} c(x_i, x_j)` one pick at a time, lazily.

    Cornuéjols, Fisher & Nemhauser 1977, *Location of bank accounts to optimize float*, Management Science 23; Wei,
    Iyer & Bilmes 2015, *Submodularity in data subset selection and active learning*, ICML.

    Parameters
    ----------
    exact : bool
        Optimise the same objective with the engine, with its certificate.
    """
    if exact:
        return optimised(task, task.pool, "free")
    return greedy(task.pool, task.budget, task.already, task.open, task.effort.threads)
