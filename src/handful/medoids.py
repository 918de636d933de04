"""Search for picks of free weight: descend by swaps, and perturb."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from handful.lifted import Shares
from handful.pool import Pool
from handful.search import Found, Search
from handful.swaps import Swaps

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SAME = 1e-6  # relative difference of distances that single precision may make
_WORTH = 1e-3  # how much worse than the best known ones picks may be to be worth looking at all candidates


class MedoidSearch(Search):
    """The search where a pick may carry any mass: swaps in place of transport and medoids in turn.

    With ``rows``, candidates are the sampled ones, if they are enough to choose from. ``check`` is called every now and
    then; it may raise to end the search.
    """

    def __init__(
        self,
        pool: Pool,
        shares: Shares,
        candidates: Indices,
        forced: Indices,
        rows: Indices | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(pool, shares, candidates, forced, rows)
        self._check = check
        self._least = np.inf
        self._ended: set[bytes] = set()

    def alternate(self, picks: Indices, start: Floats | None = None) -> Found:
        """Swap until no swap helps."""
        swaps = self._swaps(picks)
        swaps.descend(thorough=False)
        return self._finished(swaps)

    def perturb(self, found: Found, random: np.random.Generator, hints: Floats | None = None) -> Found:
        """Exchange one or two picks for others, and swap where that changed something.

        The others are drawn by the hints (how likely each candidate is in a good selection), where points are far from
        their picks, or evenly.
        """
        free = len(found.picks) - len(self.forced)
        count = min(free, len(np.setdiff1d(self.candidates, found.picks)), int(random.integers(1, 4)))
        if not count:
            return found
        swaps = self._swaps(found.picks)
        swaps.changed[:] = False
        dropped = len(self.forced) + random.choice(free, count, replace=False)
        hinted = hints is not None and random.random() < 0.5
        dear = random.random() < 0.5  # in many dimensions the dearest points are outliers, and even draws do better
        for position in dropped.tolist():
            chances = np.zeros(1)
            if hinted and hints is not None:
                chances = np.where(np.isin(self.candidates, swaps.picks), 0.0, hints)
            if chances.sum() > 0:
                added = int(random.choice(self.candidates, p=chances / chances.sum()))
            else:
                weights = swaps.nearest.astype(np.float64) if dear else np.ones(len(self.rows))
                added = self._draw(weights, swaps.picks, random)
            swaps.replace(position, added)
        swaps.descend(thorough=False)
        return self._finished(swaps) if swaps.distance < found.distance * (1 - _SAME) else found

    def _swaps(self, picks: Indices) -> Swaps:
        candidates = self.candidates
        if len(self.rows) < self.pool.n:
            few = np.intersect1d(candidates, self.rows, assume_unique=True)
            candidates = few if len(few) >= 20 * len(picks) else candidates
        return Swaps(self.pool, self.rows, self.masses, candidates, picks, len(self.forced), self._check)

    def _finished(self, swaps: Swaps) -> Found:
        """Look at all candidates, if the picks may become the best known and were not there before.

        The distance is that of double precision: bounds are compared with it.
        """
        if swaps.distance < self._least * (1 + _WORTH) and not self._known(swaps.picks):
            swaps.changed[:] = True
            swaps.descend()
            self._known(swaps.picks)
        self._least = min(self._least, swaps.distance)
        nearest = np.full(len(self.rows), np.inf)
        for pick in swaps.picks:
            nearest = np.minimum(nearest, self.pool.distances(np.array([pick]), self.rows)[0])
        return Found(swaps.picks, float(self.masses @ nearest), np.zeros(len(swaps.picks)))

    def _known(self, picks: Indices) -> bool:
        """Whether these picks were looked at to the end; from now on they were."""
        key = np.sort(picks).tobytes()
        before = key in self._ended
        self._ended.add(key)
        return before
