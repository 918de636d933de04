"""The table of a budget: mean and standard deviation over seeds, the best, and who is not significantly worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from handful import strategies
from handful.compare.cells import Cell

Floats = NDArray[np.float64]

LEVEL = 0.05
"""Of the tests, after the correction for their number."""


@dataclass(frozen=True)
class Measure:
    """A column: what it is called, how it is read off a cell, whether less is better, and whether it is tested."""

    name: str
    of: Callable[[Cell], float | None]
    less: bool = True
    tested: bool = True


MEASURES = (
    Measure("distance", lambda cell: cell.distance),
    Measure("radius", lambda cell: cell.radius),
    Measure("mean distance", lambda cell: cell.mean_distance),
    Measure("classes", lambda cell: cell.classes, less=False),
    Measure("accuracy", lambda cell: cell.accuracy, less=False),
    Measure("seconds", lambda cell: cell.seconds, tested=False),
    Measure("memory", lambda cell: None if cell.peak is None else float(cell.peak), tested=False),
)


@dataclass(frozen=True)
class Figure:
    """A cell of the table: mean, standard deviation (None for a single run), and its place in its column.

    ``mark`` is "best", "not worse" for those not significantly worse than the best, or empty: worse, or not tested.
    """

    mean: float
    deviation: float | None
    mark: str = ""


@dataclass(frozen=True)
class Row:
    """What a strategy reached: a figure for every measure, and how many runs they are of."""

    strategy: str
    runs: int
    figures: dict[str, Figure]
    gap: float | None


@dataclass(frozen=True)
class Table:
    """All strategies at one budget, nearest to the pool first.

    ``lower_bound`` is the best proven one on the Wasserstein distance of any picks.
    """

    budget: int
    rows: tuple[Row, ...]
    measures: tuple[Measure, ...]
    lower_bound: float | None


def table(cells: Iterable[Cell], budget: int) -> Table:
    """The table of that budget."""
    by_strategy: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.budget == budget:
            by_strategy.setdefault(cell.strategy, []).append(cell)
    bounds = [cell.lower_bound for own in by_strategy.values() for cell in own if cell.lower_bound]
    bound = max(bounds) if bounds else None
    columns: dict[str, dict[str, Figure]] = {}
    measures = []
    for measure in MEASURES:
        values = {name: _by_seed(own, measure) for name, own in by_strategy.items()}
        if all(values.values()):
            measures.append(measure)
            columns[measure.name] = _column(values, measure)
    rows = [
        Row(
            name,
            len(own),
            {title: column[name] for title, column in columns.items()},
            _gap(columns["distance"][name].mean, bound),
        )
        for name, own in by_strategy.items()
    ]
    return Table(budget, tuple(sorted(rows, key=lambda row: row.figures["distance"].mean)), tuple(measures), bound)


def _by_seed(cells: Sequence[Cell], measure: Measure) -> dict[int, float]:
    """The values that are there; empty unless all are."""
    values = {cell.seed: measure.of(cell) for cell in cells}
    return {} if None in values.values() else {seed: value for seed, value in values.items() if value is not None}


def _column(values: dict[str, dict[int, float]], measure: Measure) -> dict[str, Figure]:
    figures = {
        name: Figure(float(np.mean(list(own.values()))), _deviation(list(own.values()))) for name, own in values.items()
    }
    sign = 1.0 if measure.less else -1.0
    best = min(figures, key=lambda name: sign * figures[name].mean)
    marks = {best: "best"} if measure.tested else {}
    if measure.tested:
        found = {
            name: _chance(sign * _differences(values[name], values[best]), _certain(name) and _certain(best))
            for name in figures
            if name != best
        }
        chances = {name: chance for name, chance in found.items() if chance is not None}
        worse = holm(np.array(list(chances.values())))
        marks |= {name: "not worse" for name, rejected in zip(chances, worse, strict=True) if not rejected}
    return {name: Figure(f.mean, f.deviation, marks.get(name, "")) for name, f in figures.items()}


def _deviation(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _differences(values: dict[int, float], best: dict[int, float]) -> Floats:
    """By how much each run is above the best one's of the same seed; a strategy that ran once stands for all seeds."""
    if len(values) == 1:
        only = next(iter(values.values()))
        return np.array([only - other for other in best.values()])
    if len(best) == 1:
        only = next(iter(best.values()))
        return np.array([value - only for value in values.values()])
    return np.array([values[seed] - best[seed] for seed in values.keys() & best.keys()])


def _certain(name: str) -> bool:
    """Whether a strategy gives the same picks in every run, so that one run says all."""
    strategy = strategies.get(name)
    return not strategy.seeded and not strategy.needs


def _chance(differences: Floats, certain: bool) -> float | None:
    """The chance of such differences if there were none on average: Student's t, of pairs, on both sides.

    None where single runs of rules that use chance say nothing about it.
    """
    if len(differences) < 2 and not certain:
        return None
    if not differences.any():
        return 1.0
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():
        return 0.0
    return float(ttest_1samp(differences, 0.0).pvalue)


def holm(chances: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which of several tests reject, by Holm's correction (1979, Scandinavian Journal of Statistics 6)."""
    order = np.argsort(chances, kind="stable")
    rejected = np.zeros(len(chances), bool)
    for rank, at in enumerate(order):
        if chances[at] > level / (len(chances) - rank):
            break
        rejected[at] = True
    return rejected


def _gap(distance: float, bound: float | None) -> float | None:
    return None if bound is None else max(0.0, (distance - bound) / distance) if distance > 0 else 0.0
