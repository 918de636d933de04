"""The trace of a run: one line per iteration, as a table and as a picture."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.benders.result import BendersResult


@dataclass(frozen=True)
class Iteration:
    """One iteration.

    ``elapsed`` seconds since the start, the highest ``master_bound`` so far, the ``transport_value`` of the selection
    proposed, the ``incumbent`` (the least so far), the ``cuts`` in the master, and the seconds spent in it, in
    transport and in making cuts.
    """

    iteration: int
    elapsed: float
    master_bound: float
    transport_value: float
    incumbent: float
    cuts: int
    master_seconds: float
    transport_seconds: float
    cut_seconds: float


COLUMNS = tuple(field.name for field in fields(Iteration))


def write_trace(history: Sequence[Iteration], path: str | PathLike[str]) -> None:
    """Write the trace as ``.csv`` or ``.parquet``, by the name of the file."""
    path = Path(path)
    rows = [asdict(line) for line in history]
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({name: [row[name] for row in rows] for name in COLUMNS}), path)
    else:
        raise HandfulError(f"{path.name} has the ending {path.suffix!r}, but a trace is written as .csv or .parquet")


def plot_trace(results: dict[str, BendersResult], path: str | PathLike[str], *, iterations: int | None = 50) -> None:
    """Draw upper and lower bounds against iterations, one colour per run, as the paper's Figure 3 (left).

    Bounds of masters with invalid cuts are dashed, and the legend says that they are none.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for number, (name, result) in enumerate(results.items()):
        lines = result.history[:iterations]
        steps = [line.iteration for line in lines]
        colour = f"C{number}"
        axes.plot(steps, [line.incumbent for line in lines], color=colour, label=f"{name}: distance")
        kind = "lower bound" if result.valid_bound else "master value, no valid bound"
        axes.plot(
            steps,
            [line.master_bound for line in lines],
            color=colour,
            linestyle="-." if result.valid_bound else ":",
            label=f"{name}: {kind}",
        )
    axes.set_xlabel("iteration")
    axes.set_ylabel("distance")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)
