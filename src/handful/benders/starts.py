"""Where the decomposition starts: k-centers, k-medoids, or picks that are given."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.errors import HandfulError
from handful.lifted import Shares
from handful.pool import checked_indices
from handful.search import Search

Indices = NDArray[np.int64]

STARTS: Final = ("k-medoids", "k-centers")


def start_picks(candidates: Candidates, start: str | NDArray[np.int64], seed: int) -> Indices:
    """The selection to begin with, as rows of the pool, forced picks first."""
    if isinstance(start, str):
        return k_medoids(candidates, seed) if start == "k-medoids" else k_centers(candidates, seed)
    rows = checked_indices(start, candidates.pool.n, "start")
    rows = np.setdiff1d(rows, candidates.forced)
    foreign = np.setdiff1d(rows, candidates.open)
    if len(foreign):
        raise HandfulError(f"start names row {foreign[0]}, which is not a candidate: leave it out")
    if len(rows) != candidates.free:
        raise HandfulError(
            f"start has {len(rows)} new picks, but {candidates.free} are asked for: give that many, or one of "
            + ", ".join(STARTS)
        )
    return np.concatenate([candidates.forced, rows])


def k_medoids(candidates: Candidates, seed: int) -> Indices:
    """Alternate between nearest picks and medoids (Maranzana 1964), from picks drawn far from each other."""
    rows = np.sort(np.concatenate([candidates.forced, candidates.open]))
    search = Search(candidates.pool, Shares(0.0, 1.0), rows, candidates.forced)
    return search.alternate(search.seed(candidates.free, np.random.default_rng(seed))).picks


def k_centers(candidates: Candidates, seed: int) -> Indices:
    """Add the candidate farthest from the picks so far, again and again (Gonzalez 1985)."""
    picks = candidates.forced
    if not len(picks):
        picks = np.random.default_rng(seed).choice(candidates.open, 1)
    left = candidates.budget - len(picks)
    nearest = candidates.pool.distances(picks, candidates.open).min(axis=0)
    nearest[np.isin(candidates.open, picks)] = -1.0
    for _ in range(left):
        farthest = candidates.open[np.argmax(nearest)]
        picks = np.append(picks, farthest)
        nearest = np.minimum(nearest, candidates.pool.distances(farthest[None], candidates.open)[0])
        nearest[np.isin(candidates.open, picks)] = -1.0
    return picks
