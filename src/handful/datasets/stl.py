"""STL-10 (Coates, Lee & Ng 2011): its binary version."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import Dataset
from handful.datasets.official import Official, Source, found
from handful.errors import HandfulError

_CLASSES: Final = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
_SIDE: Final = 96
_FOLDER: Final = "stl10_binary"

STL10: Final = Official(
    "STL-10",
    {
        "train_X.bin": "918c2871b30a85fa023e0c44e0bee87f",
        "train_y.bin": "5a34089d4802c674881badbb80307741",
        "test_X.bin": "7f263ba9f9e0b06b93213547f721ac82",
        "test_y.bin": "36f9794fa4beb8a2c72628de14fa638e",
        "unlabeled_X.bin": "5242ba1fed5e4be9e1e742405eb56ca4",
    },
    Source(
        "http://ai.stanford.edu/~acoates/stl10/",
        {"stl10_binary.tar.gz": "91f7769df0f17e558f3565bffb0c7dfb"},
        archive=True,
    ),
)


def stl10(folder: Path, *, checksums: bool = True) -> Dataset:
    """STL-10: 5,000 + 8,000 images of 96 x 96 in colour, and 100,000 without labels if their file is there.

    Those without labels stay in their file, of 2.8 GB, and are read as they are used.
    """
    paths = [found(folder, name, inside=_FOLDER) for name in ("train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin")]
    more = paths[0].with_name("unlabeled_X.bin")
    for path in (*paths, *([more] if more.is_file() else [])) if checksums else ():
        STL10.check(path)
    pool, test = np.array(_images(paths[0])), np.array(_images(paths[2]))
    return Dataset(
        "stl10",
        pool,
        _labels(paths[1], len(pool)),
        _CLASSES,
        test=test,
        test_labels=_labels(paths[3], len(test)),
        unlabelled=_images(more) if more.is_file() else None,
    )


def _images(path: Path) -> NDArray[np.uint8]:
    """Red, green and blue values of one image after the other, column by column; as (height, width, colour)."""
    size, one = path.stat().st_size, 3 * _SIDE * _SIDE
    if not size or size % one:
        raise HandfulError(
            f"{path} is truncated: its {size:,} bytes are no whole number of images of {one:,}; copy it again"
        )
    return np.memmap(path, np.uint8, "r").reshape(-1, 3, _SIDE, _SIDE).transpose(0, 3, 2, 1)


def _labels(path: Path, count: int) -> NDArray[np.int64]:
    """One byte each, from 1 to 10."""
    labels = np.fromfile(path, np.uint8).astype(np.int64) - 1
    if len(labels) != count:
        raise HandfulError(f"{path} holds {len(labels)} labels for {count} images; copy it again")
    return labels
