"""Where the images and texts of picks come from: a pattern with the point's id or row, or a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.errors import HandfulError
from handful.files.table import check_file, failing_means_corrupt, shown
from handful.files.text import read_records
from handful.handoff.picks import Picks

TABLE_SUFFIXES = (".csv", ".parquet")
_IDS = "id"


def by_pattern(picks: Picks, pattern: str) -> list[str]:
    """Fill in `{id}`, `{index}` and `{rank}` for each pick; `{index:05d}` has leading zeros."""
    try:
        return [
            pattern.format(id=name, index=index, rank=rank)
            for rank, (index, name) in enumerate(zip(picks.index, picks.ids, strict=True), 1)
        ]
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise HandfulError(
            f"the pattern '{pattern}' can't be filled in ({error}); what it may hold is {{id}}, {{index}} and {{rank}}."
        ) from error


def by_column(picks: Picks, table: Path, names: Sequence[str]) -> list[list[str]]:
    """The cells of the picks in columns of a table: a row per point of the pool, or found by its column "id"."""
    columns = _columns(table, names)
    if picks.named and _IDS in columns:
        rows = _rows_of(picks, columns[_IDS], table)
    elif len(columns[names[0]]) == picks.n:
        rows = list(picks.index)
    else:
        advice = ", or a column 'id'" if picks.named else ""
        raise HandfulError(
            f"{table} has {len(columns[names[0]])} rows, and the pool of the picks {picks.n} points; "
            f"it must have a row for each point{advice}."
        )
    for name in names:
        for row in rows:
            if not columns[name][row]:
                raise HandfulError(f"{table}: row {row} (counted from 0) of the column '{name}' is empty; fill it.")
    return [[columns[name][row] for row in rows] for name in names]


def _rows_of(picks: Picks, ids: Sequence[str], table: Path) -> list[int]:
    found = {name: row for row, name in enumerate(ids)}
    if len(found) < len(ids):
        raise HandfulError(f"{table} has ids that stand in several rows; ids must be unique.")
    unknown = [name for name in picks.ids if name not in found]
    if unknown:
        raise HandfulError(
            f"{table} lacks the ids of {len(unknown)} of the {len(picks)} picks: {shown(unknown, most=3)}; add them."
        )
    return [found[name] for name in picks.ids]


def _columns(table: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns asked for and, where there is one, that of ids, as text."""
    if check_file(table, TABLE_SUFFIXES, "a table of images and texts") == ".parquet":
        return _of_parquet(table, names)
    records = read_records(table, commas=True)
    there = records[0][1] if records else []
    _require(table, names, there)
    for line, cells in records:
        if len(cells) != len(there):
            raise HandfulError(f"{table}: line {line} has {len(cells)} cell(s) and {len(there)} were expected.")
    return {name: [cells[there.index(name)] for _, cells in records[1:]] for name in {*names, _IDS} & {*there}}


def _of_parquet(table: Path, names: Sequence[str]) -> dict[str, list[str]]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with failing_means_corrupt(table, pa.ArrowException, OSError), ParquetFile(table) as file:
        there = file.schema_arrow.names
        _require(table, names, there)
        columns = file.read(columns=sorted({*names, _IDS} & {*there})).to_pydict()
    return {name: ["" if cell is None else str(cell) for cell in cells] for name, cells in columns.items()}


def _require(table: Path, names: Sequence[str], there: Sequence[str]) -> None:
    for name in names:
        if name not in there:
            raise HandfulError(f"{table} has no column '{name}'; its columns are: {shown(there)}.")
