r"""Families of cuts as the paper prints them. They cut off optima, and are here to reproduce it; see the docs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.benders.cut import Cut
from handful.benders.subproblem import Solved

Floats = NDArray[np.float64]


def lower_bound(candidates: Candidates, solved: Solved) -> Cut:
    r"""Equation (4) as printed: :math:`\eta \ge \frac1B \sum_j d_j \pi_j`, :math:`d_j` the smallest positive distance.

    Not valid: a pick serves itself at cost 0, and here it is charged for all of its mass.
    """
    costs = candidates.shares.low * candidates.neighbours[1]
    count = len(candidates.forced)
    return Cut("lower-bound-printed", float(costs[:count].sum()), costs[count:], None)


def triangle(candidates: Candidates, solved: Solved) -> Cut:
    r"""Equation (5) as printed: :math:`\eta \ge \frac1B \sum_j \pi_j \min_{k \in \hat C} D_{jk} - W(\hat C)`.

    The minimum is over those k with :math:`D_{jk} > 0`. Not valid: a pick that both selections have costs 0, and here
    it is charged the distance to the next one. Nor is the cost asked to be a metric.
    """
    rows = np.concatenate([candidates.forced, candidates.open])
    costs = candidates.pool.distances(rows, solved.picks)
    nearest = np.where(costs > 0, costs, np.inf).min(axis=1)
    nearest = candidates.shares.low * np.where(np.isinf(nearest), 0.0, nearest)
    count = len(candidates.forced)
    return Cut("triangle-printed", float(nearest[:count].sum()) - solved.distance, nearest[count:], None)


def sinkhorn(candidates: Candidates, solved: Solved) -> Cut:
    r"""The gradient cut of Appendix D.3: :math:`\eta \ge W_\varepsilon + \frac1B \nabla W_\varepsilon (\pi - \hat\pi)`.

    :math:`W_\varepsilon` is the entropic distance, convex in :math:`\pi`, with the soft c-transform
    :math:`-\varepsilon \log \sum_i a_i e^{(u_i - D_{ij}) / \varepsilon}` as its gradient. Valid for it, not for the
    distance, which is smaller. The same prices with the c-transform itself in place of the soft one (the families
    ``benders`` and ``lifted``) give a valid cut.
    """
    masses = candidates.pool.masses
    held = masses > 0
    gradient = np.empty(len(candidates.forced) + len(candidates.open))

    def fill(block: slice, costs: NDArray[np.floating[Any]]) -> None:
        terms = (solved.prices - costs)[:, held] / solved.temperature
        top = terms.max(axis=1)
        gradient[block] = -solved.temperature * (top + np.log(np.exp(terms - top[:, None]) @ masses[held]))

    candidates.scan(fill)
    gradient *= candidates.shares.low
    count = len(candidates.forced)
    constant = float(masses @ solved.prices) + float(gradient[:count].sum())
    return Cut("sinkhorn-printed", constant, gradient[count:], None)
