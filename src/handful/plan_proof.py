r"""What a plan costs, and that no plan to the same picks costs less: without a solver, for pools too large for one.

For any prices v of the picks, whatever their origin, a plan to them costs at least

.. math:: h(v) = \sum_i a_i \min_b (D_{bi} - v_b) + \min \Big\{\sum_b s_b v_b : l \le s_b \le h, \sum_b s_b = 1 \Big\}

by weak duality. Those of an optimal plan are the shortest paths between its picks, an arc from a to b being as long as
the least that it costs to serve a point of a by b instead (or 0, where the share of b may grow and that of a shrink).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SHARE = 1e-9  # mass below which a share counts as that of its limit


def least_cost(
    costs: Floats, masses: Floats, low: float, high: float, points: Indices, picks: Indices, flow: Floats
) -> float:
    """A cost that no plan to these picks (rows of ``costs``) is below; that of the given one, if it is optimal.

    ``points``, ``picks`` and ``flow`` are the positive entries of a plan.
    """
    prices = _prices(costs, low, high, points, picks, flow)
    served = costs[0] - prices[0]
    for row, price in zip(costs[1:], prices[1:], strict=True):
        np.minimum(served, row - price, out=served)
    # The cheapest shares: the least to all, the rest to those of least price.
    shares, left = np.full(len(prices), float(low)), 1 - low * len(prices)
    for b in np.argsort(prices, kind="stable"):
        more = min(high - low, max(0.0, left))
        shares[b] += more
        left -= more
    return float(masses @ served + shares @ prices)


def _prices(costs: Floats, low: float, high: float, points: Indices, picks: Indices, flow: Floats) -> Floats:
    """Prices at which the plan is optimal, if it is: shortest paths (Bellman-Ford) from any of the picks."""
    count = len(costs)
    arcs = np.full((count, count), np.inf)
    for a in range(count):
        own = points[(picks == a) & (flow > 0)]
        if len(own):
            arcs[a] = [float((costs[b, own] - costs[a, own]).min()) for b in range(count)]
    shares = np.bincount(picks, flow, minlength=count)
    smaller, larger = shares > low + _SHARE, shares < high - _SHARE
    if low < high:
        # What a may give up and b may take on must not be worth it: the price of a is at most that of b.
        arcs = np.where(larger[:, None] & smaller[None, :], np.minimum(arcs, 0), arcs)
    np.fill_diagonal(arcs, 0)
    prices = np.zeros(count)
    for _ in range(count):
        prices = np.minimum(prices, (prices[:, None] + arcs).min(axis=0))
    return prices
