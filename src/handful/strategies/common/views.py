"""The same points with other masses, as some strategies want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.pool import Pool

Floats = NDArray[np.floating[Any]]


def reweighted(pool: Pool, weights: Floats) -> Pool:
    """The pool with every mass multiplied by its weight; the pool itself where that leaves no mass."""
    masses = pool.masses * weights
    if not masses.sum() > 0:
        return pool
    return Pool(pool.points, str(pool.metric), masses=masses, candidates=pool.candidates)
