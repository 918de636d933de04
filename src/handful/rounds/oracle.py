"""Who knows the labels: a data set that has them, or a person, who is given a list and takes their time."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.write import write_csv

Indices = NDArray[np.int64]

COLUMNS = ("index", "id", "label")


class Oracle(Protocol):
    """Answers with the class of each point, from 0 on, when it is asked."""

    def ask(self, rows: Indices, what: str) -> Indices:
        """The classes of these rows; ``what`` names the question. Raises `Waiting` where answers are still to come."""


class Waiting(Exception):
    """A person has points to label."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(f"{count} points wait for labels in {path}: fill in its last column, and run this again")
        self.path = path
        self.count = count


class Known:
    """The labels of a data set, each read when it is asked for."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def ask(self, rows: Indices, what: str) -> Indices:
        """Of `handful.datasets.Dataset`, or anything that can be asked like one."""
        return np.asarray(self._dataset.ask(rows), np.int64)


class Person:
    """Somebody who fills in lists, ``to-label-….csv`` in a folder.

    Parameters
    ----------
    folder : Path
    classes : sequence of str
        The words that may be answered.
    ids : array, optional
        What the points are called.
    """

    def __init__(self, folder: Path, classes: Sequence[str], ids: NDArray[Any] | None = None) -> None:
        if len(classes) < 2:
            raise HandfulError("a person must know what to answer: name two classes or more in oracle.classes")
        self._folder, self._ids = folder, ids
        self._classes = {name: at for at, name in enumerate(classes)}

    def ask(self, rows: Indices, what: str) -> Indices:
        """Write the list, or read the answers in it."""
        path = self._folder / f"to-label-{what}.csv"
        if not path.exists():
            names = rows if self._ids is None else self._ids[rows]
            part = path.with_suffix(".part")
            write_csv(part, {"index": rows, "id": names, "label": [""] * len(rows)})
            part.replace(path)
        answers = self._read(path)
        if sorted(answers) != sorted(rows.tolist()):
            raise HandfulError(f"{path} does not list the points that were to be labelled; delete it to start it again")
        missing = [row for row in rows.tolist() if not answers[row]]
        if missing:
            raise Waiting(path, len(missing))
        for row, answer in answers.items():
            if answer not in self._classes:
                known = ", ".join(self._classes)
                raise HandfulError(f"{path}: row {row} is labelled {answer!r}, which is no class; classes are {known}")
        return np.array([self._classes[answers[row]] for row in rows.tolist()], np.int64)

    def _read(self, path: Path) -> dict[int, str]:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets write a mark before the first letter
            lines = list(csv.DictReader(file))
        if not lines or not {"index", "label"} <= lines[0].keys():
            raise HandfulError(f"{path} needs the columns {', '.join(COLUMNS)}; delete it to start it again")
        try:
            return {int(line["index"]): (line["label"] or "").strip() for line in lines}
        except ValueError:
            raise HandfulError(f"{path} has an index that is no number; delete it to start it again") from None
