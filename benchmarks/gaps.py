"""Distance, lower bound and gap that a run ends with.

    python benchmarks/gaps.py digits
    python benchmarks/gaps.py cifar10 --data ../shared/data
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import handful

# pool: (budget, gap to stop at, seconds, gap that is to be reached)
RUNS = {
    "digits": [(5, 0.0, 60, 0.005), (10, 0.0, 60, 0.005), (20, 0.0, 60, 0.005), (40, 0.0, 60, 0.015)],
    "cifar10": [(10, 0.001, 600, 0.015), (40, 0.007, 600, 0.03)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", choices=RUNS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seconds", type=float, help="time limit of each run, in place of the one asked for")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    points = load_digits().data if given.pool == "digits" else np.load(given.data / "cifar10_lite0_pca.npz")["train"]
    handful.select(points[:200], 3, time_limit=30, rounds=2)
    print(f"{given.pool}: {points.shape[0]:,} x {points.shape[1]}, 1 - cos, {given.threads} threads")
    print(f"{'B':>4} {'distance':>10} {'bound':>10} {'gap':>8} {'asked':>7} {'reached after':>14} {'ended':>8}  status")
    for budget, gap, seconds, asked in RUNS[given.pool]:
        run = handful.select(
            points, budget, gap=gap, time_limit=given.seconds or seconds, threads=given.threads, memory=4 * 2**30
        )
        reached = next((f"{line.elapsed:.1f} s" for line in run.trace if line.gap <= asked), "not")
        print(
            f"{budget:>4} {run.distance:>10.6f} {run.lower_bound:>10.6f} {run.gap:>8.3%} {asked:>7.1%} {reached:>14} "
            f"{run.seconds:>6.1f} s  {run.status}",
            flush=True,
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()
