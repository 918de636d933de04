"""Labels of points, one each: numbers or words."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.parquet import read_column
from handful.files.table import check_file, failing_means_corrupt
from handful.files.text import read_records

LABEL_SUFFIXES = (".npy", ".npz", ".txt", ".csv", ".parquet")
COLUMN = "label"


def named_array(source: str) -> tuple[str, str | None]:
    """Split ``data.npz:train_labels`` into file and array."""
    file, colon, array = source.rpartition(":")
    return (file, array) if colon and file.lower().endswith(".npz") else (source, None)


def read_labels(source: str | PathLike[str], count: int) -> NDArray[Any]:
    """Read ``count`` labels, as whole numbers where all are, else as text.

    ``source`` is a `.npy`, a `.npz` with the name of the array after a colon, a `.txt` with one per line, or the
    column "label" of a `.csv` or `.parquet` (in a `.csv` of one column, that one).
    """
    file, array = named_array(str(source))
    path = Path(file)
    suffix = check_file(path, LABEL_SUFFIXES, "labels")
    if suffix in (".npy", ".npz"):
        values = _array(path, array)
    elif suffix == ".parquet":
        values = read_column(path, [COLUMN])
    else:
        values = _lines(path, commas=suffix == ".csv")
    if values.ndim != 1 or values.dtype.kind not in "iuUb":
        raise HandfulError(f"{source} holds {values.dtype} of shape {values.shape}; one number or word each is a label")
    if len(values) != count:
        raise HandfulError(f"{source} holds {len(values)} labels for {count} points; give one label per point")
    return values


def _array(path: Path, array: str | None) -> NDArray[Any]:
    with failing_means_corrupt(path, ValueError, EOFError, OSError, KeyError):
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(path, allow_pickle=False))
        with np.load(path, allow_pickle=False) as archive:
            names = archive.files
            if array is None or array not in names:
                raise HandfulError(f"{path} holds {', '.join(names)}; say which are the labels by {path}:NAME")
            return np.asarray(archive[array])


def _lines(path: Path, *, commas: bool) -> NDArray[Any]:
    records = read_records(path, commas=commas)
    if not records:
        return np.empty(0, np.str_)
    first = records[0][1]
    at = 0
    if COLUMN in first:
        at, records = first.index(COLUMN), records[1:]
    elif len(first) > 1:
        raise HandfulError(f"{path} has no column '{COLUMN}'; name the one with the labels so")
    for line, cells in records:
        if len(cells) <= at or not cells[at]:
            raise HandfulError(f"{path}: line {line} holds no label; give one per point")
    return as_labels([cells[at] for _, cells in records])


def as_labels(words: Sequence[str]) -> NDArray[Any]:
    """Return labels as whole numbers where all are written as such, else as text."""
    values = np.array(words, np.str_)
    whole = all(word.removeprefix("-").isdecimal() and len(word) < 19 for word in words)
    return values.astype(np.int64) if whole else values
