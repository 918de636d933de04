"""Rows of costs: those of some candidates to all points, kept in memory as far as there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.blocks import Workers, slices
from handful.pool import Pool
from handful.sample import Sample

_BLOCK = 500_000  # costs that a thread looks at before it takes the next block

Costs = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


class Rows:
    """Costs of ``candidates``, numbered by their positions there; `keep` has at most ``room`` of them in memory."""

    def __init__(self, pool: Pool | Sample, candidates: Indices, room: int, dtype: type[np.floating[Any]]) -> None:
        self.pool = pool
        self.dtype = dtype
        self.candidates = candidates
        self._places = np.full(len(candidates), -1)
        self._costs = np.empty((min(room, len(candidates)), pool.n), dtype)

    @property
    def step(self) -> int:
        """How many rows make a block."""
        return max(1, min(256, 4_000_000 // self.pool.n))

    def kept(self, positions: Indices) -> NDArray[np.bool_]:
        """Which of these rows are in memory."""
        return self._places[positions] >= 0

    def keep(self, positions: Indices, workers: Workers) -> None:
        """Have these in memory, at most as many as there is room for; others that were there make way as needed."""
        new = positions[self._places[positions] < 0]
        free = np.setdiff1d(np.arange(len(self._costs)), self._places)
        if len(free) < len(new):
            others = np.setdiff1d(np.flatnonzero(self._places >= 0), positions)[: len(new) - len(free)]
            free = np.append(free, self._places[others])
            self._places[others] = -1

        def fill(part: slice) -> None:
            self._costs[free[part]] = self.pool.distances(self.candidates[new[part]], dtype=self.dtype)

        new = new[: len(free)]
        workers.map(fill, slices(len(new), self.step))
        # Only now do they count as kept: the clock may stop the work half way.
        self._places[new] = free[: len(new)]

    def costs(self, positions: Indices) -> tuple[Costs, Indices]:
        """A table of costs, and the rows in it that belong to ``positions``: all of them kept, or none."""
        if self.kept(positions[:1]).all():
            return self._costs, self._places[positions]
        return self.pool.distances(self.candidates[positions], dtype=self.dtype), np.arange(len(positions))

    def parts(self, positions: Indices) -> list[Indices]:
        """``positions`` in blocks of which `costs` gives the rows."""
        kept = self.kept(positions)
        few = max(1, min(self.step, _BLOCK // self.pool.n))  # so that all threads have some
        return [some[block] for some in (positions[kept], positions[~kept]) for block in slices(len(some), few)]

    def subset(self, positions: Indices) -> Rows:
        """The same rows for these candidates only; what is kept is shared, not copied."""
        part = object.__new__(Rows)
        part.pool, part.dtype, part._costs = self.pool, self.dtype, self._costs
        part.candidates, part._places = self.candidates[positions], self._places[positions]
        return part
