"""What costs are computed from, for those who compute them elsewhere than in the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Prepared:
    """Points as a metric wants them.

    Attributes
    ----------
    metric : str
        Its name, without the parameter.
    parameter : float
        NaN where the metric has none.
    cancelled : float
        A squared distance below this share of the squared norms is to be computed from the coordinates.
    points : array of shape (n, d)
        The costs themselves with metric "precomputed", a row per point.
    norms : array of shape (n,)
        Their squared norms.
    """

    metric: str
    parameter: float
    cancelled: float
    points: NDArray[np.floating[Any]]
    norms: NDArray[np.floating[Any]]
