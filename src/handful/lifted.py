r"""Values of the lifted cut: what a candidate adds to the lower bound at given prices.

.. math:: v_j(u) = \min \Big\{ \sum_i (D_{ij} - u_i)\, y_i \;:\; 0 \le y_i \le a_i,\; l \le \sum_i y_i \le h \Big\}

For every :math:`u` and every feasible set S of picks, :math:`\mathrm{cost}(S) \ge \sum_i a_i u_i + \sum_{j \in S}
v_j(u)`: the mass that pick j serves is one of the y over which the minimum is taken. The minimum is a fractional
knapsack: the cheapest terms up to mass l, then as long as they are negative, up to mass h. The last term taken is the
*threshold*; near a threshold known from similar prices only a few terms need to be looked at one by one.

Any number w in place of the threshold gives a bound below the value, with no selection at all (weak duality):

.. math:: v_j(u) \ge l\,w^+ - h\,w^- - \sum_i a_i\, (w - D_{ij} + u_i)^+
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Costs = NDArray[np.floating[Any]]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SAMPLE = 512


@dataclass(frozen=True)
class Shares:
    """The mass range of a pick."""

    low: float
    high: float

    @property
    def uniform(self) -> bool:
        """Whether every pick carries the same."""
        return self.low == self.high

    @property
    def free(self) -> bool:
        """Whether a pick may carry any mass."""
        return self.low <= 0 and self.high >= 1


def values(
    costs: Costs, rows: Ints, prices: Floats, masses: Floats, shares: Shares, thresholds: Floats, widths: Floats
) -> tuple[Floats, Floats]:
    """Values and new thresholds of the candidates whose costs are these rows of ``costs``.

    ``thresholds`` and ``widths`` say where the new thresholds are expected; they change the time, not the result.
    """
    return _values(costs, rows, prices, masses, shares.low, shares.high, thresholds, widths)


def served(
    costs: Costs,
    rows: Ints,
    prices: Floats,
    masses: Floats,
    shares: Shares,
    thresholds: Floats,
    tolerance: float = 0.0,
    total: Floats | None = None,
) -> Floats:
    """The mass of every point that these candidates take together, at the thresholds that `values` returned.

    Terms tie with the threshold if they differ from it by no more than the ``tolerance``. The mass is added to
    ``total``, candidate after candidate, where one is given.
    """
    total = np.zeros(len(prices)) if total is None else total
    _serve(costs, rows, prices, masses, shares.low, shares.high, thresholds, tolerance, total)
    return total


def sampled_thresholds(costs: Costs, prices: Floats, shares: Shares) -> Floats:
    """Thresholds of candidates (rows of ``costs``) as they are on a sample of the points, drawn by mass."""
    return _sampled_thresholds(costs, prices, shares.low, shares.high)


def floors(taken: Floats, shares: Shares, thresholds: Floats) -> Floats:
    """Bounds below the values, by weak duality, from what `add_taken` summed at these thresholds."""
    return shares.low * np.maximum(thresholds, 0) + shares.high * np.minimum(thresholds, 0) + taken


# Sums in any order are as exact as in the given one, and several times as fast.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def add_taken(costs: Costs, prices: Floats, masses: Floats, thresholds: Floats, sums: Floats) -> None:
    """Add ``sum_i a_i min(0, D_ij - u_i - w_j)`` over these points to ``sums``, for every candidate j (row)."""
    for k in range(len(sums)):
        row = costs[k]
        threshold = thresholds[k]
        total = 0.0
        for i in range(len(prices)):
            total += masses[i] * min(0.0, float(row[i]) - prices[i] - threshold)
        sums[k] += total


@njit(cache=True, nogil=True)
def _sampled_thresholds(costs: Costs, prices: Floats, low: float, high: float) -> Floats:
    count = len(prices)
    found = np.empty(len(costs))
    terms = np.empty(count)
    weights = np.empty(count)
    for k in range(len(costs)):
        negative = 0
        for i in range(count):
            terms[i] = float(costs[k, i]) - prices[i]
            weights[i] = 1.0
            negative += terms[i] < 0
        mass = min(max(negative / count, low), high) * count
        # Where the mass may vary, any of it is taken only as long as the terms are negative: the threshold is 0.
        varies = low < negative / count < high
        found[k] = 0.0 if varies else _take_cheapest(terms, weights, count, mass)[1]
    return found


@njit(cache=True, nogil=True)
def _take_cheapest(terms: Floats, weights: Floats, count: int, mass: float) -> tuple[float, float]:
    """Sum of the cheapest of the first ``count`` terms up to ``mass``, and the last term taken (by quickselect)."""
    total = 0.0
    pivot = -np.inf
    first, last = 0, count - 1
    while first <= last:
        x, y, z = terms[first], terms[(first + last) // 2], terms[last]
        pivot = max(min(x, y), min(max(x, y), z))
        # Three parts: below the pivot, equal to it, above it.
        under, k, over = first, first, last
        held, cost, tied = 0.0, 0.0, 0.0
        while k <= over:
            term, weight = terms[k], weights[k]
            if term < pivot:
                held += weight
                cost += weight * term
                terms[k], weights[k] = terms[under], weights[under]
                terms[under], weights[under] = term, weight
                under += 1
                k += 1
            elif term > pivot:
                terms[k], weights[k] = terms[over], weights[over]
                terms[over], weights[over] = term, weight
                over -= 1
            else:
                tied += weight
                k += 1
        if mass < held:
            last = under - 1
        elif mass <= held + tied:
            return total + cost + (mass - held) * pivot, pivot
        else:
            total += cost + tied * pivot
            mass -= held + tied
            first = over + 1
    return total, pivot


@njit(cache=True, nogil=True)
def _value(
    costs: Costs,
    prices: Floats,
    masses: Floats,
    low: float,
    high: float,
    lower: float,
    upper: float,
    terms: Floats,
    weights: Floats,
) -> tuple[float, float, bool]:
    """Value and threshold of one candidate, if the threshold lies between ``lower`` and ``upper``."""
    mass = low
    if low < high:
        negative, cost = 0.0, 0.0
        for i in range(len(prices)):
            term = float(costs[i]) - prices[i]
            under = masses[i] if term < 0 else 0.0
            negative += under
            cost += under * term
        if low <= negative <= high:
            return cost, 0.0, True
        mass = low if negative < low else high
    count = 0
    below, below_cost = 0.0, 0.0
    for i in range(len(prices)):
        term = float(costs[i]) - prices[i]
        terms[count] = term
        weights[count] = masses[i]
        under = masses[i] if term < lower else 0.0
        below += under
        below_cost += under * term
        count += (term >= lower) & (term <= upper)
    within = 0.0
    for k in range(count):
        within += weights[k]
    everything = lower == -np.inf and upper == np.inf
    if count == 0 or ((mass < below or mass > below + within) and not everything):
        return 0.0, 0.0, False
    cost, threshold = _take_cheapest(terms, weights, count, mass - below)
    return below_cost + cost, threshold, True


@njit(cache=True, nogil=True)
def _window(costs: Costs, prices: Floats, low: float, high: float) -> tuple[float, float]:
    """Where the threshold should lie, by an even sample of the terms."""
    step = len(prices) // _SAMPLE
    if step < 8:
        return -np.inf, np.inf
    sample = np.empty(_SAMPLE)
    negative = 0
    for k in range(_SAMPLE):
        sample[k] = float(costs[k * step]) - prices[k * step]
        negative += sample[k] < 0
    sample.sort()
    rank = min(max(negative / _SAMPLE, low), high) * _SAMPLE
    spread = 4 * np.sqrt(rank) + 4
    first, last = int(rank - spread), int(rank + spread)
    return (sample[first] if first >= 0 else -np.inf), (sample[last] if last < _SAMPLE else np.inf)


@njit(cache=True, nogil=True)
def _values(
    costs: Costs,
    rows: Ints,
    prices: Floats,
    masses: Floats,
    low: float,
    high: float,
    thresholds: Floats,
    widths: Floats,
) -> tuple[Floats, Floats]:
    found = np.empty(len(rows))
    moved = np.empty(len(rows))
    terms = np.empty(len(prices) + 1)
    weights = np.empty(len(prices) + 1)
    for k in range(len(rows)):
        row = costs[rows[k]]
        value, threshold, done = 0.0, 0.0, False
        if widths[k] < np.inf:
            lower, upper = thresholds[k] - widths[k], thresholds[k] + widths[k]
            value, threshold, done = _value(row, prices, masses, low, high, lower, upper, terms, weights)
        if not done:
            lower, upper = _window(row, prices, low, high)
            value, threshold, done = _value(row, prices, masses, low, high, lower, upper, terms, weights)
        if not done:
            value, threshold, done = _value(row, prices, masses, low, high, -np.inf, np.inf, terms, weights)
        found[k] = value
        moved[k] = threshold
    return found, moved


@njit(cache=True, nogil=True)
def _serve(
    costs: Costs,
    rows: Ints,
    prices: Floats,
    masses: Floats,
    low: float,
    high: float,
    thresholds: Floats,
    tolerance: float,
    total: Floats,
) -> None:
    for k in range(len(rows)):
        row = costs[rows[k]]
        lower, upper = thresholds[k] - tolerance, thresholds[k] + tolerance
        taken, tied = 0.0, 0.0
        for i in range(len(prices)):
            term = float(row[i]) - prices[i]
            if term < lower:
                taken += masses[i]
                total[i] += masses[i]
            elif term <= upper:
                tied += masses[i]
        # Terms that tie at the threshold share what is left of the mass the candidate must or may take.
        rest = min(max(low - taken, 0.0), tied) if thresholds[k] >= 0 else min(max(high - taken, 0.0), tied)
        if rest > 0:
            for i in range(len(prices)):
                if lower <= float(row[i]) - prices[i] <= upper:
                    total[i] += masses[i] * (rest / tied)
