"""Anything that is known of the points, one value each: a column of the pool's own file or of another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.table import Table, check_file, failing_means_corrupt, shown
from handful.files.text import Record, is_number, read_records

VALUE_SUFFIXES = (".csv", ".parquet", ".npy", ".npz", ".txt")
_NAMES_OF_POINTS = ("id", "index")


@dataclass(frozen=True)
class Values:
    """A name, and one value for each point; None where nothing is known of it."""

    name: str
    values: Sequence[Any]
    file: Path


def read_values(source: str, table: Table, option: str) -> Values:
    """Read one value per point.

    ``source`` is a column of the pool's own file, or ``FILE:COLUMN``, or ``FILE`` where it has one column only. A table
    with a column "id" or "index" says by it which points its rows are of, and need not have one for all of them; any
    other has one row per point.
    """
    own = _own(source, table)
    if own is not None:
        return own
    path, column = _split(source)
    if not path.suffix:
        columns = f"columns there: {shown(table.columns)}" if table.columns else "it has no other columns"
        raise HandfulError(f"{option} {source} is neither a column of {table.path} ({columns}) nor a file.")
    suffix = check_file(path, VALUE_SUFFIXES, f"what {option} names")
    if suffix == ".csv":
        names, columns_of = _csv(path)
    elif suffix == ".txt":
        names, columns_of = [path.stem], {path.stem: [record[1][0] for record in read_records(path, commas=False)]}
    elif suffix == ".parquet":
        names, columns_of = _parquet(path, column)
    else:
        names, columns_of = _arrays(path, column)
    chosen = _chosen(path, names, column, option)
    values = _placed(path, columns_of, chosen, table, option)
    return Values(chosen, _numbers_where_all_are(values), path)


def _own(source: str, table: Table) -> Values | None:
    """A column of the pool's own file, whether of numbers or of text."""
    if source in table.columns:
        return Values(source, table.columns[source].tolist(), table.path)
    suffix = table.path.suffix.lower()
    if suffix == ".parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(table.path) as file:
            if source in file.schema_arrow.names:
                return Values(source, file.read(columns=[source]).column(source).to_pylist(), table.path)
    elif suffix == ".csv" and source in table.names:
        return Values(source, np.asarray(table.points[:, table.names.index(source)]).tolist(), table.path)
    elif suffix == ".npz":
        with np.load(table.path, allow_pickle=False) as archive:
            if source in archive.files and archive[source].shape[:1] == (len(table.points),):
                return Values(source, archive[source].tolist(), table.path)
    return None


def _split(source: str) -> tuple[Path, str | None]:
    """``FILE:COLUMN`` as file and column; a file that is there by the whole name is one."""
    file, colon, column = source.rpartition(":")
    if colon and Path(file).suffix.lower() in VALUE_SUFFIXES and not Path(source).exists():
        return Path(file), column
    return Path(source), None


def _csv(path: Path) -> tuple[list[str], dict[str, Sequence[Any]]]:
    records: list[Record] = read_records(path, commas=True)
    if not records:
        raise HandfulError(f"{path} is empty; give one value per point.")
    first = records[0][1]
    if len(first) == 1 and is_number(first[0]):
        return [path.stem], {path.stem: [cells[0] for _, cells in records]}
    for line, cells in records:
        if len(cells) != len(first):
            raise HandfulError(f"{path}: line {line} has {len(cells)} cell(s) and {len(first)} were expected.")
    return first, {name: [cells[at] or None for _, cells in records[1:]] for at, name in enumerate(first)}


def _parquet(path: Path, column: str | None) -> tuple[list[str], dict[str, Sequence[Any]]]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with failing_means_corrupt(path, pa.ArrowException, OSError), ParquetFile(path) as file:
        names = list(file.schema_arrow.names)
        wanted = [name for name in names if column is None or name in (column, *_NAMES_OF_POINTS)]
        read = file.read(columns=wanted)
        return names, {name: read.column(name).to_pylist() for name in wanted}


def _arrays(path: Path, column: str | None) -> tuple[list[str], dict[str, Sequence[Any]]]:
    arrays: dict[str, NDArray[Any]]
    with failing_means_corrupt(path, ValueError, EOFError, OSError):
        if path.suffix.lower() == ".npy":
            arrays = {path.stem: np.load(path, allow_pickle=False)}
        else:
            with np.load(path, allow_pickle=False) as archive:
                named = archive.files if column is None else [name for name in archive.files if name == column]
                arrays = {name: archive[name] for name in named} | {
                    name: np.empty(0) for name in archive.files if name not in named
                }
    flat = {name: array.tolist() for name, array in arrays.items() if array.ndim == 1}
    return list(flat), flat


def _chosen(path: Path, names: Sequence[str], column: str | None, option: str) -> str:
    if column is not None:
        if column not in names:
            raise HandfulError(f"{path} has no column '{column}' for {option}; it has {shown(names) or 'none'}.")
        return column
    others = [name for name in names if name not in _NAMES_OF_POINTS] or list(names)
    if len(others) != 1:
        raise HandfulError(f"{path} has the columns {shown(names) or 'none'}; say which by {option} {path}:COLUMN.")
    return others[0]


def _placed(path: Path, columns: dict[str, Sequence[Any]], chosen: str, table: Table, option: str) -> list[Any]:
    """One value per point of the pool, in its order."""
    values, n = columns[chosen], len(table.points)
    by = "id" if table.ids is not None else "index"
    if by == chosen or by not in columns or path.suffix.lower() not in (".csv", ".parquet"):
        if len(values) != n:
            raise HandfulError(
                f"{path} has {len(values):,} values for {option} and the pool {n:,} points; give one per point, or "
                f"say in a column '{by}' of which point each is."
            )
        return list(values)
    names = range(n) if table.ids is None else table.ids.tolist()
    rows = {str(name): row for row, name in enumerate(names)}
    placed: list[Any] = [None] * n
    for name, value in zip(columns[by], values, strict=True):
        row = rows.get(str(name))
        if row is None:
            raise HandfulError(f"{path} speaks in its column '{by}' of the point {name!r}, which the pool hasn't.")
        placed[row] = value
    return placed


def _numbers_where_all_are(values: list[Any]) -> list[Any]:
    """Text cells as numbers where all are written as such; whole ones stay whole."""
    known = [value for value in values if value is not None]
    if not known or not all(isinstance(value, str) and is_number(value) for value in known):
        return values
    whole = all(value.removeprefix("-").isdecimal() and len(value) < 16 for value in known)
    return [None if value is None else int(value) if whole else float(value) for value in values]
