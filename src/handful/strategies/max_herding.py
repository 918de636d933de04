"""MaxHerding: generalised coverage with a kernel, one pick at a time."""

from __future__ import annotations

from handful.greedy import greedy
from handful.kernel import kernel_pool
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Found, strategy
from handful.strategies.common.task import Task


@strategy("max-herding", "always the point that adds most to the pool's coverage by a Gaussian kernel", seeded=False)
def max_herding(task: Task, *, sigma: float | None = None, exact: bool = False) -> Found:
    r"""Raise the generalised coverage :math:`\sum_i a_i \max_{j \in S} k(x_i, x_j)` one pick at a time.

    Bae, Noh & Sutherland 2024, *Generalized coverage for more robust low-budget active learning*, ECCV. Raising the
    coverage is lowering the cost 1 - k.

    Parameters
    ----------
    sigma : float, optional
        Of the kernel exp(-|x - y|² / (2 s²)), on unit vectors where the metric is cosine. Default: 1/√2 there, which
        is the paper's exp(-|x - y|²), and the same in proportion to the spread of the points elsewhere.
    exact : bool
        Optimise the same objective with the engine, with its certificate.
    """
    pool = kernel_pool(task.pool, sigma, "max-herding")
    if exact:
        return optimised(task, pool, "free")
    return greedy(pool, task.budget, task.already, task.open, task.effort.threads)
