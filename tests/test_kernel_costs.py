"""Costs 1 - k in single precision, which passes over large pools use, stay within the error that the pool states."""

import numpy as np
import pytest

from handful import Pool


@pytest.mark.parametrize("sigma", [0.05, 0.7, 30.0])
@pytest.mark.parametrize("dimension", [3, 40])
def test_single_precision_is_as_exact_as_it_says(sigma: float, dimension: int) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(300, dimension)) * 10.0 ** random.uniform(-3, 0, (300, 1))
    points = np.vstack([points, points[:20], points[:20] + 1e-5])
    pool = Pool(points, f"rbf:{sigma}")
    squares = np.square(points[:, None] - points).sum(axis=2)
    exact = -np.expm1(-squares / (2 * sigma**2))
    single = pool.distances(np.arange(pool.n), dtype=np.float32)
    assert single.dtype == np.float32
    assert np.abs(single - exact).max() <= pool.rounding(np.float32)
    assert (single >= 0).all()
    assert (single[np.arange(20), np.arange(300, 320)] == 0).all()  # copies cost nothing
    np.testing.assert_allclose(pool.distances(np.arange(pool.n)), exact, atol=pool.rounding(np.float64))
