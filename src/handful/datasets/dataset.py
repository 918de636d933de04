"""A data set: the images or features of a pool and of a test set, and labels that are given when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.errors import HandfulError

Points = NDArray[Any]
Indices = NDArray[np.int64]

UNKNOWN = -1
"""The label of a point of which no label is known to anybody."""


class Dataset:
    """Points to choose from, and a test set.

    Parameters
    ----------
    name : str
    pool : array of shape (n, height, width, channels) of uint8, or (n, d)
        Images or features.
    labels : array of int, optional
        The class of each point of the pool, -1 where nobody knows it. They are shown only to those who `ask`.
    classes : sequence of str
        The names of the classes.
    test, test_labels : arrays, optional
        Points and classes on which what was learned is tested.
    unlabelled : array, optional
        More points without labels, as STL-10 has them: for self-supervision, not for picking.
    ids : array of str, optional
        What the points of the pool are called, such as the names of their files.

    Attributes
    ----------
    asked : array of bool
        Which labels of the pool somebody has asked for.
    rows : array of int
        Where the points of the pool stand in the data set as it was loaded.
    test_rows : array of int or None
        Where those of the test set do, if they were divided off its pool.
    """

    def __init__(
        self,
        name: str,
        pool: Points,
        labels: ArrayLike | None,
        classes: Sequence[str],
        *,
        test: Points | None = None,
        test_labels: ArrayLike | None = None,
        unlabelled: Points | None = None,
        ids: NDArray[Any] | None = None,
    ) -> None:
        if (test is None) != (test_labels is None):
            raise HandfulError("test points and test labels belong together: give both or neither")
        self.name = name
        self.pool = pool
        self.classes = tuple(classes)
        self.test = test
        self.test_labels = None if test_labels is None else self._checked(test_labels, test, "test labels", least=0)
        self.unlabelled = unlabelled
        self.ids = ids
        self._labels = None if labels is None else self._checked(labels, pool, "labels", least=UNKNOWN)
        self.asked = np.zeros(len(pool), bool)
        self.rows = np.arange(len(pool))
        self.test_rows: Indices | None = None

    def __len__(self) -> int:
        return len(self.pool)

    def __repr__(self) -> str:
        kind = "images" if self.images else "points"
        test = "no test set" if self.test is None else f"{len(self.test):,} to test on"
        return f"{self.name}: {len(self):,} {kind} of {len(self.classes)} classes, {test}"

    @property
    def images(self) -> bool:
        """Whether the points are images."""
        return self.pool.ndim == 4

    @property
    def labelled(self) -> bool:
        """Whether there is anybody to ask for labels."""
        return self._labels is not None

    def ask(self, rows: ArrayLike) -> Indices:
        """The classes of these points of the pool."""
        if self._labels is None:
            raise HandfulError(f"{self.name} has no labels: let a person answer, or give a file with labels")
        rows = np.asarray(rows, np.int64)
        self.asked[rows] = True
        answers = self._labels[rows]
        if (answers == UNKNOWN).any():
            raise HandfulError(f"{self.name} has no label for row {rows[answers == UNKNOWN][0]}: leave it out")
        return answers

    def part(self, rows: ArrayLike) -> Dataset:
        """The data set with only these points in its pool."""
        rows = np.asarray(rows, np.int64)
        kept = Dataset(
            self.name,
            self.pool[rows],
            None if self._labels is None else self._labels[rows],
            self.classes,
            test=self.test,
            test_labels=self.test_labels,
            unlabelled=self.unlabelled,
            ids=None if self.ids is None else self.ids[rows],
        )
        kept.rows, kept.test_rows = self.rows[rows], self.test_rows
        return kept

    def drawn(self, count: int, seed: int = 0) -> Dataset:
        """The data set with ``count`` points of its pool, drawn at random, in their order."""
        if not 0 < count <= len(self):
            raise HandfulError(f"{count} points can't be drawn of {self.name}, which has {len(self)}")
        return self.part(np.sort(np.random.default_rng(seed).choice(len(self), count, replace=False)))

    def divided(self, share: float, seed: int = 0) -> Dataset:
        """The data set with this share of its pool, drawn at random, and the rest of it as its test set."""
        count = round(share * len(self))
        if self._labels is None or not 0 < count < len(self):
            raise HandfulError(f"{share:g} of {self.name} ({len(self)} points) leaves no labelled test set, or no pool")
        order = np.random.default_rng(seed).permutation(len(self))
        held, rest = np.sort(order[:count]), np.sort(order[count:])
        kept = self.part(held)
        kept.test, kept.test_labels, kept.test_rows = self.pool[rest], self._labels[rest], self.rows[rest]
        return kept

    def _checked(self, labels: ArrayLike, points: Points | None, what: str, least: int) -> Indices:
        array = np.asarray(labels)
        count = 0 if points is None else len(points)
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise HandfulError(
                f"{what} of {self.name} must be {count} whole numbers; got {array.dtype} of {array.shape}"
            )
        classes = array.astype(np.int64)
        if count and not (least <= classes.min() and classes.max() < len(self.classes)):
            raise HandfulError(
                f"{what} of {self.name} must be from {least} to {len(self.classes) - 1}, one for each of its classes; "
                f"got {classes.min()} to {classes.max()}"
            )
        return classes
