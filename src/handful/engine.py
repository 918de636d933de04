"""From a pool and a budget to a selection with proof, under one deadline."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from numpy.typing import ArrayLike

from handful.blocks import workers
from handful.clock import Clock, Stopped
from handful.executors import executor
from handful.forecast import forecast
from handful.medoid_run import kind_of_run
from handful.pool import Pool, as_pool
from handful.problem import PicksWeight, Problem
from handful.resume import keep, saved
from handful.selection import Progress, Selection


def select(
    pool: ArrayLike | Pool,
    budget: int,
    *,
    metric: str = "cosine",
    picks_weight: PicksWeight = "uniform",
    masses: ArrayLike | None = None,
    already: ArrayLike = (),
    count_already: bool = False,
    candidates: ArrayLike | None = None,
    gap: float = 0.01,
    time_limit: float = 600.0,
    rounds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    ray: str | None = None,
    device: str | None = None,
) -> Selection:
    """Pick the points whose Wasserstein distance to the pool is least, with proof.

    Parameters
    ----------
    pool : array of shape (n, d) or Pool
    budget : int
        How many points to pick: new ones, unless ``count_already``.
    metric : str
        ``cosine``, ``euclidean``, ``sqeuclidean``, ``manhattan``, ``rbf:SIGMA``, ``ball:RADIUS`` or ``precomputed``.
    picks_weight : "uniform", "free" or (low, high)
        Mass that a pick carries: all the same, whatever is best (k-medoids), or between low and high.
    masses, candidates : array, optional
        See `Pool`.
    already : array of int
        Points picked earlier: they are part of the plan.
    count_already : bool
        Whether ``budget`` includes them.
    gap : float
        Stop when the distance is proven to be within this share of the optimum; 0 asks for a proof of optimality.
    time_limit : float
        Seconds after which the best picks so far are returned, with their valid bound. The compilation of kernels, once
        per installation, does not count.
    rounds : int, optional
        Stop after so many rounds. Results depend on the seed alone, unless time ends the run.
    threads : int, optional
        Default: all cores.
    memory : int, optional
        Bytes that may be used; default 4 GB.
    progress : callable, optional
        Called with a `Progress` after every round.
    checkpoint : path, optional
        A file into which the run writes its certificate every two minutes and at its end. If it is there already the
        run goes on from it, with a time limit of its own.
    ray : str, optional
        Make the passes over all candidates by actors of a Ray cluster: its address, or "local" for one of its own.
    device : str, optional
        Make them by torch: on a card, "cuda" or "cuda:1", or on the processor, "cpu-torch".

    Returns
    -------
    Selection
        Ctrl-C ends the run like the time limit does.
    """
    clock = Clock(time_limit)
    pool = as_pool(pool, metric, masses, candidates)
    problem = Problem.of(pool, budget, picks_weight, already, count_already)
    file = None if checkpoint is None else Path(checkpoint)
    before = None if file is None else saved(file, problem)
    with (
        clock.catching_interrupts(),
        executor(ray, device, threads) as passes,
        workers(threads, clock, passes) as crew,
    ):
        plan = forecast(
            (pool.n, pool.dimension),
            pool.points.itemsize,
            pool.metric.name,
            problem.budget,
            len(pool.candidates),
            memory,
            passes.holding if passes else None,
        )
        run = kind_of_run(problem)(problem, crew, plan, seed, gap, progress, file)
        try:
            run.begin(before)
            status = run.go(rounds)
        except Stopped:
            status = "interrupted" if clock.interrupted else "time"
        selection = run.result(status)
    if file is not None:
        keep(selection, file)
    return selection
