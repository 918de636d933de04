"""How long a run will take, by a short probe: the very steps of the run, on a part of this pool, on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers, workers
from handful.bound import Field
from handful.clock import Clock
from handful.forecast import Forecast, forecast
from handful.pool import Pool
from handful.problem import Problem
from handful.rough import POINTS
from handful.run import SAMPLE, SAMPLE_CANDIDATES, SAMPLE_TRIES
from handful.sample import Sample
from handful.search import Search
from handful.starts import greedy_starts

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PART = 200_000  # points on which a step is timed whose time grows with the points
_TRIES, _SEEDS = 5, 4  # perturbations, and picks to start with, that are timed
_EXACT = 2  # times that the plan of a search in single precision takes in double
# Counted on pools of all sizes:
_TURNS, _TURNS_AFTER = 4, 2  # of transport and medoids on the whole pool; the same after the search on a sample
_STEPS = 10  # passes over the costs of the sample that the first prices take
_SWEPT, _KEPT = (300, 1_000), 1_000  # candidates per thread on which passes are timed
_CELLS = 50_000_000  # costs per thread that they look at, if these are enough candidates
_GREEDY = 1_000  # points on which the greedy picks are timed; they take the square of their number
_FEW = 20_000  # candidates that are advised where all points are too many


@dataclass(frozen=True)
class Timing:
    """Seconds until there are good ``picks`` and until there is a first ``bound``, expected.

    ``one_pass`` is what a pass of the bound over all ``candidates`` takes of it. ``restricted`` and ``unrestricted``
    are the seconds until a bound over 20,000 candidates and over all ``points``.
    """

    picks: float
    one_pass: float
    bound: float
    restricted: float
    unrestricted: float
    candidates: int
    points: int

    def sentence(self, limit: float) -> str:
        """What is to be expected, and what to do where the limit is short of it."""
        start = f"Good picks after about {spoken(self.picks)}"
        which = "points" if self.candidates == self.points else "candidates"
        one_pass = f"a pass over all {self.candidates:,} {which} takes {spoken(self.one_pass)}"
        if self.bound > limit:
            found = f"{start}; no bound within {spoken(limit)}, as {one_pass}: for one give {_enough(self.bound)}"
            if self.candidates <= 2 * _FEW or self.restricted > self.bound / 2:
                return f"{found}."
            return (
                f"{found}, or --candidates clustered:{_FEW} for one over these after about {spoken(self.restricted)}."
            )
        found = f"{start}, a first bound after about {spoken(self.bound)} ({one_pass})"
        if self.candidates == self.points:
            return f"{found}."
        whole = f"a bound over all {self.points:,} points would take about {spoken(self.unrestricted)}"
        return f"{found}; {whole} ({_enough(self.unrestricted)})."


def spoken(seconds: float) -> str:
    """A length of time as people say it: ``8 s``, ``95 s``, ``25 min``, ``3.5 h``."""
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _enough(seconds: float) -> str:
    """A time limit that leaves room, as the option is written."""
    minutes = int(1.4 * seconds / 60) + 1
    return f"--time-limit {minutes}m" if minutes < 100 else f"--time-limit {-(-minutes // 60)}h"


def timing(problem: Problem, threads: int | None = None, memory: int | None = None) -> Timing:
    """Time the steps of a run on a part of its pool; takes a few seconds where the run takes minutes."""
    pool = problem.pool
    count = len(pool.candidates)
    plan = forecast((pool.n, pool.dimension), pool.points.itemsize, pool.metric.name, problem.budget, count, memory)
    with workers(threads, Clock(np.inf)) as crew:
        probe = _Probe(problem, plan, crew)
        steps = probe.picks(), probe.one_pass(), probe.first_prices()
    picks, one_pass, first_prices = (step() for step in steps)  # now that the pace is known
    by_candidate = (first_prices + one_pass) / count
    bound, few, everyone = (picks + by_candidate * number for number in (count, min(_FEW, count), pool.n))
    return Timing(picks, one_pass, bound, few, everyone, count, pool.n)


class _Probe:
    """Times the steps of a run.

    A step is timed by the work of the processor, which other processes change little, times how many seconds such work
    takes at present, which is better known from all steps together.
    """

    def __init__(self, problem: Problem, plan: Forecast, crew: Workers) -> None:
        self.problem, self.pool, self.plan, self.crew = problem, problem.pool, plan, crew
        self.dtype = np.float64 if plan.exact else np.float32
        self.random = np.random.default_rng(0)
        self._alone, self._together = _Pace(), _Pace()
        for dtype in (np.float32, np.float64):  # prepares the points
            self.pool.distances(self.pool.candidates[:1], slice(0, 1), dtype=dtype)

    def picks(self) -> Callable[[], float]:
        """The search on a sample, and alternation on the whole pool."""
        pool, problem, work = self.pool, self.problem, self._alone.work
        part = self._search(self._rows(_PART), pool.candidates)
        start = part.seed(problem.new, self.random)
        plan = part.solve(start)
        whole, few = self._search(None, pool.candidates), min(_SEEDS, problem.new)
        seeding = work(lambda: whole.seed(few, self.random)) * problem.new / few if few else 0.0
        solving, moving = work(lambda: part.solve(start)), work(lambda: part.moved(start, plan))
        sampled = pool.n > 2 * SAMPLE
        turns = _TURNS_AFTER if sampled else _TURNS
        total = seeding + (_EXACT * solving + turns * (solving + moving)) * pool.n / len(part.rows)
        if sampled:
            count = min(SAMPLE_CANDIDATES, len(pool.candidates))
            sample = self._search(self._rows(SAMPLE), np.sort(self._candidates(count)))
            found = sample.alternate(sample.seed(problem.new, self.random))
            tries = work(lambda: [sample.perturb(found, self.random) for _ in range(_TRIES)])
            total += tries * SAMPLE_TRIES / _TRIES
        greedily = self._greedily()
        return lambda: total * self._alone.pace + greedily * self._together.pace

    def _greedily(self) -> float:
        """The greedy picks that the search starts from, from those on fewer points."""
        few = self._rows(max(_GREEDY, 2 * self.problem.new))
        start = self.problem.new, self.problem.forced, self.crew
        work = self._together.work(lambda: greedy_starts(self.pool, few, *start))
        return work * (min(SAMPLE, self.pool.n) / len(few)) ** 2

    def one_pass(self) -> Callable[[], float]:
        """A pass that bounds the values of all candidates."""
        each = int(np.clip(_CELLS // self.pool.n, *_SWEPT))
        work = self._evaluating(self.pool, each * self.crew.threads, 0)
        return lambda: work * self._together.pace

    def first_prices(self) -> Callable[[], float]:
        """The ascent over a sample of the points, where there is one."""
        count = len(self.pool.candidates)
        if self.plan.active >= count:
            return lambda: 0.0
        sample = Sample(self.pool, self._rows(int(np.clip(self.plan.active * self.pool.n // count, *POINTS))))
        few = _KEPT * self.crew.threads
        work = _STEPS * self._evaluating(sample, few, few)
        return lambda: work * self._together.pace

    def _evaluating(self, points: Pool | Sample, count: int, room: int) -> float:
        """An evaluation over all candidates, from one over some, of which so many have their costs kept."""
        few = self._candidates(count)
        nobody, costs = np.empty(0, np.int64), points.distances(self._candidates(2), dtype=np.float32)
        field = Field(points, self.problem.shares, 1, nobody, few, self.crew, room=room, dtype=self.dtype)
        if room:
            field.keep(field.open)
        # Prices as those of a run are: what it costs to serve a point from the nearest of some picks.
        prices = costs.min(axis=0).astype(np.float64)
        return self._together.work(lambda: field.evaluate(prices)) * len(self.pool.candidates) / len(few)

    def _rows(self, count: int) -> Indices:
        return np.sort(self.random.choice(self.pool.n, min(count, self.pool.n), replace=False))

    def _candidates(self, count: int) -> Indices:
        allowed = self.pool.candidates
        return self.random.choice(allowed, min(count, len(allowed)), replace=False)

    def _search(self, rows: Indices | None, candidates: Indices) -> Search:
        return Search(self.pool, self.problem.shares, candidates, self.problem.forced, rows)


class _Pace:
    """How many seconds pass for one second of work of the processor."""

    def __init__(self) -> None:
        self._seconds = self._work = 1e-9

    def work(self, step: Callable[[], object]) -> float:
        """Take a step; the work it was, on all threads."""
        start, worked = time.perf_counter(), time.process_time()
        step()
        worked = time.process_time() - worked
        self._seconds += time.perf_counter() - start
        self._work += worked
        return worked

    @property
    def pace(self) -> float:
        return self._seconds / self._work
