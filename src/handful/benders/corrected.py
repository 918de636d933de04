r"""Families of valid cuts. Each docstring has the sketch of its proof.

In all of them :math:`\Gamma` is an optimal plan of the selection S in question: its rows sum to :math:`a_i`, and the
column of a pick to a share between l and h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.benders.cut import Cut
from handful.benders.subproblem import Solved
from handful.errors import HandfulError
from handful.pool import Pool

Floats = NDArray[np.float64]

_METRICS = ("euclidean", "manhattan")
_LARGEST_CHECKED = 2000  # points of a precomputed matrix whose triangles are all looked at


def benders(candidates: Candidates, solved: Solved) -> Cut:
    r"""The Benders cut of Algorithm 1: :math:`\eta \ge a u + \sum_j m(\lambda_j) \pi_j`.

    The signs are those of equation (2). :math:`\lambda_j = \min_i (D_{ij} - u_i)` is the c-transform, and
    :math:`m(\lambda)` is :math:`\lambda` times the share, l where it is positive and h where it is negative. Proof:
    :math:`\mathrm{cost}(S) = a u + \sum_{j \in S} \sum_i (D_{ij} - u_i) \Gamma_{ij}`, and every bracket is at least
    :math:`\lambda_j`.
    """
    return _from_transform("benders", candidates, solved.prices, *candidates.cheapest(solved.prices))


def dual(candidates: Candidates, solved: Solved) -> Cut:
    r"""The Dual cut (6) put right: :math:`\eta \ge \sum_i a_i \min_j (D_{ij} - \lambda_j) + \sum_j m(\lambda_j) \pi_j`.

    The Benders cut once more, written with the duals of the picks alone. Proof: the prices :math:`\min_j (D_{ij} -
    \lambda_j)` over all candidates j have a c-transform of at least :math:`\lambda`.
    """
    of_forced, of_open = candidates.cheapest(solved.prices)
    transform = np.concatenate([of_forced, of_open])
    partial: list[Floats] = []
    candidates.scan(lambda block, costs: partial.append((costs - transform[block, None]).min(axis=0)))
    return _from_transform("dual", candidates, np.min(partial, axis=0), of_forced, of_open)


def lifted(candidates: Candidates, solved: Solved) -> Cut:
    r"""The lifted cut :math:`\eta \ge a u + \sum_j v_j(u) \pi_j`; see `handful.lifted`.

    Proof: as for the Benders cut, but column j of the plan also satisfies :math:`\Gamma_{ij} \le a_i`, so its term is
    at least the knapsack :math:`v_j(u) \ge m(\lambda_j)`. At the prices of an optimal plan it is tight there.
    """
    return lifted_at(candidates, solved.prices)


def lifted_at(candidates: Candidates, prices: Floats) -> Cut:
    """The lifted cut at any prices."""
    return candidates.evaluate(prices)[0]


def lower_bound(candidates: Candidates, solved: Solved) -> Cut:
    r"""The Lower Bound cut (4) put right: :math:`\eta \ge \sum_j (l - m_j)^+ d_j \pi_j`.

    :math:`m_j` is the mass at distance 0 of j, itself and its duplicates, and :math:`d_j` the smallest positive
    distance. Proof: a pick serves at least l, of which at most :math:`m_j` is free and the rest costs :math:`d_j` or
    more. It is the lifted cut at prices 0, weakened.
    """
    mass, nearest = candidates.neighbours
    costs = np.maximum(candidates.shares.low - mass, 0.0) * nearest
    count = len(candidates.forced)
    return Cut("lower-bound", float(costs[:count].sum()), costs[count:], np.zeros(candidates.pool.n))


def triangle(candidates: Candidates, solved: Solved) -> Cut:
    r"""The Triangle cut (5) put right: :math:`\eta \ge l \sum_j \pi_j \min_{k \in \hat C} D_{jk} - W(\hat C)`.

    Proof: glue the plans of S and of :math:`\hat C` along the points. The mass of pick j, at least l, then goes to
    picks k at :math:`D_{jk} \le D_{ij} + D_{ik}`, in all at most :math:`\mathrm{cost}(S) + W(\hat C)`. The minimum
    must include distance 0, and D must be a metric. It is implied by the lifted cut at prices :math:`u_i = -` what
    point i pays, by mass, in the plan of :math:`\hat C`.
    """
    check_metric(candidates.pool)
    pool = candidates.pool
    rows = np.concatenate([candidates.forced, candidates.open])
    costs = candidates.shares.low * pool.distances(rows, solved.picks).min(axis=1)
    paid = pool.distances(solved.picks)[solved.served_by, solved.rows] * solved.mass
    spent = np.bincount(solved.rows, paid, minlength=pool.n)
    prices = -np.divide(spent, pool.masses, out=np.zeros_like(spent), where=pool.masses > 0)
    count = len(candidates.forced)
    return Cut("triangle", float(costs[:count].sum()) - solved.distance, costs[count:], prices)


def check_metric(pool: Pool) -> None:
    """Refuse a pool whose cost does not satisfy the triangle inequality."""
    name = str(pool.metric)
    if name in _METRICS:
        return
    if name != "precomputed":
        raise HandfulError(
            f"the triangle cut needs a metric, which {name} is not: leave it out, or use {' or '.join(_METRICS)}"
        )
    if pool.n > _LARGEST_CHECKED:
        raise HandfulError(
            f"the triangle cut needs a metric, and a precomputed matrix of {pool.n:,} points is too large to check "
            f"(at most {_LARGEST_CHECKED:,}): leave the cut out"
        )
    costs = pool.distances(np.arange(pool.n))
    slack = 1e-12 * float(costs.max())
    if np.abs(costs - costs.T).max() > slack:
        raise HandfulError("the triangle cut needs a metric, and the precomputed matrix is not symmetric: leave it out")
    for k, through in enumerate(costs):
        longer = costs > through[:, None] + through[None, :] + slack
        if longer.any():
            i, j = np.argwhere(longer)[0]
            raise HandfulError(
                f"the triangle cut needs a metric, but from point {i} to {j} the way through {k} is shorter: "
                "leave the cut out"
            )


def _from_transform(family: str, candidates: Candidates, prices: Floats, of_forced: Floats, of_open: Floats) -> Cut:
    shares = candidates.shares
    constant = float(candidates.pool.masses @ prices) + float(_at_share(of_forced, shares.low, shares.high).sum())
    return Cut(family, constant, _at_share(of_open, shares.low, shares.high), prices)


def _at_share(values: Floats, low: float, high: float) -> Floats:
    return np.where(values > 0, low, high) * values
