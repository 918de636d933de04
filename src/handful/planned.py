"""What follows from picks alone: their exact plan, in double precision, as a `Selection` holds it."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from handful.lifted import Shares
from handful.pool import Pool
from handful.transport import Plan, transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Planned(TypedDict):
    """Fields of a `Selection`."""

    indices: Indices
    already: Indices
    distance: float
    masses: Floats
    plan: Indices
    flow_rows: Indices
    flow_picks: Indices
    flow_masses: Floats
    low: float
    high: float
    pool: Pool


def planned(pool: Pool, shares: Shares, picks: Indices, forced: int, plan: Plan | None = None) -> Planned:
    """The exact plan of the pool to ``picks``, the first ``forced`` of which are earlier ones; solved if not given."""
    if plan is None:
        plan = transport(pool.distances(picks), pool.masses, shares.low, shares.high)
    return Planned(
        indices=picks[forced:],
        already=picks[:forced],
        distance=plan.distance,
        masses=plan.shares(len(picks)),
        plan=picks[plan.labels_with(pool.n, lambda rows: pool.distances(picks, rows))],
        flow_rows=plan.rows,
        flow_picks=plan.columns,
        flow_masses=plan.mass,
        low=shares.low,
        high=shares.high,
        pool=pool,
    )
