"""Points that are features already: any embeddings file, and scikit-learn's digits."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from handful.datasets.dataset import Dataset
from handful.errors import HandfulError

_TEST_DIGITS: Final = 360


def embeddings(
    file: Path,
    *,
    labels: str | PathLike[str] | None = None,
    test: str | PathLike[str] | None = None,
    test_labels: str | PathLike[str] | None = None,
    checksums: bool = True,
) -> Dataset:
    """Points, and their labels where there are any, from any files that `handful select` and `compare` read.

    A file ``.npz`` takes the name of its array after a colon.
    """
    from handful.files.labels import named_array, read_labels
    from handful.files.read import read_pool

    name, array = named_array(str(file))
    table = read_pool(name, array=array)
    known = None if labels is None else read_labels(labels, len(table.points))
    if (test is None) != (test_labels is None):
        raise HandfulError("test and test_labels belong together: give both or neither")
    ids = None if table.ids is None else table.ids.astype(np.str_)
    if test is None or test_labels is None:
        classes, numbers = _numbered(known)
        return Dataset(Path(name).name, table.points, numbers, classes, ids=ids)
    place, array = named_array(str(test))
    tested = read_pool(place, array=array).points
    asked = read_labels(test_labels, len(tested))
    # Classes are those of the test set too, which is no secret: nobody learns which point has which.
    classes, numbers = _numbered(known, asked)
    both = {name: at for at, name in enumerate(classes)}
    answers = np.array([both[name] for name in asked.astype(np.str_).tolist()])
    return Dataset(Path(name).name, table.points, numbers, classes, test=tested, test_labels=answers, ids=ids)


def digits(folder: Path | None = None, *, checksums: bool = True) -> Dataset:
    """Scikit-learn's 1,797 handwritten digits of 8 x 8: 360 of them, always the same, are the test set."""
    from sklearn.datasets import load_digits

    held = load_digits()
    images = np.rint(held.images * (255 / 16)).astype(np.uint8)[..., None]
    order = np.random.default_rng(0).permutation(len(images))
    test, pool = np.sort(order[:_TEST_DIGITS]), np.sort(order[_TEST_DIGITS:])
    labels = held.target.astype(np.int64)
    return Dataset(
        "digits", images[pool], labels[pool], tuple("0123456789"), test=images[test], test_labels=labels[test]
    )


def _numbered(*labels: NDArray[Any] | None) -> tuple[tuple[str, ...], NDArray[np.int64] | None]:
    """The classes in order (numbers by value), and the first labels by their place there."""
    there = [given for given in labels if given is not None]
    if not there:
        return (), None
    numeric = all(given.dtype.kind in "iu" for given in there)
    values = np.unique(np.concatenate([given if numeric else given.astype(np.str_) for given in there]))
    if labels[0] is None:
        return tuple(map(str, values.tolist())), None
    first = labels[0] if numeric else labels[0].astype(np.str_)
    return tuple(map(str, values.tolist())), np.searchsorted(values, first).astype(np.int64)
