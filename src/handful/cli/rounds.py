"""`handful rounds`: rounds of select, ask, learn and test, from a configuration."""

from __future__ import annotations

import csv
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import options
from handful.cli.console import aside, result
from handful.cli.progress import live_line
from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.rounds import Round

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful rounds run digits.toml[/cyan]   run it; the same command goes on where it was stopped

[cyan]handful rounds run digits.toml --set select.seeds=5 -o five[/cyan]   change what the file says

[cyan]handful rounds show five --format md[/cyan]   the table once more
"""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog=EXAMPLES,
    help="Rounds of active learning: select points, ask for their labels, learn, test, and again.",
)

_Configuration = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="What to run.", show_default=False)]
_Folder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="DIR", help="Where results are kept.", show_default="the name of CONFIG.toml"
    ),
]
_Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PART.WORD=VALUE",
        help="Replace what CONFIG.toml says, with a value as TOML has it: select.seeds=3, data.folder='here'.",
        show_default=False,
    ),
]
_Format = Annotated[str, typer.Option("--format", metavar="text|csv|md", help="How to print the table.")]
_KINDS = ("text", "csv", "md")


@app.command("run", no_args_is_help=True)
def run(
    config: _Configuration,
    folder: _Folder = None,
    changes: _Changes = None,
    kind: _Format = "text",
    quiet: options.Quiet = False,
) -> None:
    """Run the rounds of CONFIG.toml that are not done yet, and print the table of accuracies.

    Where a person is asked, the list of points to label is written to DIR; fill it in and run the same command again.
    """
    _check_kind(kind)
    place = folder or config.with_suffix("")
    with live_line(not quiet, f"reading {config.name}") as line:
        from handful.rounds import Config, Waiting, perform

        told = Config.read(config, dict(change(text) for text in changes or ()))
        count = len(told.select.strategies) * len(told.select.seeds) * len(told.budget.schedule)
        console = None if quiet else aside()

        def tell(found: Round, what: str) -> None:
            name = f"{found.strategy}, seed {found.seed}, round {found.round + 1}"
            line.now(f"{name}: {what}")
            if what == "done" and console is not None:
                accuracy = "" if found.accuracy is None else f", accuracy {found.accuracy:.1%}"
                seconds = found.select_seconds + (found.train_seconds or 0.0)
                console.print(f"{name}: {found.budget} labels{accuracy}, {seconds:.1f} s", soft_wrap=True)

        line.say(f"{count} rounds in {place}; those that are there are not run again.")
        try:
            perform(told, place, tell=tell, say=line.now)
        except Waiting as waiting:
            result().print(f"{waiting}.", soft_wrap=True)
            return
    _show(place, kind)


@app.command("show", no_args_is_help=True)
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.", show_default=False)],
    kind: _Format = "text",
) -> None:
    """Print the table of a run: accuracy over the number of labels, mean ± standard deviation over seeds."""
    _check_kind(kind)
    _show(folder, kind)


def _show(folder: Path, kind: str) -> None:
    from rich import box
    from rich.table import Table as Grid

    from handful.rounds import Store, markdown, rows, table

    store = Store.open(folder)
    try:
        rounds, sessions, config = store.rounds(), store.sessions, store.fact("config")
    finally:
        store.close()
    if kind == "csv":
        _write_csv(rounds)
        return
    found = table(rounds)
    lines = rows(found)
    console = result()
    if kind == "md":
        console.print(markdown(lines), soft_wrap=True)
        return
    grid = Grid(box=box.SIMPLE, pad_edge=False)
    for at, title in enumerate(lines[0]):
        grid.add_column(title, justify="right" if at else "left", no_wrap=True)
    for cells in lines[1:]:
        grid.add_row(*cells)
    console.print(f"Accuracy in percent by number of labels; {config['data']['name']}, {folder}", soft_wrap=True)
    console.print(grid)
    clocked = any(entry.clocked for entry in found.entries.values())
    console.print(
        "* best mean; ± one standard deviation over seeds."
        + (" † a search ended by the clock: another run may pick otherwise." if clocked else ""),
        soft_wrap=True,
    )
    versions = ", ".join(f"{name} {number}" for name, number in sessions[-1][1].items() if name != "machine")
    console.print(f"Last run {sessions[-1][0]} with {versions}.", soft_wrap=True)


def _write_csv(rounds: list[Round]) -> None:
    """Every round in a line."""
    writer = csv.writer(sys.stdout)
    writer.writerow(["strategy", "seed", "round", "budget", "accuracy", "select_seconds", "train_seconds", "picks"])
    for found in rounds:
        picks = " ".join(map(str, found.picks.tolist()))
        writer.writerow(
            [found.strategy, found.seed, found.round + 1, found.budget, found.accuracy, found.select_seconds,
             found.train_seconds, picks]
        )  # fmt: skip


def change(text: str) -> tuple[str, Any]:
    place, equals, value = text.partition("=")
    try:
        return place.strip(), tomllib.loads(f"value = {value}")["value"] if equals else None
    except tomllib.TOMLDecodeError:
        raise HandfulError(f"--set {text}: {value!r} is no value of TOML; put words in quotes, lists in []") from None


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise HandfulError(f"--format {kind} is unknown; choose one of {', '.join(_KINDS)}")
