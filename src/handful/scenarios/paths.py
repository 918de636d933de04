r"""From scenarios to a pool whose costs are distances between scenarios to the power p.

A scenario of several periods is a path. With weights :math:`\omega_t` of the periods the distance of two paths is

.. math:: \Big(\sum_t \omega_t \|x_t - y_t\|_2^2\Big)^{1/2} \text{ (euclidean)}, \qquad
          \sum_t \omega_t \|x_t - y_t\|_1 \text{ (manhattan)},

which is the same metric on coordinates that are scaled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.errors import HandfulError
from handful.metrics import Metric
from handful.pool import Pool

Floats = NDArray[np.float64]

_MOST = 12_000  # scenarios whose costs are kept as one matrix
_ROWS = 512


def scenario_pool(
    scenarios: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    metric: str = "euclidean",
    p: int = 1,
    period_weights: ArrayLike | None = None,
) -> Pool:
    """The pool of all scenarios, their probabilities its masses.

    Parameters
    ----------
    scenarios : array of shape (scenarios, values) or (scenarios, periods, values)
        With metric "precomputed" the square matrix of distances.
    probabilities : array, optional
        Scaled to sum to 1. Default: all equal.
    metric : str
        A metric of `handful.select`.
    p : 1 or 2
        Order of the Wasserstein distance: costs are distances to this power.
    period_weights : array of shape (periods,), optional
        Weight of each period. Default: 1.
    """
    if p not in (1, 2) or isinstance(p, bool):
        raise HandfulError(f"p must be 1 or 2, the order of the Wasserstein distance; got {p!r}")
    points = _flat(np.asarray(scenarios), metric, period_weights)
    if p == 1:
        return Pool(points, metric, masses=probabilities)
    if metric == "euclidean":
        return Pool(points, "sqeuclidean", masses=probabilities)
    plain = Pool(points, metric)
    if plain.n > _MOST:
        raise HandfulError(
            f"p = 2 under {metric} needs all distances at once, which is done for at most {_MOST:,} scenarios; there "
            f"are {plain.n:,}: use metric euclidean, p = 1, or fewer scenarios"
        )
    squares = np.empty((plain.n, plain.n))
    for start in range(0, plain.n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, plain.n))
        squares[:, rows] = np.square(plain.distances(rows)).T
    return Pool(squares, "precomputed", masses=probabilities)


def _flat(scenarios: NDArray[Any], metric: str, period_weights: ArrayLike | None) -> NDArray[Any]:
    """A row per scenario, scaled by the weights of the periods."""
    if scenarios.dtype.kind not in "fiu" or scenarios.ndim not in (2, 3):
        raise HandfulError(
            "scenarios must be real numbers of shape (scenarios, values) or (scenarios, periods, values); got "
            f"shape {scenarios.shape} of {scenarios.dtype}"
        )
    if period_weights is None:
        return scenarios.reshape(len(scenarios), -1) if scenarios.size else scenarios
    periods = scenarios.shape[1]
    weights = np.asarray(period_weights)
    if scenarios.ndim != 3 or Metric.parse(metric).name not in ("euclidean", "sqeuclidean", "manhattan"):
        raise HandfulError(
            "period_weights need scenarios of shape (scenarios, periods, values) and metric euclidean, sqeuclidean or "
            f"manhattan; got shape {scenarios.shape} and {metric}"
        )
    if weights.shape != (periods,) or weights.dtype.kind not in "fiu":
        raise HandfulError(f"period_weights must be {periods} numbers, one per period; got shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise HandfulError("period_weights must be finite and 0 or more, and at least one must be more")
    factors = weights.astype(np.float64) if metric == "manhattan" else np.sqrt(weights)
    return (scenarios * factors[:, None]).reshape(len(scenarios), -1)
