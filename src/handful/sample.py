"""A sample: some points of a pool that stand for all of them, while any point may be picked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.pool import Floats, Indices, Pool

_GUESSED = 1024


class Sample:
    """The pool as far as these ``rows`` go. Candidates are named by their rows in the whole pool."""

    def __init__(self, pool: Pool, rows: Indices) -> None:
        self.rows = rows
        self.n = len(rows)
        self.masses = pool.masses[rows] / pool.masses[rows].sum()
        self.pool = pool

    def distances(
        self, picks: Indices, points: slice | Indices = slice(None), *, dtype: type[np.floating[Any]] = np.float64
    ) -> Floats:
        """Costs between ``picks`` (rows of the result) and ``points`` of the sample (columns; default all)."""
        return self.pool.distances(picks, self.rows[points], dtype=dtype)

    def tiles(self, picks: Indices, width: int, dtype: type[np.floating[Any]]) -> Iterator[tuple[slice, Floats]]:
        """Costs between ``picks`` and ``width`` points after the other."""
        for start in range(0, self.n, width):
            part = slice(start, min(start + width, self.n))
            yield part, self.distances(picks, part, dtype=dtype)

    def rounding(self, dtype: type[np.floating[Any]]) -> float:
        """Bound on the absolute error of any distance computed in ``dtype``."""
        return self.pool.rounding(dtype)


def whole(points: Pool | Sample) -> Pool:
    """The pool itself, or that of which these are a sample."""
    return points.pool if isinstance(points, Sample) else points


def by_mass(points: Pool | Sample) -> Indices:
    """A thousand of the points, drawn by mass, on which thresholds are guessed.

    The seed is fixed: they only decide how sharp the floors are, not what they mean.
    """
    return np.random.default_rng(0).choice(points.n, min(_GUESSED, points.n), p=points.masses)


def drawn(pool: Pool, count: int, random: np.random.Generator) -> Sample | None:
    """A sample of so many points, None where they would weigh nothing."""
    rows: NDArray[np.int64] = np.sort(random.choice(pool.n, min(count, pool.n), replace=False))
    return Sample(pool, rows) if pool.masses[rows].sum() > 0 else None
