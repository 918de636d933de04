"""Diving: from prices near the top of the bound to good picks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.bound import Field
from handful.bundle import ascend

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CERTAIN = 0.9  # share in the relaxed problem from which a candidate is taken as picked

_LEVELS = 6  # at least one in so many of the missing picks is forced in at a time


def dive(field: Field, prices: Floats, distance: float) -> Indices:
    """Force in the candidates that the relaxed problem picks almost whole, or the few it picks most, and raise the
    prices for the rest; until all picks are forced."""
    while len(field.forced) < field.budget:
        if len(field.forced) + len(field.open) == field.budget:
            return field.candidates
        best, bundle = ascend(field, prices, distance, np.inf)
        support = bundle.support()
        parts = np.array([support.get(candidate, 0.0) for candidate in field.candidates[field.open].tolist()])
        order = np.argsort(-parts, kind="stable")
        missing = field.budget - len(field.forced)
        count = min(max(1, missing // _LEVELS, int((parts >= _CERTAIN).sum())), missing)
        forced = np.append(field.forced, field.open[order[:count]])
        field = field.narrowed(forced, np.setdiff1d(field.open, forced))
        prices = best.prices
    return field.candidates[field.forced]
