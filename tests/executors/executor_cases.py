"""Pools, prices and slow code that does what the formula says, for the tests of all executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import handful
from handful import Pool, Selection
from handful.blocks import Passes, Workers
from handful.lifted import Shares
from handful.sample import Sample

Floats = NDArray[np.float64]

METRICS = ("cosine", "euclidean", "sqeuclidean", "manhattan", "rbf:1.5", "ball:3.5", "precomputed")
SHARES = (Shares(1 / 7, 1 / 7), Shares(0.0, 1.0), Shares(0.05, 0.3))


def points(n: int, dimension: int, seed: int = 0, repeated: bool = True) -> Floats:
    """Points in a few clusters, one of them many times if ``repeated``."""
    random = np.random.default_rng(seed)
    centres = 2 * random.normal(size=(6, dimension))
    found = centres[random.integers(6, size=n)] + random.normal(size=(n, dimension))
    if repeated:
        found[::9] = found[0]
    return found


def pool_of(metric: str, n: int, dimension: int, weighted: bool) -> Pool:
    random = np.random.default_rng(1)
    given = random.random((n, n)) if metric == "precomputed" else points(n, dimension)
    masses = np.where(random.random(n) < 0.2, 0.0, random.random(n)) if weighted else None
    return Pool(given, metric, masses=masses)


def knapsack(terms: Floats, masses: Floats, shares: Shares) -> float:
    """The least sum of terms, cheapest first up to the low share, then negative ones up to the high one."""
    total = carried = 0.0
    for i in np.argsort(terms, kind="stable"):
        most = shares.high if terms[i] < 0 else shares.low
        part = min(masses[i], max(0.0, most - carried))
        total, carried = total + part * terms[i], carried + part
    return float(total)


def check_passes(passes: Passes, base: Pool | Sample, shares: Shares, dtype: Any, workers: Workers) -> None:
    """What passes give is what the formula says, whether costs are kept or not."""
    whole = base.pool if isinstance(base, Sample) else base
    random = np.random.default_rng(2)
    some = np.sort(random.choice(whole.n, 40, replace=False))
    kept = some[::3]
    costs = np.asarray(base.distances(some), np.float64)
    exact = 1e-13 if dtype is np.float64 else 1e-6
    near = max(whole.rounding(dtype), 1e-14) * 2
    passes.keep(kept, some, workers)
    assert passes.kept(some).tolist() == [pick in kept for pick in some]
    for share in (0.05, 0.3):
        prices = np.quantile(costs, share) * (0.5 + random.random(base.n))
        terms = costs - prices
        expected = np.array([knapsack(row, base.masses, shares) for row in terms])
        guess = np.zeros(len(some)), np.full(len(some), np.inf)
        found, thresholds = passes.values(some, prices, *guess, workers)
        tolerance = near * shares.high + exact * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
        again, _ = passes.values(some, prices, thresholds, np.full(len(some), 1e-3), workers)
        np.testing.assert_allclose(again, found, rtol=0, atol=tolerance)
        floors, at = passes.floors(some, prices, workers)
        assert (floors <= expected + tolerance).all()
        dual = shares.low * np.maximum(at, 0) + shares.high * np.minimum(at, 0)
        dual += np.minimum(terms - at[:, None], 0) @ base.masses
        np.testing.assert_allclose(floors, dual, rtol=0, atol=near + exact * np.abs(dual).max())
        for k in (0, 1, 2):
            taken = passes.taken(some[k : k + 1], prices, thresholds[k : k + 1], workers)
            assert (taken >= 0).all()
            assert (taken <= base.masses + 1e-15).all()
            assert shares.low - 1e-12 <= taken.sum() <= shares.high + 1e-12
            assert abs(float(taken @ terms[k]) - expected[k]) <= tolerance
        few = slice(0, 10)
        together = passes.taken(some[few], prices, thresholds[few], workers)
        apart = sum(passes.taken(some[k : k + 1], prices, thresholds[k : k + 1], workers) for k in range(10))
        assert abs(float((together - apart).sum())) <= 1e-12
        assert float(np.abs(together - apart).sum()) <= (1e-12 if dtype is np.float64 else 0.02)


def assert_same(one: Selection, other: Selection) -> None:
    """The same picks, and bounds equal to 1e-6."""
    assert one.indices.tolist() == other.indices.tolist()
    assert abs(one.distance - other.distance) <= 1e-12 * one.distance
    assert abs(one.lower_bound - other.lower_bound) <= 1e-6 * one.lower_bound
    assert one.status == other.status


def assert_valid(selection: Selection, folder: Path) -> None:
    """`handful verify` agrees."""
    selection.save(folder / "run", force=True)
    verdict = handful.verify(selection.pool, folder / "run")
    assert verdict.problems == ()
    assert verdict.lower_bound > 0
