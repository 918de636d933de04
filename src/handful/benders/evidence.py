r"""From the cuts of a run to a proof by cases, which is checked without any solver.

The dual bound of the master rests on its solver. But the master's cuts hold all that is needed to prove it otherwise:
by branch and bound over its linear relaxation, in which the multipliers :math:`w_k` of the cuts at a case give one
vector of prices, :math:`u = \sum_k w_k u_k`, that proves the case. For every :math:`v_j` is concave, so what the lifted
cut at u says is at least the mean of what the cuts at the :math:`u_k` say, which is the value of the relaxation.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from handful.benders.candidates import Candidates
from handful.benders.cut import Cut
from handful.benders.subproblem import by_kernel
from handful.clock import Clock
from handful.proof import ROOT, Proof

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_FEW = 400  # candidates left up to which cases are distinguished
_VECTORS = 2_000
_BYTES = 200_000_000  # of all vectors
_WHOLE = 1e-6  # parts of the relaxed problem nearer than this to 0 or 1 count as these


@dataclass(order=True)
class _Case:
    bound: float
    number: int
    inside: Indices = field(compare=False)
    others: Indices = field(compare=False)
    branch: int | None = field(compare=False)


def evidence(
    candidates: Candidates, prices: Sequence[Floats], distance: float, target: float, clock: Clock
) -> tuple[Proof, float]:
    """Prove as much as possible of the bound ``target``; returns the proof, and the bound it proves.

    Parameters
    ----------
    candidates : Candidates
        All of them, open. Those that are in no selection better than ``distance`` are discarded in the proof.
    prices : sequence of arrays
        Those of the cuts; the first by itself proves most.
    clock : Clock
        Once its time is over, or it is interrupted, no further case is distinguished.
    """
    proof = Proof()
    proof.close(ROOT, prices[0])
    first, _ = candidates.evaluate(prices[0])
    _discard(proof, candidates, first, distance)
    left = np.flatnonzero(candidates.alive)
    if len(left) > _FEW:
        return proof, min(candidates.single_bound(first), distance)
    pool, forced = candidates.pool, candidates.forced
    few = Candidates(
        pool, candidates.shares, candidates.budget, forced, candidates.open[left], candidates.workers, keep=True
    )
    cuts = [few.evaluate(vector)[0] for vector in prices]
    for cut in sorted(cuts, key=few.single_bound, reverse=True):
        _discard(proof, few, cut, distance)
    limit = min(_VECTORS, _BYTES // (8 * pool.n))
    return proof, min(_Branching(few, cuts, proof, target).run(clock, limit), distance)


def _discard(proof: Proof, candidates: Candidates, cut: Cut, distance: float) -> None:
    gone = candidates.hopeless(cut, distance)
    assert cut.prices is not None
    proof.discard(ROOT, candidates.open[gone], cut.prices)
    candidates.shut(gone)


class _Branching:
    """Cases of the candidates left, each with a bound that the proof holds."""

    def __init__(self, candidates: Candidates, cuts: list[Cut], proof: Proof, target: float) -> None:
        self._candidates = candidates
        self._cuts = cuts
        self._proof = proof
        self._target = target

    def run(self, clock: Clock, limit: int) -> float:
        """Split the case of least bound until all reach the target; returns the least bound."""
        closed = np.inf
        none = np.empty(0, np.int64)
        root = self._look(ROOT, none, np.flatnonzero(self._candidates.alive), -np.inf)
        cases = [root] if root else []
        while cases and cases[0].bound < self._target and self._proof.size < limit:
            if clock.left <= 0 or clock.interrupted:
                break
            case = heapq.heappop(cases)
            if case.branch is None:
                closed = min(closed, case.bound)
                continue
            rest = case.others[case.others != case.branch]
            with_it, without = self._proof.split(case.number, int(self._candidates.open[case.branch]))
            for number, inside in ((with_it, np.append(case.inside, case.branch)), (without, case.inside)):
                half = self._look(number, inside, rest, case.bound)
                if half:
                    heapq.heappush(cases, half)
        return min([closed, *(case.bound for case in cases)])

    def _look(self, number: int, inside: Indices, others: Indices, inherited: float) -> _Case | None:
        """Bound a case and say how to split it; None where it holds no selection."""
        missing = self._candidates.free - len(inside)
        if not 0 <= missing <= len(others):
            return None
        others = others if missing else others[:0]
        while True:
            prices, parts = self._relaxed(inside, others, missing)
            cut, _ = self._candidates.evaluate(prices)
            bound = self._candidates.case_bound(cut, inside, others)
            whole = np.minimum(parts, 1 - parts) < _WHOLE
            if bound >= self._target or not whole.all():
                break
            if not self._learn(np.sort(np.append(inside, others[parts > 0.5])), cut):
                break
        if bound > inherited:
            self._proof.close(number, prices)
        branch = None if whole.all() else int(others[np.argmin(np.abs(parts - 0.5))])
        return _Case(max(bound, inherited), number, inside, others, branch)

    def _learn(self, columns: Indices, known: Cut) -> bool:
        """Add the cut of a selection that the relaxation proposes as it is; False if that tells nothing new."""
        solved = by_kernel(self._candidates, columns)
        if solved.distance <= known.at(columns) * (1 + 1e-9):
            return False
        self._cuts.append(self._candidates.evaluate(solved.prices)[0])
        return True

    def _relaxed(self, inside: Indices, others: Indices, missing: int) -> tuple[Floats, Floats]:
        """The prices that the relaxation of a case leads to, and how much of each of the others it picks."""
        constants = np.array([cut.constant + cut.coefficients[inside].sum() for cut in self._cuts])
        slopes = np.array([cut.coefficients[others] for cut in self._cuts])
        unit = 100.0 / max(float(np.abs(constants).max()), float(np.abs(slopes).max(initial=0.0)), 1e-300)
        found = linprog(
            np.append(np.zeros(len(others)), 1.0),
            A_ub=unit * np.column_stack([slopes, np.full(len(slopes), -1 / unit)]),
            b_ub=-unit * constants,
            A_eq=np.append(np.ones(len(others)), 0.0)[None, :],
            b_eq=[missing],
            bounds=[*[(0, 1)] * len(others), (None, None)],
        )
        if found.status != 0:  # never seen; any prices prove something, and any split is a split
            best = max(self._cuts, key=lambda cut: self._candidates.case_bound(cut, inside, others))
            assert best.prices is not None
            return best.prices, np.full(len(others), 0.5)
        weights = np.maximum(-found.ineqlin.marginals, 0.0)
        weights /= weights.sum()
        used = [w * cut.prices for w, cut in zip(weights, self._cuts, strict=True) if w > 0 and cut.prices is not None]
        return np.sum(used, axis=0), found.x[:-1]
