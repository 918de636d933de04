"""The paper's algorithm, from a pool and a budget to a selection."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import closing, nullcontext
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.benders.candidates import Candidates
from handful.benders.checkpoint import Checkpoint
from handful.benders.evidence import evidence
from handful.benders.loop import Decomposition
from handful.benders.options import SOLVE_LIMIT, Options, parsed_path, parsed_start
from handful.benders.result import BendersResult
from handful.benders.resume import Saver, elapsed, restore
from handful.benders.starts import start_picks
from handful.benders.subproblem import subproblem
from handful.benders.trace import Iteration
from handful.blocks import Workers, workers
from handful.clock import Clock, Stopped
from handful.forecast import forecast
from handful.order import ordered
from handful.planned import planned
from handful.pool import Pool, as_pool
from handful.problem import PicksWeight, Problem
from handful.proof import Proof
from handful.selection import OPTIMAL, Progress, relative_gap

_GRACE = 1.0  # seconds in which a run that ended well may write down its proof, though its time be over

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def solve(
    pool: ArrayLike | Pool,
    budget: int,
    *,
    metric: str = "cosine",
    picks_weight: PicksWeight = "uniform",
    masses: ArrayLike | None = None,
    already: ArrayLike = (),
    count_already: bool = False,
    candidates: ArrayLike | None = None,
    preset: str = "certified",
    cuts: tuple[str, ...] | None = None,
    solver: str = "highs",
    transport: str = "exact",
    regularisation: float = 0.05,
    start: str | ArrayLike = "k-medoids",
    pruning: tuple[float, float] | None = None,
    tolerance: float | None = None,
    gap: float = OPTIMAL,
    time_limit: float = 600.0,
    solve_limit: float = SOLVE_LIMIT,
    solve_gap: float | None = None,
    iterations: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    parts: int = 1,
    processes: int = 1,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BendersResult:
    """Pick the points whose Wasserstein distance to the pool is least, by Generalized Benders Decomposition.

    The first parameters, and the last three, are those of `handful.select`.

    Parameters
    ----------
    preset : str
        ``certified`` (default), or as the paper prints them ``wass``, ``wass+eoc``, ``wass+eoc+p``.
    cuts : tuple of str, optional
        Families of cuts, in place of those of the preset: names of `handful.benders.FAMILIES`.
    solver : str
        ``highs`` or ``cbc`` (the paper's; needs the package mip).
    transport : str
        ``exact`` (our kernel), ``emd`` (POT's, as in the paper) or ``sinkhorn`` (appendix D.3).
    regularisation : float
        Temperature of ``sinkhorn``, in units of the mean distance to the picks.
    start : str or array of int
        ``k-medoids``, ``k-centers``, or the new picks to begin with.
    pruning : (near, far), optional
        Turns the pruning constraints on, or changes those of ``wass+eoc+p``: (0.6, 0.99), and for the paper's classical
        setting of large budgets (0.6, 0.9).
    tolerance : float, optional
        Stop when the distance is within so much of the master's bound; default 1e-3, and 0 for ``certified``.
    gap : float
        The same, relative to the distance.
    time_limit : float
        Seconds after which the best picks so far are returned; with a checkpoint, those of earlier runs count.
    solve_limit, solve_gap : float
        Seconds and relative gap of one solve of the master. Default 180 seconds, as in the paper; gap 0.1, as in the
        paper, and for ``certified`` a tenth of the gap that is left.
    iterations : int, optional
        Stop after so many.
    checkpoint : path, optional
        File that a killed run goes on from; written after every iteration.
    parts : int
        Cut the pool into so many random parts and the budget with it, solve each, and join the picks (appendix E.5).
    processes : int
        How many parts are solved at a time.
    seed : int
        Of the start and of the parts.
    """
    options = Options(
        preset=preset,
        cuts=None if cuts is None else tuple(cuts),
        solver=solver,
        transport=transport,
        regularisation=regularisation,
        start=parsed_start(start),
        pruning=pruning,
        tolerance=tolerance,
        gap=gap,
        time_limit=time_limit,
        solve_limit=solve_limit,
        solve_gap=solve_gap,
        iterations=iterations,
        checkpoint=parsed_path(checkpoint),
        parts=parts,
        processes=processes,
    )
    problem = Problem.of(as_pool(pool, metric, masses, candidates), budget, picks_weight, already, count_already)
    if parts > 1:
        from handful.benders.partition import solve_parts

        return solve_parts(problem, options, picks_weight, seed, threads, memory, progress)
    return solve_whole(problem, options, seed, threads, memory, progress)


def solve_whole(
    problem: Problem,
    options: Options,
    seed: int,
    threads: int | None,
    memory: int | None,
    progress: Callable[[Progress], None] | None,
) -> BendersResult:
    """Solve a problem that is not cut into parts."""
    rules = options.rules(problem)
    keep = _fits(problem, memory)
    store = None if options.checkpoint is None else Checkpoint(options.checkpoint, _identity(problem, options, seed))
    done = elapsed(store.records) if store else 0.0
    clock = Clock(options.time_limit - done)
    saver: Saver | None = None

    def report(line: Iteration) -> None:
        if saver and line.iteration:
            saver.save()
        if progress:
            progress(_progress(line, rules.valid))

    with closing(store) if store else nullcontext(), clock.catching_interrupts(), workers(threads, clock) as crew:
        among = _among(problem, crew, keep=keep)
        solve_one = subproblem(options.transport, options.regularisation)
        run = Decomposition(among, rules, options.solver, solve_one, offset=done, report=report)
        run.prepare(among.columns(start_picks(among, options.start, seed)))
        try:
            if store and store.records:
                restore(run, store.records)
                saver = Saver(store, run)
            else:
                saver = Saver(store, run) if store else None
                run.begin()
                if saver:
                    saver.save()
            status = run.run()
        except Stopped:
            status = "interrupted" if clock.interrupted else "time"
    if progress and rules.valid:
        progress(Progress(run.elapsed, run.best.distance, max(0.0, run.bound), "writing down the proof"))
    return _result(problem, options, run, status, threads)


def _result(problem: Problem, options: Options, run: Decomposition, status: str, threads: int | None) -> BendersResult:
    """The best picks with their exact plan, and the bounds."""
    pool, shares, rules = problem.pool, problem.shares, run.rules
    picks = ordered(pool, shares, run.candidates.picks(run.best.columns), len(problem.forced))
    plan = planned(pool, shares, picks, len(problem.forced))
    distance = plan["distance"]
    if rules.valid and relative_gap(distance, run.bound) <= OPTIMAL:
        status = "optimal"
    patience = max(_GRACE, options.time_limit - run.elapsed) if status in ("optimal", "gap") else 0.0
    proof, lower_bound = _certificate(problem, run, patience, threads)
    proven = [cut.prices for cut in run.cuts if cut.prices is not None]
    history = tuple(run.history)
    seconds = run.elapsed
    trace = [_progress(line, rules.valid) for line in history]
    return BendersResult(
        **plan,
        lower_bound=min(lower_bound, distance),
        proof=proof,
        status=status,
        seconds=seconds,
        trace=(*trace, Progress(seconds, distance, min(lower_bound, distance), "done")),
        preset=options.preset,
        solver=options.solver,
        families=rules.families,
        valid_bound=rules.valid,
        master_bound=min(run.bound, distance) if rules.valid else run.bound,
        cut_prices=np.array(proven).reshape(len(proven), pool.n),
        history=history,
    )


def _certificate(problem: Problem, run: Decomposition, seconds: float, threads: int | None) -> tuple[Proof, float]:
    """A proof of what the run found out, and its bound; prices of 0, which prove 0, where there is no better one."""
    nothing = Proof.nothing(problem.pool.n)
    best = run.best.prices if run.strongest is None else run.strongest.prices
    distance = run.best.distance
    if not run.rules.valid or best is None or distance == 0:
        return nothing, 0.0
    target = distance * (1 - max(0.9 * OPTIMAL, run.rules.gap))
    prices = [best, *(cut.prices for cut in run.cuts if cut.prices is not None and cut.prices is not best)]
    clock = Clock(seconds)
    with clock.catching_interrupts(), workers(threads, Clock(np.inf)) as crew:
        proof, bound = evidence(_among(problem, crew, keep=False), prices, distance, target, clock)
    return (proof, bound) if bound > 0 else (nothing, 0.0)


def _among(problem: Problem, crew: Workers, *, keep: bool) -> Candidates:
    allowed = problem.pool.candidates
    return Candidates(problem.pool, problem.shares, problem.budget, problem.forced, allowed, crew, keep=keep)


def _fits(problem: Problem, memory: int | None) -> bool:
    """Whether the distances of all candidates in double precision fit in what the forecast leaves."""
    pool = problem.pool
    candidates = len(pool.candidates)
    shape = (pool.n, pool.dimension)
    plan = forecast(shape, pool.points.itemsize, pool.metric.name, problem.budget, candidates, memory)
    return 8 * pool.n * candidates <= plan.limit - plan.fixed


def _progress(line: Iteration, valid: bool) -> Progress:
    phase = f"iteration {line.iteration}" if line.iteration else "opening"
    if not valid:
        return Progress(line.elapsed, line.incumbent, 0.0, f"{phase}, no certificate")
    return Progress(line.elapsed, line.incumbent, max(0.0, line.master_bound), phase)


def _identity(problem: Problem, options: Options, seed: int) -> dict[str, Any]:
    """What must be the same for a checkpoint to be gone on from."""
    rules = options.rules(problem)
    return {
        "pool": problem.pool.fingerprint[:16],
        "budget": problem.budget,
        "mass range": [problem.shares.low, problem.shares.high],
        "earlier picks": problem.forced.tolist(),
        "candidates": zlib.crc32(problem.pool.candidates.tobytes()),
        "cuts": list(rules.families),
        "pruning": rules.pruning if rules.pruning is None else list(rules.pruning),
        "solver": options.solver,
        "transport": options.transport,
        "start": options.start if isinstance(options.start, str) else options.start.tolist(),
        "seed": seed,
    }
