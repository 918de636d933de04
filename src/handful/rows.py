"""Passes over rows of costs, those of some candidates to all points, on threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import lifted
from handful.blocks import Workers, slices
from handful.lifted import Shares
from handful.pool import Pool
from handful.sample import Sample, by_mass, whole
from handful.shelf import Shelf

_BLOCK = 500_000  # costs that a thread looks at before it takes the next block
_TALL, _WIDTH = 256, 1024  # candidates and points of a tile of costs that stays in the cache
_SWEPT = 300_000_000  # costs in a pass over a block of tiles, after which a thread looks at the clock

Costs = NDArray[np.floating[Any]]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """How a pass over the costs to so many points is cut into blocks, whoever makes it."""

    points: int

    @property
    def step(self) -> int:
        """How many rows are computed together to be kept."""
        return max(1, min(256, 4_000_000 // self.points))

    @property
    def few(self) -> int:
        """How many rows a thread looks at before it takes the next."""
        return max(1, min(self.step, _BLOCK // self.points))

    @property
    def tall(self) -> int:
        """How many candidates are swept together."""
        return max(32, min(_TALL, _SWEPT // self.points))


class Rows:
    """The costs of up to ``room`` candidates in memory; those of others are computed when a pass comes to them."""

    def __init__(self, points: Pool | Sample, shares: Shares, room: int, dtype: type[np.floating[Any]]) -> None:
        self.points = points
        self.shares = shares
        self.dtype = dtype
        self._cut = Cut(points.n)
        self._shelf = Shelf(whole(points).n, room)
        self._costs = np.empty((room, points.n), dtype)
        self._sample = by_mass(points)
        # Prices of good picks make many terms equal but for rounding, which must not choose among them.
        self._tolerance = points.rounding(dtype)

    def kept(self, candidates: Indices) -> NDArray[np.bool_]:
        """Which of these rows are in memory."""
        return self._shelf.places(candidates) >= 0

    def keep(self, candidates: Indices, others: Indices, workers: Workers) -> None:
        """Have these in memory, at most as many as there is room for, and of ``others`` those that are there still."""
        new, places = self._shelf.clear(candidates, others)

        def fill(part: slice) -> None:
            self._costs[places[part]] = self.points.distances(new[part], dtype=self.dtype)

        workers.map(fill, slices(len(new), self._cut.step))
        # Only now do they count as kept: the clock may stop the work half way.
        self._shelf.put(new, places)

    def values(
        self, candidates: Indices, prices: Floats, thresholds: Floats, widths: Floats, workers: Workers
    ) -> tuple[Floats, Floats]:
        """Values and thresholds of these candidates."""
        found, moved = np.empty(len(candidates)), np.empty(len(candidates))

        def look(part: Indices) -> None:
            costs, rows = self._rows(candidates[part])
            found[part], moved[part] = lifted.values(
                costs, rows, prices, self.points.masses, self.shares, thresholds[part], widths[part]
            )

        workers.map(look, self.parts(candidates))
        return found, moved

    def floors(self, candidates: Indices, prices: Floats, workers: Workers) -> tuple[Floats, Floats]:
        """Bounds below the values, in one pass over the costs that selects nothing."""
        found, thresholds = np.empty(len(candidates)), np.empty(len(candidates))
        masses, sample_prices = self.points.masses, prices[self._sample]

        def sweep(part: slice) -> None:
            some = candidates[part]
            few = self.points.distances(some, self._sample, dtype=self.dtype)
            guessed = lifted.sampled_thresholds(few, sample_prices, self.shares)
            sums = np.zeros(len(some))
            for points, costs in self.points.tiles(some, _WIDTH, self.dtype):
                lifted.add_taken(costs, prices[points], masses[points], guessed, sums)
            found[part], thresholds[part] = lifted.floors(sums, self.shares, guessed), guessed

        workers.map(sweep, slices(len(candidates), self._cut.tall))
        return found, thresholds

    def taken(self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers) -> Floats:
        """The mass of every point that these candidates take together."""
        total = np.zeros(self.points.n)
        for _, costs, rows, found in self._takers(candidates, prices, thresholds, workers):
            lifted.served(costs, rows, prices, self.points.masses, self.shares, found, self._tolerance, total)
        return total

    def listed(
        self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers
    ) -> list[tuple[NDArray[np.int32], Floats]]:
        """For every candidate the points that it takes, and their masses, in the order of `parts`."""
        lists: list[tuple[NDArray[np.int32], Floats]] = []
        for part, costs, rows, found in self._takers(candidates, prices, thresholds, workers):
            for k in range(len(part)):
                one = slice(k, k + 1)
                masses = self.points.masses
                total = lifted.served(costs, rows[one], prices, masses, self.shares, found[one], self._tolerance)
                points = np.flatnonzero(total)
                lists.append((points.astype(np.int32), total[points]))  # half as many bytes to send
        return lists

    def _takers(
        self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers
    ) -> Iterator[tuple[Indices, Costs, Indices, Floats]]:
        """Blocks of candidates with their costs and thresholds."""
        for part in self.parts(candidates):
            workers.clock.check()
            costs, rows = self._rows(candidates[part])
            found = thresholds[part]
            if costs is not self._costs:
                # Costs computed in another block may be rounded otherwise, and their thresholds with them.
                anywhere = np.full(len(rows), np.inf)
                _, found = lifted.values(costs, rows, prices, self.points.masses, self.shares, found, anywhere)
            yield part, costs, rows, found

    def parts(self, candidates: Indices) -> list[Indices]:
        """Positions in ``candidates`` in blocks, whose rows are all in memory or none."""
        kept = self.kept(candidates)
        sides = (np.flatnonzero(kept), np.flatnonzero(~kept))
        return [some[block] for some in sides for block in slices(len(some), self._cut.few)]

    def _rows(self, candidates: Indices) -> tuple[Costs, Indices]:
        """A table of costs, and the rows in it that belong to these candidates: all of them kept, or none."""
        places = self._shelf.places(candidates)
        if (places >= 0).all():
            return self._costs, places
        return self.points.distances(candidates, dtype=self.dtype), np.arange(len(candidates))
