"""Draws a selection: a map of the pool with its picks, and how the gap closed over time (needs matplotlib)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from handful.axes import principal

if TYPE_CHECKING:
    from handful.selection import Selection

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_POINTS = 20_000  # more dots than that only make the map darker
_MOST_NUMBERS = 40  # picks that may carry their rank without the numbers covering each other
_INK, _FAINT, _LINE = "#222222", "#808080", "#4c78a8"
# The ten strong colours of tab20 first, then the ten pale ones; more picks than that share colours.
_COLOURS = [*range(0, 20, 2), *range(1, 20, 2)]


def draw(
    selection: Selection, file: Path | BinaryIO, *, what: str = "points", images: NDArray[Any] | None = None
) -> None:
    """Write the picture of a selection as PNG.

    Parameters
    ----------
    selection
        What is drawn: every dot of the map is a point in the colour of its pick, every disc a pick, larger for more
        mass and numbered by its rank; earlier picks are squares.
    file
        Where the PNG goes.
    what
        What the points are, in the sentence above the map.
    images
        One image for each new pick, shown beside the map.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure: Any = Figure(figsize=(11, 8.2) if images is None else (12.5, 8.2), facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.12))
    figure.suptitle(sentence(selection, what), fontsize=14, color=_INK)
    above, below = figure.subfigures(2, 1, height_ratios=[4.2, 1.3])
    left, right = (above, None) if images is None else above.subfigures(1, 2, width_ratios=[1.7, 1])
    colours = _colours(len(selection.picks))
    _draw_map(left.subplots(), selection, colours)
    if images is not None:
        _draw_images(right, selection, images, colours[len(selection.already) :])
    _draw_gap(below.subplots(), selection)
    figure.savefig(file, format="png", dpi=130)


def sentence(selection: Selection, what: str) -> str:
    """The result in words."""
    start = f"{len(selection.indices)} picks for {selection.pool.n:,} {what}: distance {selection.distance:.4g}"
    if not selection.certified:
        return f"{start}, no certificate"
    if selection.gap == 0:
        return f"{start}, proven to be the least possible"
    if selection.lower_bound <= 0:
        return f"{start}, not yet proven to be near the least possible"
    return f"{start}, proven within {selection.gap:.2%} of the least possible"


def _colours(count: int) -> NDArray[Any]:
    from matplotlib import colormaps

    return np.asarray(colormaps["tab20"](np.array([_COLOURS[pick % 20] for pick in range(count)])))


def _draw_map(axes: Any, selection: Selection, colours: NDArray[Any]) -> None:
    rows = _shown_rows(selection)
    places = principal(selection.pool, selection.picks, np.concatenate([rows, selection.picks]))
    dots, discs = places[: len(rows)], places[len(rows) :]
    size = float(np.clip(30_000 / len(rows), 2, 22 if len(discs) <= _MOST_NUMBERS else 10))
    axes.scatter(*dots.T, s=size, c=colours[selection.labels[rows]], alpha=0.65, linewidths=0)
    # The area of a disc is its mass; the smallest ones stay visible, and one that carries all covers no map.
    areas = np.clip(selection.masses * len(discs), 0.45, 6)
    if len(discs) <= _MOST_NUMBERS:
        _draw_numbered(axes, discs, 190 * areas, colours, len(selection.already))
    else:
        _draw_many(axes, discs, max(16, 9_000 / len(discs)) * areas, colours, len(selection.already))
    axes.set_title(_explained(selection, len(rows)), fontsize=10, color=_FAINT, loc="left")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def _draw_numbered(axes: Any, discs: Floats, areas: Floats, colours: NDArray[Any], earlier: int) -> None:
    """Discs with their ranks; where they overlap the first ranks lie on top, each with its own number."""
    for pick in reversed(range(len(discs))):
        x, y = discs[pick]
        rank, order = pick - earlier + 1, 4 - pick / len(discs)
        look = {"marker": "s" if rank < 1 else "o", "edgecolors": "white", "linewidths": 1.2, "zorder": order}
        axes.scatter(x, y, s=areas[pick], color=colours[pick], **look)
        if rank >= 1:
            axes.text(x, y, str(rank), ha="center", va="center", fontsize=7.5, weight="bold", color=_INK, zorder=order)


def _draw_many(axes: Any, discs: Floats, areas: Floats, colours: NDArray[Any], earlier: int) -> None:
    for part, marker in ((slice(0, earlier), "s"), (slice(earlier, None), "o")):
        look = {"marker": marker, "edgecolors": _INK, "linewidths": 0.9, "zorder": 3}
        axes.scatter(*discs[part].T, s=areas[part], c=colours[part], **look)


def _explained(selection: Selection, shown: int) -> str:
    some = "" if shown == selection.pool.n else f" ({shown:,} of them shown)"
    squares = "; squares were labelled earlier" if len(selection.already) else ""
    return f"every point{some} in the colour of its pick; discs are picks, larger where they stand for more{squares}"


def _draw_images(figure: Any, selection: Selection, images: NDArray[Any], colours: NDArray[Any]) -> None:
    columns = math.ceil(math.sqrt(len(images) * 0.8))
    grid = np.atleast_1d(figure.subplots(math.ceil(len(images) / columns), columns)).ravel()
    for axes in grid:
        axes.set_axis_off()
    for rank, (axes, image, colour) in enumerate(zip(grid, images, colours, strict=False), 1):
        axes.set_axis_on()
        axes.imshow(image, cmap="gray_r")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set(color=colour, linewidth=3)
        axes.set_title(str(rank), fontsize=9, color=_INK, pad=4)


def _draw_gap(axes: Any, selection: Selection) -> None:
    """The gap over time, on a scale of factors; a gap of 0 is drawn at the foot."""
    trace = [entry for entry in selection.trace if math.isfinite(entry.distance)]
    times = np.array([*(entry.elapsed for entry in trace), selection.seconds])
    gaps = np.array([*(min(entry.gap, 1.0) for entry in trace), selection.gap])
    foot = max(gaps[gaps > 0].min(initial=1.0) / 2, 1e-7)
    gaps = np.maximum(gaps, foot)
    axes.step(times, gaps, where="post", color=_LINE, linewidth=1.8)
    axes.fill_between(times, gaps, foot, step="post", color=_LINE, alpha=0.15, linewidth=0)
    axes.set_yscale("log")
    axes.set_ylim(foot, max(1.0, 2 * foot))
    axes.set_xlim(0, max(times[-1], 1e-3))
    axes.yaxis.set_major_formatter(lambda value, position: f"{100 * value:g} %")
    axes.minorticks_off()
    axes.set_xlabel("seconds", color=_INK, fontsize=9)
    axes.tick_params(labelsize=9, colors=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    words = "the gap between the distance of the picks and its proven lower bound, over time"
    axes.set_title(words, fontsize=10, color=_FAINT, loc="left")


def _shown_rows(selection: Selection) -> Indices:
    count = selection.pool.n
    if count <= _MOST_POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, _MOST_POINTS, replace=False))
