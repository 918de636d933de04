"""Metrics: what they are called, and the block of costs they give between two sets of points.

Every metric but ``manhattan`` and ``precomputed`` is a function of the squared Euclidean distance between *prepared*
points (unit vectors for ``cosine``; the mean is subtracted for all of them, which changes no distance and keeps
rounding small), so one matrix product and one short pass over its result serve them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from handful.errors import HandfulError

Block = NDArray[np.floating[Any]]

NAMES: Final = ("cosine", "euclidean", "sqeuclidean", "manhattan", "rbf:SIGMA", "ball:RADIUS", "precomputed")
_CODES: Final = {"sqeuclidean": 0, "cosine": 1, "euclidean": 2, "rbf": 3, "ball": 4}
_PARAMETERS: Final = {"rbf": "SIGMA", "ball": "RADIUS"}
# Below this share of the squared norms a squared distance from the matrix product has lost too many digits to
# cancellation, and is computed again from the coordinates.
_CANCELLED: Final = 1e-3
_DIRECT: Final = 8  # coordinates up to which all distances are computed from them, which is as fast and more exact


@dataclass(frozen=True)
class Metric:
    """A cost between points.

    ``cosine`` is 1 - cos; ``rbf:s`` is 1 - exp(-|x - y|² / (2 s²)); ``ball:r`` is 0 within distance r and 1 outside.
    """

    name: str
    parameter: float = math.nan

    @classmethod
    def parse(cls, text: str) -> Metric:
        """Read ``cosine``, ``rbf:0.5`` and the like."""
        name, colon, number = str(text).partition(":")
        if name in _PARAMETERS:
            try:
                parameter = float(number)
            except ValueError:
                parameter = math.nan
            if not (math.isfinite(parameter) and parameter > 0):
                given = f"got {text!r}"
                raise HandfulError(f"metric {name} needs a positive number after a colon, as in {name}:0.5; {given}")
            return cls(name, parameter)
        if colon or (name not in _CODES and name not in ("manhattan", "precomputed")):
            raise HandfulError(f"unknown metric {text!r}: choose one of {', '.join(NAMES)}")
        return cls(name)

    def __str__(self) -> str:
        return f"{self.name}:{self.parameter!r}" if self.name in _PARAMETERS else self.name

    @property
    def linear(self) -> bool:
        """Whether a weighted sum of costs to one point needs only the weighted mean of the others."""
        return self.name in ("cosine", "sqeuclidean")

    def cancelled(self, dimension: int) -> float:
        """Share of the squared norms below which a squared distance is computed from the coordinates."""
        return math.inf if dimension <= _DIRECT else _CANCELLED

    def block(self, x: Block, y: Block, x_norms: Block, y_norms: Block, out: Block | None = None) -> Block:
        """Costs between prepared points ``x`` (rows of the result) and ``y`` (columns), in their own precision.

        With ``out`` they are written there, except for ``manhattan``.
        """
        if self.name == "manhattan":
            return _manhattan(x, y)
        direct = x.shape[1] <= _DIRECT
        costs = np.empty((len(x), len(y)), x.dtype) if out is None else out
        if direct:
            costs[:] = 0
        else:
            np.matmul(x, y.T, out=costs)
        parameter = 0.0 if math.isnan(self.parameter) else self.parameter
        # In single precision NumPy's exponential takes a thirtieth of the time of the compiled expm1, whose small
        # values are more exact than single precision is asked to be.
        fast = self.name == "rbf" and costs.dtype == np.float32
        code = _CODES["sqeuclidean" if fast else self.name]
        _finish(costs, x, y, x_norms, y_norms, self.cancelled(x.shape[1]), code, parameter)
        if fast:
            costs *= np.float32(-0.5 / parameter**2)
            np.exp(costs, out=costs)
            np.subtract(np.float32(1), costs, out=costs)
        return costs

    def rounding(self, dtype: type[np.floating[Any]], dimension: int, largest_norm: float, raw_norm: float) -> float:
        """Bound on the absolute error of a computed cost.

        ``largest_norm`` is the largest norm of a prepared point, ``raw_norm`` that before the mean was subtracted.
        A dot product of length d has an error of at most (d + O(1)) u |x| |y| with u the unit round-off (Higham,
        *Accuracy and Stability of Numerical Algorithms*, section 3.1); points are prepared in double precision.
        ``ball`` is exact because it is *defined* by the comparison in double precision that `_finish` makes.
        """
        unit = float(np.finfo(dtype).eps) / 2
        moved = 8 * 2.0**-53 * raw_norm  # how far preparation may have moved a point
        square = 4.0 * (dimension + 16) * unit * largest_norm**2 + 4 * largest_norm * moved
        if self.name == "cosine":
            return square / 2
        if self.name == "sqeuclidean":
            return square
        if self.name == "rbf":
            return square / (2 * self.parameter**2) + 4 * unit
        if self.name == "euclidean":
            worst = 2 if dimension <= _DIRECT else math.sqrt(2 / _CANCELLED)
            return (dimension + 16) * unit * worst * largest_norm + 2 * moved
        if self.name == "manhattan":
            return 2 * math.sqrt(dimension) * ((dimension + 16) * unit * largest_norm + moved)
        return 0.0 if self.name == "ball" else math.inf


@njit(cache=True, nogil=True)
def _square(x: Block, y: Block) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        difference = float(x[k]) - float(y[k])
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _finish(
    costs: Block, x: Block, y: Block, x_norms: Block, y_norms: Block, cancelled: float, code: int, parameter: float
) -> None:
    """Turn inner products into costs, in place."""
    zero = costs.dtype.type(0)
    limit = costs.dtype.type(cancelled)
    for i in range(costs.shape[0]):
        row = costs[i]
        norm = x_norms[i]
        suspect = 0
        for j in range(row.shape[0]):
            total = norm + y_norms[j]
            square = total - row[j] - row[j]
            suspect += square < limit * total
            row[j] = square
        if suspect:
            for j in range(row.shape[0]):
                if row[j] < limit * (norm + y_norms[j]):
                    row[j] = max(zero, costs.dtype.type(_square(x[i], y[j])))
        if code == 1:
            for j in range(row.shape[0]):
                row[j] *= costs.dtype.type(0.5)
        elif code == 2:
            for j in range(row.shape[0]):
                row[j] = np.sqrt(row[j])
        elif code == 3:
            for j in range(row.shape[0]):
                row[j] = -np.expm1(-row[j] / costs.dtype.type(2 * parameter * parameter))
        elif code == 4:
            # Near the rim the answer must not hang on the order of a sum, so it is summed again in one fixed order.
            rim = parameter * parameter
            for j in range(row.shape[0]):
                square = float(row[j])
                if abs(square - rim) <= 1e-3 * (rim + norm + y_norms[j]):
                    square = _square(x[i], y[j])
                row[j] = square > rim


@njit(cache=True, nogil=True)
def _manhattan(x: Block, y: Block) -> Block:
    costs = np.empty((x.shape[0], y.shape[0]), x.dtype)
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            total = x.dtype.type(0)
            for k in range(x.shape[1]):
                total += abs(x[i, k] - y[j, k])
            costs[i, j] = total
    return costs
