"""Passes over costs by other executors than threads: are they the same, and what do they take?

python benchmarks/executors.py cuda    one card against NumPy (needs only numpy and torch)
python benchmarks/executors.py cpu     torch on the processor against NumPy
python benchmarks/executors.py ray     a Ray cluster on this machine against threads on the same cores
python benchmarks/executors.py select  whole runs: threads, Ray and torch on the processor, side by side
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # where handful itself is not installed

Points = NDArray[np.float32]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

PICKS = 40
CHECKED = 256  # candidates whose values NumPy computes too
KEPT = 2_000  # candidates whose costs are kept, at most
LONG = 90.0  # seconds that a pass over all candidates may take; longer ones are made over some


def mixture(points: int, dimension: int) -> Points:
    """A pool in 50 clusters of unequal weight."""
    random = np.random.default_rng(0)
    weights = random.dirichlet(np.ones(50))
    centres = random.normal(size=(50, dimension)).astype(np.float32)
    noise = random.normal(size=(points, dimension)).astype(np.float32)
    return centres[random.choice(50, points, p=weights)] + np.float32(0.7) * noise


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that it takes, and what it gives."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def by_torch(name: str, sizes: list[tuple[int, int]]) -> None:
    """One pass by torch: the same as NumPy's, and how fast."""
    import torch

    from handful.blocks_torch import _cells, _device
    from handful.costs_torch import exact_products

    device = _device(name)
    what = torch.cuda.get_device_name(device) if device.type == "cuda" else "the processor"
    print(f"torch {torch.__version__} on {what}; B = {PICKS}, 1 - cos, single precision", flush=True)
    for points, dimension in sizes:
        torch_against_numpy(points, dimension, device, _cells(device), exact_products)


def torch_against_numpy(points: int, dimension: int, device: Any, cells: int, exact_products: Any) -> None:
    """All for one pool."""
    import torch

    from handful.blocks_torch import TorchPasses
    from handful.costs_torch import Costs
    from handful.prepared import Prepared

    def done() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    pool = mixture(points, dimension).astype(np.float64)
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    pool -= pool.mean(axis=0)
    masses = np.full(points, 1 / points)
    random = np.random.default_rng(1)
    some = np.sort(random.choice(points, CHECKED, replace=False))
    exact = costs_by_numpy(pool, some)
    prices = costs_by_numpy(pool, random.choice(points, PICKS, replace=False)).min(axis=0) + 0.05
    everywhere = SimpleNamespace(clock=SimpleNamespace(check=lambda: None))
    print(f"\n{points:,} x {dimension}", flush=True)
    expected, bound = values_by_numpy(exact, prices, masses)
    for dtype, kind in ((np.float32, torch.float32), (np.float64, torch.float64)):
        single = pool.astype(dtype)
        norms = np.square(single.astype(np.float64)).sum(axis=1).astype(dtype)
        costs = Costs(Prepared("cosine", np.nan, 1e-3, single, norms), kind, device)
        room = min(KEPT, points)
        passes = TorchPasses(costs, masses, 1 / PICKS, 1 / PICKS, room, device, 4e-6, cells)
        none = np.zeros(CHECKED)
        found, thresholds = passes.values(some, prices, none, none, everywhere)
        floors, at = passes.floors(some, prices, everywhere)
        chosen = np.argsort(found)[:PICKS]
        proven = float(masses @ prices + found[chosen].sum())
        taken = passes.taken(some[chosen], prices, thresholds[chosen], everywhere)
        below = exact - prices - at[:, None]
        dual = np.minimum(at, 0) / PICKS + np.maximum(at, 0) / PICKS + np.minimum(below, 0) @ masses
        print(
            f"  {np.dtype(dtype).name}: bound off by {abs(proven - bound) / abs(bound):.1e}, values by "
            f"{np.abs(found - expected).max() / np.abs(expected).max():.1e}, floors by "
            f"{np.abs(floors - dual).max() / np.abs(dual).max():.1e} (relative); floors below values: "
            f"{bool((floors <= expected + 1e-6).all())}; mass taken {taken.sum():.9f}",
            flush=True,
        )
        assert abs(proven - bound) < 1e-6 * abs(bound)
        assert abs(taken.sum() - 1) < 1e-6
        if dtype is np.float32:
            speed(passes, costs, prices, points, room, everywhere, done, exact_products)
        del passes, costs


def speed(
    passes: Any,
    costs: Any,
    prices: Floats,
    points: int,
    room: int,
    everywhere: Any,
    done: Callable[[], None],
    exact_products: Any,
) -> None:
    """How long a pass over all candidates takes, one over those that are kept, and the matrix products alone."""
    import torch

    def sweep(count: int) -> None:
        passes.floors(np.arange(count), prices, everywhere)
        done()

    def products(count: int) -> None:
        with exact_products():
            for start in range(0, count, 4096):
                for begin in range(0, points, 2**14):
                    torch.mm(costs._left[start : start + 4096], costs._right[begin : begin + 2**14].T)
        done()

    few = min(points, 8192)
    sweep(few)
    once, _ = timed(lambda: sweep(few))
    count = min(points, max(few, int(few * LONG / once)))
    seconds, _ = timed(lambda: sweep(count))
    products(few)
    bare, _ = timed(lambda: products(few))
    print(
        f"  pass over {count:,} candidates: {seconds:.2f} s, {count / seconds:,.0f} candidates/s, "
        f"{count / seconds * points:.2e} costs/s; over all {points:,}: {seconds * points / count:.1f} s; "
        f"{once / bare:.2f} x its bare matrix products",
        flush=True,
    )
    kept = np.arange(room)
    filling, _ = timed(lambda: (passes.keep(kept, kept, everywhere), done()))
    passes.values(kept, prices, prices[:room], prices[:room], everywhere)
    looking, _ = timed(lambda: passes.values(kept, prices, prices[:room], prices[:room], everywhere))
    taking, _ = timed(lambda: passes.taken(kept[:PICKS], prices, prices[:PICKS], everywhere))
    print(
        f"  {room:,} kept: filled in {filling:.2f} s; values {looking:.3f} s, {room / looking:,.0f} candidates/s; "
        f"mass taken by {PICKS}: {taking:.3f} s",
        flush=True,
    )


def costs_by_numpy(pool: Floats, some: Indices) -> Floats:
    """Half the squared distances, in double precision."""
    norms = np.square(pool).sum(axis=1)
    return 0.5 * (norms[some, None] + norms - 2 * pool[some] @ pool.T)


def values_by_numpy(costs: Floats, prices: Floats, masses: Floats) -> tuple[Floats, float]:
    """Values by sorting, and the bound over these candidates."""
    terms = np.sort(costs - prices, axis=1)
    before = np.arange(terms.shape[1]) * masses[0]
    found = (terms * np.clip(1 / PICKS - before, 0, masses[0])).sum(axis=1)
    return found, float(masses @ prices + np.sort(found)[:PICKS].sum())


def by_ray(points: int, threads: int) -> None:
    """The same passes by threads and by actors on the same cores, in turn."""
    import ray

    from handful import Pool
    from handful.blocks import workers
    from handful.blocks_ray import cluster
    from handful.clock import Clock
    from handful.lifted import Shares
    from handful.rows import Rows

    pool = Pool(mixture(points, 64))
    shares = Shares(1 / PICKS, 1 / PICKS)
    random = np.random.default_rng(1)
    kept = np.sort(random.choice(points, 800, replace=False))
    others = np.setdiff1d(np.arange(points), kept)[: 10 * 256]
    prices = np.asarray(pool.distances(random.choice(points, PICKS), dtype=np.float32).min(axis=0) + 0.05, np.float64)
    nothing, anywhere = np.zeros(points), np.full(points, np.inf)
    start = time.perf_counter()
    with cluster("local", threads) as executor, workers(threads, Clock(np.inf)) as crew:
        ours = Rows(pool, shares, len(kept), np.float32)
        theirs = executor.passes(pool, shares, len(kept), np.float32)
        theirs.floors(others[:512], prices, crew)
        print(
            f"{points:,} x 64, {threads} threads against {executor.count} actors of {executor.threads}; cluster and "
            f"points there after {time.perf_counter() - start:.1f} s",
            flush=True,
        )

        def processor() -> float:
            """Seconds that this process and the actors have had of it: unlike the clock's, the same on a busy one."""
            used = [handle.__ray_call__.remote(lambda self: time.process_time()) for handle in executor.actors.handles]
            return time.process_time() + sum(ray.get(used))

        results: dict[str, list[Any]] = {}
        kinds: dict[str, Callable[[Any, Floats], Any]] = {
            "800 rows computed and kept": lambda passes, _: passes.keep(kept, kept, crew),
            "values of the rows kept": lambda passes, u: passes.values(kept, u, nothing[kept], anywhere[kept], crew),
            "mass that 40 of them take": lambda passes, u: passes.taken(
                kept[:PICKS], u, results["values of the rows kept"][1][:PICKS], crew
            ),
            "floors of 2,560 others": lambda passes, u: passes.floors(others, u, crew),
        }
        ours.values(kept[:8], prices, nothing[:8], anywhere[:8], crew)
        totals, works = np.zeros(2), np.zeros(2)
        for what, work in kinds.items():
            seconds, used = np.full((2, 5), np.inf), np.zeros(2)
            traffic = (0, 0)
            for k in range(1 if "computed" in what else 5):
                fresh = prices + 1e-3 * k  # sent anew, as in every step
                at = [processor()]
                seconds[0, k], mine = timed(lambda work=work, fresh=fresh: work(ours, fresh))
                at.append(processor())
                before = executor.actors.traffic.sent, executor.actors.traffic.returned
                seconds[1, k], other = timed(lambda work=work, fresh=fresh: work(theirs, fresh))
                at.append(processor())
                used += np.diff(at)
                traffic = (executor.actors.traffic.sent - before[0], executor.actors.traffic.returned - before[1])
                if mine is not None:
                    same = all(
                        np.array_equal(a, b) for a, b in zip(np.atleast_2d(mine), np.atleast_2d(other), strict=True)
                    )
                    assert same, what
                results[what] = mine
            times = np.where(np.isfinite(seconds), seconds, 0).sum(axis=1)
            totals += times
            works += used
            print(
                f"  {what}: {seconds[0].min():.2f} s and {seconds[1].min():.2f} s at best, {times[0]:.2f} s and "
                f"{times[1]:.2f} s in all, {times[1] / times[0]:.2f} x; of the processors {used[0]:.2f} s "
                f"and {used[1]:.2f} s, {used[1] / used[0]:.2f} x; sent {traffic[0]:,} bytes, returned "
                f"{traffic[1]:,}",
                flush=True,
            )
        print(
            f"  all passes: {totals[0]:.1f} s and {totals[1]:.1f} s, {totals[1] / totals[0]:.2f} x; of the processors "
            f"{works[0]:.1f} s and {works[1]:.1f} s, {works[1] / works[0]:.2f} x; results equal to the last digit"
        )


def whole_runs(points: int, threads: int) -> None:
    """Runs of two rounds with a tenth of the points as candidates."""
    import handful

    pool = handful.Pool(mixture(points, 64), candidates=np.arange(0, points, 10))
    first = None
    for words in ({}, {"ray": "local"}, {"device": "cpu-torch"}):
        seconds, run = timed(
            lambda words=words: handful.select(pool, 20, gap=0, rounds=1, time_limit=500, threads=threads, **words)
        )
        first = first or run
        same = set(run.indices.tolist()) == set(first.indices.tolist())
        print(
            f"{' '.join(words.values()) or 'threads':>10}: {seconds:>6.1f} s, distance {run.distance:.9f}, bound "
            f"{run.lower_bound:.9f}, off by {abs(run.lower_bound / first.lower_bound - 1):.1e}; same picks: {same}; "
            f"{run.status}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cuda", "cpu", "ray", "select"))
    parser.add_argument("--points", type=int)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.what == "ray":
        by_ray(given.points or 200_000, given.threads)
    elif given.what == "select":
        whole_runs(given.points or 50_000, given.threads)
    elif given.what == "cpu":
        by_torch("cpu-torch", [(given.points or 20_000, 64)])
    else:
        sizes = (given.points,) if given.points else (200_000, 1_000_000)
        by_torch("cuda", [(points, dimension) for points in sizes for dimension in (64, 128)])


if __name__ == "__main__":
    main()
