"""The loss curve of a training, as a table and as a picture."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handful.learning.training import Epoch


def write_curve(history: Sequence[Epoch], folder: Path) -> None:
    """Write ``loss.csv``, and ``loss.png`` where matplotlib is installed."""
    names = list(history[0].losses) if history else ["loss"]
    with (folder / "loss.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["epoch", *names, "rate", "seconds"])
        for line in history:
            losses = [f"{line.losses[name]:.6g}" for name in names]
            table.writerow([line.number, *losses, f"{line.rate:.6g}", f"{line.seconds:.2f}"])
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        return
    figure: Any = Figure(figsize=(7, 4), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    for name in names:
        axes.plot([line.number for line in history], [line.losses[name] for line in history], label=name, marker=".")
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss" if len(names) == 1 else "mean over the epoch's steps")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    if len(names) > 1:
        axes.legend(frameon=False)
    figure.savefig(folder / "loss.png", dpi=120)
