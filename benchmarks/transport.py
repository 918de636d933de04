"""Exact transport of 60,000 points to a few picks, beside the network simplex of POT, on the same costs.

python benchmarks/transport.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import ot

from handful import Pool
from handful.transport import transport

POINTS, DIMENSION, CLUSTERS = 60_000, 64, 50


def timed(work: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Least time of a few, and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def main() -> None:
    random = np.random.default_rng(0)
    centres = random.normal(size=(CLUSTERS, DIMENSION))
    points = centres[random.integers(0, CLUSTERS, POINTS)] + 0.7 * random.normal(size=(POINTS, DIMENSION))
    pool = Pool(points.astype(np.float32))
    transport(pool.distances(np.arange(3), np.arange(5_000)), np.full(5_000, 1 / 5_000), 1 / 3, 1 / 3)
    print(f"{POINTS:,} x {DIMENSION}, 1 - cos; seconds, ratio to POT emd, relative difference of the cost")
    print(f"{'B':>4} {'POT emd':>9} {'cold':>8} {'ratio':>7} {'one swap':>9} {'ratio':>7} {'difference':>11}")
    for budget in (10, 40, 180):
        picks = random.choice(POINTS, budget + 1, replace=False)
        costs = pool.distances(picks[:-1])
        share = 1 / budget
        cold, _ = timed(lambda c=costs, s=share: transport(c, pool.masses, s, s).distance, 3)  # type: ignore[misc]
        prices = transport(costs, pool.masses, share, share).pick_prices
        costs[budget // 2] = pool.distances(picks[-1:])[0]
        warm, ours = timed(
            lambda c=costs, s=share, p=prices: transport(c, pool.masses, s, s, start=p).distance,  # type: ignore[misc]
            3,
        )
        upright = np.ascontiguousarray(costs.T)
        shares = np.full(budget, share)
        exact, theirs = timed(lambda c=upright, s=shares: ot.emd2(pool.masses, s, c, numItermax=10**8), 1)  # type: ignore[misc]
        difference = abs(ours - theirs) / theirs
        print(
            f"{budget:>4} {exact:>8.2f}s {cold:>7.3f}s {exact / cold:>6.0f}x {warm:>8.3f}s {exact / warm:>6.0f}x "
            f"{difference:>11.1e}"
        )


if __name__ == "__main__":
    main()
