"""`handful reduce`: few scenarios with probabilities in place of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import options, values
from handful.cli.console import INTERRUPTED, result
from handful.cli.inputs import Source
from handful.cli.naming import naming
from handful.cli.output import columns_table
from handful.cli.progress import live_line
from handful.errors import HandfulError

# Heavy imports stand in the functions that need them, so that help is there at once.
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from handful.files import Table
    from handful.scenarios import Reduction

_HOW = "How to reduce"

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful reduce returns.csv -k 30 -o few[/cyan]   30 scenarios and their probabilities, with proof

[cyan]handful reduce demand.parquet -k 12 --order 2 --periods 24 --id day --mass weight -o few[/cyan]

[cyan]handful reduce returns.csv -k 30 --method forward --json[/cyan]   a known heuristic, to compare with

[dim]--mass says how likely each scenario is. Writes scenarios.csv (rank, row, id, probability, how many it stands for,
values), scenarios.json (names and probabilities as mpi-sppy has them) and, with proof, the run that handful verify
checks.[/dim]
"""

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The scenarios: .npy, .npz, .parquet or .csv, a row each.", show_default=False),
]
Kept = Annotated[
    int, typer.Option("-k", "--keep", help="How many scenarios to keep.", rich_help_panel=_HOW, show_default=False)
]
Order = Annotated[
    int, typer.Option("--order", "-p", help="Order of the Wasserstein distance, 1 or 2.", rich_help_panel=_HOW)
]
Weights = Annotated[
    str,
    typer.Option(metavar="optimal|uniform", help="The best probabilities, or the same for all.", rich_help_panel=_HOW),
]
Method = Annotated[
    str,
    typer.Option(
        metavar="certified|forward|backward",
        help="Search with proof, or forward selection or backward reduction, which prove nothing.",
        rich_help_panel=_HOW,
    ),
]
Periods = Annotated[
    int | None,
    typer.Option(
        metavar="T",
        min=1,
        help="Rows are paths of so many periods: all values of the first, then those of the second, ...",
        rich_help_panel=_HOW,
    ),
]
PeriodWeights = Annotated[
    str | None,
    typer.Option(metavar="W,W,...", help="A weight for each of the periods.", rich_help_panel=_HOW),
]


def reduce(
    file: File,
    keep: Kept,
    metric: options.MetricName = "euclidean",
    order: Order = 1,
    weights: Weights = "optimal",
    method: Method = "certified",
    periods: Periods = None,
    period_weights: PeriodWeights = None,
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    mass: options.Mass = None,
    gap: options.Gap = "0.001",
    time_limit: options.TimeLimit = "2m",
    rounds: options.Rounds = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    memory: options.Memory = None,
    folder: options.Output = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Replace the scenarios of FILE by few of them, with probabilities, and prove how well these stand for all."""
    if keep < 1:
        raise HandfulError(f"--keep {keep} keeps nothing; give how many scenarios to keep, 1 or more.")
    share, seconds = values.gap(gap), values.duration(time_limit)
    size = None if memory is None else values.size(memory)
    if folder is not None:
        from handful.files import check_target

        check_target(folder, force)
    with live_line(not quiet, f"reading {file.name}") as line:
        from handful.scenarios import reduce_scenarios

        source = Source(file, id_column, array, mass)
        table = source.read()
        points = _paths(table.points, periods)
        with naming(str(file)):
            found = reduce_scenarios(
                points, keep, source.masses(table), metric=metric, p=order, weights=weights, method=method,
                period_weights=_numbers(period_weights), gap=share, time_limit=seconds, rounds=rounds, seed=seed,
                threads=threads, memory=size, progress=line,
            )  # fmt: skip
    words = {"metric": metric, "p": order, "periods": periods, "period_weights": _numbers(period_weights)}
    origin = {} if folder is None else {"pool": source.named(folder), "scenarios": words}
    _deliver(found, table, origin, folder, force, as_json)


def _paths(points: NDArray[Any], periods: int | None) -> NDArray[Any]:
    if periods is None:
        return points
    if points.shape[1] % periods:
        raise HandfulError(
            f"--periods {periods} does not divide the {points.shape[1]} values of a row; all periods must have as many."
        )
    return points.reshape(len(points), periods, -1)


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise HandfulError(f"--period-weights {text} is no list of numbers; write it like 1,0.5,0.25.") from None


def _deliver(
    found: Reduction, table: Table, origin: dict[str, Any], folder: Path | None, force: bool, as_json: bool
) -> None:
    """Write, then show."""
    from handful.files import json_text
    from handful.files.scenarios import listing, save, scenarios_table

    if folder is not None:
        save(found, folder, table.points, table.ids, table.names, force=force, extra_summary=origin)
    if as_json:
        result().print(json_text(listing(found, table.ids)), soft_wrap=True)
    else:
        _show(scenarios_table(found, table.points, table.ids), found, table.ids is not None, folder)
    if found.selection is not None and found.selection.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _show(table: Mapping[str, Sequence[Any]], found: Reduction, named: bool, folder: Path | None) -> None:
    columns = ["rank", "index", *["id"] * named, "probability", "stands_for"]
    console = result()
    console.print(columns_table({name: table[name] for name in columns}, len(found.indices)))
    console.print(f"{found}.", soft_wrap=True)
    if folder is not None:
        proof = "" if found.selection is None else ", and the run with its certificate"
        console.print(f"Written to {folder}: scenarios.csv, scenarios.json{proof}.", soft_wrap=True)
