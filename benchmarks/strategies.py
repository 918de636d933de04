"""Time, peak memory and quality of every strategy, beside the best-known public implementation where one installs.

    pip install '.[benchmark]'
    python benchmarks/strategies.py --points 5000                        # a size that all can do
    python benchmarks/strategies.py --points 50000 --memory 4            # GiB that any of them may take
    python benchmarks/strategies.py --points 60000 --dimension 64 --no-rivals

Points are the first of CIFAR-10's features; with more points or other dimensions than those have, they are drawn at
random around 50 centres. Every run is a process of its own. Its clock starts when points, and a model's probabilities
where they are needed, are in memory and libraries are loaded and compiled. Quality is the objective of the strategy,
divided by that of the public implementation's picks; below 1 is better.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import Pool, strategies

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

CLASSES = 10
MODEL = ("least-confidence", "maximum-entropy", "badge", "uncertainty-herding", "uncertainty-wasserstein", "dcom")


def load(given: argparse.Namespace) -> tuple[NDArray[np.float32], Floats]:
    """The points, and the probabilities of a model of a few labels or, for drawn points, made-up ones."""
    random = np.random.default_rng(0)
    if given.points <= 50_000 and given.dimension is None:
        from sklearn.linear_model import LogisticRegression

        data = np.load(given.data / "cifar10_lite0_pca.npz")
        points = data["train"][: given.points].astype(np.float32)
        some = random.choice(len(points), 100, replace=False)
        model = LogisticRegression(C=10, max_iter=500).fit(points[some], data["train_labels"][some])
        return points, model.predict_proba(points)
    centres = random.normal(size=(50, given.dimension or 128))
    points = centres[random.integers(0, 50, given.points)] + 0.7 * random.normal(size=(given.points, centres.shape[1]))
    return points.astype(np.float32), random.dirichlet(np.full(CLASSES, 0.3), given.points)


def ours(name: str, points: NDArray[np.float32], probabilities: Floats, budget: int, seconds: float) -> Indices:
    model = {"probabilities": probabilities} if name.removesuffix("-exact") in MODEL else {}
    effort = strategies.Effort(time_limit=seconds)
    options = {"classes": CLASSES} if name.startswith(("probcover", "dcom")) else {}
    return strategies.get(name)(points, budget, seed=0, effort=effort, **model, **options)


def unit(points: NDArray[np.float32]) -> NDArray[np.float32]:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def unlabelled(points: NDArray[np.float32]) -> Floats:
    return np.full(len(points), np.nan)


def fasterpam(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    import kmedoids

    x = unit(points)
    return np.asarray(kmedoids.fasterpam(1 - x @ x.T, budget, random_state=0).medoids, np.int64)


def core_set(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.pool import CoreSet

    return CoreSet(random_state=0).query(unit(points), unlabelled(points), batch_size=budget)


def typiclust(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.pool import TypiClust

    strategy = TypiClust(random_state=0, k=20, cluster_algo_dict={"n_init": 1, "random_state": 0})
    return strategy.query(unit(points), unlabelled(points), batch_size=budget)


def probcover(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.pool import ProbCover

    strategy = ProbCover(n_classes=CLASSES, random_state=0, cluster_algo_dict={"n_init": 1, "random_state": 0})
    return strategy.query(unit(points), unlabelled(points), batch_size=budget)


def max_herding(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.pool import MaxHerding

    strategy = MaxHerding(metric="rbf", metric_dict={"gamma": 1.0}, random_state=0)
    return strategy.query(points, unlabelled(points), batch_size=budget)


def facility_location(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    import apricot

    x = unit(points)
    similar = (1 + x @ x.T).astype(np.float64)
    chosen = apricot.FacilityLocationSelection(budget, metric="precomputed", optimizer="lazy").fit(similar)
    return np.asarray(chosen.ranking, np.int64)


def k_means(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    x = unit(points)
    centres = KMeans(budget, n_init=1, random_state=0).fit(x).cluster_centers_
    return pairwise_distances_argmin(centres, x)


def badge(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.base import SkactivemlClassifier
    from skactiveml.pool import Badge

    class Known(SkactivemlClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return self

        def predict_proba(self, X: Any) -> Floats:
            return probabilities

    clf = Known(classes=list(range(CLASSES)))
    return Badge(random_state=0).query(unit(points), unlabelled(points), clf, fit_clf=False, batch_size=budget)


def scored(method: str) -> Callable[..., Indices]:
    def query(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
        from skactiveml.pool import uncertainty_scores
        from skactiveml.utils import simple_batch

        return simple_batch(uncertainty_scores(probabilities, method=method), random_state=0, batch_size=budget)

    return query


def random(points: NDArray[np.float32], probabilities: Floats, budget: int) -> Indices:
    from skactiveml.pool import RandomSampling

    return RandomSampling(random_state=0).query(points, unlabelled(points), batch_size=budget)


RIVALS: dict[str, tuple[str, Callable[..., Indices]]] = {
    "random": ("scikit-activeml", random),
    "least-confidence": ("scikit-activeml", scored("least_confident")),
    "maximum-entropy": ("scikit-activeml", scored("entropy")),
    "k-centers": ("scikit-activeml", core_set),
    "k-means": ("scikit-learn", k_means),
    "k-medoids": ("kmedoids", fasterpam),
    "typiclust": ("scikit-activeml", typiclust),
    "probcover": ("scikit-activeml", probcover),
    "max-herding": ("scikit-activeml", max_herding),
    "facility-location": ("apricot-select", facility_location),
    "badge": ("scikit-activeml", badge),
}


def objective(name: str, points: NDArray[np.float32], probabilities: Floats, picks: Indices) -> float | None:
    """What the strategy wants small; None where chance or a score decides."""
    if name in ("random", "badge", "least-confidence", "maximum-entropy", "typiclust", "dcom", "kernel-herding"):
        return None
    if name == "k-centers":
        return float(Pool(points).distances(picks).min(axis=0).max())
    if name == "max-herding":
        return float(Pool(unit(points), f"rbf:{0.5**0.5!r}").distances(picks).min(axis=0).mean())
    if name == "probcover":  # the two choose other radii, so they are judged at one that neither chose
        return float(Pool(unit(points), "ball:0.8").distances(picks).min(axis=0).mean())
    return float(Pool(points).distances(picks).min(axis=0).mean())


def one(given: argparse.Namespace) -> None:
    """One run, in this process: prints its figures as JSON."""
    who, name, budget = given.one.split("/")
    points, probabilities = load(given)
    work = RIVALS[name][1] if who == "rival" else lambda *a: ours(name, *a, given.seconds)
    small = np.random.default_rng(1).choice(len(points), 300, replace=False)
    work(points[small], probabilities[small], 3)  # imports and compiles
    if given.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (int(given.memory * 2**30),) * 2)
    times: list[float] = []
    while len(times) < 5 and sum(times) < 3:  # short runs count as the fastest of a few
        start = time.perf_counter()
        try:
            picks = work(points, probabilities, int(budget))
        except MemoryError as error:
            print(json.dumps({"failed": f"MemoryError: {error}"[:100]}))
            return
        times.append(time.perf_counter() - start)
    seconds = min(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30
    figures = {"seconds": seconds, "peak": peak, "objective": objective(name, points, probabilities, picks)}
    print(json.dumps(figures), flush=True)


def measured(given: argparse.Namespace, who: str, name: str, budget: int) -> dict[str, Any]:
    command = [sys.executable, __file__, *sys.argv[1:], "--one", f"{who}/{name}/{budget}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1][:100]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--points", type=int, default=5_000)
    parser.add_argument("--dimension", type=int)
    parser.add_argument("--budgets", default="10,40,180")
    parser.add_argument("--strategies", default=",".join(n for n in strategies.names() if "exact" not in n))
    parser.add_argument("--seconds", type=float, default=20, help="time limit of the strategies that optimise")
    parser.add_argument("--memory", type=float, default=0, help="GiB of data that a run may hold; 0 for no limit")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given)
        return
    print(f"{given.points:,} points; optimising strategies end after {given.seconds:g} s at the latest", flush=True)
    for budget in map(int, given.budgets.split(",")):
        print(f"B = {budget}\n{'strategy':<26}{'seconds':>9}{'GiB':>7}   {'beside':<18}{'seconds':>9}{'GiB':>7}"
              f"{'times as fast':>15}{'quality':>9}")  # fmt: skip
        for name in given.strategies.split(","):
            mine = measured(given, "ours", name, budget)
            line = f"{name:<26}" + (mine.get("failed") or f"{mine['seconds']:>9.3f}{mine['peak']:>7.2f}")
            if name in RIVALS and not given.no_rivals and "failed" not in mine:
                theirs = measured(given, "rival", name, budget)
                line += f"   {RIVALS[name][0]:<18}"
                if "failed" in theirs:
                    line += f"  can't: {theirs['failed']}"
                else:
                    faster = theirs["seconds"] / mine["seconds"]
                    line += f"{theirs['seconds']:>9.3f}{theirs['peak']:>7.2f}{faster:>15.1f}"
                    if mine["objective"] is not None:
                        line += f"{mine['objective'] / theirs['objective']:>9.4f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
