r"""Prices for a large pool from a sample of it: nearly as high a bound as the best, before the first pass over all.

Over a sample of the points, with all candidates, the ascent is quick. Where it ends, the relaxed problem picks a part
:math:`\pi_j` of each candidate, whose knapsack ends at a threshold :math:`w_j`. By complementary slackness any point,
sampled or not, is served by the candidates of least :math:`D_{ij} - w_j`, each up to its part, and its price is what
the last one of them costs:

.. math:: u_i = \min \Big\{ t : \sum_{j : D_{ij} - w_j \le t} \pi_j \ge q \Big\}, \qquad q \to 1
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.ascent import Ascent
from handful.blocks import Workers, slices
from handful.bound import Field
from handful.forecast import Forecast
from handful.problem import Problem
from handful.sample import Sample, drawn
from handful.transport import transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

POINTS = (1_000, 5_000)  # points of the sample, at least and at most
_ROUNDS, _STEPS = 3, 30  # of the ascent over it
_QUANTILES = (0.5, 0.7, 0.85, 0.95)  # the parts are those of a bundle, not exact: the best of a few q is taken
_LEAST = 1e-3  # parts smaller than this are left out
_CELLS = 4_000_000  # costs looked at together


def rough_prices(
    problem: Problem, plan: Forecast, picks: Indices, prices: Floats, groups: Indices, workers: Workers, seed: int
) -> Floats:
    """Prices of all points, better than those of good ``picks``, from the ascent over a sample of the points.

    ``groups`` says for every point in which group of the picks' plan it lies.
    """
    pool, shares = problem.pool, problem.shares
    cells = plan.active * pool.n
    count = int(np.clip(cells // len(pool.candidates), *POINTS))
    sample = drawn(pool, count, np.random.default_rng([seed, 3]))
    if sample is None:
        return prices
    kept = cells // sample.n
    ascent = Ascent(sample, problem, replace(plan, active=kept, room=kept, exact=False), workers, seed)
    distance = transport(sample.distances(picks), sample.masses, shares.low, shares.high).distance
    ascent.begin(prices[sample.rows], distance)
    for _ in range(_ROUNDS):
        ascent.round(_STEPS, distance, groups)
    assert ascent.bundle is not None
    parts = {pick: part for pick, part in ascent.bundle.support().items() if part > _LEAST}
    return _extended(problem, sample, ascent.field, parts, ascent.bundle.prices, workers)


def _extended(
    problem: Problem, sample: Sample, field: Field, support: dict[int, float], prices: Floats, workers: Workers
) -> Floats:
    """Prices of all points of the pool, from those of the sample and the parts picked there."""
    picks, parts = np.array(list(support), np.int64), np.array(list(support.values()))
    costs = sample.distances(picks, dtype=np.float32)
    zeros, anywhere = np.zeros(len(picks)), np.full(len(picks), np.inf)
    _, thresholds = lifted.values(costs, np.arange(len(picks)), prices, sample.masses, problem.shares, zeros, anywhere)
    tried = [served_prices(costs - thresholds[:, None], parts, quantile) for quantile in _QUANTILES]
    best = int(np.argmax([field.evaluate(trial).value for trial in tried]))

    def extend(block: slice) -> Floats:
        costs = problem.pool.distances(picks, block, dtype=np.float32)
        return served_prices(costs - thresholds[:, None], parts, _QUANTILES[best])

    return np.concatenate(workers.map(extend, slices(problem.pool.n, max(1, _CELLS // len(picks)))))


def served_prices(costs: NDArray[np.floating[Any]], parts: Floats, quantile: float) -> Floats:
    """For each point (column), the cost at which the candidates of least cost have parts of sum ``quantile``."""
    order = np.argsort(costs, axis=0, kind="stable")
    reached = np.cumsum(parts[order], axis=0) < min(quantile, float(parts.sum()))
    last = np.minimum(reached.sum(axis=0), len(parts) - 1)
    return np.take_along_axis(costs, order[last, np.arange(costs.shape[1])][None], axis=0)[0].astype(np.float64)
