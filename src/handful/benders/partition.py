"""Partitioning for large budgets (appendix E.5): random parts of the pool, solved apart, their picks joined."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handful.benders.options import Options
from handful.benders.result import BendersResult
from handful.clock import Clock
from handful.errors import HandfulError
from handful.order import ordered
from handful.planned import planned
from handful.pool import Pool
from handful.problem import PicksWeight, Problem
from handful.proof import Proof
from handful.selection import Progress

Indices = NDArray[np.int64]

_NO_TIME = 1e-3  # seconds
_POLL = 0.2  # seconds from one look at the clock to the next


@dataclass(frozen=True)
class Part:
    """One part: its rows in the pool, which of them are earlier picks, and how many picks it gets in all."""

    rows: Indices
    forced: Indices
    budget: int


def parts_of(problem: Problem, count: int, seed: int) -> list[Part]:
    """Random parts with about the same number of picks, and points in proportion to their picks.

    Picks of all parts then stand for about the same mass, as they must in the whole pool.
    """
    if count > problem.new:
        raise HandfulError(f"parts must be at most the number of new picks, {problem.new}; got {count}")
    random = np.random.default_rng(seed)
    budgets = np.diff(np.linspace(0, problem.budget, count + 1).round().astype(np.int64))
    forced = np.array_split(random.permutation(problem.forced), count)
    others = random.permutation(np.setdiff1d(np.arange(problem.pool.n), problem.forced))
    ends = np.cumsum(budgets) * problem.pool.n / problem.budget
    sizes = np.diff(np.concatenate([[0], ends]).round().astype(np.int64)) - [len(part) for part in forced]
    cut = np.split(others, np.cumsum(sizes)[:-1])
    parts = [
        Part(np.sort(np.concatenate([mine, rest])), mine, int(budget))
        for mine, rest, budget in zip(forced, cut, budgets, strict=True)
    ]
    for number, part in enumerate(parts):
        free = len(np.intersect1d(np.setdiff1d(part.rows, part.forced), problem.pool.candidates))
        if free < part.budget - len(part.forced) or part.budget <= len(part.forced):
            raise HandfulError(
                f"part {number + 1} of {count} has {free} free candidates and {len(part.forced)} earlier picks for "
                f"{part.budget} picks in all: use fewer parts"
            )
    return parts


def solve_parts(
    problem: Problem,
    options: Options,
    picks_weight: PicksWeight,
    seed: int,
    threads: int | None,
    memory: int | None,
    progress: Callable[[Progress], None] | None,
) -> BendersResult:
    """Solve every part, in as many processes as asked, and evaluate the joined picks on the whole pool.

    The time limit is split over what runs one after the other. There is no bound on the whole.
    """
    if not isinstance(options.start, str):
        raise HandfulError("start can't be given picks where the pool is cut into parts: name k-medoids or k-centers")
    if not isinstance(picks_weight, str):
        raise HandfulError('picks_weight can\'t be a range where the pool is cut into parts: use "uniform" or "free"')
    parts = parts_of(problem, options.parts, seed)
    rounds = -(-len(parts) // options.processes)
    each = replace(options, parts=1, time_limit=options.time_limit / rounds)
    jobs = [
        _Job(
            _subpool(problem.pool, part),
            part,
            replace(each, checkpoint=_numbered(options.checkpoint, number)),
            picks_weight,
            seed,
            memory if memory is None else memory // options.processes,
            1 if options.processes > 1 else threads,
        )
        for number, part in enumerate(parts)
    ]
    report = progress or (lambda news: None)
    results = _in_processes(jobs, options.processes, report) if options.processes > 1 else _one_by_one(jobs, report)
    return _joined(problem, options, parts, results)


@dataclass(frozen=True)
class _Job:
    """All that it takes to solve one part, in whatever process."""

    pool: Pool
    part: Part
    options: Options
    picks_weight: str
    seed: int
    memory: int | None
    threads: int | None

    def solve(self, progress: Callable[[Progress], None] | None = None) -> BendersResult:
        from handful.benders.solve import solve_whole

        already = np.searchsorted(self.part.rows, self.part.forced)
        problem = Problem.of(self.pool, self.part.budget, self.picks_weight, already, count_already=True)
        return solve_whole(problem, self.options, self.seed, self.threads, self.memory, progress)

    @property
    def hurried(self) -> _Job:
        """The same with no time but for the picks it starts from: once Ctrl-C was pressed."""
        return replace(self, options=replace(self.options, time_limit=_NO_TIME, checkpoint=None))


def _one_by_one(jobs: list[_Job], report: Callable[[Progress], None]) -> list[BendersResult]:
    results: list[BendersResult] = []
    hurry = False
    for number, job in enumerate(jobs, 1):

        def news(line: Progress, part: str = f"part {number} of {len(jobs)}") -> None:
            report(replace(line, lower_bound=0.0, phase=f"{part}, {line.phase}"))

        results.append((job.hurried if hurry else job).solve(news))
        hurry = hurry or results[-1].status == "interrupted"
    return results


def _in_processes(jobs: list[_Job], processes: int, report: Callable[[Progress], None]) -> list[BendersResult]:
    """Solve some parts at a time. Ctrl-C is passed on to them, and those not yet begun are given no time."""
    results: dict[int, BendersResult] = {}
    running: dict[Future[BendersResult], int] = {}
    clock, told = Clock(math.inf), False
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context, initializer=_leave_interrupts)
    try:
        with clock.catching_interrupts(), executor:
            for number, job in enumerate(jobs):
                running[executor.submit(_Job.solve, job.hurried if clock.interrupted else job)] = number
                while len(running) == processes or (number + 1 == len(jobs) and running):
                    done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
                    if clock.interrupted and not told:
                        told = True
                        for child in multiprocessing.active_children():
                            os.kill(child.pid or 0, signal.SIGINT)
                    for future in done:
                        result = results[running.pop(future)] = future.result()
                        phase = f"{len(results)} of {len(jobs)} parts are done, no certificate"
                        report(Progress(clock.elapsed, result.distance, 0.0, phase))
    except BrokenProcessPool as error:
        if clock.interrupted:
            raise KeyboardInterrupt from error
        raise HandfulError("a process that solved a part died, perhaps for want of memory: use fewer") from error
    return [results[number] for number in range(len(jobs))]


def _leave_interrupts() -> None:
    """In a process of its own: Ctrl-C counts only while a part is being solved, which ends then by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _subpool(pool: Pool, part: Part) -> Pool:
    rows = part.rows
    points = pool.points[np.ix_(rows, rows)] if pool.metric.name == "precomputed" else pool.points[rows]
    masses = pool.masses[rows]
    return Pool(
        points,
        str(pool.metric),
        masses=masses if masses.sum() > 0 else None,
        candidates=np.flatnonzero(np.isin(rows, pool.candidates)),
    )


def _numbered(path: Path | None, number: int) -> Path | None:
    return None if path is None else path.with_name(f"{path.name}.{number + 1}")


def _joined(problem: Problem, options: Options, parts: list[Part], results: list[BendersResult]) -> BendersResult:
    pool, shares, forced = problem.pool, problem.shares, len(problem.forced)
    new = np.concatenate([part.rows[result.indices] for part, result in zip(parts, results, strict=True)])
    picks = ordered(pool, shares, np.concatenate([problem.forced, new]), forced)
    plan = planned(pool, shares, picks, forced)
    rounds = -(-len(parts) // options.processes)
    seconds = sum(result.seconds for result in results) * rounds / len(parts)
    stopped = {result.status for result in results} & {"interrupted", "time", "iterations"}
    return replace(
        results[0],
        **plan,
        lower_bound=0.0,
        proof=Proof.nothing(pool.n),
        status=min(stopped, default="converged"),
        seconds=seconds,
        trace=(Progress(seconds, plan["distance"], 0.0, "done, no certificate"),),
        valid_bound=False,
        master_bound=math.nan,
        cut_prices=np.empty((0, pool.n)),
        history=(),
    )
