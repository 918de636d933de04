"""`handful learn`: an encoder by self-supervision, or for another domain, from a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import options
from handful.cli.console import aside, result
from handful.cli.progress import LiveLine, clock_time, live_line
from handful.cli.rounds import change
from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.learning.training import Epoch
    from handful.rounds.config import Config

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful learn simclr configs/paper/simclr-cifar10.toml -o run[/cyan]   run it again to go on

[cyan]handful learn fdal configs/paper/fdal-dslr-amazon.toml --set fdal.epochs=5 -o short[/cyan]

[cyan]handful embed data --dataset cifar10 --encoder run/encoder.pt -o pool.npy[/cyan]   features by what was learnt
"""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog=EXAMPLES,
    help="Train an encoder: without labels (simclr), or for a domain without labels (fdal).",
)

_Configuration = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="What to train on.", show_default=False)]
_Folder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="DIR", help="Where it is kept: checkpoint, encoder, loss.",
        show_default="the name of CONFIG.toml",
    ),
]  # fmt: skip
_Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PART.WORD=VALUE",
        help="Replace what CONFIG.toml says, with a value as TOML has it: simclr.epochs=20, data.folder='here'.",
        show_default=False,
    ),
]
_Device = Annotated[str | None, typer.Option(metavar="cpu|cuda|mps", help="Default: a GPU if there is one.")]


@app.command("simclr", no_args_is_help=True)
def simclr(
    config: _Configuration,
    folder: _Folder = None,
    changes: _Changes = None,
    device: _Device = None,
    quiet: options.Quiet = False,
) -> None:
    """Train an encoder on images without labels, by SimCLR: the parts data and simclr of CONFIG.toml."""
    with live_line(not quiet, f"reading {config.name}") as line:
        told, place = _told(config, changes, "simclr"), folder or config.with_suffix("")
        from handful.learning.settings import simclr_settings
        from handful.learning.simclr import train
        from handful.rounds.build import load

        settings = simclr_settings(told.simclr)
        line.now(f"reading {told.data.name}")
        data = load(told.data)
        if not data.images:
            raise HandfulError(f"SimCLR learns from images, and {told.data.name} has none.")
        line.now("the first epoch")
        images = data.pool if data.unlabelled is None else data.unlabelled
        _, history = train(images, settings, folder=place, device=device, progress=_progress(line, quiet))
    _written(history, place)


@app.command("fdal", no_args_is_help=True)
def fdal(
    config: _Configuration,
    folder: _Folder = None,
    changes: _Changes = None,
    device: _Device = None,
    quiet: options.Quiet = False,
) -> None:
    """Train an encoder for images without labels, by those of a domain with labels: the parts data, source and fdal."""
    with live_line(not quiet, f"reading {config.name}") as line:
        told, place = _told(config, changes, "fdal"), folder or config.with_suffix("")
        import numpy as np

        from handful.learning.fdal import train
        from handful.learning.settings import fdal_settings
        from handful.rounds.build import load

        if told.source is None:
            raise HandfulError(f"{config} has no [source], the domain with labels that f-DAL learns from.")
        settings = fdal_settings(_weights_beside(config, told.fdal, changes))
        line.now(f"reading {told.source.name} and {told.data.name}")
        source, target = load(told.source), load(told.data)
        if not (source.images and target.images):
            raise HandfulError("f-DAL learns from images; source or data have none.")
        line.now("the first epoch")
        found = train(
            source.pool, source.ask(np.arange(len(source))), target.pool, settings,
            folder=place, device=device, progress=_progress(line, quiet),
        )  # fmt: skip
        tested = None if target.test is None or target.test_labels is None else (target.test, target.test_labels)
        accuracy = None if tested is None else found.accuracy(*tested)
    _written(found.history, place)
    if accuracy is not None:
        result().print(f"Accuracy on the test set of the target: {accuracy:.1%}.")


def _told(config: Path, changes: list[str] | None, part: str) -> Config:
    """The configuration; it needs no [budget], but that of rounds may stand in it."""
    from handful.learning import need_torch

    need_torch(f"handful learn {part}")
    import tomllib

    from handful.rounds.config import Config

    if not config.is_file():
        raise HandfulError(f"{config}: there is no such file.")
    given: dict[str, Any] = dict(change(text) for text in changes or ())
    try:
        has_budget = "budget" in tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise HandfulError(f"{config} is not TOML: {error}.") from None
    return Config.read(config, given if has_budget else given | {"budget.rounds": [1]})


def _weights_beside(config: Path, table: Mapping[str, Any], changes: list[str] | None) -> dict[str, Any]:
    """The table, its file of weights found from the configuration's folder unless it was given beside it."""
    made = dict(table)
    given = {change(text)[0] for text in changes or ()}
    if isinstance(made.get("weights"), str) and "fdal.weights" not in given:
        made["weights"] = str(config.parent / made["weights"])
    return made


def _progress(line: LiveLine, quiet: bool) -> Any:
    """Tell of each epoch on the live line, and of about twenty of them in sentences that stay."""
    console = None if quiet else aside()

    def tell(epoch: Epoch) -> None:
        losses = ", ".join(f"{name} {value:.4f}" for name, value in epoch.losses.items())
        left = epoch.seconds / epoch.number * (epoch.epochs - epoch.number)
        line.now(f"epoch {epoch.number} of {epoch.epochs}, {losses}, {clock_time(left)} left")
        if console is not None and (epoch.number % max(1, epoch.epochs // 20) == 0 or epoch.number == epoch.epochs):
            console.print(f"epoch {epoch.number} of {epoch.epochs}: {losses}", soft_wrap=True)

    return tell


def _written(history: list[Epoch], place: Path) -> None:
    last = history[-1]
    result().print(
        f"{last.number} epochs in {clock_time(last.seconds)}; written to {place}: encoder.pt, loss.csv, loss.png.",
        soft_wrap=True,
    )
