"""The commands, joined."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from handful import __version__
from handful.cli import (
    compare,
    demo,
    embed,
    export,
    learn,
    reduce,
    report,
    rounds,
    select,
    spread,
    strategies,
    verify,
)
from handful.cli.console import plain_errors

_EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful demo[/cyan]   see it work, on 1,797 digits, in about a minute

[cyan]handful select embeddings.npy -b 40 -o run[/cyan]   pick 40 points, with proof

[cyan]handful verify embeddings.npy run[/cyan]   check that proof

[cyan]handful reduce returns.csv -k 30 -o few[/cyan]   30 scenarios with probabilities in place of many
"""


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        with plain_errors():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    epilog=_EXAMPLES,
)
app.command(epilog=select.EXAMPLES, no_args_is_help=True)(select.select)
app.command(epilog=verify.EXAMPLES, no_args_is_help=True)(verify.verify)
app.command(epilog=reduce.EXAMPLES, no_args_is_help=True)(reduce.reduce)
app.command(epilog=report.EXAMPLES, no_args_is_help=True)(report.report)
app.command(epilog=compare.EXAMPLES, no_args_is_help=True)(compare.compare)
app.command(epilog=export.EXAMPLES, no_args_is_help=True)(export.export)
app.command(epilog=embed.EXAMPLES, no_args_is_help=True)(embed.embed)
app.add_typer(rounds.app, name="rounds")
app.add_typer(learn.app, name="learn")
app.command(epilog=spread.EXAMPLES, no_args_is_help=True)(spread.spread)
app.command()(strategies.strategies)
app.command()(demo.demo)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"handful {__version__}")
        raise typer.Exit


@app.callback()
def handful(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Pick the few points worth labelling out of a large pool, with proof of how good they are."""
