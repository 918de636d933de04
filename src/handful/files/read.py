"""Reads a pool from a file, whatever its kind."""

from os import PathLike
from pathlib import Path

from handful.errors import HandfulError
from handful.files.arrays import read_npy, read_npz
from handful.files.parquet import read_parquet
from handful.files.table import Table, check_file
from handful.files.text import read_csv

POOL_SUFFIXES = (".npy", ".npz", ".parquet", ".csv")


def read_pool(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    mass_column: str | None = None,
    array: str | None = None,
) -> Table:
    """Read a pool of points; NaN and infinity are the pool's to refuse, not the file's.

    Parameters
    ----------
    path
        A `.npy` (2 dimensions, mapped into memory), `.npz`, `.parquet` (one column of lists, or columns of numbers) or
        `.csv` file (with or without column names).
    id_column
        The column (in `.npz`: the array) that holds the ids; without it, one called "id" where there is one.
    mass_column
        The column (in `.npz`: the array) that holds the masses, and so is not part of the points.
    array
        The array of a `.npz` file that holds the points; without it, the only one of 2 dimensions, or one called
        points, X, embeddings, features or train.

    Raises
    ------
    HandfulError
        Where the file can't be a pool, in one sentence that says why.
    """
    path = Path(path)
    suffix = check_file(path, POOL_SUFFIXES, "a pool")
    if array is not None and suffix != ".npz":
        raise HandfulError(f"{path} is not a .npz file, so --array '{array}' means nothing for it; leave --array out.")
    if suffix == ".npz":
        return read_npz(path, array, id_column, mass_column)
    if suffix == ".parquet":
        return read_parquet(path, id_column, mass_column)
    if suffix == ".csv":
        return read_csv(path, id_column, mass_column)
    for option, name in (("--id", id_column), ("--mass", mass_column)):
        if name is not None:
            advice = "give the masses as a file" if option == "--mass" else "keep ids and points in a .npz file"
            raise HandfulError(f"{path} is one array without columns, so there is no '{name}' for {option}; {advice}.")
    return read_npy(path)
