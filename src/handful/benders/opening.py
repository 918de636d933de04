"""The opening: the linear relaxation of the master is solved first, by a proximal bundle, and leaves it good cuts.

A master that knows only the cuts of a few selections proposes wild ones, and plain cutting planes take hundreds of
iterations to settle. The bundle does the same work on the same cuts in a few dozen passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.benders.cut import Cut
from handful.benders.subproblem import Solved, Subproblem
from handful.bundle import Bundle

Floats = NDArray[np.float64]

_PASSES = 150
_KEPT = 40  # cuts handed to the master, those that bound best
_PRECISE = 1e-4  # relative gain below which the relaxation counts as solved
_SHARE = 0.25  # of the time that is left, at most


@dataclass(frozen=True, eq=False)
class Opening:
    """Cuts for the master, best last; the relaxed solution; the best selection met on the way."""

    cuts: list[Cut]
    core: Floats
    best: Solved


def solve_relaxation(
    candidates: Candidates, start: Solved, solve: Subproblem, report: Callable[[Cut, Solved, int], None]
) -> Opening:
    """Raise the bound over the prices from those of a selection; solve the selections that new centres count.

    ``report`` hears of every new centre: its cut, the best selection, and how many cuts were made.
    """
    clock = candidates.workers.clock
    until = clock.elapsed + _SHARE * clock.left
    best = start
    cut, first = candidates.evaluate(start.prices)
    bundle = Bundle(candidates.pool.masses, first, start.distance)
    met = [cut]
    values = [first.value]
    while len(met) < _PASSES and clock.elapsed < until:
        trial = bundle.propose()
        if bundle.predicted < _PRECISE * abs(best.distance):
            break
        cut, evaluation = candidates.evaluate(trial)
        met.append(cut)
        values.append(evaluation.value)
        if bundle.learn(evaluation):
            found = solve(candidates, candidates.columns(evaluation.chosen))
            best = min(best, found, key=lambda solved: solved.distance)
            report(cut, best, len(met))
    strongest = np.argsort(values, kind="stable")[-_KEPT:]
    return Opening([met[number] for number in strongest], _core(candidates, bundle), best)


def _core(candidates: Candidates, bundle: Bundle) -> Floats:
    core = np.zeros(len(candidates.open))
    for row, weight in bundle.support().items():
        at = np.searchsorted(candidates.open, row)
        if at < len(candidates.open) and candidates.open[at] == row:
            core[at] = weight
    return core
