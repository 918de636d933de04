"""Raising the lower bound for picks of free weight over near pairs, until few enough candidates are left to be exact.

The first prices are read off the best picks: every point pays, beyond the cost of its nearest pick, an even part of
what one more pick would save. A bundle raises them, over the near pairs of all candidates left or, as long as these are
too many, of an active set that a pass over all candidates checks.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers
from handful.bound import Evaluation
from handful.bundle import Bundle
from handful.near import Cells, NearPairs, savings
from handful.near_tree import NearTree, safe, staying
from handful.pool import Pool
from handful.proof import ROOT, Proof

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_STEPS = 120  # of the bundle in a round
_TOLERANCE = 2e-6  # promised gain, relative to the distance, at which the top is reached
_AHEAD = 2.0  # how far above the first prices the horizon lies, in units of what a point pays beyond its cost
_PAIRS = 24_000_000  # near pairs that are kept
_BYTES, _SOLVED = 100, 400  # of memory, amply, for a pair that is kept and for one in the relaxation
_FEW = 30_000  # pairs for which the relaxation is solved exactly at once
_SEEN = 250_000  # distances of candidates left up to which every point sees all of them
_MANY = 5_000_000  # the same, where the bundle makes little progress any more
_BEYOND = 15  # steps that may want prices beyond the horizon before it moves
_SLOW = 0.05  # share of the gap that a round closes, below which progress is little
_HARD = 1_500  # candidates from which on the relaxation is so slow that more rounds pay
_PER_GROUP = 60  # candidates of a group in the active set, by each of two measures
_SAMPLE = 64  # candidates by which pairs are counted


class NearAscent:
    """The bound over all candidates, and the proof of it; to the engine what `handful.ascent.Ascent` is.

    Parameters
    ----------
    memory : int
        Bytes that the run may use.
    """

    def __init__(self, pool: Pool, budget: int, forced: Indices, workers: Workers, memory: int, seed: int) -> None:
        self.pool = pool
        self.budget = budget
        self.forced = forced
        self.open = np.setdiff1d(pool.candidates, forced)
        self.proof = Proof()
        self.lower_bound = -np.inf
        self.converged = False
        self.ready = False
        self._listed = False
        self.bundle: Bundle | None = None
        self.suggestion = np.empty(0, np.int64)
        self._workers = workers
        self._most = min(_PAIRS, memory // _BYTES)
        self._many = min(_MANY, memory // _SOLVED)
        self._random = np.random.default_rng(seed)
        self._cells = Cells(pool)
        self._values = np.empty(0)
        self._pairs: NearPairs | None = None
        self._prices = self._ahead = np.zeros(pool.n)
        self._rounding = pool.rounding(np.float64)

    fitting = True  # cases of near pairs fit in memory, see `Ascent.fitting`

    @property
    def promised(self) -> float:
        """0 once the tree can take over, else infinite."""
        return 0.0 if self.ready else np.inf

    def resume(self, proof: Proof, distance: float) -> None:
        """Go on from what an earlier run proved for all selections, without its cases."""
        prices = proof.prices[proof.closing[ROOT]]
        self.proof.close(ROOT, prices)
        for _, group in groupby((row for row in proof.discarded if row[0] == ROOT), key=lambda row: row[2]):
            rows = list(group)
            gone = np.array([candidate for _, candidate, _ in rows])
            self.proof.discard(ROOT, gone, proof.prices[rows[0][2]])
            self.open = np.setdiff1d(self.open, gone)
        self._take(self._evaluate(prices), distance)

    def round(self, picks: Indices, distance: float) -> None:
        """Some steps of the ascent."""
        costs = np.asarray(self.pool.distances(picks), np.float64)
        groups = costs.argmin(axis=0)
        nearest, second = _two_least(costs)
        if self.bundle is None:
            self._begin(groups, nearest, second, distance)
        if self.budget == len(self.forced):
            self.converged = True
            return
        before = self.lower_bound
        if self._pairs is not None:
            self._climb(self._pairs, self.bundle, distance)
        else:
            horizon = self._prices + self._ahead
            active = self._all() if self._count(horizon) <= self._most else self._active(groups, nearest)
            whole = len(active) == len(self._all())
            pairs = NearPairs(self._cells, active, horizon, self._workers)
            if whole:
                self._pairs = pairs
            self._climb(pairs, self.bundle if self._listed else None, distance)
            if whole:
                self._listed = True
            else:
                self._take(self._evaluate(self._prices), distance)
        if self._pairs is not None:
            least = _SLOW if len(self.open) <= _HARD else _SLOW / 5
            slow = self.converged or self.lower_bound - before < least * (distance - self.lower_bound)
            self.ready = len(self._pairs.costs) <= (self._many if slow else _FEW)
        if self.converged and not self.ready and self.lower_bound - before > _TOLERANCE * distance:
            # Pieces from before candidates were discarded lie too low: go on without them.
            self.converged, self._listed, self._pairs = False, False, None

    def hints(self, candidates: Indices) -> Floats:
        """How much of each candidate the relaxed problem picks."""
        support = self.bundle.support() if self.bundle else {}
        return np.array([support.get(candidate, 0.0) for candidate in candidates.tolist()])

    def survivors(self) -> Indices:
        """Candidates that may be in better picks than the best ones known, and the forced ones."""
        return np.sort(np.concatenate([self.forced, self.open]))

    def tree(self, distance: float, limit: int) -> NearTree:
        """Branch and bound over the candidates left; ``limit`` vectors of prices may be held."""
        candidates = self._all()
        horizon = self._prices + self._ahead
        if len(candidates) * self.pool.n <= _SEEN:  # every point may see all of them
            horizon[:] = np.inf
        pairs = NearPairs(self._cells, candidates, horizon, self._workers)
        pairs.close_horizon()
        return NearTree(
            self._cells, pairs, len(self.forced), self.budget, self._prices, self.proof, distance, limit, self._workers
        )

    def _all(self) -> Indices:
        return np.concatenate([self.forced, self.open])

    def _begin(self, groups: Indices, nearest: Floats, second: Floats, distance: float) -> None:
        """First prices, from the best picks."""
        first = self._evaluate(nearest)
        self._take(first, distance)
        free = -first.open_values if len(first.open_values) else np.zeros(1)
        masses = np.bincount(groups, self.pool.masses)
        worth = float(free.max()) / np.maximum(masses, masses[masses > 0].min())[groups]
        self._ahead = _AHEAD * np.minimum(worth, np.maximum(second - nearest, worth / 4)) + 1e-9 * distance
        self._prices = np.minimum(nearest + worth, np.maximum(second, nearest))
        trial = self._evaluate(self._prices)
        self._take(trial, distance)
        self.bundle = Bundle(self.pool.masses, trial, distance)

    def _evaluate(self, prices: Floats) -> Evaluation:
        """The bound over all candidates left, in a pass that keeps nothing."""
        forced = -savings(self._cells, self.forced, prices, self._workers)
        values = -savings(self._cells, self.open, prices, self._workers)
        cheapest = np.argsort(values, kind="stable")[: self.budget - len(self.forced)]
        value = float(self.pool.masses @ prices + forced.sum() + values[cheapest].sum())
        chosen = np.concatenate([self.forced, self.open[cheapest]])
        costs = self.pool.distances(chosen)
        gradient = self.pool.masses * (1 - (costs < prices).sum(axis=0))
        return Evaluation(prices, value, values, chosen, gradient)

    def _climb(self, pairs: NearPairs, bundle: Bundle | None, distance: float) -> None:
        """Steps of the bundle over these pairs; what they prove counts where they are those of all candidates."""
        whole = len(pairs.candidates) == len(self._all())
        if bundle is None:
            bundle = Bundle(self.pool.masses, self._over(pairs, self._prices), distance)
        beyond, times = np.zeros(self.pool.n, bool), 0
        for _ in range(_STEPS):
            self._workers.clock.check()
            wanted = bundle.propose()
            over = wanted > pairs.horizon
            beyond |= over
            times += bool(over.any())
            trial = self._over(pairs, np.minimum(wanted, pairs.horizon))
            if bundle.predicted < _TOLERANCE * distance:
                self.converged = whole
                break
            bundle.learn(trial)
            if bundle.value > distance and not whole:
                break
            if whole and trial.value > self.lower_bound:
                self._take(trial, distance, pairs)
            if times == _BEYOND:
                break
        self.bundle, self._prices = bundle, bundle.prices
        if times:
            self._ahead[beyond] *= 2
        if times == _BEYOND:
            self._pairs = None  # to be gathered anew, with the farther horizon

    def _over(self, pairs: NearPairs, prices: Floats) -> Evaluation:
        """The bound over the candidates of these pairs."""
        forced = len(self.forced)
        values = -pairs.savings(np.arange(len(pairs.candidates)), prices)
        cheapest = forced + np.argsort(values[forced:], kind="stable")[: self.budget - forced]
        chosen = np.concatenate([np.arange(forced), cheapest])
        value = float(self.pool.masses @ prices + values[chosen].sum())
        gradient = self.pool.masses - pairs.taken(chosen, prices)
        return Evaluation(prices, value, values[forced:], pairs.candidates[chosen], gradient)

    def _take(self, evaluation: Evaluation, distance: float, pairs: NearPairs | None = None) -> None:
        """Note an evaluation over all candidates left: its bound, and those that it rules out."""
        self.suggestion = evaluation.chosen
        self._values = evaluation.open_values
        value = safe(evaluation, self._rounding, self.pool.n, self.budget)
        if value <= self.lower_bound:
            return
        self.lower_bound = value
        self.proof.close(ROOT, evaluation.prices)
        alive = staying(evaluation.open_values, self.budget - len(self.forced), value, distance)
        if alive.sum() < 0.7 * len(self.open):
            self.proof.discard(ROOT, self.open[~alive], evaluation.prices)
            self.open, self._values = self.open[alive], self._values[alive]
            if pairs is not None:
                forced = len(self.forced)
                pairs.keep(np.concatenate([np.arange(forced), forced + np.flatnonzero(alive)]))

    def _count(self, horizon: Floats) -> float:
        """About how many near pairs the candidates left have."""
        some = self._random.choice(self.open, min(_SAMPLE, len(self.open)), replace=False)
        costs = self.pool.distances(some, dtype=np.float32)
        return float((costs < horizon).sum()) * len(self.open) / len(some)

    def _active(self, groups: Indices, nearest: Floats) -> Indices:
        """Of every group the candidates of least value and those nearest to the pick, and some at random."""
        labels, away = groups[self.open], nearest[self.open]
        best = _rank(labels, self._values) < _PER_GROUP
        best |= _rank(labels, away) < _PER_GROUP
        best |= self._random.random(len(self.open)) < 20 * self.budget / len(self.open)
        return np.concatenate([self.forced, self.open[best]])


def _two_least(costs: Floats) -> tuple[Floats, Floats]:
    if len(costs) == 1:
        return costs[0], np.full(costs.shape[1], np.inf)
    least = np.partition(costs, 1, axis=0)
    return least[0], least[1]


def _rank(labels: Indices, values: Floats) -> Indices:
    """Rank of each value among those of its label."""
    order = np.lexsort((values, labels))
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - starts[labels[order]]
    return rank
