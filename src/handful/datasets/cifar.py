"""CIFAR-10 (Krizhevsky 2009): its binary version, or its Python version."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import Dataset
from handful.datasets.official import Official, Source, found
from handful.errors import HandfulError

_CLASSES: Final = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SIDE: Final = 32
_PIXELS: Final = 3 * _SIDE * _SIDE
_BATCHES: Final = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")

# Of the binary version only the archive has a published checksum.
CIFAR10: Final = Official(
    "CIFAR-10",
    dict(
        zip(
            _BATCHES,
            (
                "c99cafc152244af753f735de768cd75f",
                "d4bba439e000b95fd0a9bffe97cbabec",
                "54ebc095f3ab1f0389bbae665268c751",
                "634d18415352ddfa80567beed471001a",
                "482c414d41f54cd18b22e5b47cb7c3cb",
                "40351d587109b95175f43aff81a1287e",
            ),
            strict=True,
        )
    ),
    Source(
        "https://www.cs.toronto.edu/~kriz/",
        {"cifar-10-binary.tar.gz": "c32a1d4ab5d03f1284b67883e8d87530"},
        archive=True,
    ),
)


def cifar10(folder: Path, *, checksums: bool = True) -> Dataset:
    """CIFAR-10: 50,000 + 10,000 images of 32 x 32 in colour; ``folder`` holds its batches, or the folder with them."""
    images, labels = [], []
    for batch in _BATCHES:
        path = _batch(folder, batch)
        if checksums:
            CIFAR10.check(path)
        some, classes = _binary(path) if path.suffix == ".bin" else _pickled(path)
        images.append(some)
        labels.append(classes)
    return Dataset(
        "cifar10",
        np.concatenate(images[:-1]),
        np.concatenate(labels[:-1]),
        _CLASSES,
        test=images[-1],
        test_labels=labels[-1],
    )


def _batch(folder: Path, name: str) -> Path:
    for version in ("cifar-10-batches-bin", "cifar-10-batches-py"):
        if (folder / version).is_dir():
            folder = folder / version
    return found(folder, f"{name}.bin", name)


def _binary(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Records of a label and the red, green and blue values of an image, row by row."""
    data = np.fromfile(path, np.uint8)
    if not len(data) or len(data) % (1 + _PIXELS):
        raise HandfulError(
            f"{path} is truncated: its {len(data):,} bytes are no whole number of records of {1 + _PIXELS:,}; "
            "copy it again"
        )
    records = data.reshape(-1, 1 + _PIXELS)
    return _upright(records[:, 1:]), records[:, 0]


def _pickled(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """A pickled dictionary of a table of the same values, and a list of labels."""
    try:
        batch = _Arrays(io.BytesIO(path.read_bytes()), encoding="bytes").load()
        pixels, labels = batch[b"data"], np.asarray(batch[b"labels"], np.int64)
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise HandfulError(f"{path} is truncated or no batch of CIFAR-10 ({error}); copy it again") from error
    if getattr(pixels, "shape", None) != (len(labels), _PIXELS) or pixels.dtype != np.uint8:
        raise HandfulError(f"{path} is no batch of CIFAR-10: a table of {_PIXELS} bytes for each label was expected")
    return _upright(pixels), labels


class _Arrays(pickle.Unpickler):
    """Reads arrays and plain values only: a pickle could else run whatever it likes."""

    _KNOWN: Final = {
        ("numpy.core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"): ("numpy", "ndarray"),
        ("numpy", "dtype"): ("numpy", "dtype"),
        ("_codecs", "encode"): ("_codecs", "encode"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch needs")
        return super().find_class(*self._KNOWN[(module, name)])


def _upright(planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Images of (height, width, colour)."""
    return np.ascontiguousarray(planes.reshape(-1, 3, _SIDE, _SIDE).transpose(0, 2, 3, 1))
