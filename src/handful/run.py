"""A run: rounds of search and bound until there is a reason to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.ascent import NO_PICKS, Ascent
from handful.blocks import Workers
from handful.certificate import Certificate
from handful.dive import dive
from handful.forecast import Forecast
from handful.order import ordered
from handful.planned import planned
from handful.problem import Problem
from handful.proof import ROOT, Proof
from handful.resume import keep, proof_of
from handful.rough import rough_prices
from handful.search import Found, Search
from handful.selection import OPTIMAL, Progress, Selection, relative_gap
from handful.starts import greedy_starts
from handful.transport import point_prices, transport
from handful.waiting import Cases

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SAMPLE = 5_000  # points on which the search starts where there are more than twice as many
SAMPLE_CANDIDATES = 100_000  # candidates among which it does
SAMPLE_TRIES = 60  # perturbations there
_PROMISE = 0.1  # share of the gap below which what the ascent still promises is left to the tree
_DIVE = 3  # rounds from one dive to the next
_REPAIRS = 4  # dives in a round that keep most of the best picks
_DROPPED = 8  # picks given up in one of these, at most
_SHORTLIST = 300  # candidates of a dive, or ten per pick if that is more
_STEPS = 30  # steps of the ascent in a round
_SPLITS = 3  # times that the tree splits some cases in a round; once as long as the search is lucky
_RAISE = 4  # rounds from one raise of the bound to the next once it is as high as it gets
_VECTORS = 20_000  # vectors of prices that a proof may hold
_KEEP = 120  # seconds from one checkpoint to the next
_PATIENCE = 30  # perturbations for each pick, without success, after which the search rests


class Run:
    """The state of a run: the best picks, the bound, and who is still working."""

    def __init__(
        self,
        problem: Problem,
        crew: Workers,
        plan: Forecast,
        seed: int,
        gap: float,
        progress: Callable[[Progress], None] | None,
        checkpoint: Path | None,
    ) -> None:
        self.problem = problem
        self.pool = problem.pool
        self.crew = crew
        self.plan = plan
        self.seed = seed
        self.gap = gap
        self.progress = progress
        self.checkpoint = checkpoint
        self.kept_at = 0.0
        self.search = self._searching()
        self.best = self._first()
        self.ascent = self._ascent()
        self.tree: Cases[Any] | None = None
        self.trace: list[Progress] = []
        self.tries = 0
        self.repairs = 0
        self.failures = 0
        self.patience = _PATIENCE * max(10, problem.new)
        self.tried: set[bytes] = set()

    @property
    def lower_bound(self) -> float:
        return self._proven(self.best.distance)

    def _proven(self, distance: float) -> float:
        """The bound so far, no more than the distance that was reached."""
        bound = self.tree.lower_bound if self.tree else self.ascent.lower_bound
        return float(max(0.0, min(bound, distance)))

    def begin(self, before: Certificate | None) -> None:
        """Find picks to start with; those of the run before, with its proof, if there was one."""
        if before is None:
            self.crew.clock.check()
            self._search_sample()
            return
        forced = len(self.problem.forced)
        self._offer(self.search.alternate(np.concatenate([before.picks[:forced], np.sort(before.picks[forced:])])))
        self.ascent.resume(proof_of(before), self.best.distance)
        self.search.candidates = self.ascent.survivors()
        if len(before.cases) > 1:
            self._plant()
        self._report("going on")

    def go(self, rounds: int | None) -> str:
        """Rounds of bound and search, until there is a reason to end."""
        done = 0
        while True:
            if self.tree:
                self._split()
            elif not self.ascent.converged or done % _RAISE == 0:
                self._raise(done)
            self._report("searching")
            if self._optimal():
                return "optimal"
            self._look()
            self._report("closing the gap" if self.tree else "raising the bound")
            done += 1
            if self._optimal():
                return "optimal"
            current = relative_gap(self.best.distance, self.lower_bound)
            if current <= self.gap:
                return "gap"
            if rounds is not None and done >= rounds:
                return "iterations"
            stuck = self.tree.finished if self.tree else self.ascent.converged
            spent = stuck and self.failures >= self.patience
            if not self.tree and (spent or self._ripe(current)):
                self._plant()
                spent = spent and not self.tree
            if spent:
                return "converged"

    def _ripe(self, current: float) -> bool:
        """Whether cases now promise more than the ascent does."""
        return self.ascent.promised < _PROMISE * current and self.ascent.fitting

    def _optimal(self) -> bool:
        """Whether the bound meets the distance, as far as numbers can tell."""
        rest = self.best.distance - self.lower_bound
        return relative_gap(self.best.distance, self.lower_bound) <= OPTIMAL or rest <= self.pool.rounding(np.float64)

    def _searching(self, rows: Indices | None = None) -> Search:
        candidates = self.pool.candidates
        if rows is not None and len(candidates) > SAMPLE_CANDIDATES:
            random = np.random.default_rng([self.seed, 7])
            candidates = np.sort(random.choice(candidates, SAMPLE_CANDIDATES, replace=False))
        return Search(self.pool, self.problem.shares, candidates, self.problem.forced, rows, self._over)

    def _over(self) -> bool:
        """Whether the run is to end."""
        return self.crew.clock.over

    def _ascent(self) -> Ascent:
        return Ascent(self.pool, self.problem, self.plan, self.crew, self.seed)

    def _first(self) -> Found:
        """Some picks at once, so that there is an answer whenever the run is stopped.

        What they take is kept free at the end, which takes no more: it orders the picks, and writes.
        """
        started = self.crew.clock.elapsed
        random = np.random.default_rng(self.seed)
        picks = self.search.seed(self.problem.new, random)
        shares = self.problem.shares
        self.exact = transport(self.pool.distances(picks), self.pool.masses, shares.low, shares.high)
        self.crew.clock.reserve(self.crew.clock.elapsed - started)
        return Found(picks, self.exact.distance, self.exact.pick_prices)

    def _search_sample(self) -> None:
        """Find good picks on a sample of the points, then move them to where the whole pool wants them."""
        random = np.random.default_rng([self.seed, 1])
        rows, search = np.arange(self.pool.n), self.search
        if self.pool.n > 2 * SAMPLE:
            sample = np.sort(random.choice(self.pool.n, SAMPLE, replace=False))
            if self.pool.masses[sample].sum() > 0:
                rows, search = sample, self._searching(sample)
        some = np.sort(random.choice(rows, min(SAMPLE, len(rows)), replace=False))
        starts = [self.best.picks, *greedy_starts(self.pool, some, self.problem.new, self.problem.forced, self.crew)]
        best = min((search.alternate(picks) for picks in starts), key=lambda found: found.distance)
        for _ in range(SAMPLE_TRIES if search is not self.search else 0):
            if self._over():
                break
            found = search.perturb(best, random)
            best = found if found.distance < best.distance else best
        self._offer(self.search.alternate(best.picks, best.pick_prices))
        self._report("raising the bound")

    def _raise(self, round: int) -> None:
        self.crew.clock.check()
        costs = self.pool.distances(self.best.picks, dtype=np.float32)
        groups = np.argmin(costs - self.best.pick_prices[:, None], axis=0)
        if self.ascent.bundle is None:
            start = point_prices(costs, self.best.pick_prices)
            if self.plan.active < len(self.pool.candidates):
                start = rough_prices(self.problem, self.plan, self.best.picks, start, groups, self.crew, self.seed)
                # A pass over all candidates may take long; a run that is killed in it goes on from these prices.
                self.ascent.proof.close(ROOT, start)
                self._keep()
            self.ascent.begin(start, self.best.distance)
            self._report("raising the bound")
        self.ascent.round(_STEPS, self.best.distance, groups)
        self.search.candidates = self.ascent.survivors()
        self._try(self.ascent.suggestion)
        if round % _DIVE == 0:
            self._dive(NO_PICKS)

    def _dive(self, kept: Indices) -> None:
        """Alternate from where the prices lead if ``kept`` and what they favour are forced in, step by step."""
        bundle = self.ascent.bundle
        if bundle is None:
            return
        count = max(_SHORTLIST, 10 * self.problem.budget)
        field = self.ascent.shortlist(min(count, self.plan.active - len(kept)), kept)
        if len(field.forced) + len(field.open) >= self.problem.budget:
            self._try(dive(field, bundle.prices, self.best.distance))

    def _repair(self) -> None:
        """Give up some of the best picks and dive for others (large neighbourhood search; Shaw 1998)."""
        for _ in range(_REPAIRS):
            self.repairs += 1
            random = np.random.default_rng([self.seed, 4, self.repairs])
            dropped = int(random.integers(2, max(3, min(_DROPPED, self.problem.new // 2) + 1)))
            picks, forced = self.best.picks, len(self.problem.forced)
            if self.problem.new > dropped:
                self._dive(random.choice(picks[forced:], self.problem.new - dropped, replace=False))

    def _plant(self) -> None:
        limit = min(self.plan.vectors, _VECTORS)
        if limit > 100:
            self.tree = self.ascent.tree(self.best.distance, limit)

    def _split(self) -> None:
        assert self.tree is not None
        for _ in range(_SPLITS if self.failures > self.patience // 3 else 1):
            if self.tree.finished or relative_gap(self.best.distance, self.lower_bound) <= max(self.gap, OPTIMAL):
                break
            for picks in self.tree.split(self.best.distance):
                self._try(picks)

    def _try(self, picks: Indices) -> None:
        """Alternate from picks that the bound suggests, once each."""
        key = np.sort(picks).tobytes()
        if key not in self.tried:
            self.tried.add(key)
            forced = len(self.problem.forced)
            self._offer(self.search.alternate(np.concatenate([picks[:forced], np.sort(picks[forced:])])))

    def _look(self) -> None:
        """Look for better picks around the best ones, as long as that has led anywhere of late."""
        if self.failures < self.patience or not self.tree:
            self._repair()
            self._perturb()

    def _perturb(self) -> None:
        """Perturb the best picks, in batches that do not depend on the number of threads."""
        hints = self.ascent.hints(self.search.candidates)
        for _ in range(8):
            numbers = range(self.tries, self.tries + 4)
            self.tries += 4
            best = self.best

            def attempt(number: int, best: Found = best) -> Found:
                return self.search.perturb(best, np.random.default_rng([self.seed, 2, number]), hints)

            for found in self.crew.map(attempt, list(numbers)):
                self.failures += 1
                self._offer(found)

    def _offer(self, found: Found) -> None:
        """Take these picks if they are better, by distances in double precision: the search's are in single."""
        same = np.array_equal(np.sort(found.picks), np.sort(self.best.picks))
        if not same and found.distance < self.best.distance * (1 + 1e-5):
            shares = self.problem.shares
            costs = self.pool.distances(found.picks)
            plan = transport(costs, self.pool.masses, shares.low, shares.high, start=found.pick_prices)
            if plan.distance < self.best.distance * (1 - 1e-12):
                self.best, self.exact = Found(found.picks, plan.distance, plan.pick_prices), plan
                self.failures = 0

    def _report(self, phase: str) -> None:
        entry = Progress(self.crew.clock.elapsed, self.best.distance, self.lower_bound, phase)
        self.trace.append(entry)
        if self.progress:
            self.progress(entry)
        if entry.elapsed > self.kept_at + _KEEP:
            self._keep()

    def _keep(self) -> None:
        """Write the checkpoint, if there is to be one."""
        self.kept_at = self.crew.clock.elapsed
        if self.checkpoint:
            keep(self.result("time"), self.checkpoint)

    def result(self, status: str) -> Selection:
        """The best picks, evaluated in double precision, with the proof."""
        pool, problem = self.pool, self.problem
        picks = ordered(pool, problem.shares, self.best.picks, len(problem.forced))
        exact = self.exact.reordered(np.array([self.best.picks.tolist().index(pick) for pick in picks]))
        plan = planned(pool, problem.shares, picks, len(problem.forced), exact)
        proof = self.ascent.proof
        selection = Selection(
            **plan,
            lower_bound=self._proven(plan["distance"]),
            proof=proof if proof.prices else Proof.nothing(pool.n),  # none if stopped before the first pass
            status=status,
            seconds=self.crew.clock.elapsed,
            trace=tuple(self.trace),
        )
        last = Progress(selection.seconds, selection.distance, selection.lower_bound, "done")
        return replace(selection, trace=(*selection.trace, last))
