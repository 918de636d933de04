"""What is embedded, batch by batch: lines or columns of text, files of images, or images in memory."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.datasets.folders import SUFFIXES
from handful.errors import HandfulError

TEXTS: Final = (".txt", ".csv", ".jsonl", ".parquet")


class Source(Protocol):
    """Things in an order."""

    @property
    def ids(self) -> tuple[str, ...] | None:
        """What they are called, where they have names."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice) -> Any:
        """Some of them, as an encoder takes them: a list of texts, or of images as bytes of (h, w, 3) or (h, w)."""

    def fingerprint(self) -> str:
        """Something that is different for other things."""


@dataclass(frozen=True)
class Texts:
    """Texts in memory."""

    texts: list[str]
    ids: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> list[str]:
        return self.texts[rows]

    def fingerprint(self) -> str:
        return f"{len(self)} texts {_sum(text.encode() for text in self.texts):08x}"


@dataclass(frozen=True)
class Arrays:
    """Images in memory, or in a map of a file: bytes of (n, h, w) or (n, h, w, 3)."""

    images: NDArray[np.uint8]
    ids: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: slice) -> list[NDArray[np.uint8]]:
        return list(self.images[rows])

    def fingerprint(self) -> str:
        some = self.images[:: max(1, len(self) // 1000)]
        return f"{self.images.shape} images {_sum(np.ascontiguousarray(image).tobytes() for image in some):08x}"


@dataclass(frozen=True)
class Pictures:
    """Files of images, read when it is their turn."""

    folder: Path
    ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice) -> list[NDArray[np.uint8]]:
        return [_picture(self.folder / name) for name in self.ids[rows]]

    def fingerprint(self) -> str:
        sizes = (f"{name} {(self.folder / name).stat().st_size}".encode() for name in self.ids)
        return f"{len(self)} files {_sum(sizes):08x}"


def read_source(path: Path, column: str | None = None) -> Source:
    """A folder of images, an array of images in `.npy`, or texts."""
    if path.is_dir():
        names = tuple(
            file.relative_to(path).as_posix()
            for file in sorted(path.rglob("*"))
            if file.suffix.lower() in SUFFIXES and file.is_file()
        )
        if not names:
            raise HandfulError(f"{path} holds no images; known are {' '.join(SUFFIXES)}")
        return Pictures(path, names)
    if not path.is_file():
        raise HandfulError(f"{path}: there is no such file or folder")
    if path.suffix == ".npy":
        images = np.load(path, mmap_mode="r")
        if images.dtype != np.uint8 or images.ndim not in (3, 4):
            raise HandfulError(f"{path} holds {images.dtype} of {images.shape}; images are bytes of (n, h, w[, 3])")
        return Arrays(images)
    if path.suffix not in TEXTS:
        raise HandfulError(f"{path} is no folder, no array of images (.npy) and no texts ({', '.join(TEXTS)})")
    texts = _texts(path, column)
    if not texts:
        raise HandfulError(f"{path} holds no texts")
    return Texts(texts)


def _texts(path: Path, column: str | None) -> list[str]:
    if path.suffix == ".txt":
        if column is not None:
            raise HandfulError(f"{path} has a text on each line and no columns; leave out the column")
        return path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        names = parquet.read_schema(path).names
        return [_text(path, row, cell) for row, cell in
                enumerate(parquet.read_table(path, columns=[_column(path, names, column)])[0].to_pylist())]  # fmt: skip
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            name = _column(path, list(rows.fieldnames or []), column)
            return [_text(path, at, row[name]) for at, row in enumerate(rows)]
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    if not lines or not isinstance(lines[0], dict):
        raise HandfulError(f"{path} must hold a JSON object on each line")
    name = _column(path, list(lines[0]), column)
    return [_text(path, at, line.get(name)) for at, line in enumerate(lines)]


def _column(path: Path, names: list[str], column: str | None) -> str:
    if column is None:
        if len(names) == 1:
            return names[0]
        if "text" in names:
            return "text"
        raise HandfulError(f"{path} has the columns {', '.join(names)}: say which one holds the texts")
    if column not in names:
        raise HandfulError(f"{path} has no column {column!r}; it has {', '.join(names)}")
    return column


def _text(path: Path, row: int, cell: Any) -> str:
    if not isinstance(cell, str):
        raise HandfulError(f"row {row} of {path} (counted from 0) holds {cell!r}, which is no text")
    return cell


def _picture(file: Path) -> NDArray[np.uint8]:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise HandfulError(f"{file} is an image, which needs Pillow: pip install 'handful[embed]'") from None
    try:
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB"), np.uint8)
    except OSError as error:
        raise HandfulError(f"{file} is truncated or no image ({error}); copy it again, or take it out") from error


def _sum(parts: Iterator[bytes]) -> int:
    total = 0
    for part in parts:
        total = zlib.crc32(part + b"\0", total)
    return total
