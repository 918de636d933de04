"""USPS (Hull 1994): 7,291 + 2,007 handwritten digits of 16 x 16, as text, HDF5 or IDX."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import Dataset
from handful.datasets.idx import images_and_labels
from handful.datasets.official import found, read_bytes
from handful.errors import HandfulError

_SIDE: Final = 16
_TRAIN: Final = ("zip.train", "usps.h5", "train-images-idx3-ubyte")
_Part = tuple[NDArray[np.uint8], NDArray[np.int64]]


def usps(folder: Path, *, checksums: bool = True) -> Dataset:
    """USPS from ``zip.train`` and ``zip.test`` (packed or not), ``usps.h5``, or four IDX files.

    No checksums of it are published, so there is nothing to compare.
    """
    path = found(folder, *_TRAIN)
    if path.suffix == ".h5":
        pool, test = _hdf5(path, "train"), _hdf5(path, "test")
    elif path.name.startswith("zip"):
        pool, test = _text(path), _text(found(folder, "zip.test"))
    else:
        pool, test = (
            images_and_labels(found(folder, f"{part}-images-idx3-ubyte"), found(folder, f"{part}-labels-idx1-ubyte"))
            for part in ("train", "t10k")
        )
    return Dataset("usps", *pool, tuple("0123456789"), test=test[0], test_labels=test[1])


def _text(path: Path) -> _Part:
    """A line for each image: its digit and 256 numbers from -1 (empty) to 1 (ink)."""
    try:
        table = np.array([line.split() for line in read_bytes(path).splitlines()], np.float64)
    except ValueError as error:
        raise HandfulError(f"{path} is truncated or no file of USPS ({error}); copy it again") from error
    if table.ndim != 2 or table.shape[1] != 1 + _SIDE**2:
        raise HandfulError(f"{path} is no file of USPS: a digit and {_SIDE**2} numbers in each line were expected")
    return _grey((table[:, 1:] + 1) / 2), table[:, 0].astype(np.int64)


def _hdf5(path: Path, part: str) -> _Part:
    """Groups ``train`` and ``test`` of ``data``, from 0 to 1, and ``target``."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise HandfulError(f"{path} is HDF5, which needs h5py: pip install 'handful[data]'") from None
    try:
        with h5py.File(path, "r") as file:
            data, target = np.asarray(file[part]["data"]), np.asarray(file[part]["target"])
    except (OSError, KeyError) as error:
        raise HandfulError(f"{path} is truncated or no file of USPS ({error}); copy it again") from error
    if data.ndim != 2 or data.shape[1] != _SIDE**2 or target.shape != (len(data),):
        raise HandfulError(f"{path} holds {data.shape} and {target.shape} in '{part}'; (n, {_SIDE**2}) and (n,) fit")
    return _grey(data), target.astype(np.int64)


def _grey(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    return np.rint(255 * np.clip(values, 0, 1)).astype(np.uint8).reshape(-1, _SIDE, _SIDE, 1)
