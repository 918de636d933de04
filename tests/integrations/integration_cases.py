"""Pools small enough to try all picks, for the query strategies of every library."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import ot
from numpy.typing import NDArray
from scipy.spatial.distance import cdist


def pool(seed: int, n: int = 12) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, 3))


def cost(points: NDArray[Any], picks: Sequence[int], metric: str = "cosine") -> float:
    """Wasserstein distance of picks of even shares, by POT."""
    costs = cdist(points, points[list(picks)], metric)
    return float(ot.emd2(np.full(len(points), 1 / len(points)), np.full(len(picks), 1 / len(picks)), costs))


def least(points: NDArray[Any], already: Sequence[int], candidates: Sequence[int], count: int, **metric: str) -> float:
    """The least distance that any ``count`` of the candidates reach together with the earlier picks."""
    return min(cost(points, [*already, *some], **metric) for some in itertools.combinations(candidates, count))
