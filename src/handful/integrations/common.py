"""What the query strategies of all libraries share: the way from their arrays to the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from handful.engine import select
from handful.errors import HandfulError
from handful.estimators import with_directions
from handful.problem import PicksWeight
from handful.selection import Selection


def chosen(
    points: Any,
    budget: int,
    *,
    already: ArrayLike,
    candidates: ArrayLike,
    metric: str,
    picks_weight: PicksWeight,
    gap: float,
    time_limit: float,
    seed: int,
    threads: int | None,
) -> Selection:
    """Pick for one round of active learning: the points are all there are, those labelled earlier among them."""
    return select(
        with_directions(dense(points), metric),
        budget,
        metric=metric,
        picks_weight=picks_weight,
        already=already,
        candidates=candidates,
        gap=gap,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
    )


def dense(points: Any) -> NDArray[Any]:
    """The points as an array, or one sentence that says that a sparse matrix is none."""
    if issparse(points):
        raise HandfulError(
            f"the points are a sparse matrix of shape {points.shape}; give embeddings, or reduce it first, as "
            "sklearn.decomposition.TruncatedSVD does"
        )
    return np.asarray(points)
