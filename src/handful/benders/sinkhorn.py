r"""Entropic transport (Cuturi 2013, *Sinkhorn distances*, NeurIPS), in the logarithmic domain.

.. math:: \min_\Gamma \langle D, \Gamma \rangle + \varepsilon \, \mathrm{KL}(\Gamma \,|\, a \otimes b)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 2000
_CLOSE = 1e-7  # mass that may be misplaced before the plan is rounded


@dataclass(frozen=True, eq=False)
class Entropic:
    """A feasible plan (picks x points), the prices of the points, and the temperature they belong to."""

    plan: Floats
    prices: Floats
    temperature: float


def entropic(costs: NDArray[np.floating[Any]], masses: Floats, regularisation: float) -> Entropic:
    """Transport to equal picks at a temperature of ``regularisation`` times the mean cost.

    The plan is rounded to its marginals (Altschuler, Weed & Rigollet 2017, *Near-linear time approximation algorithms
    for optimal transport via Sinkhorn iteration*, NeurIPS, algorithm 2).
    """
    picks = len(costs)
    demand = np.full(picks, 1.0 / picks)
    temperature = regularisation * max(float((costs @ masses).mean()), 1e-300)
    scaled = costs / temperature
    of_picks = np.zeros(picks)
    for _ in range(_ROUNDS):
        of_points = -_log_mean(of_picks[:, None] - scaled, demand[:, None], axis=0)
        moved = -_log_mean(of_points[None, :] - scaled, masses[None, :], axis=1)
        # Rows of the plan are exact after the first half step; this is how far its columns are off.
        misplaced = float(np.abs(np.expm1(of_picks - moved)).sum()) / picks
        of_picks = moved
        if misplaced < _CLOSE:
            break
    of_points = -_log_mean(of_picks[:, None] - scaled, demand[:, None], axis=0)
    plan = np.exp(of_picks[:, None] + of_points[None, :] - scaled) * demand[:, None] * masses[None, :]
    return Entropic(_rounded(plan, demand, masses), temperature * of_points, temperature)


def _log_mean(terms: Floats, weights: Floats, axis: int) -> Floats:
    top = terms.max(axis=axis, keepdims=True)
    mean: Floats = np.log((np.exp(terms - top) * weights).sum(axis=axis)) + np.squeeze(top, axis)
    return mean


def _rounded(plan: Floats, demand: Floats, masses: Floats) -> Floats:
    held = plan.sum(axis=1)
    plan = plan * np.minimum(1.0, np.divide(demand, held, out=np.ones_like(held), where=held > 0))[:, None]
    given = plan.sum(axis=0)
    plan = plan * np.minimum(1.0, np.divide(masses, given, out=np.ones_like(given), where=given > 0))[None, :]
    missing, left = demand - plan.sum(axis=1), masses - plan.sum(axis=0)
    total = float(missing.sum())
    return plan + np.outer(missing, left) / total if total > 0 else plan
