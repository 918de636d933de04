"""The same points under a Gaussian kernel, or by their coordinates alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.pool import Pool, measured

_ROWS = 8192


def coordinates(pool: Pool, name: str) -> NDArray[np.float32]:
    """The points as the metric sees them: of unit length for cosine, as they are for the others.

    ``name`` says who asks, for the message where there are none.
    """
    if pool.metric.name == "precomputed":
        raise HandfulError(
            f"{name} needs the coordinates of the points, but the pool is a matrix of costs: give the points, or use "
            "a strategy that needs only costs, such as facility-location"
        )
    points = np.empty(pool.points.shape, np.float32)
    for start in range(0, pool.n, _ROWS):
        points[start : start + _ROWS] = measured(pool.points[start : start + _ROWS], pool.metric.name == "cosine")
    return points


def kernel_width(pool: Pool, points: NDArray[np.float32]) -> float:
    r"""A width s for the kernel :math:`\exp(-|x-y|^2 / 2 s^2)` on these coordinates.

    For cosine pools 1/√2, so that the kernel is :math:`\exp(-|x-y|^2)` of unit vectors, as Bae et al. use it. For
    others the same in proportion: √(V/2), with V the mean squared distance to the mean, which is near 1 for unit
    vectors that point all ways.
    """
    if pool.metric.name == "cosine":
        return float(np.sqrt(0.5))
    mean = pool.masses @ points
    spread = sum(
        float(pool.masses[s : s + _ROWS] @ np.square(points[s : s + _ROWS] - mean).sum(axis=1))
        for s in range(0, pool.n, _ROWS)
    )
    return float(np.sqrt(spread / 2)) if spread > 0 else 1.0


def kernel_pool(pool: Pool, sigma: float | None, name: str) -> Pool:
    """The pool under 1 - k with the Gaussian kernel; one that is so already keeps its own width."""
    if sigma is None and pool.metric.name == "rbf":
        return pool
    if sigma is not None and not (np.isfinite(sigma) and sigma > 0):
        raise HandfulError(f"sigma must be a number above 0; got {sigma!r}")
    points = coordinates(pool, name)
    width = kernel_width(pool, points) if sigma is None else float(sigma)
    return Pool(points, f"rbf:{width!r}", masses=pool.masses, candidates=pool.candidates)
