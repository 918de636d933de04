"""Draws how the bounds of runs of the decomposition met over time, as the paper's Figure 3, left (needs matplotlib)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from handful.benders import BendersResult, Iteration

_INK, _FAINT = "#222222", "#808080"


def draw_bounds(runs: Mapping[str, BendersResult], file: Path | BinaryIO) -> None:
    """Write the picture of the upper and lower bounds of some runs, by name, as PNG.

    The value of a master with invalid cuts is dotted, and the legend says that it is no bound.
    """
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(8, 5), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    for number, (name, run) in enumerate(runs.items()):
        if not run.history:
            continue  # solved in parts: no bounds to be drawn
        times = [*(line.elapsed for line in run.history), run.seconds]
        kind, line = ("lower bound", "--") if run.valid_bound else ("value of the master, no certificate", ":")
        look: dict[str, Any] = {
            "where": "post",
            "color": f"C{number}",
            "linewidth": 1.8,
            "marker": ".",
            "markersize": 3,
        }
        axes.step(
            times,
            [*(step.incumbent for step in run.history), run.distance],
            label=f"{name}: distance of the picks",
            **look,
        )
        axes.step(times, _shown(run.history), linestyle=line, label=f"{name}: {kind}", **look)
    words = "distance of the best picks, and what the master problem says below it, over time"
    axes.set_title(words, color=_FAINT, fontsize=10, loc="left")
    axes.set_xlabel("seconds", color=_INK)
    axes.set_xlim(left=0)
    axes.ticklabel_format(useOffset=False)
    axes.tick_params(colors=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(fontsize="small", frameon=False)
    figure.savefig(file, format="png", dpi=130)


def _shown(history: tuple[Iteration, ...]) -> list[float]:
    """The master's bounds, the last one up to the end, with nothing drawn before there is one."""
    bounds = [line.master_bound if math.isfinite(line.master_bound) else math.nan for line in history]
    return bounds + bounds[-1:]
