"""The pool: points, metric, masses and candidates. The only place that computes distances, always in blocks."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from handful.errors import HandfulError
from handful.metrics import Metric
from handful.prepared import Prepared

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]

_ROWS = 8192  # points read or prepared at a time
_LARGEST = 1e15  # coordinate, the smallest being its inverse


class Pool:
    """Points of which some are to be picked.

    Parameters
    ----------
    points : array of shape (n, d), or (n, n) with metric "precomputed"
        Any real dtype; a memory map is read in blocks. A precomputed matrix holds the cost of point i (row) served by
        candidate j (column); it need not be symmetric.
    metric : str
        ``cosine``, ``euclidean``, ``sqeuclidean``, ``manhattan``, ``rbf:SIGMA``, ``ball:RADIUS`` or ``precomputed``.
    masses : array of shape (n,), optional
        Weight of each point, scaled to sum to 1. Default: all equal.
    candidates : array of int, optional
        Rows that may be picked. Default: all.
    """

    def __init__(
        self,
        points: ArrayLike,
        metric: str = "cosine",
        *,
        masses: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
    ) -> None:
        self.metric = Metric.parse(metric)
        self.points = _checked_points(points, self.metric)
        self.n = len(self.points)
        self.masses = _checked_masses(masses, self.n)
        self.candidates = checked_indices(np.arange(self.n) if candidates is None else candidates, self.n, "candidates")
        self.candidates.sort()
        if not len(self.candidates):
            raise HandfulError("no candidates are left: at least one point must be allowed as a pick")
        self._prepared: dict[type, tuple[Floats, Floats]] = {}

    def __len__(self) -> int:
        return self.n

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""
        return int(self.points.shape[1])

    @cached_property
    def equal_masses(self) -> bool:
        """Whether all points weigh the same."""
        return bool((self.masses == self.masses[0]).all())

    def distances(
        self, picks: ArrayLike, points: slice | Indices = slice(None), *, dtype: type[np.floating[Any]] = np.float64
    ) -> Floats:
        """Costs between ``picks`` (rows of the result) and ``points`` (columns; default all)."""
        picks = np.asarray(picks)
        if self.metric.name == "precomputed":
            block = self.points[points][:, picks] if isinstance(points, slice) else self.points[np.ix_(points, picks)]
            return np.ascontiguousarray(block.T, dtype)
        inner = np.float64 if self.metric.name == "ball" else dtype
        prepared, norms = self._prepare(inner)
        costs = self.metric.block(prepared[picks], prepared[points], norms[picks], norms[points])
        return costs if inner is dtype else costs.astype(dtype)

    def tiles(self, picks: Indices, width: int, dtype: type[np.floating[Any]]) -> Iterator[tuple[slice, Floats]]:
        """Costs between ``picks`` and ``width`` points after the other, small enough to be used while in the cache.

        Every tile is written over the one before it: a pass over all costs then moves none of them through memory.
        """
        parts = [slice(start, min(start + width, self.n)) for start in range(0, self.n, width)]
        if self.metric.name in ("precomputed", "ball", "manhattan"):
            for part in parts:
                yield part, self.distances(picks, part, dtype=dtype)
            return
        prepared, norms = self._prepare(dtype)
        x, x_norms = prepared[picks], norms[picks]
        buffer = np.empty((len(picks), width), dtype)
        for part in parts:
            costs = buffer[:, : part.stop - part.start]
            yield part, self.metric.block(x, prepared[part], x_norms, norms[part], costs)

    def group_costs(self, members: Indices, starts: Indices, shares: Floats, candidates: Indices) -> Floats:
        """Cost of serving groups of points from each of the candidates: ``sum_i shares_i D_ij``.

        The groups stand one after the other in ``members``, group g from ``starts[g]`` on. A row of the result is a
        group, a column a candidate. Linear metrics need only the mean of each group.
        """
        if self.metric.linear:
            prepared, norms = self._prepare(np.float32)
            groups = csr_array(
                (shares.astype(np.float32), members, np.append(starts, len(members))), shape=(len(starts), self.n)
            )
            # All candidates in their order need no copy.
            chosen = slice(None) if len(candidates) == self.n else candidates
            mass = groups @ np.ones(self.n, np.float32)
            costs: Floats = (groups @ prepared) @ prepared[chosen].T
            scale = 0.5 if self.metric.name == "cosine" else 1.0
            costs *= -2 * scale
            costs += scale * mass[:, None] * norms[chosen]
            costs += scale * (groups @ norms)[:, None]
            return costs
        totals = np.empty((len(starts), len(candidates)))
        step = max(1, 4_000_000 // len(members))
        for start in range(0, len(candidates), step):
            block = self.distances(candidates[start : start + step], members, dtype=np.float32)
            totals[:, start : start + step] = np.add.reduceat(block * shares, starts, axis=1).T
        return totals

    def prepared(self, dtype: type[np.floating[Any]]) -> Prepared:
        """What costs in ``dtype`` are computed from."""
        metric = self.metric
        cancelled = metric.cancelled(self.dimension)
        if metric.name == "precomputed":
            return Prepared(metric.name, metric.parameter, cancelled, self.points, np.zeros(self.n))
        points, norms = self._prepare(np.float64 if metric.name == "ball" else dtype)
        return Prepared(metric.name, metric.parameter, cancelled, points, norms)

    def shipped(self, dtype: type[np.floating[Any]]) -> Pool:
        """A copy that gives costs in ``dtype`` wherever it is sent, and holds no more than it needs for that."""
        part = copy.copy(self)
        part.candidates = np.empty(0, np.int64)
        if self.metric.name != "precomputed":
            inner = np.float64 if self.metric.name == "ball" else dtype
            part.points, part._prepared = self.points[:0], {inner: self._prepare(inner)}
        return part

    def rounding(self, dtype: type[np.floating[Any]]) -> float:
        """Bound on the absolute error of any distance computed in ``dtype``."""
        if self.metric.name == "precomputed":
            exact = np.dtype(dtype).itemsize >= self.points.dtype.itemsize
            return 0.0 if exact else self._largest * float(np.finfo(dtype).eps)
        _, norms = self._prepare(np.float64 if self.metric.name == "ball" else dtype)
        largest = float(np.sqrt(norms.max()))
        raw = largest + float(np.linalg.norm(self._centre))
        return self.metric.rounding(dtype, self.dimension, largest, raw)

    @cached_property
    def _largest(self) -> float:
        return max(float(block.max()) for block in _blocks(self.points))

    @cached_property
    def _centre(self) -> NDArray[np.float64]:
        cosine = self.metric.name == "cosine"
        total = np.zeros(self.dimension)
        for block in _blocks(self.points):
            total += measured(block, cosine).sum(axis=0)
        return total / self.n

    def subset(self, rows: Indices) -> Pool:
        """The pool of these points only, with their masses scaled to sum to 1; all of them candidates."""
        points = self.points[np.ix_(rows, rows)] if self.metric.name == "precomputed" else self.points[rows]
        masses = self.masses[rows]
        return Pool(points, str(self.metric), masses=masses if masses.sum() > 0 else None)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the points: their shape, dtype and bytes."""
        digest = hashlib.sha256(f"{self.points.shape} {self.points.dtype.str}".encode())
        for block in _blocks(self.points):
            digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()

    def _prepare(self, dtype: type[np.floating[Any]]) -> tuple[Floats, Floats]:
        """Points as the metric wants them, with their squared norms; made once for each precision."""
        if dtype not in self._prepared:
            cosine = self.metric.name == "cosine"
            prepared = np.empty(self.points.shape, dtype)
            norms = np.empty(self.n, dtype)
            for start in range(0, self.n, _ROWS):
                block = measured(self.points[start : start + _ROWS], cosine) - self._centre
                prepared[start : start + _ROWS] = block
                # Norms of the rounded points: they must fit the inner products, which are taken of those.
                norms[start : start + _ROWS] = np.square(block.astype(dtype).astype(np.float64)).sum(axis=1)
            self._prepared[dtype] = prepared, norms
        return self._prepared[dtype]


def as_pool(points: ArrayLike | Pool, metric: str, masses: ArrayLike | None, candidates: ArrayLike | None) -> Pool:
    """``points`` itself where it is a pool, else a pool made of it."""
    if not isinstance(points, Pool):
        return Pool(points, metric, masses=masses, candidates=candidates)
    if masses is not None or candidates is not None:
        raise HandfulError("give masses and candidates to the Pool itself, not beside it")
    return points


def checked_indices(indices: ArrayLike, n: int, what: str) -> Indices:
    """A copy of ``indices`` as rows of a pool of ``n`` points, each at most once."""
    array = np.asarray(indices)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise HandfulError(f"{what} must be a list of row numbers; got shape {array.shape} of {array.dtype}")
    rows = array.astype(np.int64)
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise HandfulError(f"{what} names row {outside[0]}, but the pool has rows 0 to {n - 1}")
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        raise HandfulError(f"{what} names row {values[counts > 1][0]} more than once: keep it once")
    return rows


def _blocks(points: Floats) -> Iterator[Floats]:
    for start in range(0, len(points), _ROWS):
        yield points[start : start + _ROWS]


def measured(block: Floats, cosine: bool) -> NDArray[np.float64]:
    """Points in double precision, as distances between them are measured: of unit length for ``cosine``."""
    points = block.astype(np.float64)
    if cosine:
        points /= np.abs(points).max(axis=1, keepdims=True)  # so that the norm can neither overflow nor vanish
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points


def _checked_points(points: ArrayLike, metric: Metric) -> Floats:
    array = np.asanyarray(points)
    if array.dtype.kind not in "fiu":
        raise HandfulError(f"points must be real numbers; got dtype {array.dtype}")
    if array.ndim != 2:
        raise HandfulError(f"points must be a table of shape (points, coordinates); got shape {array.shape}")
    if 0 in array.shape:
        raise HandfulError(f"the pool is empty: shape {array.shape}; at least one point and one coordinate are needed")
    if metric.name == "precomputed" and array.shape[0] != array.shape[1]:
        raise HandfulError(f"a precomputed cost matrix must be square; got shape {array.shape}")
    _check_rows(array, metric)
    _check_scale(array, metric)
    return array


def _check_scale(points: Floats, metric: Metric) -> None:
    """Squares of the coordinates must neither overflow nor vanish in single precision."""
    if metric.name == "cosine":
        return
    most = _LARGEST**2 if metric.name == "precomputed" else _LARGEST
    largest = max(max(float(block.max()), -float(block.min())) for block in _blocks(points))
    if largest > most or 0 < largest < 1 / most:
        raise HandfulError(
            f"the largest number among the points is {largest:.3g}, and must be between {1 / most:g} and {most:g} for "
            "distances to be exact enough: multiply all numbers by the same factor"
        )


def _check_rows(points: Floats, metric: Metric) -> None:
    faults: dict[str, list[int]] = {}
    for number, block in enumerate(_blocks(points)):
        for why, bad in _faults(block, metric):
            faults.setdefault(why, []).extend((np.flatnonzero(bad) + number * _ROWS).tolist())
    for why, rows in faults.items():
        if rows:
            some = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
            subject = f"row {some} (counted from 0) holds" if len(rows) == 1 else f"rows {some} (counted from 0) hold"
            raise HandfulError(f"{subject} {why}")


def _faults(block: Floats, metric: Metric) -> Iterator[tuple[str, ArrayLike]]:
    """What rows may be wrong in, and which are."""
    if block.dtype.kind == "f":
        yield "NaN or infinity: repair or drop them", ~np.isfinite(block).all(axis=1)
    if metric.name == "cosine":
        yield "only zeros, which have no cosine: drop them or choose another metric", ~block.any(axis=1)
    if metric.name == "precomputed":
        yield "negative costs: a cost must be 0 or more", (block < 0).any(axis=1)


def _checked_masses(masses: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if masses is None:
        return np.full(n, 1.0 / n)
    array = np.asarray(masses)
    if array.dtype.kind not in "fiu" or array.shape != (n,):
        raise HandfulError(f"masses must be {n} numbers, one per point; got shape {array.shape} of {array.dtype}")
    array = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(bad):
        raise HandfulError(f"the mass of row {bad[0]} is {array[bad[0]]}: masses must be finite and 0 or more")
    if not array.sum() > 0:
        raise HandfulError("the masses sum to 0: at least one point must weigh something")
    return array / array.sum()
