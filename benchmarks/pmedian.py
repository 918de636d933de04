"""Free weights against instances that others solved, against FasterPAM, and scenario reduction against what is known.

    python benchmarks/pmedian.py orlib
    python benchmarks/pmedian.py birch --only ds1x4,ds3n02
    python benchmarks/pmedian.py capacitated
    python benchmarks/pmedian.py fasterpam --sizes 5000,10000
    python benchmarks/pmedian.py scenarios

Sums of distances are compared with the published optima (rounded to one decimal place for BIRCH). ``--verify`` has the
certificate of every run checked from scratch, which takes as many passes over all distances as the proof has parts.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import floyd_warshall

import handful
from handful.lifted import Shares
from handful.medoids import MedoidSearch
from handful.scenarios import scenario_pool
from handful.transport import transport

Floats = NDArray[np.float64]

LIMITS = {"orlib": 60.0, "birch": 300.0, "capacitated": 60.0}
PAM_POINTS, PAM_PICKS = (5_000, 10_000, 20_000), (10, 50, 100)
SCENARIOS, KEPT = "1w_all_25", (5, 10, 20, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("piece", choices=[*LIMITS, "fasterpam", "scenarios"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", help="instances, separated by commas")
    parser.add_argument("--sizes", help="points for fasterpam, separated by commas")
    parser.add_argument("--seconds", type=float, help="time limit of each run, in place of the one asked for")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--verify", action="store_true")
    given = parser.parse_args()
    warm_up()
    if given.piece in LIMITS:
        instances(given)
    elif given.piece == "fasterpam":
        sizes = [int(size) for size in given.sizes.split(",")] if given.sizes else PAM_POINTS
        fasterpam(given.data, sizes)
    else:
        scenarios(given.data, given.seconds or 60.0, given.threads)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30:.2f} GiB")


def warm_up() -> None:
    """Compile every kernel, so that no run is charged for it."""
    points = np.random.default_rng(0).normal(size=(400, 2))
    handful.select(points, 5, metric="euclidean", picks_weight="free", gap=0, time_limit=60)
    handful.select(points[:60], 5, metric="euclidean", picks_weight=(0.0, 0.25), gap=0.01, time_limit=60)


def instances(given: argparse.Namespace) -> None:
    """Solve published instances."""
    folder = given.data / "pmedian"
    data = np.load(folder / f"{given.piece}.npz")
    with (folder / "optima.csv").open() as file:
        published = {row["instance"]: row for row in csv.DictReader(file) if row["instance"] in data}
    only = given.only.split(",") if given.only else list(published)
    limit = given.seconds or LIMITS[given.piece]
    solve = {"orlib": orlib, "birch": birch, "capacitated": capacitated}[given.piece]
    print("instance       n    p  published        found     over        bound      gap     time  status")
    for name in only:
        n, p, optimum = (published[name][key] for key in ("n", "p", "optimum"))
        began = time.perf_counter()
        scale, run = solve(data[name], int(p), limit, given.threads)
        seconds = time.perf_counter() - began
        found, bound = run.distance * scale, run.lower_bound * scale
        shared = run.shared if isinstance(run, handful.WholeSelection) else run
        verdict = f"  {checked(shared)}" if given.verify else ""
        print(
            f"{name:<8} {n:>6} {p:>4} {optimum:>10} {found:>12.3f} {found / float(optimum) - 1:>8.4%} {bound:>12.3f} "
            f"{run.gap:>8.4%} {seconds:>6.1f} s  {shared.status}{verdict}",
            flush=True,
        )


def orlib(edges: Floats, p: int, limit: float, threads: int) -> tuple[float, handful.Selection]:
    n = int(edges[:, :2].max())
    costs = np.full((n, n), np.inf)
    for i, j, cost in edges:  # the last cost of a repeated edge wins
        costs[int(i) - 1, int(j) - 1] = costs[int(j) - 1, int(i) - 1] = cost
    np.fill_diagonal(costs, 0)
    run = handful.select(
        floyd_warshall(costs), p, metric="precomputed", picks_weight="free", gap=0, time_limit=limit, threads=threads
    )
    return n, run


def birch(points: Floats, p: int, limit: float, threads: int) -> tuple[float, handful.Selection]:
    run = handful.select(
        points, p, metric="euclidean", picks_weight="free", gap=0, time_limit=limit, threads=threads, memory=4 * 2**30
    )
    return len(points), run


def capacitated(rows: Floats, p: int, limit: float, threads: int) -> tuple[float, handful.WholeSelection]:
    """The published cost counts each point once, whatever its demand: as costs per unit of mass, distance / demand."""
    places, capacity, demand = rows[:, :2], rows[:, 2], rows[:, 3]
    distances = np.floor(np.linalg.norm(places[:, None] - places, axis=2))
    total = demand.sum()
    pool = handful.Pool(distances / demand[:, None], "precomputed", masses=demand)
    run = handful.select_whole(pool, p, picks_weight=(0.0, capacity[0] / total), time_limit=limit, threads=threads)
    return total, run


def checked(selection: handful.Selection) -> str:
    """What `handful.verify` says of a run."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        selection.save(Path(folder) / "run")
        verdict = handful.verify(selection.pool, Path(folder) / "run")
    return f"{'VALID' if verdict.valid else verdict} ({time.perf_counter() - began:.1f} s)"


def fasterpam(data: Path, sizes: list[int] | tuple[int, ...]) -> None:
    """Our swap search and FasterPAM on CIFAR-10 features, on one thread."""
    import kmedoids

    points = np.load(data / "cifar10_lite0_pca.npz")["train"].astype(np.float32)
    print("CIFAR-10 features, 128 coordinates, euclidean, one thread; FasterPAM needs all distances first; ours goes")
    print("on after its descent with perturbations, until it is as good, and as long as FasterPAM took in all.")
    print("     n    p  FasterPAM  distances     swaps   descent             as good  same time")
    for n in sizes:
        costs, made = timed(lambda n=n: handful.Pool(points[:n], "euclidean").distances(np.arange(n), dtype=np.float32))
        for p in PAM_PICKS:
            theirs, took = timed(
                lambda costs=costs, p=p: kmedoids.fasterpam(costs, p, random_state=0, init="random", n_cpu=1)
            )
            pool = handful.Pool(points[:n], "euclidean")
            loss = evaluated(pool, np.asarray(theirs.medoids, np.int64))
            trace = swapped(handful.Pool(points[:n], "euclidean"), p, loss, made + took)
            first, last = trace[0], max(k for k, (when, _) in enumerate(trace) if when <= max(made + took, trace[0][0]))
            reached = next((f"{when:.2f} s" for when, found in trace if found <= loss), "not")
            print(
                f"{n:>6} {p:>4} {loss:>10.5f} {made:>8.2f} s {took:>7.2f} s {first[1]:>9.5f} {first[0]:>6.2f} s "
                f"{reached:>10} {trace[last][1] / loss - 1:>+10.3%}",
                flush=True,
            )
        del costs


def swapped(pool: handful.Pool, p: int, target: float, seconds: float) -> list[tuple[float, float]]:
    """Time and distance after the first descent of the swap search, and each time that a perturbation helped."""
    search = MedoidSearch(pool, Shares(0.0, 1.0), pool.candidates, np.empty(0, np.int64))
    random, began = np.random.default_rng(0), time.perf_counter()
    best = search.alternate(search.seed(p, random))
    trace = [(time.perf_counter() - began, best.distance)]
    while time.perf_counter() - began < (seconds if best.distance <= target else 5 * seconds):
        found = search.perturb(best, random)
        if found.distance < best.distance:
            best = found
            trace.append((time.perf_counter() - began, best.distance))
    return trace


def evaluated(pool: handful.Pool, picks: NDArray[np.int64]) -> float:
    return float(pool.distances(picks).min(axis=0).mean())


def scenarios(data: Path, limit: float, threads: int) -> None:
    """Wasserstein distance of order 1 and 2 of few scenarios to all SINTEF weekly returns."""
    from sklearn.cluster import KMeans

    returns = np.load(data / "sintef_weekly_returns.npz")[SCENARIOS]
    print(f"SINTEF {SCENARIOS}: {returns.shape[0]:,} scenarios of {returns.shape[1]} returns")
    rivals = "".join(f"{name:>18}" for name in ("forward", "backward", "k-means", "centres"))
    print(f" p   k      ours     bound     gap    time{rivals}")
    for p in (1, 2):
        for k in KEPT:
            ours = handful.reduce_scenarios(returns, k, p=p, gap=0, time_limit=limit, threads=threads)
            assert ours.selection is not None
            means = KMeans(k, n_init=10, random_state=0).fit(returns).cluster_centers_
            pool = scenario_pool(np.vstack([returns, means]), p=p)
            centres = np.arange(len(returns), pool.n)
            nearest = np.unique(pool.distances(centres, slice(len(returns))).argmin(axis=1))
            distances = [
                handful.reduce_scenarios(returns, k, p=p, method="forward").distance,
                handful.reduce_scenarios(returns, k, p=p, method="backward").distance,
                *(redistributed(pool, picks, len(returns), p) for picks in (nearest, centres)),
            ]
            beside = " ".join(f"{rival:>8.5f} {rival / ours.distance - 1:>+8.2%}" for rival in distances)
            print(
                f"{p:>2} {k:>3} {ours.distance:>9.5f} {ours.lower_bound:>9.5f} {ours.gap:>7.3%} "
                f"{ours.selection.seconds:>5.1f} s {beside}",
                flush=True,
            )
    print("k-means: the scenarios nearest to its centres; centres: those themselves, which are no scenarios")


def redistributed(pool: handful.Pool, picks: NDArray[np.int64], n: int, p: int) -> float:
    """Distance of the first ``n`` points to these, with the best probabilities."""
    return float(transport(pool.distances(picks, slice(n)), np.full(n, 1 / n), 0.0, 1.0).distance ** (1 / p))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


if __name__ == "__main__":
    main()
