"""Algorithm 1: the master proposes a selection, transport prices it, and cuts go back into the master."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.benders import cuts as families
from handful.benders.candidates import Candidates
from handful.benders.corrected import lifted_at
from handful.benders.cut import Cut
from handful.benders.inout import InOut
from handful.benders.master import Answer, make_master
from handful.benders.opening import Opening, solve_relaxation
from handful.benders.pruning import Pruning
from handful.benders.subproblem import Solved, Subproblem
from handful.benders.trace import Iteration
from handful.clock import Stopped
from handful.search import Search
from handful.selection import OPTIMAL, relative_gap

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CLEARLY = 1e-6  # relative, more than what single precision may pretend to gain
_FINEST = 1e-10  # relative gap of a master solve that can't be asked to be finer


@dataclass(frozen=True)
class Rules:
    """How the loop works, and when it ends; see `handful.benders.solve` for each."""

    families: tuple[str, ...]
    solve_limit: float
    solve_gap: float | None
    tolerance: float
    gap: float
    iterations: int | None = None
    pruning: tuple[float, float] | None = None

    @property
    def valid(self) -> bool:
        """Whether the master bounds the optimum from below."""
        return self.pruning is None and families.valid(self.families)

    @property
    def stabilised(self) -> bool:
        """Whether opening, in-out cuts and fixing are used: they need lifted cuts, and a bound that is one."""
        return self.valid and "lifted" in self.families


class Decomposition:
    """The state of a run: the master and its cuts, the best selection, the bound."""

    best: Solved

    def __init__(
        self,
        candidates: Candidates,
        rules: Rules,
        solver: str,
        solve: Subproblem,
        *,
        offset: float = 0.0,
        report: Callable[[Iteration], None] | None = None,
    ) -> None:
        self.candidates = candidates
        self.rules = rules
        self.bound = -np.inf
        self.cuts: list[Cut] = []
        self.history: list[Iteration] = []
        self.iterations = 0
        self.strongest: Cut | None = None
        self.inout: InOut | None = None
        self.proposed: Solved | None = None  # the selection of the last iteration
        self._solver = solver
        self._solve = solve
        self._offset = offset
        self._report = report
        self._clock = candidates.workers.clock
        self._visited: set[bytes] = set()
        self._fineness = 1.0
        self._patience = 1.0
        self._pruning = None if rules.pruning is None else Pruning(*rules.pruning, candidates.free)

    @property
    def elapsed(self) -> float:
        """Seconds of work, those before a resumption counted."""
        return self._offset + self._clock.elapsed

    def prepare(self, columns: Indices) -> None:
        """Take in a first selection, without its cuts."""
        self.best = self.solve(columns)
        unit = self.best.distance if self.best.distance > 0 else 1.0
        self._master = make_master(self._solver, len(self.candidates.open), self.candidates.free, unit)
        if self.best.distance == 0 or self.candidates.free in (0, len(self.candidates.open)):
            self.bound = self.best.distance  # nothing is below 0, and nothing else can be picked

    def begin(self, prices: Sequence[Floats] = ()) -> None:
        """Give the master its first cuts: those at some good prices, or those of an opening: iteration 0."""
        started = time.monotonic()
        try:
            self._open(prices)
        except Stopped:
            self.history.append(self._line(None, 0.0, 0.0, time.monotonic() - started))
            raise
        self._note(None, 0.0, 0.0, time.monotonic() - started)

    def _open(self, prices: Sequence[Floats]) -> None:
        for name in self.rules.families:
            if families.FAMILIES[name].when == "once":
                self.add(families.make(name, self.candidates, self.best))
        self._learn(self.best, better=True)
        if not self.rules.stabilised or self.ended():
            return
        self._polish(self.best)
        if prices:
            core = np.zeros(len(self.candidates.open))
            core[self.best.columns] = 1.0
            opening = Opening([lifted_at(self.candidates, vector) for vector in prices], core, self.best)
        else:
            opening = solve_relaxation(self.candidates, self.best, self._solve_alternating, self._opening)
        self.inout = InOut(self.candidates, opening.core)
        for cut in opening.cuts:
            self.add(cut)
        if opening.best is not self.best:
            self._learn(opening.best, better=True)

    def run(self) -> str:
        """Iterate until there is a reason to end: a key of `handful.selection.STATUS`."""
        while (reason := self.ended()) is None:
            if self.rules.iterations is not None and self.iterations >= self.rules.iterations:
                return "iterations"
            self._clock.check()
            if not self.iterate():
                return self.ended() or "converged"
        return reason

    def ended(self) -> str | None:
        """Why there is no need to go on, if there is none."""
        distance = self.best.distance
        if self.rules.valid and relative_gap(distance, self.bound) <= OPTIMAL:
            return "optimal"
        if distance - self.bound <= max(self.rules.tolerance, self.rules.gap * distance):
            return "gap" if self.rules.valid else "converged"
        return None

    def iterate(self) -> bool:
        """One iteration; whether another one can make any difference."""
        self.iterations += 1
        started = time.monotonic()
        limit = min(self._patience * self.rules.solve_limit, self._clock.left)
        answer = self._propose(limit)
        seconds = time.monotonic() - started
        self._raise(answer)
        if answer.empty or answer.columns is None or self.ended():
            self._patience *= 2  # for an answer without a selection: the next solve may take longer
            self._note(None, seconds, 0.0, 0.0)
            return not answer.empty
        key = answer.columns.tobytes()
        seen = key in self._visited
        self._refine(seen)
        if seen and self._fineness < _FINEST and seconds < limit:
            return False
        started = time.monotonic()
        solved = self.solve(answer.columns)
        transported = time.monotonic()
        try:
            self._learn(solved, better=solved.distance < self.best.distance)
            self._polish(solved)
        except Stopped:
            # In the trace, but not in a checkpoint: the selection is solved, but not all of its cuts are made.
            self.history.append(self._line(solved, seconds, transported - started, 0.0))
            raise
        self._note(solved, seconds, transported - started, time.monotonic() - transported)
        return True

    def add(self, cut: Cut) -> None:
        """Add a cut to the master, and close what it shows to be hopeless."""
        self._master.add(cut)
        self.cuts.append(cut)
        if not self.rules.stabilised:
            return
        proven = self.candidates.single_bound(cut)
        if self.strongest is None or proven > self.candidates.single_bound(self.strongest):
            self.strongest = cut
            self.bound = max(self.bound, min(proven, self.best.distance))
        self.shut(self.candidates.hopeless(cut, self.best.distance))

    def shut(self, columns: Indices) -> None:
        """Close candidates; where too few are left, no selection is better than the best."""
        if not len(columns):
            return
        if self.candidates.alive.sum() - len(columns) < self.candidates.free:
            self.bound = self.best.distance
            return
        self.candidates.shut(columns)
        self._master.close(columns)

    def remember(self, solved: Solved, better: bool) -> None:
        """Take in a selection without its cuts, which are there already or follow."""
        self._visited.add(solved.columns.tobytes())
        if better:
            self.best = solved
        if self._pruning is not None and better:
            self._pruning.improved(self._master, solved.columns)
        elif self._pruning is not None:
            self._pruning.avoid(self._master, solved.columns)

    def solve(self, columns: Indices) -> Solved:
        """Transport of one selection."""
        return self._solve(self.candidates, columns)

    def _propose(self, limit: float) -> Answer:
        if self.rules.solve_gap is not None:
            gap = self.rules.solve_gap * self._fineness
        else:
            gap = 0.1 * min(1.0, relative_gap(self.best.distance, self.bound)) * self._fineness
        value = max(cut.at(self.best.columns) for cut in self.cuts)
        stop = self._interrupted
        return self._master.solve(limit, max(gap, _FINEST), self.best.columns, value, stop)

    def _interrupted(self) -> bool:
        return self._clock.interrupted

    def _raise(self, answer: Answer) -> None:
        """Take in a dual bound. A master that lacks what is hopeless bounds only what is better than the best."""
        bound = min(answer.bound, self.best.distance) if self.rules.valid else answer.bound
        if answer.empty and self.rules.pruning is not None:
            return
        self.bound = bound if self.rules.pruning is not None else max(self.bound, bound)

    def _refine(self, seen: bool) -> None:
        """A selection that comes again was good enough for the gap of the solve: ask for a smaller one."""
        self._fineness = self._fineness / 10 if seen else 1.0
        self._patience = self._patience * 2 if seen else 1.0

    def _learn(self, solved: Solved, better: bool) -> None:
        seen = solved.columns.tobytes() in self._visited
        self.remember(solved, better)
        if not seen:
            for name in self.rules.families:
                when = families.FAMILIES[name].when
                if when == "always" or (when == "better" and better):
                    self.add(families.make(name, self.candidates, solved))
        if better and self.strongest is not None:
            self.shut(self.candidates.hopeless(self.strongest, self.best.distance))
        if self.inout is not None and self.strongest is not None and self.strongest.prices is not None:
            starts = [self.strongest.prices, solved.prices]
            # The height is convex along the way from the core point, where it is near the best distance.
            height = (solved.distance + self.best.distance) / 2
            prices = self.inout.deepen(solved.columns, starts, height)
            self.add(lifted_at(self.candidates, prices))

    def _polish(self, solved: Solved) -> None:
        """Take in what alternation makes of a selection, if it is the best so far."""
        if not self.rules.stabilised:
            return
        polished = self._alternated(solved)
        if polished.distance < self.best.distance:
            self._learn(polished, better=True)

    def _alternated(self, solved: Solved) -> Solved:
        """The selection to which transport and medoids in turn lead, if it is better."""
        among = self.candidates
        rows = np.sort(np.concatenate([among.forced, among.open[among.alive]]))
        found = Search(among.pool, among.shares, rows, among.forced).alternate(solved.picks)
        if found.distance >= solved.distance * (1 - _CLEARLY):
            return solved
        return min(solved, self.solve(among.columns(found.picks)), key=lambda each: each.distance)

    def _solve_alternating(self, candidates: Candidates, columns: Indices) -> Solved:
        return self._alternated(self._solve(candidates, columns))

    def _note(self, solved: Solved | None, master: float, transport: float, cutting: float) -> None:
        self.proposed = solved
        self._tell(self._line(solved, master, transport, cutting))

    def _line(self, solved: Solved | None, master: float, transport: float, cutting: float) -> Iteration:
        value, best = (solved or self.best).distance, self.best.distance
        cuts = len(self.cuts)
        return Iteration(self.iterations, self.elapsed, self.bound, value, best, cuts, master, transport, cutting)

    def _opening(self, cut: Cut, best: Solved, cuts: int) -> None:
        """News from within the opening: its best cut so far, and the best selection."""
        self.bound = max(self.bound, min(self.candidates.single_bound(cut), best.distance))
        self._tell(Iteration(0, self.elapsed, self.bound, best.distance, best.distance, cuts, 0.0, 0.0, 0.0))

    def _tell(self, line: Iteration) -> None:
        self.history.append(line)
        if self._report:
            self._report(line)
