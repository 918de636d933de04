"""What becomes of a selection: files, a table of the picks, or JSON, and the exit status."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import typer
from rich import box
from rich.table import Table

from handful.cli.console import INTERRUPTED, aside, result
from handful.cli.progress import live_line
from handful.errors import HandfulError

# Heavy imports stand in the functions that need them, so that help is there at once.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from handful.cli.inputs import Source
    from handful.files import Table as PoolTable
    from handful.selection import Selection

    Drawings = Mapping[str, Callable[[BinaryIO], None]]

_SHOWN = 20


@dataclass(frozen=True)
class Output:
    """Where the result goes, as the command line says it; refuses, before any work, what can't be."""

    folder: Path | None
    force: bool
    picture: bool | None
    as_json: bool
    quiet: bool
    report: bool = False

    def __post_init__(self) -> None:
        from handful.files import check_target

        if self.folder is not None:
            check_target(self.folder, self.force)
        if self.picture and self.folder is None:
            raise HandfulError("--picture needs a folder to go to; name one with -o DIR.")
        if self.report and self.folder is None:
            raise HandfulError("--report needs a folder to go to; name one with -o DIR.")
        if self.picture and not _can_draw():
            raise HandfulError("--picture needs matplotlib; install it with pip install 'handful[plot]'.")

    def deliver(
        self,
        selection: Selection,
        ids: NDArray[np.generic] | None = None,
        *,
        source: Source | None = None,
        table: PoolTable | None = None,
        what: str = "points",
        images: NDArray[Any] | None = None,
        more: Drawings | None = None,
    ) -> None:
        """Write, show, draw, in this order: a picture that fails costs nothing else; ``more`` comes last.

        ``source`` and ``table`` are where the pool came from, which the summary names, and what was read there.
        """
        from handful.files import json_text
        from handful.files.runs import picks_table, save, summary

        named = {} if self.folder is None or source is None else {"pool": source.named(self.folder)}
        if self.folder is not None:
            save(selection, self.folder, force=self.force, ids=ids, extra_summary=named)
        picks = picks_table(selection, ids)
        drawings = self._drawings(selection, what, images, more or {})
        if self.as_json:
            rows = [dict(zip(picks, row, strict=True)) for row in zip(*picks.values(), strict=True)]
            result().print(json_text(summary(selection) | named | {"picks": rows}), soft_wrap=True)
        else:
            columns = picks if ids is not None else {k: v for k, v in picks.items() if k != "id"}
            self._show(selection, columns, list(drawings))
        with live_line(not self.quiet and bool(drawings), "drawing the picture"):
            for name, draw in drawings.items():
                self._draw(name, draw)
        if self.report and self.folder is not None and table is not None:
            from handful.cli.report import report_beside

            report_beside(self.folder, table, quiet=self.quiet, silent=self.as_json)
        if selection.status == "interrupted":
            raise typer.Exit(INTERRUPTED)

    def _drawings(self, selection: Selection, what: str, images: NDArray[Any] | None, more: Drawings) -> Drawings:
        """What is to be drawn, by the names of the files; it is said once where a plot that was expected can't be."""
        if self.folder is None or self.picture is False:
            return {}
        if not _can_draw():
            if more and not self.quiet:
                aside().print(f"{', '.join(more)} not drawn: install matplotlib with pip install 'handful[plot]'.")
            return {}

        def picture(file: BinaryIO) -> None:
            from handful.picture import draw

            draw(selection, file, what=what, images=images)

        return {"picture.png": picture, **more}

    def _show(self, selection: Selection, picks: Mapping[str, Sequence[Any]], drawn: list[str]) -> None:
        console = result()
        count = len(selection.indices)
        # Picks that are kept nowhere else are all shown.
        shown = count if self.folder is None else min(count, _SHOWN)
        console.print(columns_table(picks, shown))
        if shown < count:
            console.print(f"and {count - shown} more in {self.folder}/picks.csv")
        console.print(f"{selection}.", soft_wrap=True)
        if self.folder is not None:
            from handful.files.write import RUN_FILES

            names = [name for name in RUN_FILES if (self.folder / name).exists()] + drawn
            console.print(f"Written to {self.folder}: {', '.join(names)}.", soft_wrap=True)

    def _draw(self, name: str, draw: Callable[[BinaryIO], None]) -> None:
        assert self.folder is not None
        try:
            # Drawn beside the folder, where a picture that is cut off makes no run look strange.
            with tempfile.TemporaryDirectory(prefix=".picture-", dir=self.folder.resolve().parent) as beside:
                with (Path(beside) / name).open("wb") as file:
                    draw(file)
                (Path(beside) / name).replace(self.folder / name)
        except OSError as error:
            raise HandfulError(
                f"{self.folder}/{name} can't be written ({error.strerror or error}), but the rest of the run is "
                "there; make room, or leave it out with --no-picture."
            ) from error


def columns_table(picks: Mapping[str, Sequence[Any]], shown: int) -> Table:
    """The first rows of a table of columns, to be printed."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in picks:
        table.add_column(name.replace("_", " "), justify="left" if name == "id" else "right", overflow="fold")
    for row in zip(*(column[:shown] for column in picks.values()), strict=True):
        table.add_row(*map(_cell, row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:#.4g}" if isinstance(value, float) else str(value)


def _can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None
