"""What a report says of the picks: the points each stands for, how far these are, and how the distance fell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.files.finished import Finished
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_LISTED = 8  # nearest and farthest points shown of each pick
_DOUBLE = 200_000_000  # coordinates up to which distances are computed in double precision


@dataclass(frozen=True, eq=False)
class Standing:
    """A pick and the points it stands for, itself aside.

    ``position`` is its place among all picks; ``rank`` its number among the new ones, None for those of earlier rounds.
    """

    position: int
    row: int
    rank: int | None
    mass: float
    stands_for: int
    mean_distance: float | None
    nearest: Indices
    nearest_distances: Floats
    farthest: Indices
    farthest_distances: Floats


@dataclass(frozen=True, eq=False)
class Standings:
    """All picks, in the order of the plan, and for every point the distance to the one that stands for it.

    ``shared`` lists the rest of the points that are shared by several picks: point, position of the pick, part of the
    point's mass.
    """

    picks: tuple[Standing, ...]
    distances: Floats
    shared: tuple[tuple[int, int, float], ...]


def standings(run: Finished, pool: Pool, order: int = 1) -> Standings:
    """Look at the plan from each of its picks; costs are distances to the power ``order``, distances are told."""
    dtype = np.float64 if pool.points.size <= _DOUBLE else np.float32
    picks, earlier = run.certificate.picks, len(run.certificate.already)
    rows, at, masses, owner = _members(run)
    starts = np.searchsorted(at, np.arange(len(picks) + 1))
    distances = np.empty(pool.n)
    found = []
    for b, pick in enumerate(picks):
        part = slice(starts[b], starts[b + 1])
        members, mass = rows[part], masses[part]
        costs = np.asarray(pool.distances(picks[[b]], members, dtype=dtype)[0], np.float64).clip(0)
        away = costs ** (1 / order)
        distances[members[owner[part]]] = away[owner[part]]
        by_distance = np.argsort(away, kind="stable")
        by_distance = by_distance[members[by_distance] != pick]
        near, far = by_distance[:_LISTED], by_distance[::-1][:_LISTED]
        total = float(mass.sum())
        found.append(
            Standing(
                position=b,
                row=int(pick),
                rank=b - earlier + 1 if b >= earlier else None,
                mass=float(run.certificate.shares[b]),
                stands_for=int(owner[part].sum()),
                mean_distance=float(costs @ mass / total) ** (1 / order) if total > 0 else None,
                nearest=members[near],
                nearest_distances=away[near],
                farthest=members[far],
                farthest_distances=away[far],
            )
        )
    return Standings(tuple(found), distances, _shared(rows, at, masses, owner, run.certificate.point_masses))


def _members(run: Finished) -> tuple[Indices, Indices, Floats, NDArray[np.bool_]]:
    """Every pair of a point and a pick that has a part in it, by pick: point, pick, mass, whether it owns the point.

    The pick that the plan names for a point owns it; points without mass are in no flow, but have an owner too.
    """
    n = len(run.labels)
    some = run.flow_masses > 0
    keys = np.concatenate([run.flow_picks[some] * n + run.flow_rows[some], run.labels * n + np.arange(n)])
    masses = np.concatenate([run.flow_masses[some], np.zeros(n)])
    pairs, inverse = np.unique(keys, return_inverse=True)
    mass: Floats = np.bincount(inverse, masses, minlength=len(pairs)).astype(np.float64)
    at, rows = np.divmod(pairs, n)
    return rows, at, mass, run.labels[rows] == at


def _shared(
    rows: Indices, at: Indices, masses: Floats, owner: NDArray[np.bool_], of: Floats
) -> tuple[tuple[int, int, float], ...]:
    rest = np.flatnonzero(~owner & (of[rows] > 0))
    return tuple((int(rows[k]), int(at[k]), float(masses[k] / of[rows[k]])) for k in rest)
