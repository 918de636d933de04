"""Raising the lower bound over all candidates: on an active set, checked by passes over all, and discarding on the way.

Where all distances fit in memory every evaluation is over all candidates. Where they do not, the ascent works on an
*active* set that is spread out (for every group of the best plan the candidates of least value, and some at random:
the candidates of least value alone all lie in one corner and mislead it), and a full pass then gives the valid bound,
discards candidates that cannot be in better picks, and shows which ones the active set lacked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers
from handful.bound import Evaluation, Field
from handful.bundle import Bundle
from handful.lifted import Shares
from handful.pool import Pool
from handful.proof import ROOT, Proof

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_TOLERANCE = 2e-6  # promised gain, relative to the distance, at which the top is reached


class Ascent:
    """The bound over all candidates, and the proof of it.

    Parameters
    ----------
    cells : int
        How many distances may be kept in memory.
    """

    def __init__(
        self, pool: Pool, shares: Shares, budget: int, forced: Indices, workers: Workers, cells: int, seed: int
    ) -> None:
        self.pool = pool
        self.budget = budget
        keep = len(pool.candidates) * pool.n <= cells
        self.field = Field(pool, shares, budget, forced, pool.candidates, workers, keep=keep, dtype=np.float32)
        self.proof = Proof()
        self.lower_bound = -np.inf
        self.converged = False
        self.bundle: Bundle | None = None
        self._cells = cells
        self._random = np.random.default_rng(seed)
        self._active = np.empty(0, np.int64)
        self.suggestion = np.empty(0, np.int64)
        self._rounds = 0

    def round(self, steps: int, start: Floats, distance: float, groups: Indices) -> None:
        """Some steps of the ascent; at its very first from the prices ``start``.

        ``groups`` says for every candidate of the pool in which group of the best plan it lies.
        """
        if self.bundle is None:
            first = self.field.evaluate(start)
            self._take(first, distance)
            self.bundle = Bundle(self.pool.masses, first, distance)
        if self.field.kept:
            for _ in range(steps):
                trial = self.field.evaluate(self.bundle.propose())
                if self.bundle.predicted < _TOLERANCE * distance:
                    self.converged = True
                    break
                self.bundle.learn(trial)
                self._take(trial, distance)
        else:
            self._active_round(steps, distance, groups)
        self._rounds += 1

    @property
    def promised(self) -> float:
        """What one more step promises to add to the bound, relative to it."""
        if self.bundle is None or self.converged:
            return np.inf if self.bundle is None else 0.0
        return self.bundle.predicted / max(abs(self.bundle.value), 1e-300)

    def hints(self, candidates: Indices) -> Floats:
        """How much of each candidate the relaxed problem picks."""
        support = self.bundle.support() if self.bundle else {}
        return np.array([support.get(candidate, 0.0) for candidate in candidates.tolist()])

    def shortlist(self, count: int) -> Field:
        """A field of the candidates that look best at the present prices."""
        return self.field.part(self.field.cheapest(count))

    def survivors(self) -> Indices:
        """Candidates that may be in better picks than the best ones known, and the forced ones."""
        return np.sort(self.field.candidates[np.concatenate([self.field.forced, self.field.open])])

    def _active_round(self, steps: int, distance: float, groups: Indices) -> None:
        assert self.bundle is not None
        centre, value = self.bundle.prices, self.bundle.value
        self._active = self._spread(self._values, groups)
        active = self.field.part(np.flatnonzero(np.isin(self.field.candidates, self._active)))
        for _ in range(steps):
            trial = active.evaluate(self.bundle.propose())
            if self.bundle.predicted < _TOLERANCE * distance:
                break
            self.bundle.learn(trial)
            if self.bundle.value > distance:
                break
        full = self.field.evaluate(self.bundle.prices)
        self._take(full, distance)
        self.bundle.add(full)
        better = full.value > value
        self.converged = better and full.value - value < 10 * _TOLERANCE * distance
        self.bundle.recentre(*((full.prices, full.value) if better else (centre, value)))

    def _spread(self, values: Floats, groups: Indices) -> Indices:
        """Open candidates for the active set."""
        candidates = self.field.candidates[self.field.open]
        room = min(len(candidates), max(8 * self.budget, self._cells // self.pool.n))
        if room == len(candidates):
            return candidates
        at_random = room // 4 if self._rounds < 2 else room // 20
        order = np.argsort(values, kind="stable")
        labels = groups[candidates[order]]
        # Rank of each candidate within its group, by value: the least of every group come first.
        by_group = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_group], np.arange(labels.max() + 1))
        rank = np.empty(len(order), np.int64)
        rank[by_group] = np.arange(len(order)) - starts[labels[by_group]]
        best = candidates[order[np.argsort(rank, kind="stable")[: (room - at_random) // 2]]]
        cheapest = candidates[order[: (room - at_random) // 4]]
        old = np.intersect1d(self._active, candidates)
        chosen = np.unique(np.concatenate([best, cheapest, old[: room - at_random]]))
        others = np.setdiff1d(candidates, chosen)
        return np.union1d(chosen, self._random.choice(others, min(at_random, len(others)), replace=False))

    def _take(self, evaluation: Evaluation, distance: float) -> None:
        """Note a valid evaluation: its bound, and the candidates it rules out."""
        value = self.field.safe(evaluation)
        self._values = evaluation.open_values
        self.suggestion = evaluation.chosen
        if value > self.lower_bound:
            self.lower_bound = value
            self.proof.close(ROOT, evaluation.prices)
            alive = self.field.survivors(evaluation, distance)
            if len(alive) < 0.9 * len(self.field.open):
                gone = np.setdiff1d(self.field.open, alive)
                self.proof.discard(ROOT, self.field.candidates[gone], evaluation.prices)
                self._values = self._values[np.isin(self.field.open, alive)]
                self.field.restrict(self.field.forced, alive)
                self.field.drop_closed()
