"""The order of the picks: one in which every prefix is a good smaller selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.lifted import Shares
from handful.pool import Pool
from handful.transport import transport

Indices = NDArray[np.int64]

_SAMPLE = 1_000  # points by which the order is decided
_TRANSPORTS = 2_000  # to decide it by, at most


def ordered(pool: Pool, shares: Shares, picks: Indices, forced: int) -> Indices:
    """Put after the forced picks one pick at a time, the one that gives the least distance with those before it.

    They are compared by exact transport with the mass range of a selection of that size: all of them or, where that is
    too much work, those that would give the least mean distance to the nearest pick. On the digits this leaves prefixes
    of 5 to 20 out of 40 picks 3 to 6 % above the distance of picks chosen for that size; taking one pick at a time away
    from the end leaves 4 to 10 %.
    """
    total = len(picks)
    rows = np.sort(np.random.default_rng(0).choice(pool.n, min(pool.n, _SAMPLE), replace=False))
    masses = pool.masses[rows]
    if not masses.sum() > 0:
        return picks
    masses = masses / masses.sum()
    costs = pool.distances(picks, rows, dtype=np.float32)
    order, left = list(range(forced)), list(range(forced, total))
    nearest = costs[order].min(axis=0) if order else np.full(len(rows), np.inf, np.float32)
    compared = max(1, _TRANSPORTS // total)
    while left:
        means = np.minimum(nearest, costs[left]) @ masses
        few = [left[k] for k in np.argsort(means, kind="stable")[:compared]]
        if len(few) > 1:
            scale = total / (len(order) + 1)
            low, high = shares.low * scale, min(1.0, shares.high * scale)
            distances = [transport(costs[[*order, b]], masses, low, high).distance for b in few]
            few = [few[int(np.argmin(distances))]]
        order += few
        left.remove(few[0])
        nearest = np.minimum(nearest, costs[few[0]])
    return picks[order]
