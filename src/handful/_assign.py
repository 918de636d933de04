"""Compiled passes of the search with whole points: shifting and exchanging points between picks."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST_GAIN = 1e-12


@njit(cache=True, nogil=True)
def excess(load: float, low: float, high: float) -> float:
    """By how much a load is outside its range."""
    return max(0.0, load - high) + max(0.0, low - load)


@njit(cache=True, nogil=True)
def improve(
    costs: Floats, masses: Floats, low: float, high: float, penalty: float, border: Ints, labels: Ints, loads: Floats
) -> None:
    """Shift a point, or exchange two, as long as that lowers the cost plus ``penalty`` per mass out of range.

    ``costs`` are those of serving a point (column) whole by a pick (row); exchanges are tried among ``border``.
    ``labels`` and ``loads`` are brought up to date.
    """
    picks = len(costs)
    least = _LEAST_GAIN * (np.abs(costs).max() + penalty * masses.max())
    better = True
    while better:
        better = False
        for i in range(len(masses)):
            a, mass = labels[i], masses[i]
            left = penalty * (excess(loads[a] - mass, low, high) - excess(loads[a], low, high)) - costs[a, i]
            to, best = a, -least
            for b in range(picks):
                if b != a:
                    change = left + costs[b, i]
                    change += penalty * (excess(loads[b] + mass, low, high) - excess(loads[b], low, high))
                    if change < best:
                        to, best = b, change
            if to != a:
                labels[i] = to
                loads[a] -= mass
                loads[to] += mass
                better = True
        for m in range(len(border)):
            i = border[m]
            for n in range(m + 1, len(border)):
                j = border[n]
                a, b = labels[i], labels[j]
                if a == b:
                    continue
                change = costs[b, i] + costs[a, j] - costs[a, i] - costs[b, j]
                if change >= 0 and excess(loads[a], low, high) == 0 and excess(loads[b], low, high) == 0:
                    continue
                more = masses[j] - masses[i]
                change += penalty * (
                    excess(loads[a] + more, low, high)
                    - excess(loads[a], low, high)
                    + excess(loads[b] - more, low, high)
                    - excess(loads[b], low, high)
                )
                if change < -least:
                    labels[i], labels[j] = b, a
                    loads[a] += more
                    loads[b] -= more
                    better = True
