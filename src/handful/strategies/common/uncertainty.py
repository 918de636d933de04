"""How unsure a model is of each point, from its class probabilities; larger is less sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


def lack_of_confidence(probabilities: Floats) -> NDArray[np.float64]:
    """One less the largest probability."""
    return 1.0 - probabilities.max(axis=1).astype(np.float64)


def entropy(probabilities: Floats) -> NDArray[np.float64]:
    """``-sum_c p_c log p_c``, in nats."""
    p = probabilities.astype(np.float64)
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)


def lack_of_margin(probabilities: Floats) -> NDArray[np.float64]:
    """One less the difference of the two largest probabilities."""
    two = np.partition(probabilities.astype(np.float64), -2, axis=1)[:, -2:]
    return 1.0 - (two[:, 1] - two[:, 0])


MEASURES = {"margin": lack_of_margin, "entropy": entropy, "confidence": lack_of_confidence}


def uncertainty(probabilities: Floats, measure: str) -> NDArray[np.float64]:
    """The measure of that name."""
    if measure not in MEASURES:
        raise HandfulError(f"unknown measure of uncertainty {measure!r}: choose one of {', '.join(MEASURES)}")
    return MEASURES[measure](probabilities)


def largest(scores: NDArray[np.float64], open_rows: Indices, budget: int) -> Indices:
    """The open rows of the largest scores, largest first; of equal ones the first in order."""
    order = np.argsort(-scores[open_rows], kind="stable")[:budget]
    return open_rows[order]
