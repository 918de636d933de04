"""`handful report`: a run as one HTML file to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import options
from handful.cli.console import aside, result
from handful.cli.naming import naming
from handful.cli.progress import LiveLine, live_line
from handful.errors import HandfulError

# Heavy imports stand in the functions that need them, so that help is there at once.
if TYPE_CHECKING:
    from handful.files import Table
    from handful.files.finished import Finished
    from handful.report import Made, Shown

NAME = "report.html"
_SHOW = "What to show"

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful report run[/cyan]   the run in the folder run, as run/report.html

[cyan]handful report run --images photos --colour labels.csv:label[/cyan]

[cyan]handful report run --pool moved/pool.parquet --text texts.csv:sentence --layout pca -o report.html[/cyan]

[dim]Open the file in any browser; it loads nothing from any network. A SOURCE is a column of the pool's own file, or \
FILE.csv:column (also .parquet, .npz, .npy and .txt); a column "id" or "index" beside it says which points it speaks \
of.[/dim]
"""

PoolFile = Annotated[
    Path | None,
    typer.Option(
        "--pool", metavar="FILE", help="The pool, where it isn't any more where the run found it.", show_default=False
    ),
]
Colours = Annotated[
    list[str] | None,
    typer.Option(
        "--colour",
        "--color",
        metavar="SOURCE",
        help="Points can be coloured by this too, such as labels; may be given several times.",
        rich_help_panel=_SHOW,
        show_default=False,
    ),
]
Images = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="DIR|PATTERN|SOURCE|HxW",
        help="An image for each point: a folder of images named by id or row, a path such as photos/{id}.jpg or "
        "photos/{index:05d}.png, a column of paths, or the height and width of points that are pixels, such as 8x8.",
        rich_help_panel=_SHOW,
        show_default=False,
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="SOURCE", help="A text for each point.", rich_help_panel=_SHOW, show_default=False),
]
LayoutName = Annotated[
    str,
    typer.Option(
        "--layout",
        metavar="tsne|pca|umap",
        help="How the map is laid out: t-SNE takes about 10 seconds, pca none, umap must be installed.",
        rich_help_panel=_SHOW,
    ),
]
File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help=f"Without it, {NAME} in DIR.", show_default=False),
]


def report(
    folder: options.RunFolder,
    pool: PoolFile = None,
    colours: Colours = None,
    images: Images = None,
    text: Text = None,
    layout: LayoutName = "tsne",
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    file: File = None,
    quiet: options.Quiet = False,
) -> None:
    """Show the run in DIR as one HTML file: the pool as a map with the picks, the bounds, and what more would bring."""
    target = folder / NAME if file is None else file
    if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
        raise HandfulError(f"-o {target} is no name of an HTML file; end it in .html.")
    with live_line(not quiet, f"reading {folder.name}") as line:
        from handful.files import read_pool
        from handful.files.finished import read_run
        from handful.report import check_layout

        check_layout(layout)
        run = read_run(folder)
        table = read_pool(
            _pool_file(run, pool), id_column=id_column or run.source.get("id"), mass_column=_mass_column(run),
            array=array or run.source.get("array"),
        )  # fmt: skip
        made = _made(run, table, target, _shown(table, colours or [], images, text, layout), line)
    _say(made, quiet)


def report_beside(folder: Path, table: Table, *, quiet: bool, silent: bool) -> None:
    """Write the report of a run that has just been written, into its folder; ``silent`` says nothing of it."""
    from handful.files.finished import read_run

    with live_line(not quiet, "making the report") as line:
        made = _made(read_run(folder), table, folder / NAME, _shown(table, [], None, None, "tsne"), line)
    if not silent:
        _say(made, quiet)


def _pool_file(run: Finished, given: Path | None) -> Path:
    if given is not None:
        return given
    if run.pool_file is None:
        raise HandfulError(f"{run.folder} does not say which pool it is of; give its file by --pool.")
    if not run.pool_file.exists():
        raise HandfulError(f"{run.pool_file}, the pool of {run.folder}, is not there any more; give it by --pool.")
    return run.pool_file


def _mass_column(run: Finished) -> str | None:
    """The column of masses, which is none of the points; masses themselves stand in the certificate."""
    from handful.files import names_a_file

    mass = run.source.get("mass")
    return None if mass is None or names_a_file(mass) else str(mass)


def _shown(table: Table, colours: list[str], images: str | None, text: str | None, layout: str) -> Shown:
    from handful.files.columns import read_values
    from handful.report import Shown
    from handful.report.thumbnails import image_source

    own = [name for name in table.columns if name not in colours]
    return Shown(
        layout=layout,
        colours=tuple(read_values(source, table, "--colour") for source in [*colours, *own]),
        text=None if text is None else read_values(text, table, "--text"),
        draw=None if images is None else image_source(images, table),
    )


def _made(run: Finished, table: Table, target: Path, shown: Shown, line: LiveLine) -> Made:
    from handful.report import make_report

    with naming(str(run.folder)):
        return make_report(run, table, target, shown, line.now)


def _say(made: Made, quiet: bool) -> None:
    for note in () if quiet else made.notes:
        aside().print(note, soft_wrap=True)
    result().print(f"Written: {made.file} ({made.size / 1e6:.1f} MB); open it in any browser.", soft_wrap=True)
