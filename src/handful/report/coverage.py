"""The coverage curve: how the distance falls with the budget, from the ordered picks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.certificate import Certificate
from handful.pool import Pool
from handful.transport import transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_BUDGETS = 60
_WORK = 60_000_000  # costs looked at for the whole curve; from a sample of the points where all are more
_LEAST_POINTS = 500
_FEW = 5  # picks below which a curve has no shape to speak of
_BENT = 0.15  # least depth of a bend, as a share of the height of the curve


@dataclass(frozen=True, eq=False)
class Coverage:
    """Distances of the first picks, alone.

    Attributes
    ----------
    counts, distances
        How many new picks, and the distance of those with the earlier ones; the last is that of the run.
    points
        How many points of the pool it was computed from.
    bend
        How many new picks stand where the curve bends; None where it does not.
    """

    counts: Indices
    distances: Floats
    points: int
    bend: int | None

    @property
    def advice(self) -> str:
        """Where more labels stop paying, in words."""
        last, total = int(self.counts[-1]), self.distances
        if len(self.counts) < _FEW or not total[0] > total[-1]:
            return "There are too few picks to say where more labels stop paying."
        ahead = self._doubling()
        words = f"If it goes on as it did, twice as many labels would lower the distance by about another {ahead:.0%}."
        if self.bend is None:
            return f"The curve has no clear bend: the last labels paid about as much as those before. {words}"
        at = int(np.flatnonzero(self.counts == self.bend)[0])
        before = (total[0] - total[at]) / (self.bend - int(self.counts[0]))
        after = (total[at] - total[-1]) / (last - self.bend)
        return (
            f"More labels pay less after about {self.bend:,}: up to there each lowered the distance by "
            f"{before / total[0]:.2%} of where it began, from there on by {after / total[0]:.2%}. {words}"
        )

    def _doubling(self) -> float:
        """What doubling the budget would gain: distances fall like a power of the budget (Zador), fitted to the end."""
        half = self.counts * 2 >= self.counts[-1]
        half[-2:] = True
        kept = half & (self.distances > 0)
        if kept.sum() < 2:
            return 0.0
        slope = float(np.polyfit(np.log(self.counts[kept]), np.log(self.distances[kept]), 1)[0])
        return 1 - 2.0 ** min(0.0, slope)


def coverage(pool: Pool, certificate: Certificate, order: int = 1) -> Coverage:
    """Distances of the first 1, 2, ... new picks, with the earlier ones; costs are distances to the power ``order``.

    Fewer picks carry as much more each: the mass range is scaled with their number. The last distance is the run's own.
    """
    picks, earlier = certificate.picks, len(certificate.already)
    new = len(picks) - earlier
    counts = _counts(new)
    rows = _sampled(pool, picks, counts + earlier)
    masses = pool.masses if rows is None else pool.masses[rows] / pool.masses[rows].sum()
    costs = pool.distances(picks, slice(None) if rows is None else rows, dtype=np.float32)
    values = []
    for count in (counts[:-1] + earlier).tolist():
        scale = len(picks) / count
        low, high = certificate.low * scale, min(1.0, certificate.high * scale)
        values.append(transport(costs[:count], masses, low, high).distance)
    distances = np.array([*values, certificate.distance]).clip(0) ** (1 / order)
    return Coverage(counts, distances, len(masses), _bend(counts, distances))


def _counts(new: int) -> Indices:
    """All numbers of picks, or some of them, closer together where the curve is steeper."""
    if new <= _MOST_BUDGETS:
        return np.arange(1, new + 1)
    return np.unique(np.geomspace(1, new, _MOST_BUDGETS).round().astype(np.int64))


def _sampled(pool: Pool, picks: Indices, counts: Indices) -> Indices | None:
    """The points that are looked at, None for all."""
    size = max(_LEAST_POINTS, _WORK // int(counts.sum()))
    if size >= pool.n:
        return None
    rows = np.sort(np.random.default_rng(0).choice(pool.n, size, replace=False))
    return rows if pool.masses[rows].sum() > 0 else None


def _bend(counts: Indices, distances: Floats) -> int | None:
    """Where the curve lies deepest below the line from its first to its last value (Satopää et al. 2011)."""
    fallen = np.minimum.accumulate(distances)
    height = fallen[0] - fallen[-1]
    if len(counts) < _FEW or not height > 0:
        return None
    across = (counts - counts[0]) / (counts[-1] - counts[0])
    depth = (1 - across) - (fallen - fallen[-1]) / height
    deepest = int(np.argmax(depth))
    return int(counts[deepest]) if depth[deepest] >= _BENT and not math.isnan(depth[deepest]) else None
