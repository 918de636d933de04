"""Pools in NumPy's own formats: `.npy`, mapped into memory, and `.npz`."""

import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.table import (
    Ids,
    Table,
    as_ids,
    failing_means_corrupt,
    is_numeric,
    make_table,
    require_ids,
    require_points,
)

Header = tuple[tuple[int, ...], np.dtype[Any]]

USUAL_NAMES = ("points", "X", "embeddings", "features", "train")
ID_NAMES = ("id", "ids")


def read_npy(path: Path) -> Table:
    """Map the points of a `.npy` file into memory; nothing but its header is read."""
    require_points(path, *npy_header(path))
    with failing_means_corrupt(path, ValueError, OSError):
        return make_table(path, np.load(path, mmap_mode="r", allow_pickle=False), None, {})


def npy_header(path: Path) -> Header:
    """Return shape and type of a `.npy` file that is as long as its header says."""
    with failing_means_corrupt(path, ValueError, EOFError, OSError), path.open("rb") as file:
        shape, dtype = _header(file)
        there = path.stat().st_size - file.tell()
    promised = int(np.prod(shape, dtype=object)) * dtype.itemsize
    # Objects are pickled, so their length says nothing; they are refused by their type.
    if there < promised and not dtype.hasobject:
        raise HandfulError(
            f"{path} is truncated: its header promises {promised:,} bytes of numbers (shape {shape}, {dtype}) "
            f"and {there:,} are there; write or copy it again."
        )
    return shape, dtype


def read_npz(path: Path, array: str | None, id_column: str | None, mass_column: str | None) -> Table:
    """Read the points, and the ids and other columns that go with them, from a `.npz` archive."""
    failures = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError)
    with failing_means_corrupt(path, *failures), zipfile.ZipFile(path) as archive:
        headers = _headers(archive)
        name = _name_of_points(path, headers, array)
        require_points(path, *headers[name], array=name)
        count = headers[name][0][0]
        id_name = _name_of_ids(path, headers, id_column, count, mass_column)
        if mass_column is not None:
            _require_column(path, headers, mass_column, count, "--mass")
        columns = {
            other: _load(archive, other)
            for other, (shape, dtype) in headers.items()
            if shape == (count,) and is_numeric(dtype) and other != id_name
        }
        ids: Ids | None = None
        if id_name is not None:
            require_ids(path, headers[id_name][1], id_name)
            ids = as_ids(path, _load(archive, id_name), id_name)
        return make_table(path, _load(archive, name), ids, columns)


def _header(file: BinaryIO) -> Header:
    read = np.lib.format.read_array_header_2_0
    if np.lib.format.read_magic(file) == (1, 0):
        read = np.lib.format.read_array_header_1_0
    shape, _, dtype = read(file)
    return shape, dtype


def _headers(archive: zipfile.ZipFile) -> dict[str, Header]:
    """Return shape and type of every array, without reading the arrays themselves."""
    headers = {}
    for member in archive.namelist():
        if member.endswith(".npy"):
            with archive.open(member) as file:
                headers[member.removesuffix(".npy")] = _header(cast(BinaryIO, file))
    return headers


def _load(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _name_of_points(path: Path, headers: dict[str, Header], array: str | None) -> str:
    if array is not None:
        if array not in headers:
            raise HandfulError(f"{path} has no array '{array}' for --array; it holds {_listing(headers)}.")
        return array
    matrices = [name for name, (shape, _) in headers.items() if len(shape) == 2]
    if len(matrices) == 1:
        return matrices[0]
    for name in USUAL_NAMES:
        if name in matrices:
            return name
    reason = "several arrays of 2 dimensions" if matrices else "no array of 2 dimensions"
    advice = "name the points with --array" if matrices else "save the points as one, a row per point"
    raise HandfulError(f"{path} has {reason}, so {advice}; it holds {_listing(headers)}.")


def _name_of_ids(
    path: Path, headers: dict[str, Header], id_column: str | None, count: int, mass_column: str | None
) -> str | None:
    if id_column is not None:
        _require_column(path, headers, id_column, count, "--id")
        return id_column
    named = (name for name in ID_NAMES if name in headers and name != mass_column)
    return next((name for name in named if headers[name][0] == (count,)), None)


def _require_column(path: Path, headers: dict[str, Header], name: str, count: int, option: str) -> None:
    if name not in headers:
        raise HandfulError(f"{path} has no array '{name}' for {option}; it holds {_listing(headers)}.")
    shape, dtype = headers[name]
    if shape != (count,):
        raise HandfulError(f"{path}: the array '{name}' for {option} has the shape {shape}; ({count},) was expected.")
    if option == "--mass" and not is_numeric(dtype):
        raise HandfulError(f"{path}: the array '{name}' for --mass is not numeric: it holds {dtype}.")


def _listing(headers: dict[str, Header]) -> str:
    return ", ".join(f"'{name}' {shape}" for name, (shape, _) in headers.items()) or "no arrays"
