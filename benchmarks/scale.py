"""How far and how fast: gaps and the time to reach them, the cost of a pass, and growth with the number of points.

python benchmarks/scale.py gaps digits
python benchmarks/scale.py gaps cifar10 --data FILE
python benchmarks/scale.py gaps fashion --data train-images-idx3-ubyte.gz
python benchmarks/scale.py pass
python benchmarks/scale.py growth
python benchmarks/scale.py against digits --budgets 10,40 --seconds 60
"""

from __future__ import annotations

import argparse
import gzip
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kmedoids
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import handful
from handful.benders import solve
from handful.blocks import Workers, workers
from handful.bound import Field
from handful.clock import Clock
from handful.lifted import Shares
from handful.rough import rough_prices
from handful.search import Search
from handful.transport import transport

Points = NDArray[Any]

# pool: (budget, gap to reach, seconds)
GAPS = {
    "digits": [(5, 0.0, 180), (10, 0.0, 180), (20, 0.001, 300), (40, 0.005, 300)],
    "cifar10": [(10, 0.001, 300), (40, 0.007, 300), (180, 0.03, 600)],
    "fashion": [(10, 0.003, 300), (40, 0.01, 300)],
}
MEMORY = 4 * 2**30
SIZES = (7_500, 15_000, 30_000, 60_000)
REACHED = (0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
FITTING = 20_000  # points whose distances to each other fit in memory


def points_of(pool: str, data: Path | None) -> Points:
    """The pool of that name; all but the digits come from a file."""
    if pool == "digits":
        return np.asarray(load_digits().data)
    if data is None:
        raise SystemExit(f"give the file of {pool} with --data")
    if pool == "cifar10":
        return np.asarray(np.load(data)["train"])
    images = np.frombuffer(gzip.decompress(data.read_bytes()), np.uint8, offset=16).reshape(-1, 784)
    return np.asarray(PCA(64, random_state=0).fit_transform(images / np.float32(255)).astype(np.float32))


def mixture(points: int, dimension: int = 64) -> Points:
    """A pool in 50 clusters of unequal weight."""
    random = np.random.default_rng(0)
    weights = random.dirichlet(np.ones(50))
    centres = random.normal(size=(50, dimension))
    return (centres[random.choice(50, points, p=weights)] + 0.7 * random.normal(size=(points, dimension))).astype("f4")


def gaps(pool: str, data: Path | None, budgets: list[int], threads: int) -> None:
    """Distance, bound and gap of runs with the time they may take."""
    points = points_of(pool, data)
    handful.select(points[:200], 3, time_limit=60, rounds=2)
    print(f"{pool}: {points.shape[0]:,} x {points.shape[1]}, 1 - cos, {threads} threads, at most 4 GiB")
    heads = ("B", "distance", "bound", "gap", "asked", "1.5 % after", "reached after", "ended", "status")
    print("{:>4} {:>10} {:>10} {:>8} {:>7} {:>12} {:>14} {:>8}  {}".format(*heads))
    for budget, gap, seconds in GAPS[pool]:
        if budgets and budget not in budgets:
            continue
        run = handful.select(points, budget, gap=gap, time_limit=seconds, threads=threads, memory=MEMORY)
        first, reached = (
            next((f"{line.elapsed:.1f} s" for line in run.trace if line.gap <= max(least, 1e-6)), "not")
            for least in (0.015, gap)
        )
        print(
            f"{budget:>4} {run.distance:>10.6f} {run.lower_bound:>10.6f} {run.gap:>8.3%} {gap:>7.1%} {first:>12} "
            f"{reached:>14} {run.seconds:>6.1f} s  {run.status}",
            flush=True,
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30:.2f} GiB")


def one_pass(threads: int) -> None:
    """A pass that bounds the values of all candidates, beside the bare matrix products in it."""
    points = mixture(60_000)
    pool = handful.Pool(points)
    unit = np.ascontiguousarray(points / np.linalg.norm(points, axis=1, keepdims=True))
    parts = [slice(start, start + 256) for start in range(0, len(unit), 256)]

    def product(part: slice) -> None:
        tile = np.empty((len(unit[part]), 1024), np.float32)
        for start in range(0, len(unit), 1024):
            other = unit[start : start + 1024]
            np.matmul(unit[part], other.T, out=tile[:, : len(other)])

    with workers(threads, Clock(np.inf)) as crew:
        prices = np.full(pool.n, 0.5)
        times = [
            (timed(lambda: crew.map(product, parts)), timed(lambda: evaluate(pool, prices, crew))) for _ in range(3)
        ]
    bare, whole = (min(column) for column in zip(*times, strict=True))
    print(f"60,000 x 64, {threads} threads: matrix products {bare:.1f} s, pass {whole:.1f} s, {whole / bare:.2f} x")


def evaluate(pool: handful.Pool, prices: NDArray[np.float64], crew: Workers) -> None:
    """The bound at these prices, with nothing known from before."""
    nobody = np.empty(0, np.int64)
    shares = Shares(1 / 20, 1 / 20)
    Field(pool, shares, 20, nobody, pool.candidates, crew, room=100, dtype=np.float32).evaluate(prices)


def growth(sizes: list[int], threads: int) -> None:
    """Time of search and bound as the pool grows, and the exponents fitted to it (B = 20).

    Processor time, on all threads, does not hang on what else the machine does.
    """
    handful.select(mixture(20_500), 3, time_limit=20, rounds=1)
    rows = []
    for size in sizes:
        with workers(threads, Clock(np.inf)) as crew:
            search, bound = search_and_bound(handful.Pool(mixture(size)), crew)
        rows.append((*search, *bound))
        print(
            f"N = {size:>6,}: search {search[0]:>6.2f} s (processor {search[1]:>6.2f} s), bound {bound[0]:>6.2f} s "
            f"(processor {bound[1]:>6.2f} s)",
            flush=True,
        )
    slopes = np.polyfit(np.log(sizes), np.log(np.array(rows)), 1)[0]
    print("exponents: search {:.2f} (processor {:.2f}), bound {:.2f} (processor {:.2f})".format(*slopes))


def search_and_bound(pool: handful.Pool, crew: Workers) -> tuple[tuple[float, float], tuple[float, float]]:
    """Seconds of ten perturbations, and of a first pass with the prices of a sample; by the clock, of the processor."""
    from handful.forecast import forecast
    from handful.problem import Problem
    from handful.transport import point_prices

    problem = Problem.of(pool, 20, "uniform", (), False)
    search = Search(pool, problem.shares, pool.candidates, problem.forced)
    best = search.alternate(search.seed(20, np.random.default_rng(0)))
    searching = worked(lambda: [search.perturb(best, np.random.default_rng(k)) for k in range(10)])
    plan = forecast(pool.points.shape, 4, "cosine", 20, pool.n, MEMORY)
    costs = pool.distances(best.picks)
    groups = np.argmin(costs - best.pick_prices[:, None], axis=0)

    def bound() -> None:
        start = point_prices(costs, best.pick_prices)
        evaluate(pool, rough_prices(problem, plan, best.picks, start, groups, crew, 0), crew)

    return searching, worked(bound)


def worked(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that it takes, and seconds of the processor, on all threads."""
    start = time.process_time()
    seconds = timed(work)
    return seconds, time.process_time() - start


def against(pool: str, data: Path | None, budgets: list[int], seconds: float, threads: int) -> None:
    """Time to reach each gap, beside the paper's algorithm as corrected and as printed, and distances of FasterPAM.

    All of it in one run, one after the other. FasterPAM needs all distances at once, so it runs where they fit.
    """
    points = mixture(5_000) if pool == "mixture" else points_of(pool, data)
    whole = handful.Pool(points)
    handful.select(points[:200], 3, time_limit=60, rounds=2)
    solve(points[:60], 2, time_limit=5)
    print(f"{pool}: {whole.n:,} points, {seconds:g} s each, {threads} threads; seconds to a gap of")
    print(f"{'B':>4} {'':<22}" + "".join(f"{gap:>8.1%}" for gap in REACHED) + f"{'end':>9} {'distance':>9}")
    for budget in budgets or [10, 40]:
        ours = handful.select(whole, budget, gap=0, time_limit=seconds, threads=threads)
        reached(budget, "handful", [(e.elapsed, e.gap) for e in ours.trace], ours.distance, ours.distance)
        for preset in ("certified", "wass"):
            run = solve(whole, budget, preset=preset, gap=0, time_limit=seconds, threads=threads)
            trace = [(line.elapsed, 1 - line.master_bound / line.incumbent) for line in run.history]
            reached(budget, f"benders, {preset}", trace, run.distance, ours.distance)
        if whole.n <= FITTING:
            start = time.perf_counter()
            costs = whole.distances(np.arange(whole.n), dtype=np.float32)
            picks = np.asarray(kmedoids.fasterpam(costs, budget, random_state=0).medoids, np.int64)
            took = time.perf_counter() - start
            found = transport(whole.distances(picks), whole.masses, 1 / budget, 1 / budget).distance
            print(
                f"{budget:>4} {'FasterPAM':<22}  {took:.1f} s, distance {found:.5f}, {found / ours.distance:.3f} x ours"
            )


def reached(budget: int, name: str, trace: list[tuple[float, float]], distance: float, ours: float) -> None:
    """A line: when each gap was reached, the gap in the end, and the distance over ours."""
    cells = []
    for gap in REACHED:
        after = next((elapsed for elapsed, known in trace if known <= max(gap, 1e-6)), None)
        cells.append("not" if after is None else f"{after:.1f} s")
    line = "".join(f"{cell:>8}" for cell in cells)
    print(f"{budget:>4} {name:<22}{line}{trace[-1][1]:>9.2%} {distance:.5f}, {distance / ours:.3f} x ours", flush=True)


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gaps", "pass", "growth", "against"))
    parser.add_argument("pool", nargs="?", choices=(*GAPS, "mixture"), default="digits")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--budgets", default="", help="only these, as in 10,40")
    parser.add_argument("--sizes", default="", help="numbers of points of growth, as in 7500,15000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of each side of against")
    given = parser.parse_args()
    budgets = [int(budget) for budget in given.budgets.split(",") if budget]
    if given.what == "gaps":
        gaps(given.pool, given.data, budgets, given.threads)
    elif given.what == "against":
        against(given.pool, given.data, budgets, given.seconds, given.threads)
    elif given.what == "pass":
        one_pass(given.threads)
    else:
        growth([int(size) for size in given.sizes.split(",") if size] or list(SIZES), given.threads)


if __name__ == "__main__":
    main()
