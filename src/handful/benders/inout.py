r"""Stabilised cuts: the lifted cut that cuts deepest between a good point and the selection of the master.

The cut at the prices of one selection's optimal plan is tight there and weak elsewhere, as those prices are only one
of many optimal ones. In-out separation (Ben-Ameur & Neto 2007, *Acceleration of cutting-plane and column generation
algorithms*, Networks 49; Fischetti, Ljubić & Sinnl 2017, *Redesigning Benders decomposition for large-scale facility
location*, Manage. Sci. 63) asks for the best cut at a point between the selection and a *core* point, a mean of what
was good so far. At a point :math:`\pi` that is :math:`\max_u a u + \sum_j \pi_j v_j(u)`, concave, which a few steps
of a bundle raise, on the distances of the few candidates with :math:`\pi_j > 0` alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.benders.candidates import Candidates
from handful.bound import Evaluation
from handful.bundle import Bundle

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_STEPS = 40
_HALF = 0.5  # of the way from the core point to the selection
_MEMORY = 0.9  # how much of the core point stays when a selection is taken into it
_LEAST = 1e-3  # parts of the core point smaller than this are dropped
_PRECISE = 1e-6  # relative gain below which more steps are not worth while


class InOut:
    """The core point, and deepened cuts around it."""

    def __init__(self, candidates: Candidates, core: Floats) -> None:
        self._candidates = candidates
        self.core = core

    def deepen(self, columns: Indices, starts: list[Floats], target: float) -> Floats:
        """Prices of the cut that is deepest half way to this selection, sought from the best of some others.

        ``target`` is about as high as it can be there.
        """
        candidates = self._candidates
        point = np.zeros(len(candidates.open))
        point[columns] = 1.0
        self.core = self._moved(point)
        height = _Height(candidates, _HALF * point + (1 - _HALF) * self.core)
        first = max((height(prices) for prices in starts), key=lambda found: found.value)
        bundle = Bundle(candidates.pool.masses, first, max(target, first.value + 1e-4 * abs(target)))
        for _ in range(_STEPS):
            candidates.workers.clock.check()
            trial = bundle.propose()
            if bundle.predicted < _PRECISE * abs(target):
                break
            bundle.learn(height(trial))
        return bundle.prices

    def _moved(self, point: Floats) -> Floats:
        core = np.where(self._candidates.alive, _MEMORY * self.core, 0.0)
        core[core < _LEAST] = 0.0
        core += (1 - _MEMORY) * point
        moved: Floats = core * (self._candidates.free / core.sum())
        return moved


class _Height:
    """How high the lifted cut at given prices is above one fractional point."""

    def __init__(self, candidates: Candidates, point: Floats) -> None:
        self._pool, self._shares = candidates.pool, candidates.shares
        used = np.flatnonzero(point)
        self._costs = candidates.pool.distances(np.concatenate([candidates.forced, candidates.open[used]]))
        self._weights = np.concatenate([np.ones(len(candidates.forced)), point[used]])
        self._rows = np.arange(len(self._weights))
        self._anywhere = np.full(len(self._weights), np.inf)

    def __call__(self, prices: Floats) -> Evaluation:
        masses = self._pool.masses
        values, thresholds = lifted.values(
            self._costs, self._rows, prices, masses, self._shares, np.zeros(len(self._rows)), self._anywhere
        )
        gradient = masses.copy()
        for row, weight in enumerate(self._weights):
            one = slice(row, row + 1)
            taken = lifted.served(self._costs, self._rows[one], prices, masses, self._shares, thresholds[one])
            gradient -= weight * taken
        value = float(masses @ prices + self._weights @ values)
        return Evaluation(prices, value, np.empty(0), np.empty(0, np.int64), gradient)
