"""What every kind of pool file becomes, and the checks they share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError

Ids = NDArray[np.int64] | NDArray[np.str_]

ROW_INDEX_NAMES = ("", "__index_level_0__")
"""Names under which pandas writes its row index when nobody named it."""


@dataclass(frozen=True, eq=False)
class Table:
    """A pool as its file holds it.

    Attributes
    ----------
    path
        The file, as it was given.
    points
        The points, one per row, in the number type of the file; a memory map for `.npy`.
    ids
        One id per point, whole numbers or text, all different; None where the file has none.
    columns
        The other columns of numbers, such as masses, by name; never part of the points.
    names
        What the coordinates are called; empty where the file doesn't say.
    """

    path: Path
    points: NDArray[Any]
    ids: Ids | None
    columns: Mapping[str, NDArray[Any]]
    names: tuple[str, ...] = ()


def make_table(
    path: Path,
    points: NDArray[Any],
    ids: Ids | None,
    columns: Mapping[str, NDArray[Any]],
    names: Sequence[str] = (),
) -> Table:
    """Join the parts of a pool, or say what is wrong with its ids."""
    if ids is not None and (twice := first_repeat(ids)) is not None:
        first, second = twice
        raise HandfulError(
            f"{path}: the id {ids[first].item()!r} stands in rows {first} and {second} (counted from 0); "
            "ids must be unique, so correct one of them."
        )
    return Table(path, points, ids, columns, tuple(names))


def check_file(path: Path, suffixes: Collection[str], purpose: str) -> str:
    """Return the file's suffix in small letters once the file is there, can be opened and has a known one."""
    known = " ".join(suffixes)
    if path.is_dir():
        raise HandfulError(f"{path} is a folder; give {purpose} as a file of one of these kinds: {known}.")
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise HandfulError(f"{path} does not exist; check the name and the folder.") from None
    except OSError as error:
        raise HandfulError(f"{path} can't be opened ({error.strerror}); check its permissions.") from error
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        found = f"the unknown extension '{path.suffix}'" if path.suffix else "no extension"
        raise HandfulError(f"{path} has {found}; give {purpose} as a file of one of these kinds: {known}.")
    return suffix


@contextmanager
def failing_means_corrupt(path: Path, *failures: type[Exception]) -> Iterator[None]:
    """Turn what a format's library throws at a broken file into one sentence."""
    try:
        yield
    except (HandfulError, MemoryError):
        raise
    except failures as error:
        kind = path.suffix.lower()
        raise HandfulError(
            f"{path} can't be read as {kind}: it is truncated, corrupt or of another kind; write or copy it again."
        ) from error


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Whether the type holds integers or real numbers (truth values and complex numbers are neither)."""
    return dtype.kind in "iuf"


def require_points(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], array: str = "") -> None:
    """Refuse an array that can't be the points of a pool, from its header alone."""
    what = f"{path}: the array '{array}'" if array else f"{path}"
    if not is_numeric(dtype):
        raise HandfulError(f"{what} is not numeric: it holds {dtype}, and integers or floats were expected.")
    if len(shape) != 2:
        advice = "reshape it to one row per point"
        if len(shape) > 2:
            advice = f"reshape it to {(shape[0], int(np.prod(shape[1:])))}"
        raise HandfulError(f"{what} has the shape {shape}; points must be an array of 2 dimensions, so {advice}.")
    if 0 in shape:
        raise HandfulError(f"{what} is empty, with {shape[0]} rows and {shape[1]} columns; a pool needs points.")


def require_ids(path: Path, dtype: np.dtype[Any], name: str) -> None:
    """Refuse ids that are neither whole numbers nor text."""
    if dtype.kind not in "iuU":
        raise HandfulError(f"{path}: the ids in '{name}' are {dtype}; save them as whole numbers or as text.")


def as_ids(path: Path, values: NDArray[Any], name: str) -> Ids:
    """Return ids as int64 or text; anything else is refused."""
    require_ids(path, values.dtype, name)
    if values.dtype.kind == "U":
        return values
    if values.dtype.kind == "u" and values.size and values.max() > np.iinfo(np.int64).max:
        raise HandfulError(f"{path}: an id in '{name}' is larger than 2^63 - 1; save the ids as text.")
    return values.astype(np.int64)


def first_repeat(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return where the first value that was there before stands, and where it was before, smaller first."""
    order = np.argsort(values, kind="stable")
    again = np.flatnonzero(values[order[1:]] == values[order[:-1]])
    if not again.size:
        return None
    at = again[np.argmin(order[again + 1])]
    return int(order[at]), int(order[at + 1])


def split_names(
    path: Path, names: Sequence[str], id_column: str | None, mass_column: str | None
) -> tuple[str | None, list[str]]:
    """Return the name of the id column (None without one) and those of all columns that aren't ids or masses."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise HandfulError(f"{path} has two columns called '{name}'; rename one of them.")
    for option, asked in (("--id", id_column), ("--mass", mass_column)):
        if asked is not None and asked not in names:
            raise HandfulError(f"{path} has no column '{asked}' for {option}; its columns are: {shown(names)}.")
    if id_column is None and "id" in names and mass_column != "id":
        id_column = "id"
    others = [name for name in names if name not in (id_column, mass_column)]
    for name in others:
        if name in ROW_INDEX_NAMES:
            raise HandfulError(
                f"{path}: column {names.index(name) + 1} ('{name}') looks like row numbers written by accident; "
                "drop it, or call it 'id' if it holds the ids."
            )
    return id_column, others


def shown(names: Collection[str], most: int = 12) -> str:
    """Return names for a message, cut where there are many."""
    listed = [f"'{name}'" for name in names]
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
