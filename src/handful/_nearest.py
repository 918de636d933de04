"""Compiled passes over the costs of picks and points, in their order: who is cheapest at given prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def point_prices(costs: NDArray[np.floating[Any]], prices: Floats) -> Floats:
    best = costs[0] - prices[0]
    for b in range(1, len(prices)):
        price = prices[b]
        row = costs[b]
        for i in range(len(best)):
            best[i] = min(best[i], row[i] - price)
    return best


@njit(cache=True, nogil=True)
def nearest(costs: NDArray[np.floating[Any]], prices: Floats) -> Ints:
    best = costs[0] - prices[0]
    which = np.zeros(len(best), np.int64)
    for b in range(1, len(prices)):
        price = prices[b]
        row = costs[b]
        for i in range(len(best)):
            cost = row[i] - price
            closer = cost < best[i]
            which[i] = b if closer else which[i]
            best[i] = cost if closer else best[i]
    return which


@njit(cache=True, nogil=True)
def two_nearest(costs: NDArray[np.floating[Any]], prices: Floats) -> tuple[Ints, Ints, Floats]:
    """For each point its cheapest pick, the next cheapest, and the difference of the two."""
    best = costs[0] - prices[0]
    other = np.full(len(best), np.inf)
    nearest = np.zeros(len(best), np.int64)
    second = np.zeros(len(best), np.int64)
    for b in range(1, len(prices)):
        price = prices[b]
        row = costs[b]
        for i in range(len(best)):
            cost = row[i] - price
            if cost < best[i]:
                other[i] = best[i]
                second[i] = nearest[i]
                best[i] = cost
                nearest[i] = b
            elif cost < other[i]:
                other[i] = cost
                second[i] = b
    return nearest, second, other - best
