"""`handful export`: the picks of a run, for the tool that they are labelled with."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import options
from handful.cli.console import result
from handful.cli.naming import naming
from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.handoff import Picks

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful export run --to label-studio --images 'https://example.org/{id}.jpg' -o tasks.json[/cyan]

[cyan]handful export run --to label-studio --table texts.csv --text question -o tasks.json[/cyan]

[cyan]handful export run --to cvat --images 'photos/{index:05d}.png' -o manifest.jsonl[/cyan]

[dim]The labels come back by handful select POOL --already labels.json: every pick carries its id and row with it.[/dim]
"""

_To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="TOOL",
        help="label-studio (tasks), cvat (manifest), coco (image list), datasets (records) or fiftyone (dataset).",
        show_default=False,
    ),
]
_Images = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="PATTERN|COLUMN",
        help="Where the images are: a path or an address with {id}, {index} or {rank} in it, or a column of --table.",
        show_default=False,
    ),
]
_Text = Annotated[str | None, typer.Option("--text", metavar="COLUMN", help="The column of --table with the texts.")]
_Table = Annotated[
    Path | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="A .csv or .parquet with a row for each point of the pool, or with a column id that names its points.",
    ),
]
_File = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.", show_default=False)]
_Force = Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")]


def export(
    folder: options.RunFolder,
    tool: _To,
    file: _File,
    images: _Images = None,
    text: _Text = None,
    table: _Table = None,
    force: _Force = False,
) -> None:
    """Hand the picks in DIR to a labelling tool, each with its rank and with what finds its point again."""
    from handful.handoff import LINES, TOOLS, Picks

    if tool not in TOOLS:
        raise HandfulError(f"--to {tool} is not known; what there is: {', '.join(TOOLS)}.")
    if text is not None and tool not in ("label-studio", "datasets"):
        raise HandfulError(f"--text means nothing to {tool}, which takes images; leave it out.")
    _check(file, force)
    picks = _shown(Picks.read(folder), images, text, table)
    document = TOOLS[tool](picks)
    lines = [json.dumps(line, ensure_ascii=False) for line in document] if tool in LINES else []
    _write(file, "\n".join(lines) if lines else json.dumps(document, ensure_ascii=False, indent=2))
    result().print(f"{len(picks)} picks of {folder} for {tool}, written to {file}.", soft_wrap=True)


def _shown(picks: Picks, images: str | None, text: str | None, table: Path | None) -> Picks:
    """The picks with their images and texts."""
    from handful.handoff.sources import by_column, by_pattern

    pattern = images if images is not None and "{" in images else None
    columns = {"images": images if pattern is None else None, "texts": text}
    names = {what: name for what, name in columns.items() if name is not None}
    if names and table is None:
        option, name = ("--text", text) if text is not None else ("--images", images)
        hint = "" if option == "--text" else ", or write a pattern such as 'photos/{id}.jpg'"
        raise HandfulError(f"{option} {name} is a column, and of which table was not said; add --table FILE{hint}.")
    if table is not None and not names:
        raise HandfulError(f"--table {table} is of no use without --text or --images that names a column of it.")
    shown = dict(zip(names, by_column(picks, table, list(names.values())), strict=True)) if table is not None else {}
    if pattern is not None:
        with naming("--images"):
            shown["images"] = by_pattern(picks, pattern)
    return picks.showing(images=shown.get("images"), texts=shown.get("texts"))


def _check(file: Path, force: bool) -> None:
    if file.is_dir():
        raise HandfulError(f"{file} is a folder; give the output the name of a file.")
    if file.exists() and not force:
        raise HandfulError(f"{file} exists; use --force to replace it, or another name.")
    if not file.resolve().parent.is_dir():
        raise HandfulError(f"{file} can't be written: there is no folder {file.parent}; make it first.")


def _write(file: Path, text: str) -> None:
    """All of it or nothing."""
    with tempfile.TemporaryDirectory(prefix=".export-", dir=file.resolve().parent) as beside:
        fresh = Path(beside) / file.name
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.replace(file)
