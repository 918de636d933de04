"""SVHN (Netzer et al. 2011): cropped house numbers, MATLAB files."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from handful.datasets.dataset import Dataset
from handful.datasets.official import Official, Source, found
from handful.errors import HandfulError

_CHECKSUMS: Final = {
    "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
    "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
}

# What SciPy throws, depending on where a file was cut off.
_BROKEN: Final = (
    *(ValueError, KeyError, IndexError, TypeError, NotImplementedError, OSError, EOFError),
    *(zlib.error, MatReadError),
)

SVHN: Final = Official("SVHN", _CHECKSUMS, Source("http://ufldl.stanford.edu/housenumbers/", _CHECKSUMS))


def svhn(folder: Path, *, checksums: bool = True) -> Dataset:
    """SVHN: 73,257 + 26,032 images of 32 x 32 in colour (not the easy extra ones)."""
    paths = [found(folder, name) for name in _CHECKSUMS]
    for path in paths if checksums else ():
        SVHN.check(path)
    (pool, labels), (test, test_labels) = map(_read, paths)
    return Dataset("svhn", pool, labels, tuple("0123456789"), test=test, test_labels=test_labels)


def _read(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """``X`` of (height, width, colour, image) and ``y``, in which the digit 0 is 10."""
    try:
        held = loadmat(path)
        images, labels = held["X"], held["y"].ravel().astype(np.int64)
    except _BROKEN as error:
        raise HandfulError(f"{path} is truncated or no file of SVHN ({error}); copy it again") from error
    if images.ndim != 4 or images.shape[2] != 3 or images.dtype != np.uint8 or images.shape[3] != len(labels):
        raise HandfulError(
            f"{path} holds {images.dtype} of {images.shape} and {len(labels)} labels; images of bytes in colour, the "
            "last axis counting them, and a label for each were expected"
        )
    return np.ascontiguousarray(images.transpose(3, 0, 1, 2)), labels % 10
