"""Rounds of active learning on real data: which strategy's labels teach the most, and what spreading them adds.

    pip install '.[torch]'
    python benchmarks/learning_rounds.py spread --data DIR
    python benchmarks/learning_rounds.py rounds --features fashion_simclr_features.npz
    python benchmarks/learning_rounds.py adaptation --data DIR
    python benchmarks/learning_rounds.py classical

Every piece keeps its results in a folder under ``--work`` and goes on from there when it is run again, so it may be
stopped, or stop itself after ``--seconds``, at any time. Each ends in a table of means and deviations over seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import Pool, rounds, strategies
from handful.datasets import Dataset
from handful.rounds import Config, Fixed, Known, NetworkLearner, Select, Setting, Store, Tables

STRATEGIES = ("random", "k-centers", "k-means", "k-medoids", "typiclust", "max-herding", "badge", "wasserstein")


class OutOfTime(Exception):
    """The piece goes on when it is run again."""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise OutOfTime

    def tell(self, found: rounds.Round, what: str) -> None:
        """Stop between two steps, and say what was done."""
        if what == "done":
            print(f"{found.strategy}, seed {found.seed}, round {found.round + 1}: {found.accuracy or 0:.4f} "
                  f"({found.select_seconds:.1f} s to select, {found.train_seconds or 0:.1f} s to learn)",
                  flush=True)  # fmt: skip
        else:
            self.check()


def shown(folder: Path, title: str) -> None:
    store = Store.open(folder)
    found = rounds.table(store.rounds())
    store.close()
    print(f"\n{title}\n{rounds.markdown(rounds.rows(found))}\n")


# --- what a label is worth beyond its own point -----------------------------------------------------------------------

BUDGETS, SEEDS = (10, 20, 40, 100), (0, 1, 2)


def spread_piece(given: argparse.Namespace, deadline: Deadline) -> None:
    """Linear probes on CIFAR-10 features, on k-means picks alone and on all points with spread labels."""
    from handful.compare.probe import Probe
    from handful.graph import affinities, neighbours
    from handful.spread import Spread, spread
    from handful.spreading import Spreading

    data = np.load(given.data / "cifar10_lite0_pca.npz")
    points, labels = unit(data["train"])[: given.points], data["train_labels"].astype(np.int64)[: given.points]
    test, test_labels = unit(data["test"]), data["test_labels"].astype(np.int64)
    pool, work = Pool(points), given.work / "spread"
    work.mkdir(parents=True, exist_ok=True)
    near, costs = kept(work / "near.npz", lambda: neighbours(pool, 20))
    done = {tuple(line[:3]): line[3:] for line in read_lines(work / "results.jsonl")}
    # (neighbours, alpha) of the graph; the first are handful's own.
    graphs = {
        "graph": (10, 0.9),
        "graph, 20 near": (20, 0.9),
        "graph, alpha 0.8": (10, 0.8),
        "graph, alpha 0.95": (10, 0.95),
        "graph, alpha 0.99": (10, 0.99),
    }
    made: dict[int, Any] = {}

    def learned(soft: Spread) -> tuple[float, Probe]:
        rows = np.flatnonzero(soft.confidence > 0)
        probe = Probe.fit(points[rows], soft.labels[rows], soft.confidence[rows])
        return float(np.mean(soft.labels == labels)), probe

    for budget in BUDGETS:
        for seed in SEEDS:
            pick = partial(strategies.get("k-means"), pool, budget, seed=seed)
            picks = kept(work / f"picks-{budget}-{seed}.npz", lambda pick=pick: (pick(),))[0]
            for way in ("picks alone", "nearest", "plan", *graphs):
                if (way, budget, seed) in done:
                    continue
                deadline.check()
                right = np.nan
                if way == "picks alone":
                    probe = Probe.fit(points[picks], labels[picks])
                elif way == "plan":
                    right, probe = learned(Spreading("plan").spread(pool, picks, labels[picks]))
                else:
                    options: dict[str, Any] = {"method": "nearest"}
                    if way in graphs:
                        count, alpha = graphs[way]
                        made.setdefault(count, affinities(near[:, :count], costs[:, :count]))
                        options = {"graph": made[count], "alpha": alpha}
                    right, probe = learned(spread(pool, picks, labels[picks], **options))
                done[way, budget, seed] = [probe.accuracy(test, test_labels), right]
                add_line(work / "results.jsonl", [way, budget, seed, *done[way, budget, seed]])
                print(way, budget, seed, done[way, budget, seed], flush=True)
    for what, at in (
        ("accuracy of the probe on the test set", 0),
        ("share of the pool whose spread label is right", 1),
    ):
        print(f"\n{what}, percent; {len(points):,} points, k-means picks, {len(SEEDS)} seeds\n")
        print("| learns from | " + " | ".join(f"B = {b}" for b in BUDGETS) + " |\n|---|" + "---:|" * len(BUDGETS))
        for way in dict.fromkeys(key[0] for key in done if at == 0 or key[0] != "picks alone"):
            cells = [100 * np.array([done[way, b, s][at] for s in SEEDS]) for b in BUDGETS]
            print(f"| {way} | " + " | ".join(f"{c.mean():.1f} ± {c.std(ddof=1):.1f}" for c in cells) + " |")


# --- rounds on features that stay the same ----------------------------------------------------------------------------


def rounds_piece(given: argparse.Namespace, deadline: Deadline) -> None:
    """Fashion-MNIST, rounds of 10, 10, 20 and 20 labels, a fresh head each, on SimCLR features or 64 components."""
    features: dict[str, Any] = {"source": "pca", "components": 64}
    if given.features is not None:
        features = {"source": "file", "file": str(given.features)}
    config = Config.of(
        {
            "data": {"name": "fashion-mnist", "folder": str(given.fashion), "points": given.points},
            "features": features,
            "budget": {"rounds": [10, 10, 20, 20]},
            "select": {"strategies": list(given.strategies), "seeds": 3, "rounds": 2, "time_limit": 120.0},
            "classifier": {"kind": "head", "spread": given.spread},
        }
    )
    folder = given.work / ("rounds-" + ("simclr" if given.features else "pca") + f"-{given.spread}")
    stopped: OutOfTime | None = None
    try:
        rounds.perform(config, folder, tell=deadline.tell)
    except OutOfTime as error:
        stopped = error
    shown(folder, f"Fashion-MNIST, {given.points:,} points, {features['source']} features, spread {given.spread}")
    if stopped:
        raise stopped


# --- domain adaptation ------------------------------------------------------------------------------------------------


def adaptation_piece(given: argparse.Namespace, deadline: Deadline) -> None:
    """MNIST to USPS and back: f-DAL features, five rounds of 10 labels of the target beside all of the source."""
    from handful.learning.classifier import Training
    from handful.learning.fdal import FDAL, train

    data = np.load(given.data / "mnist_usps.npz")
    for source, target in (("mnist", "usps"), ("usps", "mnist")):
        folder = given.work / f"adaptation-{source}-{target}"
        folder.mkdir(parents=True, exist_ok=True)
        images = data[f"{source}_train"], data[f"{target}_train"], data[f"{target}_test"]
        labels = data[f"{source}_train_labels"].astype(np.int64)

        def tell(epoch: Any) -> None:
            print(f"f-DAL, epoch {epoch.number} of {epoch.epochs}", flush=True)
            deadline.check()

        def adapted(images: Any = images, labels: Any = labels, folder: Path = folder) -> tuple[Any, ...]:
            settings = FDAL(
                encoder="small", stem="small", size=28, epochs=given.epochs, batch=64, bottleneck=128, hidden=128
            )
            found = train(images[0], labels, images[1], settings, folder=folder / "f-dal", progress=tell)
            answers = found.probabilities(images[2]).argmax(axis=1)
            return *(found.images.features(some) for some in images), answers

        first, pool, test, answers = kept(folder / "features.npz", adapted)
        known = data[f"{target}_test_labels"].astype(np.int64)
        print(f"{source} to {target}: f-DAL alone {np.mean(answers == known):.1%}", flush=True)
        answers = data[f"{target}_train_labels"].astype(np.int64)[: given.points]
        target_set = Dataset(target, pool[: given.points], answers, "0123456789", test=test, test_labels=known)
        pool = target_set.pool
        learner = NetworkLearner(Tables(pool, 10, test, known), Training(epochs=5), unit=True, base=(first, labels))
        setting = Setting(Known(target_set), Fixed(pool), learner)
        run_setting(setting, Select(given.strategies, SEEDS, rounds=2, time_limit=120.0), (10,) * 5, folder, deadline)
        shown(folder, f"{source} to {target}, {len(pool):,} points, source labels and those of the target")


# --- the classical setting --------------------------------------------------------------------------------------------


def classical_piece(given: argparse.Namespace, deadline: Deadline) -> None:
    """Fashion-MNIST, 500 labels a round, a whole network, features of its last layer, the pool in parts."""
    names = ("random", "k-centers", "wasserstein", "badge", "least-confidence", "waal")
    config = Config.of(
        {
            "data": {"name": "fashion-mnist", "folder": str(given.fashion), "points": given.points},
            "features": {"source": "last-classifier", "start": "pca"},
            "budget": {"rounds": [500, 500]},
            "select": {"strategies": list(names), "seeds": 2, "parts": 5, "rounds": 1, "time_limit": 20.0},
            "classifier": {"kind": "network", "encoder": "small", "epochs": 8, "steps": 40},
        }
    )
    folder = given.work / "classical"
    stopped: OutOfTime | None = None
    try:
        rounds.perform(config, folder, tell=deadline.tell)
    except OutOfTime as error:
        stopped = error
    shown(folder, f"Fashion-MNIST, {given.points:,} images in 5 parts, a whole network")
    if stopped:
        raise stopped


def run_setting(setting: Setting, select: Select, budgets: tuple[int, ...], folder: Path, deadline: Deadline) -> None:
    store = Store(folder / rounds.FILE)
    try:
        store.begin({"piece": folder.name}, {"data": {"name": folder.name}}, budgets)
        rounds.run(setting, select, budgets, store, deadline.tell)
    finally:
        store.close()


def unit(points: NDArray[Any]) -> NDArray[np.float32]:
    table = points.astype(np.float32)
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def kept(path: Path, make: Callable[[], tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Arrays of a file, made if it is not there."""
    if not path.exists():
        part = path.with_suffix(".part.npz")
        np.savez(part, *make())
        part.replace(path)
    with np.load(path) as held:
        return tuple(held[name] for name in held.files)


def read_lines(path: Path) -> list[list[Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_line(path: Path, line: list[Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


PIECES = {
    "spread": spread_piece,
    "rounds": rounds_piece,
    "adaptation": adaptation_piece,
    "classical": classical_piece,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("piece", choices=PIECES)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--fashion", type=Path, default=Path("/usr/share/datasets/fashion-mnist"))
    parser.add_argument("--features", type=Path, help="an .npz of train and test features of Fashion-MNIST")
    parser.add_argument("--work", type=Path, default=Path("learning-rounds"))
    parser.add_argument("--points", type=int, help="of the pool; default 50,000 (spread) or 6,000")
    parser.add_argument("--strategies", type=lambda text: tuple(text.split(",")), default=STRATEGIES)
    parser.add_argument("--spread", default="none", help="spread labels before the head learns: graph, nearest or plan")
    parser.add_argument("--epochs", type=int, default=5, help="of f-DAL")
    parser.add_argument("--seconds", type=float, default=520, help="after which the piece stops itself")
    given = parser.parse_args()
    given.points = given.points or (50_000 if given.piece == "spread" else 6_000)
    try:
        PIECES[given.piece](given, Deadline(given.seconds))
    except OutOfTime:
        print("\nnot done yet: run the same command again")


if __name__ == "__main__":
    main()
