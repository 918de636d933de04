"""Folders of images: any, a folder for each class, and Office-31 (Saenko, Kulis, Fritz & Darrell 2010)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import UNKNOWN, Dataset
from handful.errors import HandfulError

SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".ppm", ".pgm", ".tif", ".tiff")
DOMAINS: Final = {"amazon": 2817, "dslr": 498, "webcam": 795}
"""The domains of Office-31, and how many images each has."""

_OFFICE_CLASSES: Final = 31


def image_folder(folder: Path, *, size: int = 224, checksums: bool = True) -> Dataset:
    """The images in a folder, scaled to squares of ``size``.

    Images in folders of their own are of the class that their folder is called; those that lie directly in it have no
    label. Where there are folders ``train`` and ``test``, these are pool and test set.
    """
    if not folder.is_dir():
        raise HandfulError(f"there is no folder {folder}; give the one that holds the images")
    parts = folder / "train", folder / "test"
    if not all(part.is_dir() for part in parts):
        files = _files(folder)
        classes = tuple(sorted({file.parent.name for file in files if file.parent != folder}))
        return Dataset("images", *_read(folder, files, classes, size), classes, ids=_ids(folder, files))
    files, tested = _files(parts[0]), _files(parts[1])
    classes = tuple(sorted({file.parent.name for file in files if file.parent != parts[0]}))
    images, labels = _read(parts[0], files, classes, size)
    test, test_labels = _read(parts[1], tested, classes, size)
    if test_labels is None:
        raise HandfulError(f"the images in {parts[1]} have no labels: put them into a folder for each class")
    return Dataset("images", images, labels, classes, test=test, test_labels=test_labels, ids=_ids(parts[0], files))


def office31(folder: Path, *, domain: str = "amazon", size: int = 224, checksums: bool = True) -> Dataset:
    """A domain of Office-31: photographs of office things from a shop, or taken by a DSLR or a web camera.

    ``folder`` holds the folders ``amazon``, ``dslr`` and ``webcam``, each with a folder ``images`` of a folder for each
    class. No checksums are published; instead the images are counted.
    """
    if domain not in DOMAINS:
        raise HandfulError(f"unknown domain {domain!r} of Office-31: choose one of {', '.join(DOMAINS)}")
    place = folder / domain / "images"
    if not place.is_dir():
        place = folder / domain
    data = image_folder(place, size=size)
    if checksums and (len(data), len(data.classes)) != (DOMAINS[domain], _OFFICE_CLASSES):
        raise HandfulError(
            f"{place} holds {len(data)} images of {len(data.classes)} classes, and Office-31 has {DOMAINS[domain]} of "
            f"{_OFFICE_CLASSES} there: unpack it again, or say that checksums are not to be compared"
        )
    return Dataset(f"office31-{domain}", data.pool, data.ask(np.arange(len(data))), data.classes, ids=data.ids)


def _files(folder: Path) -> list[Path]:
    """All images, in the order of their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES and path.is_file()]
    if not files:
        raise HandfulError(f"{folder} holds no images; known are {' '.join(SUFFIXES)}")
    return files


def _ids(folder: Path, files: list[Path]) -> NDArray[np.str_]:
    return np.array([file.relative_to(folder).as_posix() for file in files])


def _read(
    folder: Path, files: list[Path], classes: tuple[str, ...], size: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
    if size < 1:
        raise HandfulError(f"the size of images must be 1 or more; got {size}")
    number = {name: at for at, name in enumerate(classes)}
    images = np.empty((len(files), size, size, 3), np.uint8)
    labels = np.full(len(files), UNKNOWN, np.int64)
    for at, file in enumerate(files):
        images[at] = _picture(file, size)
        if file.parent != folder:
            if file.parent.name not in number:
                raise HandfulError(f"{file} is of the class {file.parent.name!r}, which no image of the pool has")
            labels[at] = number[file.parent.name]
    return images, labels if classes else None


def _picture(file: Path, size: int) -> NDArray[np.uint8]:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise HandfulError(f"{file} is an image, which needs Pillow: pip install 'handful[data]'") from None
    try:
        with Image.open(file) as image:
            scaled = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            return np.asarray(scaled, np.uint8)
    except OSError as error:
        raise HandfulError(f"{file} is truncated or no image ({error}); copy it again, or drop it") from error
