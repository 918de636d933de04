"""Points as the metric sees them, and their principal axes: what maps of a pool are drawn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_AXES_FROM = 1_000  # points that decide which way the map is seen
_BLOCK = 8_192


def principal(pool: Pool, picks: Indices, rows: Indices, count: int = 2) -> Floats:
    """Where these points lie along the first ``count`` principal axes of the pool, as its metric sees it."""
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), _AXES_FROM)).astype(np.int64)]
    scale = _scale(pool, some)
    seen = _as_seen(pool, picks, some, scale)
    centre = seen.mean(axis=0)
    directions = np.linalg.svd(seen - centre, full_matrices=False)[2][:count]
    # Either sign would do; this one is always the same.
    directions *= np.where(directions.sum(axis=1, keepdims=True) < 0, -1, 1)
    places = np.zeros((len(rows), count))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        places[block, : len(directions)] = (_as_seen(pool, picks, rows[block], scale) - centre) @ directions.T
    return places


def _scale(pool: Pool, rows: Indices) -> float:
    """What coordinates are divided by, so that none overflows."""
    return 1.0 if pool.metric.name == "precomputed" else float(np.abs(pool.points[rows]).max()) or 1.0


def _as_seen(pool: Pool, picks: Indices, rows: Indices, scale: float) -> Floats:
    """Coordinates; where the pool has none, the costs of being served by each of the picks."""
    if pool.metric.name == "precomputed":
        return np.asarray(pool.distances(picks, rows).T, np.float64)
    points = np.asarray(pool.points[rows], np.float64)
    if pool.metric.name == "cosine":
        points = points / np.abs(points).max(axis=1, keepdims=True)
        return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))
    return points / scale
