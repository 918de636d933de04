"""Compiled passes of the swap search: who is nearest and second nearest, and what a swap would change."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Costs = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _two_least(costs: Costs) -> tuple[int, int]:
    first, second = 0, -1
    for b in range(1, len(costs)):
        if costs[b] < costs[first]:
            second = first
            first = b
        elif second < 0 or costs[b] < costs[second]:
            second = b
    return first, second


@njit(cache=True, nogil=True)
def look_up(table: Costs, first: Ints, second: Ints, nearest: Costs, next_nearest: Costs) -> None:
    """Fill in, for every row of ``table`` (a point; columns are picks), its two nearest picks and their costs."""
    for i in range(len(table)):
        a, b = _two_least(table[i])
        first[i], second[i] = a, b
        nearest[i] = table[i, a]
        next_nearest[i] = table[i, b] if b >= 0 else np.float32(np.inf)


@njit(cache=True, nogil=True)
def exchange(
    table: Costs, first: Ints, second: Ints, nearest: Costs, next_nearest: Costs, column: int, costs: Costs
) -> None:
    """Put other costs into a column of ``table``, and bring the two nearest of every row up to date."""
    for i in range(len(table)):
        cost = costs[i]
        table[i, column] = cost
        if first[i] == column or second[i] == column:
            a, b = _two_least(table[i])
            first[i], second[i] = a, b
            nearest[i] = table[i, a]
            next_nearest[i] = table[i, b] if b >= 0 else np.float32(np.inf)
        elif cost < nearest[i]:
            second[i], next_nearest[i] = first[i], nearest[i]
            first[i], nearest[i] = column, cost
        elif cost < next_nearest[i]:
            second[i], next_nearest[i] = column, cost


@njit(cache=True, nogil=True)
def losses(first: Ints, nearest: Costs, next_nearest: Costs, masses: Floats, picks: int) -> Floats:
    """What the removal of each pick adds to the total: its points go to their second nearest."""
    lost = np.zeros(picks)
    for i in range(len(first)):
        lost[first[i]] += masses[i] * (float(next_nearest[i]) - float(nearest[i]))
    return lost


@njit(cache=True, nogil=True)
def total(nearest: Costs, masses: Floats) -> float:
    """Cost of the nearest picks."""
    result = 0.0
    for i in range(len(nearest)):
        result += masses[i] * float(nearest[i])
    return result


@njit(cache=True, nogil=True)
def best_swap(
    block: Costs,
    rows: Ints,
    first: Ints,
    nearest: Costs,
    next_nearest: Costs,
    masses: Floats,
    lost: Floats,
    fixed: int,
) -> tuple[int, int, float]:
    """The best exchange of a pick for a candidate of ``block``: the candidate's row, the pick, and the change.

    Points not in ``rows`` count as if the candidates were of no use to them, so that the change is never worse than is
    said. The first ``fixed`` picks stay.
    """
    change = np.empty(len(lost))
    row, out, least = 0, fixed, np.inf
    for k in range(len(block)):
        costs = block[k]
        change[:] = lost
        gained = 0.0
        for r in range(len(rows)):
            i = rows[r]
            cost = costs[r]
            if cost < next_nearest[i]:
                near = nearest[i]
                if cost < near:
                    # Whoever is removed, the point comes to the candidate; its pick no longer loses it to the second.
                    gained += masses[i] * (float(cost) - float(near))
                    change[first[i]] -= masses[i] * (float(next_nearest[i]) - float(near))
                else:
                    change[first[i]] -= masses[i] * (float(next_nearest[i]) - float(cost))
        for b in range(fixed, len(change)):
            if change[b] + gained < least:
                row, out, least = k, b, change[b] + gained
    return row, out, least
