"""What is handed on: the picks in their order, with what a tool shows of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.label_studio import ID, INDEX
from handful.files.runs import picks_table
from handful.files.text import read_records
from handful.selection import Selection

_COLUMNS = ("index", "id", "stands_for")


@dataclass(frozen=True)
class Picks:
    """Picks, the best first, in columns of one length.

    Attributes
    ----------
    index : tuple of int
        Rows of the pool.
    ids : tuple of str
        Ids, which are the rows where the pool has no others.
    stands_for : tuple of int
        How many points each stands for.
    n : int
        How many points the pool has.
    images, texts : tuple of str, or None
        Where the image of each is, and its text.
    """

    index: tuple[int, ...]
    ids: tuple[str, ...]
    stands_for: tuple[int, ...]
    n: int
    images: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> Picks:
        """Read the picks of a run from its folder."""
        path = Path(folder) / "picks.csv"
        if not path.is_file():
            raise HandfulError(f"{folder} holds no picks.csv; give the folder that handful select wrote with -o.")
        try:
            records = [cells for _, cells in read_records(path, commas=True)]
            at = [records[0].index(name) for name in _COLUMNS]
            index, ids, served = ([cells[column] for cells in records[1:]] for column in at)
            n = int(json.loads((path.parent / "summary.json").read_bytes())["n"])
            return cls(tuple(map(int, index)), tuple(ids), tuple(map(int, served)), n)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise HandfulError(f"{folder} can't be read as the folder of a run ({error}); run select again.") from error

    @classmethod
    def of(cls, selection: Selection, ids: NDArray[np.generic] | None = None) -> Picks:
        """Take the new picks of a selection; ``ids`` are the points' names, one each (default: their rows)."""
        columns = picks_table(selection, ids)
        index, names, served = (np.asarray(columns[name]).tolist() for name in _COLUMNS)
        return cls(tuple(index), tuple(map(str, names)), tuple(served), selection.pool.n)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def named(self) -> bool:
        """Whether the points have ids of their own."""
        return self.ids != tuple(map(str, self.index))

    def showing(self, *, images: Sequence[str] | None = None, texts: Sequence[str] | None = None) -> Picks:
        """The same picks with these images and texts, one for each pick in their order."""
        for what, given in (("images", images), ("texts", texts)):
            if given is not None and len(given) != len(self):
                raise HandfulError(f"{len(given)} {what} were given for {len(self)} picks; give one for each pick.")
        return replace(
            self,
            images=self.images if images is None else tuple(images),
            texts=self.texts if texts is None else tuple(texts),
        )

    def fields(self) -> list[dict[str, Any]]:
        """For each pick what finds its point again, and its place in the order."""
        return [
            {INDEX: index, ID: name, "handful_rank": rank, "handful_stands_for": served}
            for rank, (index, name, served) in enumerate(zip(self.index, self.ids, self.stands_for, strict=True), 1)
        ]

    def shown(self) -> list[dict[str, str]]:
        """For each pick what a tool shows of it: ``image``, ``text``, both or nothing."""
        columns = {"image": self.images, "text": self.texts}
        there = {name: cells for name, cells in columns.items() if cells is not None}
        return [{name: cells[at] for name, cells in there.items()} for at in range(len(self))]

    def require_images(self, tool: str) -> tuple[str, ...]:
        """The images, or one sentence that says that ``tool`` can't do without."""
        if self.images is None:
            raise HandfulError(f"{tool} takes images; say where they are, with --images or Picks.showing(images=...).")
        return self.images
