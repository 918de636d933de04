"""What encoders learn on two cores and real data.

    python benchmarks/learning.py simclr          Fashion-MNIST: SimCLR's features beside pixels and 64 components
    python benchmarks/learning.py fdal            MNIST and USPS, each as the domain without labels of the other
    python benchmarks/learning.py waal            the critic, and what its query covers, where a part has no labels
    python benchmarks/learning.py rounds …        and the other pieces of learning_rounds.py

Every piece is kept in a folder (--results) and goes on where it was stopped. With --limit it stops by itself after so
many seconds, at its next checkpoint.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = list[dict[str, Any]]
ELSEWHERE = ("rounds", "adaptation", "classical", "spread")

LABELS, DRAWS = 1000, 5
STRENGTHS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]


class TimeIsUp(Exception):
    """Raised at a checkpoint."""


def simclr(given: argparse.Namespace) -> None:
    """Train the small encoder on images of Fashion-MNIST without labels; then a linear probe on 1,000 labels."""
    from sklearn.decomposition import PCA

    from handful import datasets
    from handful.learning.augment import preset
    from handful.learning.simclr import SimCLR, train

    data = datasets.load("fashion-mnist", given.fashion)
    images = data.pool[: given.images]
    settings = SimCLR(
        encoder="small", batch=256, temperature=0.2, weight_decay=5e-4, epochs=given.epochs,
        views=preset("fashion"), seed=given.seed,
    )  # fmt: skip
    trained, history = train(
        images, settings, folder=given.results / "simclr", device=given.device, every=10, progress=stopper(given)
    )
    labels, tests = data.ask(np.arange(len(data))), data.test_labels
    pixels, tested = (part.reshape(len(part), -1).astype(np.float32) / 255 for part in (data.pool, data.test))
    components = PCA(64, svd_solver="covariance_eigh").fit(pixels)
    views = {
        "raw pixels, 784": (pixels, tested),
        "64 components": (components.transform(pixels), components.transform(tested)),
        f"SimCLR, {trained.width}": (trained.features(data.pool), trained.features(data.test)),
    }
    np.savez(
        given.results / "fashion-features.npz",
        train=views[f"SimCLR, {trained.width}"][0].astype(np.float16),
        test=views[f"SimCLR, {trained.width}"][1].astype(np.float16),
        train_labels=labels,
        test_labels=tests,
    )
    print(f"{len(images):,} images, {len(history)} epochs in {history[-1].seconds:.0f} s of training")
    show([{"features": name, **probed(*both, labels, tests)} for name, both in views.items()])


def probed(
    pool: NDArray[np.floating[Any]], test: NDArray[np.floating[Any]], labels: NDArray[Any], tests: NDArray[Any]
) -> dict[str, str]:
    """Accuracy of a logistic regression on 1,000 labels; its strength by three folds among these."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.preprocessing import StandardScaler

    found, chosen = [], []
    for draw in range(DRAWS):
        rows = np.random.default_rng(draw).choice(len(pool), LABELS, replace=False)
        scale = StandardScaler().fit(pool[rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's on its own changes to come, and on steps
            model = LogisticRegressionCV(Cs=STRENGTHS, cv=3, max_iter=500, tol=1e-3)
            model.fit(scale.transform(pool[rows]), labels[rows])
        found.append(100 * model.score(scale.transform(test), tests))
        chosen.append(float(np.ravel(model.C_)[0]))
    return {
        "accuracy": f"{np.mean(found):.1f} ± {np.std(found, ddof=1):.1f}",
        "C": " ".join(f"{strength:g}" for strength in chosen),
    }


def fdal(given: argparse.Namespace) -> None:
    """The same network with the source alone and with f-DAL, on every seed and in both directions."""
    from dataclasses import replace

    from handful.learning.fdal import FDAL, train

    with np.load(given.digits) as held:
        data = {name: held[name] for name in held.files}
    settings = FDAL(
        encoder="small", stem="small", size=16, epochs=given.epochs, batch=128, rate=0.05,
        bottleneck=256, hidden=256, adversity=given.adversity,
    )  # fmt: skip
    table = given.results / "fdal.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    done = read(table)
    for seed in range(given.seeds):
        for source, target in (("mnist", "usps"), ("usps", "mnist")):
            for divergence in given.divergences.split(","):
                key = {"source": source, "target": target, "divergence": divergence, "seed": str(seed)}
                if any(key.items() <= row.items() for row in done):
                    continue
                found = train(
                    data[f"{source}_train"],
                    data[f"{source}_train_labels"],
                    data[f"{target}_train"],
                    replace(settings, divergence=divergence, seed=seed),
                    folder=given.results / "fdal" / "-".join(key.values()),
                    device=given.device,
                    every=10,
                    progress=stopper(given),
                )
                accuracy = 100 * found.accuracy(data[f"{target}_test"], data[f"{target}_test_labels"])
                row = {**key, "accuracy": f"{accuracy:.2f}", "seconds": f"{found.history[-1].seconds:.0f}"}
                append(table, row)
                print(" ".join(row.values()), flush=True)
                check(given)
    show(compared(read(table)))


def compared(rows: Rows) -> Rows:
    """For each direction and divergence: accuracy on every seed, and what it gains over the source alone."""
    found: Rows = []
    for source, target in (("mnist", "usps"), ("usps", "mnist")):
        of = {
            name: {int(row["seed"]): float(row["accuracy"]) for row in rows
                   if (row["source"], row["target"], row["divergence"]) == (source, target, name)}
            for name in ("none", "pearson", "jensen-shannon")
        }  # fmt: skip
        for name, by_seed in of.items():
            if not by_seed:
                continue
            gains = [by_seed[seed] - of["none"][seed] for seed in sorted(by_seed) if seed in of["none"]]
            found.append(
                {
                    "direction": f"{source} → {target}",
                    "divergence": {"none": "source alone"}.get(name, name),
                    "accuracy by seed": " ".join(f"{by_seed[seed]:.1f}" for seed in sorted(by_seed)),
                    "mean": f"{np.mean(list(by_seed.values())):.1f}",
                    "gain": f"{np.mean(gains):+.1f} (least {min(gains):+.1f})" if gains and name != "none" else "",
                }
            )
    return found


def waal(given: argparse.Namespace) -> None:
    """Three clusters of which one has no labels: the critic's numbers, and where the next picks lie."""
    from handful import strategies
    from handful.learning.waal import WAAL, judged

    rows = []
    for seed in range(given.seeds):
        random = np.random.default_rng(seed)
        centres = random.normal(size=(3, 16))
        centres *= 4 / np.linalg.norm(centres, axis=1, keepdims=True)
        where = np.repeat([0, 1, 2], 500)
        points = (centres[where] + 0.5 * random.normal(size=(1500, 16))).astype(np.float32)
        known = np.concatenate([random.choice(500, 10, replace=False), 500 + random.choice(500, 10, replace=False)])
        critic = judged(points, known, where[known], WAAL(seed=seed)).critic
        hidden, seen = critic[where == 2], critic[where != 2]
        ranks = float((hidden[:, None] > seen).mean())
        row: dict[str, Any] = {
            "seed": seed,
            "critic on the missing part": f"{hidden.mean():.2f}",
            "on the rest": f"{seen.mean():.2f}",
            "AUC": f"{ranks:.3f}",
        }
        for name in ("waal", "random"):
            picks = strategies.get(name)(points, 10, metric="euclidean", already=known, labels=where[known], seed=seed)
            row[f"of 10 picks of {name} there"] = int((where[picks] == 2).sum())
        rows.append(row)
    show(rows)


def stopper(given: argparse.Namespace) -> Callable[[Any], None]:
    """Prints every epoch, and ends the run where its time is up."""

    def told(epoch: Any) -> None:
        losses = " ".join(f"{name} {value:.4f}" for name, value in epoch.losses.items())
        print(f"epoch {epoch.number}/{epoch.epochs} {losses}, {epoch.seconds:.0f} s", flush=True)
        if epoch.number < epoch.epochs:
            check(given)

    return told


def check(given: argparse.Namespace) -> None:
    if given.limit is not None and time.monotonic() - START > given.limit:
        raise TimeIsUp


def read(path: Path) -> Rows:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(path: Path, row: dict[str, str]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, list(row))
        if new:
            table.writeheader()
        table.writerow(row)


def show(rows: Rows) -> None:
    """Print rows as a table in Markdown."""
    if rows:
        print("\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
        for row in rows:
            print("| " + " | ".join(str(value) for value in row.values()) + " |")


START = time.monotonic()


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in ELSEWHERE:
        del sys.argv[0]  # that file reads its arguments as if it had been called itself
        importlib.import_module("learning_rounds").main()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pieces = parser.add_subparsers(required=True)
    for piece in (simclr, fdal, waal):
        added = pieces.add_parser(piece.__name__, help=str(piece.__doc__).splitlines()[0])
        added.set_defaults(piece=piece)
        added.add_argument("--results", type=Path, default=Path("results"))
        added.add_argument("--limit", type=float, help="seconds after which to stop, at the next checkpoint")
        added.add_argument("--device", default="cpu")
        added.add_argument("--threads", type=int, default=2)
        if piece is simclr:
            added.add_argument("--fashion", type=Path, default=Path("/usr/share/datasets/fashion-mnist"))
            added.add_argument("--images", type=int, default=30_000)
            added.add_argument("--epochs", type=int, default=24)
            added.add_argument("--seed", type=int, default=0)
        else:
            added.add_argument("--seeds", type=int, default=5)
        if piece is fdal:
            added.add_argument("--digits", type=Path, default=Path("mnist_usps.npz"))
            added.add_argument("--epochs", type=int, default=3)
            added.add_argument("--divergences", default="none,pearson")
            added.add_argument("--adversity", type=float, default=0.4)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(given.threads)
    try:
        given.piece(given)
    except TimeIsUp:
        print("The time is up: run it again to go on.")


if __name__ == "__main__":
    main()
