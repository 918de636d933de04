"""Which candidates have their rows of costs in memory, wherever that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class Shelf:
    """Which candidates of a pool have their rows in memory, and in which of so many places."""

    def __init__(self, candidates: int, room: int) -> None:
        self._places = np.full(candidates, -1)
        self._room = room

    def places(self, candidates: Indices) -> Indices:
        """Where their rows are; -1 where they are not."""
        return self._places[candidates]

    def clear(self, candidates: Indices, others: Indices) -> tuple[Indices, Indices]:
        """Those of ``candidates`` whose rows are missing, as far as there is room, and the places for them.

        Whatever is neither among these nor ``others`` makes way, then those of ``others`` that must.
        """
        held = np.flatnonzero(self._places >= 0)
        self._places[np.setdiff1d(held, np.union1d(candidates, others))] = -1
        new = candidates[self._places[candidates] < 0]
        free = np.setdiff1d(np.arange(self._room), self._places)
        if len(free) < len(new):
            spare = np.setdiff1d(np.flatnonzero(self._places >= 0), candidates)[: len(new) - len(free)]
            free = np.append(free, self._places[spare])
            self._places[spare] = -1
        new = new[: len(free)]
        return new, free[: len(new)]

    def put(self, candidates: Indices, places: Indices) -> None:
        """Their rows are there now."""
        self._places[candidates] = places
