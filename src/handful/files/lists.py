"""Files that speak about the points of a pool: lists of some of them, and their masses."""

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.arrays import npy_header
from handful.files.parquet import read_column
from handful.files.table import (
    Ids,
    Table,
    check_file,
    failing_means_corrupt,
    first_repeat,
    is_numeric,
    shown,
)
from handful.files.text import Record, is_number, read_records

LIST_SUFFIXES = (".txt", ".csv", ".npy", ".json", ".parquet")
Cell = tuple[str, str]
"""Where in a file a point is named, such as "line 3", and the text that names it."""

MASS_SUFFIXES = (".npy", ".csv", ".txt", ".parquet")


def read_points_list(path: str | PathLike[str], table: Table) -> NDArray[np.int64]:
    """Read a file that names points of the pool.

    The file holds ids where the pool has ids and row numbers, counted from 0, where it has none: one per line
    (`.txt`, `.csv`), in the column "id" or "index" of a table (`.csv`, `.parquet`; an earlier run's picks.csv is one),
    or as a list (`.npy`, `.json`). No points at all are fine.

    Returns
    -------
    The rows of the points in the pool, counted from 0, in the order of the file.
    """
    path = Path(path)
    suffix = check_file(path, LIST_SUFFIXES, "a list of points")
    wanted = "index" if table.ids is None else "id"
    if suffix == ".npy":
        values = _flat_npy(path)
    elif suffix == ".json":
        values = _json_list(path)
    elif suffix == ".parquet":
        values = read_column(path, [wanted])
    else:
        values = _values(path, _listed_cells(path, read_records(path, commas=suffix == ".csv"), wanted), table)
    rows = _rows(path, values, table)
    if (twice := first_repeat(rows)) is not None:
        raise HandfulError(f"{path} names the point {values[twice[0]].item()!r} twice; name every point once.")
    return rows


def rows_named(path: Path, cells: Sequence[Cell], table: Table) -> NDArray[np.int64]:
    """Find the row of each cell, which is an id of the pool or, where it has none, a row number; repeats are fine."""
    return _rows(path, _values(path, cells, table), table)


def names_a_file(source: str) -> bool:
    """Whether what was given as masses is a file, going by its extension, and not a column of the pool."""
    return Path(source).suffix.lower() in MASS_SUFFIXES


def read_masses(source: str, table: Table) -> NDArray[np.float64]:
    """Return one mass per point, from a column of the pool or from a file; their signs are the pool's to check."""
    if source in table.columns:
        return table.columns[source].astype(np.float64)
    path = Path(source)
    if not names_a_file(source) and not path.exists():
        columns = f"columns there: {shown(table.columns)}" if table.columns else "it has no other columns"
        raise HandfulError(f"The masses '{source}' are neither a column of {table.path} ({columns}) nor a file.")
    suffix = check_file(path, MASS_SUFFIXES, "masses")
    if suffix == ".npy":
        values = _flat_npy(path)
    elif suffix == ".parquet":
        values = read_column(path, [])
    else:
        values = _masses_in_lines(path, read_records(path, commas=suffix == ".csv"))
    if not is_numeric(values.dtype):
        raise HandfulError(f"{path} is not numeric: it holds {values.dtype}; masses must be numbers.")
    if len(values) != len(table.points):
        raise HandfulError(
            f"{path} holds {len(values)} masses and {table.path} {len(table.points)} points; give one mass per point."
        )
    return values.astype(np.float64)


def _flat_npy(path: Path) -> NDArray[Any]:
    shape, dtype = npy_header(path)
    if dtype.hasobject:
        raise HandfulError(f"{path} holds Python objects; save it as an array of numbers.")
    if len(shape) != 1:
        raise HandfulError(f"{path} has the shape {shape}; an array of 1 dimension was expected, so flatten it.")
    with failing_means_corrupt(path, ValueError, EOFError, OSError):
        values: NDArray[Any] = np.load(path, allow_pickle=False)
    return values


def _json_list(path: Path) -> NDArray[Any]:
    try:
        values = json.loads(path.read_bytes())
    except ValueError as error:  # of the JSON, or of its encoding
        raise HandfulError(f"{path} is not JSON ({error}); write a list such as [3, 14, 15].") from error
    kinds = {type(value) for value in values} if isinstance(values, list) else {dict}
    if not (kinds <= {int} or kinds <= {str}):
        raise HandfulError(f"{path} must be one JSON list of row numbers or ids, all whole numbers or all text.")
    try:
        return np.array(values, dtype=np.int64 if kinds == {int} else np.str_)
    except OverflowError:
        raise HandfulError(f"{path} names a point by a number larger than 2^63 - 1; no pool has it.") from None


def _listed_cells(path: Path, records: list[Record], wanted: str) -> list[Cell]:
    """Return place and text of each listed point: of the wanted column, or of the only one."""
    if not records:
        return []
    first = records[0][1]
    if wanted in first:
        at, records = first.index(wanted), records[1:]
    elif len(first) == 1:
        at = 0
    else:
        raise HandfulError(f"{path} has no column '{wanted}' to name points by; its first line is: {shown(first)}.")
    for line, cells in records:
        if len(cells) != len(first) or not cells[at]:
            raise HandfulError(
                f"{path}: line {line} does not name a point: it has {len(cells)} cell(s) and {len(first)} were "
                f"expected, number {at + 1} of them filled."
            )
    return [(f"line {line}", cells[at]) for line, cells in records]


def _values(path: Path, cells: Sequence[Cell], table: Table) -> NDArray[Any]:
    if cells and (table.ids is None or table.ids.dtype.kind == "i"):
        return _whole_numbers(path, cells, table)
    return np.array([cell for _, cell in cells], dtype=np.str_)


def _rows(path: Path, values: NDArray[Any], table: Table) -> NDArray[np.int64]:
    if not values.size:
        return np.empty(0, dtype=np.int64)
    return _as_rows(path, values, table) if table.ids is None else _rows_of_ids(path, values, table.ids, table)


def _whole_numbers(path: Path, cells: Sequence[Cell], table: Table) -> NDArray[np.int64]:
    what = "row number, counted from 0" if table.ids is None else "whole number, as ids there are"
    for place, cell in cells:
        digits = cell.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20 and abs(int(cell)) < 2**63):
            raise HandfulError(f"{path}: {place} holds {cell[:40]!r}; to name a point of {table.path} write a {what}.")
    return np.array([int(cell) for _, cell in cells], dtype=np.int64)


def _as_rows(path: Path, values: NDArray[Any], table: Table) -> NDArray[np.int64]:
    count = len(table.points)
    if values.dtype.kind not in "iu":
        raise HandfulError(
            f"{path} holds {values.dtype} values; {table.path} has no ids, so its points are named by row number."
        )
    outside = np.flatnonzero((values < 0) | (values >= count))
    if outside.size:
        raise HandfulError(
            f"{path} names row {values[outside[0]]}, and {table.path} has only the rows 0 to {count - 1}; "
            f"{outside.size} of its {len(values)} row numbers are out of range."
        )
    return values.astype(np.int64)


def _rows_of_ids(path: Path, values: NDArray[Any], ids: Ids, table: Table) -> NDArray[np.int64]:
    """Find the row of each id by halving in the sorted ids."""
    if values.dtype.kind not in "iuU":
        raise HandfulError(f"{path} holds {values.dtype} values; the ids of {table.path} were expected.")
    if ids.dtype.kind != values.dtype.kind:
        values, ids = values.astype(np.str_), ids.astype(np.str_)
    order = np.argsort(ids, kind="stable")
    found = order[np.minimum(np.searchsorted(ids, values, sorter=order), len(ids) - 1)]
    unknown = values[ids[found] != values]
    if unknown.size:
        raise HandfulError(
            f"{path} names {unknown.size} of {len(values)} points by ids that {table.path} doesn't have: "
            f"{shown([str(value) for value in unknown], most=3)}; correct or drop them."
        )
    return found.astype(np.int64)


def _masses_in_lines(path: Path, records: list[Record]) -> NDArray[np.float64]:
    if records and len(records[0][1]) == 1 and not is_number(records[0][1][0]):
        records = records[1:]
    for line, cells in records:
        if len(cells) != 1:
            raise HandfulError(f"{path}: line {line} has {len(cells)} cells; one mass per line was expected.")
        if not is_number(cells[0]):
            raise HandfulError(f"{path}: line {line} is not numeric: it holds {cells[0][:40]!r}; write one mass there.")
    return np.array([float(cells[0]) for _, cells in records], dtype=np.float64)
