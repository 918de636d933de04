"""Raising the lower bound over all candidates, and discarding those that can't be in better picks on the way.

Where the costs of all candidates fit in memory, every step is over all of them. Where they do not, the steps are over
an *active* set whose costs are kept and which is spread out (for every group of the best plan the candidates of least
value, and some at random: the candidates of least value alone all lie in one corner and mislead the ascent); a pass
over all then gives the valid bound, discards candidates, and shows which ones the active set lacked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers
from handful.bound import Evaluation, Field
from handful.bundle import Bundle
from handful.forecast import Forecast
from handful.pool import Pool
from handful.problem import Problem
from handful.proof import ROOT, Proof
from handful.sample import Sample
from handful.tree import Tree

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

NO_PICKS = np.empty(0, np.int64)
_TOLERANCE = 2e-6  # promised gain, relative to the distance, at which the top is reached
_DISCARD = 0.1  # share of the candidates that can be discarded, from which it is worth a vector of the proof


class Ascent:
    """The bound over all candidates, and the proof of it.

    Parameters
    ----------
    points : Pool or Sample
        The points to be served: all of the problem's pool, or some.
    plan : Forecast
        How many candidates' distances may be kept: ``room``, and if there are more, the steps are over ``active``.
    """

    def __init__(self, points: Pool | Sample, problem: Problem, plan: Forecast, workers: Workers, seed: int) -> None:
        self.field = Field(
            points,
            problem.shares,
            problem.budget,
            problem.forced,
            problem.pool.candidates,
            workers,
            room=plan.room,
            dtype=np.float64 if plan.exact else np.float32,
        )
        self.proof = Proof()
        self.lower_bound = -np.inf
        self.converged = False
        self.bundle: Bundle | None = None
        self.suggestion = np.empty(0, np.int64)
        self._active, self._room = plan.active, plan.room
        self._random = np.random.default_rng(seed)
        self._rounds = 0

    def begin(self, prices: Floats, distance: float) -> None:
        """Evaluate the first prices."""
        first = self.field.evaluate(prices)
        self._take(first)
        self.bundle = Bundle(self.field.pool.masses, first, distance)

    def resume(self, proof: Proof, distance: float) -> None:
        """Go on from the proof of an earlier run."""
        discarded = proof.held()[ROOT].outside
        self.proof, field = proof, self.field
        self.field = field.narrowed(field.forced, field.open[~np.isin(field.candidates[field.open], discarded)])
        self.begin(proof.prices[proof.closing[ROOT]], distance)

    def round(self, steps: int, distance: float, groups: Indices) -> None:
        """Some steps of the ascent, and what can be discarded then.

        ``groups`` says for every point in which group of the best plan it lies.
        """
        assert self.bundle is not None
        if len(self.field.open) > self._room:
            self._active_round(steps, distance, groups)
        else:
            self._full_round(steps, distance)
        self._rounds += 1

    def _full_round(self, steps: int, distance: float) -> None:
        assert self.bundle is not None
        self.field.keep(self.field.open)
        for _ in range(steps):
            trial = self.field.evaluate(self.bundle.propose())
            if self.bundle.predicted < _TOLERANCE * distance:
                self.converged = True
                break
            self.bundle.learn(trial)
            self._take(trial)
        best = self.field.evaluate(self.bundle.prices, distance - self.bundle.value)
        self.discard(best, distance)

    def _active_round(self, steps: int, distance: float, groups: Indices) -> None:
        assert self.bundle is not None
        centre, value = self.bundle.prices, self.bundle.value
        chosen = self._spread(groups)
        self.field.keep(chosen)
        active = self.field.narrowed(self.field.forced, np.sort(chosen))
        for _ in range(steps):
            trial = active.evaluate(self.bundle.propose())
            if self.bundle.predicted < _TOLERANCE * distance:
                break
            self.bundle.learn(trial)
            if self.bundle.value > distance:
                break
        full = self.field.evaluate(self.bundle.prices, distance - self.bundle.value)
        self._take(full)
        self.bundle.add(full)
        better = full.value > value
        self.converged = better and full.value - value < 10 * _TOLERANCE * distance
        self.bundle.recentre(*((full.prices, full.value) if better else (centre, value)))
        self.discard(full, distance)

    def _spread(self, groups: Indices) -> Indices:
        """Open positions for the active set."""
        room = self._active
        cheapest = self.field.cheapest(len(self.field.open))
        at_random = room // 4 if self._rounds < 2 else room // 20
        labels = groups[self.field.candidates[cheapest]]
        # Rank of each candidate within its group, by value: the least of every group come first.
        by_group = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_group], np.arange(labels.max() + 1))
        rank = np.empty(len(cheapest), np.int64)
        rank[by_group] = np.arange(len(cheapest)) - starts[labels[by_group]]
        best = cheapest[np.argsort(rank, kind="stable")[: (room - at_random) // 2]]
        chosen = np.union1d(best, cheapest[: (room - at_random) // 2])
        others = np.setdiff1d(self.field.open, chosen)
        return np.append(chosen, self._random.choice(others, min(room - len(chosen), len(others)), replace=False))

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

    def shortlist(self, count: int, picks: Indices = NO_PICKS) -> Field:
        """A field of the candidates that look best at the present prices, with their distances kept.

        ``picks`` that are left are forced in.
        """
        field = self.field
        inside = field.open[np.isin(field.candidates[field.open], picks)]
        others = np.setdiff1d(field.cheapest(count), inside)
        field.keep(np.append(inside, others))
        return field.narrowed(np.append(field.forced, inside), others)

    def survivors(self) -> Indices:
        """Candidates that may be in better picks than the best ones known, and the forced ones."""
        return np.sort(self.field.candidates)

    @property
    def fitting(self) -> bool:
        """Whether most of the distances of the candidates left fit in memory, without which cases are slow."""
        return len(self.field.open) <= 2 * self._room

    def tree(self, distance: float, limit: int) -> Tree | None:
        """Branch and bound over the candidates left; its proof may hold ``limit`` vectors of prices."""
        if self.bundle is None:
            return None
        self.field.keep(self.field.cheapest(self._room))
        return Tree(self.field, self.bundle, self.lower_bound, self.proof, distance, limit)

    def discard(self, evaluation: Evaluation, distance: float) -> None:
        """Leave out the candidates with which these prices prove that no picks are better than ``distance``."""
        _, with_each = self.field.prove(evaluation)
        alive = with_each <= distance
        if alive.sum() > (1 - _DISCARD) * len(alive):
            return
        self.proof.discard(ROOT, self.field.candidates[self.field.open[~alive]], evaluation.prices)
        self.field = self.field.narrowed(self.field.forced, self.field.open[alive])

    def _take(self, evaluation: Evaluation) -> None:
        """Note the bound that an evaluation proves, and the picks it suggests."""
        self.suggestion = evaluation.chosen
        if evaluation.value > self.lower_bound:
            value, _ = self.field.prove(evaluation)
            if value > self.lower_bound:
                self.lower_bound = value
                self.proof.close(ROOT, evaluation.prices)
