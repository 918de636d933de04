r"""Prices for a large pool from a sample of it: nearly as high a bound as the best, before the first pass over all.

Over a sample of the points, with all candidates, the ascent is quick. Where it ends, the relaxed problem picks a part
:math:`\pi_j` of each candidate, whose knapsack ends at a threshold :math:`w_j`. By complementary slackness any point,
sampled or not, is served by the candidates of least :math:`D_{ij} - w_j`, each up to its part, and its price is what the
last one of them costs:

.. math:: u_i = \min \Big\{ t : \sum_{j : D_{ij} - w_j \le t} \pi_j \ge q \Big\}, \qquad q \to 1
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.ascent import Ascent
from handful.blocks import Workers, slices
from handful.lifted import Shares
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_QUANTILES = (0.5, 0.7, 0.85, 0.95)  # the parts are those of a bundle, not exact: the best of a few q is taken
_LEAST = 1e-3  # parts smaller than this are left out
_CELLS = 4_000_000  # costs looked at together


def extended(pool: Pool, ascent: Ascent, shares: Shares, workers: Workers) -> Floats:
    """Prices of all points of the pool, from where the ascent over a sample of them ended."""
    assert ascent.bundle is not None
    sample = ascent.field.pool
    support = {pick: part for pick, part in ascent.bundle.support().items() if part > _LEAST}
    picks, parts = np.array(list(support), np.int64), np.array(list(support.values()))
    costs = sample.distances(picks, dtype=np.float32)
    rows, anywhere = np.arange(len(picks)), np.full(len(picks), np.inf)
    _, thresholds = lifted.values(
        costs, rows, ascent.bundle.prices, sample.masses, shares, np.zeros(len(picks)), anywhere
    )
    tried = [served_prices(costs - thresholds[:, None], parts, quantile) for quantile in _QUANTILES]
    best = int(np.argmax([ascent.field.evaluate(prices).value for prices in tried]))

    def extend(block: slice) -> Floats:
        costs = pool.distances(picks, block, dtype=np.float32)
        return served_prices(costs - thresholds[:, None], parts, _QUANTILES[best])

    return np.concatenate(workers.map(extend, slices(pool.n, max(1, _CELLS // len(picks)))))


def served_prices(costs: NDArray[np.floating[Any]], parts: Floats, quantile: float) -> Floats:
    """For each point (column), the cost at which the candidates of least cost have parts of sum ``quantile``."""
    order = np.argsort(costs, axis=0, kind="stable")
    reached = np.cumsum(parts[order], axis=0) < min(quantile, float(parts.sum()))
    last = np.minimum(reached.sum(axis=0), len(parts) - 1)
    return np.take_along_axis(costs, order[last, np.arange(costs.shape[1])][None], axis=0)[0].astype(np.float64)
