"""What becomes of a comparison: a table and a picture for every budget."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.console import result

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from handful.compare import Cell, Figure, Table

_LEGEND = (
    "** best, * not significantly worse (paired t-test over seeds, Holm's correction, 5 %); ± one standard deviation. "
    "Gap: the share of the distance that other picks could save, at most."
)
# A greedy rule or a search, and the runs of the engine that have its objective.
_EXACT = {
    "facility-location": ("facility-location-exact", "k-medoids-exact", "wasserstein-free"),
    "k-medoids": ("k-medoids-exact", "facility-location-exact", "wasserstein-free"),
    "max-herding": ("max-herding-exact",),
    "probcover": ("probcover-exact",),
    "uncertainty-herding": ("uncertainty-herding-exact",),
}


@dataclass(frozen=True)
class Report:
    """Where tables and pictures go."""

    folder: Path
    what: str
    quiet: bool

    def deliver(self, cells: Sequence[Cell], budgets: Iterable[int]) -> None:
        """Print a table for each budget, and keep it and its picture in the folder."""
        from rich.console import Console

        from handful.compare import table

        pictures = importlib.util.find_spec("matplotlib") is not None
        console = result()
        for budget in budgets:
            found = table(cells, budget)
            with (self.folder / f"table-{budget}.txt").open("w", encoding="utf-8") as file:
                self._print(Console(file=file, width=240, highlight=False, markup=False), found, cells)
            self._print(console, found, cells)
            if pictures:
                from handful.picture_compare import draw

                draw(found, self.folder / f"picture-{budget}.png", what=self.what)
        console.print(_LEGEND, soft_wrap=True)
        drawn = ", picture-B.png" if pictures else " (pictures need matplotlib: pip install 'handful[plot]')"
        console.print(f"Kept in {self.folder}: results.jsonl, table-B.txt{drawn}.", soft_wrap=True)

    def _print(self, console: Console, found: Table, cells: Sequence[Cell]) -> None:
        bound = "" if found.lower_bound is None else f"; any picks are at distance {found.lower_bound:.6g} or more"
        console.print(f"{found.budget} picks of {self.what}{bound}", soft_wrap=True)
        console.print(_grid(found))
        for line in _own_objectives(cells, found.budget):
            console.print(line, soft_wrap=True)


def _grid(found: Table) -> Grid:
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE, pad_edge=False)
    grid.add_column("strategy", no_wrap=True)
    for title in ("runs", *(measure.name for measure in found.measures), "gap"):
        grid.add_column(title, justify="right", no_wrap=True)
    for row in found.rows:
        figures = [_text(measure.name, row.figures[measure.name]) for measure in found.measures]
        grid.add_row(row.strategy, str(row.runs), *figures, "" if row.gap is None else f"{row.gap:.2%}")
    return grid


def _text(measure: str, figure: Figure) -> str:
    scale, digits = {"accuracy": (100.0, 2), "memory": (1 / 2**30, 2), "seconds": (1.0, 2), "classes": (1.0, 2)}.get(
        measure, (1.0, 4)
    )
    spread = "" if figure.deviation is None else f" ±{figure.deviation * scale:.{digits}f}"
    mark = {"best": "**", "not worse": "*"}.get(figure.mark, "")
    tested = measure not in ("seconds", "memory")
    return f"{figure.mean * scale:.{digits}f}{spread}{f' {mark:<2}' if tested else ''}"


def _own_objectives(cells: Sequence[Cell], budget: int) -> list[str]:
    """How far from the best possible of its own objective a rule ends, where the engine had that objective too."""
    lines = []
    for rule, engines in _EXACT.items():
        for engine in engines:
            ours = {c.seed: c for c in cells if (c.strategy, c.budget) == (engine, budget)}
            ends = {c.seed: c for c in cells if (c.strategy, c.budget) == (rule, budget)}
            # A rule without chance ran once; a radius by chance is the same for both only with the same seed.
            pairs = [(ends.get(seed, ends.get(0)), cell) for seed, cell in ours.items()]
            costs = [cell.objective for cell, _ in pairs if cell is not None and cell.objective is not None]
            bounds = [cell.objective_bound for _, cell in pairs if cell.objective_bound is not None]
            if costs and len(costs) == len(bounds):
                cost, bound = sum(costs) / len(costs), sum(bounds) / len(bounds)
                reached = sum(cell.objective or 0.0 for _, cell in pairs) / len(pairs)
                lines.append(
                    f"{rule} leaves a cost of {cost:.5g}, {engine} {reached:.5g}, and no picks leave less than "
                    f"{bound:.5g}: {rule} is at most {cost / bound - 1:.2%} above the least possible."
                )
                break
    return lines
