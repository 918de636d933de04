"""Pools small enough to try all picks, for the query strategies of every library."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import ot
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_X_y


def pool(seed: int, n: int = 12) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, 3))


def cost(points: NDArray[Any], picks: Sequence[int], metric: str = "cosine") -> float:
    """Wasserstein distance of picks of even shares, by POT."""
    costs = cdist(points, points[list(picks)], metric)
    return float(ot.emd2(np.full(len(points), 1 / len(points)), np.full(len(picks), 1 / len(picks)), costs))


def least(points: NDArray[Any], already: Sequence[int], candidates: Sequence[int], count: int, **metric: str) -> float:
    """The least distance that any ``count`` of the candidates reach together with the earlier picks."""
    return min(cost(points, [*already, *some], **metric) for some in itertools.combinations(candidates, count))


def require_modal() -> Any:
    """The learners of modAL, which can't be taught with every scikit-learn that handful works with."""
    models = pytest.importorskip("modAL.models")
    if "force_all_finite" not in signature(check_X_y).parameters:
        pytest.skip("modAL 0.4.2 teaches no learner with scikit-learn 1.8 or later: install 'scikit-learn<1.8'")
    return models
