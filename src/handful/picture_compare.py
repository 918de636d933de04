"""Draws a comparison: every strategy a line, every measure a panel (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from handful.compare.table import Figure, Measure, Table

_INK, _FAINT, _LINE, _BEST, _TIE = "#222222", "#808080", "#9aa5b1", "#d1495b", "#2e6f95"
_TITLES = {
    "distance": "Wasserstein distance",
    "radius": "covering radius",
    "mean distance": "mean distance",
    "classes": "effective classes",
    "accuracy": "accuracy of the probe, %",
    "seconds": "seconds",
    "memory": "memory, GiB",
}
_SCALES = {"accuracy": 100.0, "memory": 1 / 2**30}


def draw(table: Table, file: Path | BinaryIO, *, what: str) -> None:
    """Write the picture of one budget as PNG; ``what`` names the pool in the title."""
    from matplotlib.figure import Figure as Sheet
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = len(table.measures)
    sheet: Any = Sheet(figsize=(2.1 + 2.15 * panels, 1.7 + 0.3 * len(table.rows)), facecolor="white")
    sheet.set_layout_engine(ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.06))
    sheet.suptitle(f"{table.budget} picks of {what}", fontsize=13, color=_INK, x=0.01, ha="left")
    for at, (axes, measure) in enumerate(zip(sheet.subplots(1, panels, squeeze=False)[0], table.measures, strict=True)):
        _panel(axes, table, measure, named=at == 0)
    bound = "" if table.lower_bound is None else "; dashed: proven lower bound for any picks"
    sheet.supxlabel(
        "points: mean over seeds, bars: one standard deviation; red: best, blue: not significantly worse "
        f"(paired t-test, Holm's correction, 5 %){bound}",
        fontsize=8.5,
        color=_FAINT,
        x=0.01,
        ha="left",
    )
    sheet.savefig(file, format="png", dpi=130)


def _panel(axes: Any, table: Table, measure: Measure, *, named: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    scale = _SCALES.get(measure.name, 1.0)
    for line, row in enumerate(reversed(table.rows)):
        figure = row.figures[measure.name]
        colour = _colour(figure)
        axes.plot(figure.mean * scale, line, "o", color=colour, markersize=6.5, zorder=3)
        if figure.deviation:
            ends = [(figure.mean - figure.deviation) * scale, (figure.mean + figure.deviation) * scale]
            axes.plot(ends, [line, line], color=colour, linewidth=2, alpha=0.6, zorder=2)
    if measure.name == "distance" and table.lower_bound is not None:
        axes.axvline(table.lower_bound, color=_INK, linewidth=1, linestyle="--", zorder=1)
    if measure.name == "seconds" and all(row.figures["seconds"].mean > 0 for row in table.rows):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    if measure.name == "memory":
        axes.set_xlim(left=0)
    axes.set_title(_TITLES[measure.name], fontsize=10, color=_INK, loc="left")
    axes.set_yticks(range(len(table.rows)), [row.strategy for row in reversed(table.rows)] if named else [])
    axes.set_ylim(-0.6, len(table.rows) - 0.4)
    axes.tick_params(labelsize=8.5, colors=_INK, left=False)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _colour(figure: Figure) -> str:
    return {"best": _BEST, "not worse": _TIE}.get(figure.mark, _LINE)
