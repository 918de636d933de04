"""Pools in `.csv`, and the lines of small text files."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.table import Ids, Table, as_ids, make_table, split_names

Record = tuple[int, list[str]]
"""The number of a line, from 1, and its cells without blanks around them."""

LARGEST_ROW = 1 << 24


def read_csv(path: Path, id_column: str | None, mass_column: str | None) -> Table:
    """Read a comma-separated file with or without a line of column names.

    The first line is one of names when none of its cells is a number; columns called 0, 1, 2 and so on, as pandas
    calls them, are names too. Without names, columns are called by their number, from 1.
    """
    with path.open("rb") as file:
        line, first = next(_records(path, file), (0, []))
        if not first:
            raise HandfulError(f"{path} is empty; a pool needs points.")
        has_names = _are_names(path, line, first)
        names = first if has_names else [str(number + 1) for number in range(len(first))]
        ids, features = split_names(path, names, id_column, mass_column)
        if not features:
            raise HandfulError(f"{path} has no columns of points; it has only {', '.join(names)}.")
        if not has_names:
            file.seek(0)
        table = _parse(path, file, names, ids)
    if table is None or (ids is not None and _has_blank(table[ids])):
        raise _fault(path, names, ids, has_names)
    if not table.num_rows:
        raise HandfulError(f"{path} is empty: it has column names but no rows; a pool needs points.")
    points = np.empty((table.num_rows, len(features)))
    for at, name in enumerate(features):
        points[:, at] = table[name].to_numpy()
    columns = {} if mass_column is None else {mass_column: table[mass_column].to_numpy()}
    named = features if has_names else []
    return make_table(path, points, None if ids is None else _ids(path, table[ids], ids), columns, named)


def read_records(path: Path, *, commas: bool) -> list[Record]:
    """Return the lines that aren't blank, split at commas or each as one cell."""
    with path.open("rb") as file:
        if commas:
            return [record for record in _records(path, file) if any(record[1])]
        return [(number, [line.strip()]) for number, line in enumerate(_lines(path, file), 1) if line.strip()]


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, nan and inf among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _lines(path: Path, file: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(iter(file.readline, b""), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise HandfulError(f"{path}: line {number} is not UTF-8 text; save the file as UTF-8.") from error


def _records(path: Path, file: BinaryIO) -> Iterator[Record]:
    """Yield one record after the other and read no further than that, so that the file stands behind the last one."""
    reader = csv.reader(_lines(path, file))
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise HandfulError(f"{path}: line {reader.line_num} is not comma-separated text ({error}).") from error


def _are_names(path: Path, line: int, first: list[str]) -> bool:
    """Tell column names from a first point; what could be either is refused."""
    words = first[0].split()
    if len(first) == 1 and (";" in first[0] or "\t" in first[0] or (len(words) > 1 and all(map(is_number, words)))):
        raise HandfulError(f"{path}: line {line} has no commas ({first[0][:40]!r}); separate the columns by commas.")
    numbers = [cell for cell in first if is_number(cell)]
    if len(numbers) != 1 and numbers == [str(number) for number in range(len(numbers))]:
        return True
    if len(numbers) + first.count("") == len(first):
        return False
    name = next(cell for cell in first if cell and not is_number(cell))
    raise HandfulError(
        f"{path}: line {line} mixes column names and numbers ('{name}', '{numbers[0]}'); "
        "put a line above it that gives every column a name."
    )


def _parse(path: Path, file: BinaryIO, names: list[str], ids: str | None) -> Any:
    """Return the rest of the file as an Arrow table of floats and text ids, or None where it isn't one."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    kinds = {name: pa.string() if name == ids else pa.float64() for name in names}
    try:
        return arrow.read_csv(
            file,
            read_options=arrow.ReadOptions(column_names=names, block_size=LARGEST_ROW),
            parse_options=arrow.ParseOptions(newlines_in_values=True),
            convert_options=arrow.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return pa.table({name: pa.array([], kinds[name]) for name in names})
        return None


def _fault(path: Path, names: list[str], ids: str | None, has_names: bool) -> HandfulError:
    """Read the file once more, slowly, for the line and column at which it stops being a table of numbers."""
    with path.open("rb") as file:
        records = _records(path, file)
        if has_names:
            next(records)
        for line, cells in records:
            if len(cells) != len(names):
                return HandfulError(
                    f"{path}: line {line} has {len(cells)} cell(s) and {len(names)} were expected; "
                    "complete it, or copy the file again if it is cut off."
                )
            for name, cell in zip(names, cells, strict=True):
                if not cell:
                    return HandfulError(f"{path}: line {line}, column '{name}' is empty; fill it or drop the line.")
                if name != ids and not is_number(cell):
                    return HandfulError(
                        f"{path}: line {line}, column '{name}' is not numeric: it holds {cell[:40]!r}; "
                        "correct it, name the column with --id if it holds the ids, or drop the column."
                    )
    return HandfulError(f"{path} can't be read as comma-separated numbers; write it again.")


def _has_blank(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py())


def _ids(path: Path, column: Any, name: str) -> Ids:
    """Return ids as whole numbers where all are written as such (007 isn't), otherwise as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    try:
        whole = text.cast(pa.int64())
        if whole.cast(pa.string()).equals(text):
            return as_ids(path, whole.to_numpy(), name)
    except pa.ArrowInvalid:
        pass
    values: NDArray[Any] = text.to_numpy().astype(np.str_)
    return as_ids(path, values, name)
