"""Wasserstein distance of our picks beside those of other methods, on the same pool, with the time of each.

    python benchmarks/rivals.py [--points 1797] [--budgets 10,20,40] [--seconds 60]

Every method's picks are judged by the same exact transport (uniform shares). FasterPAM is that of the package
``kmedoids``, which needs all distances at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import kmedoids
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import handful
from handful.lifted import Shares
from handful.search import Search
from handful.transport import transport

Indices = NDArray[np.int64]


def k_centers(pool: handful.Pool, budget: int) -> Indices:
    """Greedy k-centers (Gonzalez 1985), from the point nearest to all others."""
    picks = [int(np.argmin(pool.distances(np.arange(pool.n)).mean(axis=1)))]
    nearest = pool.distances(picks)[0]
    while len(picks) < budget:
        picks.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, pool.distances(picks[-1:])[0])
    return np.array(picks)


def alternations(pool: handful.Pool, budget: int, count: int) -> Indices:
    """The best of several alternations of transport and medoids, each from random picks."""
    search = Search(pool, Shares(1 / budget, 1 / budget), pool.candidates, np.empty(0, np.int64))
    random = np.random.default_rng(0)
    runs = [search.alternate(random.choice(pool.n, budget, replace=False)) for _ in range(count)]
    return min(runs, key=lambda found: found.distance).picks


def random_picks(pool: handful.Pool, budget: int, count: int) -> Indices:
    """The best of several random selections."""
    random = np.random.default_rng(0)
    draws = [random.choice(pool.n, budget, replace=False) for _ in range(count)]
    return min(draws, key=lambda picks: distance(pool, picks))


def distance(pool: handful.Pool, picks: Indices) -> float:
    """Wasserstein distance of equally weighted picks to the pool."""
    return transport(pool.distances(picks), pool.masses, 1 / len(picks), 1 / len(picks)).distance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1797)
    parser.add_argument("--budgets", default="10,20,40")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    pool = handful.Pool(load_digits().data[: given.points])
    handful.select(pool.subset(np.arange(200)), 3, time_limit=30, rounds=2)
    for budget in map(int, given.budgets.split(",")):
        bound: list[float] = []

        def ours(size: int = budget, bound: list[float] = bound) -> Indices:
            run = handful.select(pool, size, gap=0, time_limit=given.seconds, threads=2)
            bound.append(run.lower_bound)
            return run.indices

        def fasterpam(size: int = budget) -> Indices:
            costs = pool.distances(np.arange(pool.n))
            return np.asarray(kmedoids.fasterpam(costs, size, random_state=0).medoids, np.int64)

        methods: dict[str, Callable[[], Indices]] = {
            "handful": ours,
            "k-medoids (FasterPAM)": fasterpam,
            "greedy k-centers": lambda size=budget: k_centers(pool, size),  # type: ignore[misc]
            "best of 20 alternations": lambda size=budget: alternations(pool, size, 20),  # type: ignore[misc]
            "best of 100 random": lambda size=budget: random_picks(pool, size, 100),  # type: ignore[misc]
        }
        print(f"digits, {pool.n:,} points, B = {budget}")
        first = None
        for name, method in methods.items():
            start = time.perf_counter()
            picks = method()
            seconds = time.perf_counter() - start
            reached = distance(pool, picks)
            first = first or reached
            print(f"  {name:<24} {reached:.6f}  {reached / first:>7.3f}x of ours  {seconds:>7.2f} s", flush=True)
        print(f"  {'(proven lower bound)':<24} {bound[0]:.6f}  {bound[0] / (first or 1):>7.3f}x of ours")


if __name__ == "__main__":
    main()
