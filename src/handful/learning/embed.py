"""Embeds a source into a pool file, in batches; a run that was killed goes on after its last batch."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.learning.embedders import Embedder
from handful.learning.sources import Source


def embed(
    source: Source,
    embedder: Embedder,
    output: Path,
    *,
    batch: int = 64,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write one row of single-precision numbers for each thing, and return how many an earlier run had written.

    Rows go into ``.NAME.part`` as they are made, a memory map, so that no more than a batch is held in memory; the
    file takes its name when it is whole. Where things have names, they stand in ``NAME.ids.csv`` beside it.

    Parameters
    ----------
    progress : callable, optional
        Told, after every batch, how many rows are there and how many there will be.
    """
    if output.suffix != ".npy":
        raise HandfulError(f"{output} must end in .npy: a pool that is written row by row")
    if not output.absolute().parent.is_dir():
        raise HandfulError(f"{output}: there is no folder {output.absolute().parent}; make it, or give another")
    if batch < 1:
        raise HandfulError(f"a batch must be of 1 or more; got {batch!r}")
    part, note = output.with_name(f".{output.name}.part"), output.with_name(f".{output.name}.part.json")
    run = {"source": source.fingerprint(), "encoder": embedder.name, "rows": len(source), "width": embedder.width,
           "batch": batch}  # fmt: skip
    found = done = _done(part, note, run)
    rows: Any = np.lib.format.open_memmap(
        part, "r+" if done else "w+", None if done else np.float32, None if done else (len(source), embedder.width)
    )
    while done < len(source):
        stop = min(done + batch, len(source))
        rows[done:stop] = _checked(embedder.rows(source[done:stop]), stop - done, done)
        rows.flush()
        done = stop
        _write_note(note, run | {"done": done})
        if progress is not None:
            progress(done, len(source))
    del rows
    os.replace(part, output)
    note.unlink()
    if source.ids is not None:
        _write_ids(output.with_name(f"{output.stem}.ids.csv"), source.ids)
    return found


def _done(part: Path, note: Path, run: dict[str, Any]) -> int:
    """How many rows of this very run are there."""
    if not (part.exists() and note.exists()):
        return 0
    held = json.loads(note.read_text())
    return int(held.pop("done")) if {**held, "done": None} == {**run, "done": None} else 0


def _write_note(note: Path, held: dict[str, Any]) -> None:
    aside = note.with_name(f"{note.name}.new")
    aside.write_text(json.dumps(held))
    os.replace(aside, note)


def _checked(rows: NDArray[np.float32], count: int, start: int) -> NDArray[np.float32]:
    if rows.shape[0] != count:
        raise HandfulError(f"the encoder gave {rows.shape[0]} rows for {count} things")
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise HandfulError(f"the encoder gives NaN or infinity for row {start + bad[0]} (counted from 0)")
    return rows


def _write_ids(path: Path, ids: tuple[str, ...]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["index", "id"])
        table.writerows(enumerate(ids))
