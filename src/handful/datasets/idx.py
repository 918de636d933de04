"""MNIST and Fashion-MNIST: IDX files, as http://yann.lecun.com/exdb/mnist describes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import Dataset
from handful.datasets.official import Official, Source, found, read_bytes
from handful.errors import HandfulError

_TYPES: Final = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_DIGITS: Final = tuple("0123456789")
_CLOTHES: Final = (
    *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
_FILES: Final = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def _official(title: str, address: str, packed: tuple[str, ...], unpacked: tuple[str, ...]) -> Official:
    return Official(
        title,
        dict(zip(_FILES, unpacked, strict=True)),
        Source(address, {f"{name}.gz": md5 for name, md5 in zip(_FILES, packed, strict=True)}),
    )


MNIST: Final = _official(
    "MNIST",
    "http://yann.lecun.com/exdb/mnist/",
    (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
    (
        "6bbc9ace898e44ae57da46a324031adb",
        "a25bea736e30d166cdddb491f175f624",
        "2646ac647ad5339dbf082846283269ea",
        "27ae3e4e09519cfbb04c329615203637",
    ),
)
FASHION: Final = _official(
    "Fashion-MNIST",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
    (
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
)


def mnist(folder: Path, *, checksums: bool = True) -> Dataset:
    """MNIST: 60,000 + 10,000 digits of 28 x 28."""
    return _four_files("mnist", folder, MNIST if checksums else None, _DIGITS)


def fashion_mnist(folder: Path, *, checksums: bool = True) -> Dataset:
    """Fashion-MNIST: 60,000 + 10,000 pieces of clothing of 28 x 28."""
    return _four_files("fashion-mnist", folder, FASHION if checksums else None, _CLOTHES)


def read_idx(path: Path) -> NDArray[Any]:
    """The array in an IDX file, packed by gzip or not: two zeros, its type, its dimensions, and the numbers."""
    data = read_bytes(path)
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES or not data[3]:
        raise HandfulError(f"{path} is no IDX file: it must begin with two zeros, a type and a number of dimensions")
    dtype, start = np.dtype(_TYPES[data[2]]), 4 + 4 * data[3]
    shape = tuple(np.frombuffer(data[4:start], ">u4").tolist()) if len(data) >= start else ()
    promised = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if not shape or len(data) - start != promised:
        raise HandfulError(
            f"{path} is truncated or has too much: its header promises {promised:,} bytes of numbers {shape}, and "
            f"{max(0, len(data) - start):,} are there; copy it again"
        )
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def images_and_labels(images: Path, labels: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Images in grey, and as many labels, from two IDX files."""
    pictures, classes = read_idx(images), read_idx(labels)
    if pictures.ndim != 3 or pictures.dtype != np.uint8:
        raise HandfulError(f"{images} holds {pictures.dtype} of {pictures.shape}; images of bytes were expected")
    if classes.shape != (len(pictures),):
        raise HandfulError(f"{labels} holds labels of shape {classes.shape} for the {len(pictures)} images of {images}")
    return pictures[..., None], classes


def _four_files(name: str, folder: Path, official: Official | None, classes: tuple[str, ...]) -> Dataset:
    paths = [found(folder, file) for file in _FILES]
    for path in paths if official else ():
        assert official is not None
        official.check(path)
    pool, labels = images_and_labels(paths[0], paths[1])
    test, test_labels = images_and_labels(paths[2], paths[3])
    return Dataset(name, pool, labels, classes, test=test, test_labels=test_labels)
