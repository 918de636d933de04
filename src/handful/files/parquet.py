"""Pools in `.parquet`: a column of lists, or columns of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.table import Table, as_ids, failing_means_corrupt, make_table, shown, split_names

ROWS_AT_A_TIME = 16_384
"""Small enough that the rows being decoded weigh little beside the array they go to."""

STREAMED = {"pre_buffer": False, "buffer_size": 1 << 20}
"""Without these Arrow holds a whole row group, often the whole file, beside the array it goes to."""


@dataclass(frozen=True)
class _Roles:
    """What the columns are there for: `lists` is the one column of lists, or None where `features` are the points."""

    ids: str | None
    lists: str | None
    features: list[str]
    kept: list[str]


def read_parquet(path: Path, id_column: str | None, mass_column: str | None) -> Table:
    """Read points, ids and other columns of numbers; goes from Arrow's buffers to one array, block by block."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with failing_means_corrupt(path, pa.ArrowException, OSError), ParquetFile(path, **STREAMED) as file:
        roles = _roles(path, file.schema_arrow, id_column, mass_column)
        if file.metadata.num_rows == 0:
            raise HandfulError(f"{path} is empty: it has columns but no rows; a pool needs points.")
        return _fill(path, file, roles)


def read_column(path: Path, names: Sequence[str]) -> NDArray[Any]:
    """Return the one column that has one of these names; with no names, the one column there is."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with failing_means_corrupt(path, pa.ArrowException, OSError), ParquetFile(path) as file:
        there = file.schema_arrow.names
        found = [name for name in there if name in names] if names else there
        if len(found) != 1:
            expected = f"a column {shown(names)}" if names else "a single column"
            raise HandfulError(f"{path} must have {expected}; its columns are: {shown(there)}.")
        column = file.read(columns=found).column(found[0]).combine_chunks()
        _refuse_nulls(path, found[0], column, 0)
        return _as_array(column)


def _roles(path: Path, schema: Any, id_column: str | None, mass_column: str | None) -> _Roles:
    """Decide from the types of the columns what each is there for."""
    ids, others = split_names(path, schema.names, id_column, mass_column)
    kinds = {name: schema.field(name).type for name in schema.names}
    if mass_column is not None and not _is_number(kinds[mass_column]):
        found = kinds[mass_column]
        raise HandfulError(f"{path}: the column '{mass_column}' for --mass is not numeric: it holds {found}.")
    lists = [name for name in others if _is_list_of_numbers(kinds[name])]
    numbers = [name for name in others if _is_number(kinds[name])]
    # Beside a column of lists, texts, dates and the like are what is known of the points, not points.
    for name in [] if lists else others:
        if name not in numbers:
            raise HandfulError(
                f"{path}: the column '{name}' is not numeric: it holds {kinds[name]}; "
                "name it with --id if it holds the ids, or drop it."
            )
    if len(lists) > 1:
        raise HandfulError(f"{path} has several columns of lists ({shown(lists)}); keep the one with the points.")
    if not lists and not numbers:
        raise HandfulError(f"{path} has no columns of points; its columns are: {shown(schema.names) or 'none'}.")
    masses = [mass_column] if mass_column is not None else []
    if lists:
        return _Roles(ids, lists[0], [], numbers + masses)
    return _Roles(ids, None, numbers, masses)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_list_of_numbers(kind: Any) -> bool:
    from pyarrow import types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and _is_number(kind.value_type))


def _fill(path: Path, file: Any, roles: _Roles) -> Table:
    count = file.metadata.num_rows
    points: NDArray[Any] | None = None
    beside = [*roles.kept] if roles.ids is None else [*roles.kept, roles.ids]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in beside}
    start = 0
    points_from = roles.features if roles.lists is None else [roles.lists]
    for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, columns=[*points_from, *beside]):
        for name in batch.schema.names:
            _refuse_nulls(path, name, batch.column(name), start)
        width = None if points is None else points.shape[1]
        block = _block(path, batch, roles, start, width)
        if points is None:
            points = np.empty((count, block.shape[1]), dtype=block.dtype)
        points[start : start + len(block)] = block
        for name in beside:
            parts[name].append(_as_array(batch.column(name)))
        start += len(block)
    assert points is not None  # there is at least one row
    if not points.shape[1]:
        raise HandfulError(f"{path} is empty: the lists in '{roles.lists}' hold no numbers; a pool needs points.")
    columns = {name: np.concatenate(parts[name]) for name in roles.kept}
    ids = None if roles.ids is None else as_ids(path, np.concatenate(parts[roles.ids]), roles.ids)
    return make_table(path, points, ids, columns, roles.features)


def _block(path: Path, batch: Any, roles: _Roles, start: int, width: int | None) -> NDArray[Any]:
    """Return the points of a few rows, as a matrix."""
    if roles.lists is None:
        return np.column_stack([_as_array(batch.column(name)) for name in roles.features])
    import pyarrow.compute as pc

    column = batch.column(roles.lists)
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None else width
    odd = np.flatnonzero(lengths != width)
    if odd.size:
        raise HandfulError(
            f"{path}: row {start + odd[0]} (counted from 0) of the column '{roles.lists}' holds {lengths[odd[0]]} "
            f"numbers and row 0 holds {width}; all rows must be of one length."
        )
    numbers = column.flatten()
    if numbers.null_count:
        missing = np.flatnonzero(numbers.is_null().to_numpy(zero_copy_only=False))[0]
        _raise_null(path, roles.lists, start + int(missing) // width)
    return _as_array(numbers).reshape(len(lengths), width)


def _as_array(column: Any) -> NDArray[Any]:
    """Return a column without nulls as an array; text becomes NumPy's text, not objects."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    is_text = types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type)
    return values.astype(np.str_) if is_text else values


def _refuse_nulls(path: Path, name: str, column: Any, start: int) -> None:
    if column.null_count:
        missing = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]
        _raise_null(path, name, start + int(missing))


def _raise_null(path: Path, name: str, row: int) -> None:
    raise HandfulError(
        f"{path}: the column '{name}' has no value (null) in row {row} (counted from 0); fill it or drop the row."
    )
