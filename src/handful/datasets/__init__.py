"""Data sets in the formats they are published in, from a folder, with labels that are hidden until asked for.

>>> from handful import datasets
>>> digits = datasets.load("digits")
>>> digits.ask([3, 1, 4])
array([4, 1, 5])
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

from handful.datasets.cifar import CIFAR10, cifar10
from handful.datasets.dataset import UNKNOWN, Dataset
from handful.datasets.features import digits, embeddings
from handful.datasets.folders import image_folder, office31
from handful.datasets.idx import FASHION, MNIST, fashion_mnist, mnist, read_idx
from handful.datasets.official import Official
from handful.datasets.stl import STL10, stl10
from handful.datasets.svhn import SVHN, svhn
from handful.datasets.usps import usps
from handful.errors import HandfulError

__all__ = ["UNKNOWN", "Dataset", "load", "names", "read_idx"]

_LOADERS: Final[dict[str, tuple[Callable[..., Dataset], Official | None]]] = {
    "digits": (digits, None),
    "cifar10": (cifar10, CIFAR10),
    "stl10": (stl10, STL10),
    "svhn": (svhn, SVHN),
    "mnist": (mnist, MNIST),
    "fashion-mnist": (fashion_mnist, FASHION),
    "usps": (usps, Official("USPS", {})),
    "office31": (office31, Official("Office-31", {})),
    "images": (image_folder, None),
    "embeddings": (embeddings, None),
}


def names() -> tuple[str, ...]:
    """The data sets that there are loaders for."""
    return tuple(_LOADERS)


def load(
    name: str,
    folder: str | PathLike[str] | None = None,
    *,
    checksums: bool = True,
    download: bool = False,
    **options: Any,
) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of `names`.
    folder : path
        Where its files are, or the file of ``embeddings``; ``digits`` needs none.
    checksums : bool
        Whether to refuse files that are not the published ones.
    download : bool
        Whether to fetch them from where they are published if they are not there.
    options
        Of the loader: ``domain`` and ``size`` of ``office31``, ``size`` of ``images``, and ``labels``, ``test`` and
        ``test_labels`` of ``embeddings``.
    """
    if name not in _LOADERS:
        raise HandfulError(f"unknown data set {name!r}: choose one of {', '.join(_LOADERS)}")
    loader, official = _LOADERS[name]
    if folder is None and name != "digits":
        raise HandfulError(f"{name} is read from a folder: say where its files are")
    known = set(loader.__kwdefaults__ or {}) - {"checksums"}
    for option in options:
        if option not in known:
            raise HandfulError(
                f"{name} has no option {option!r}; its options are: {', '.join(sorted(known)) or 'none'}"
            )
    place = None if folder is None else Path(folder)
    if download:
        if official is None or place is None:
            raise HandfulError(f"{name} can't be downloaded; give a folder with its files")
        official.download(place)
    return loader(place, checksums=checksums, **options)
