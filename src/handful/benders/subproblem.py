"""The subproblem: the distance of one selection, and prices of the points that go with it.

It is solved on the reduced problem of the points and the picks alone; the other candidates follow by the c-transform,
which the cuts make.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.benders.sinkhorn import entropic
from handful.errors import HandfulError
from handful.transport import point_prices, transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solved:
    """A selection, solved.

    ``columns`` are its open candidates, ``picks`` all rows of the pool in it. ``distance`` is its exact distance, or
    that of a feasible plan where the subproblem is entropic. ``rows``, ``served_by`` (position in ``picks``) and
    ``mass`` list the plan; ``temperature`` is that of the entropic plan, else 0.
    """

    columns: Indices
    picks: Indices
    distance: float
    prices: Floats
    rows: Indices
    served_by: Indices
    mass: Floats
    temperature: float = 0.0


SUBPROBLEMS: Final = ("exact", "emd", "sinkhorn")
Subproblem = Callable[[Candidates, Indices], Solved]


def by_kernel(candidates: Candidates, columns: Indices) -> Solved:
    """Exact transport by our own kernel, `handful.transport`."""
    picks = candidates.picks(columns)
    costs = candidates.pool.distances(picks)
    plan = transport(costs, candidates.pool.masses, candidates.shares.low, candidates.shares.high)
    prices = point_prices(costs, plan.pick_prices)
    return Solved(columns, picks, plan.distance, prices, plan.rows, plan.columns, plan.mass)


def by_emd(candidates: Candidates, columns: Indices) -> Solved:
    """Exact transport by the network simplex of POT, as in the paper; for uniform picks.

    Its duals are used through the c-transform of those of the picks, and its optimality is checked against them: it
    only warns where it stopped early, and what it returns then is no distance.
    """
    import ot

    picks = candidates.picks(columns)
    costs = candidates.pool.distances(picks)
    demand = np.full(len(picks), 1.0 / len(picks))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columnwise = np.ascontiguousarray(costs.T)
        plan, log = ot.emd(candidates.pool.masses, demand, columnwise, numItermax=10_000_000, log=True)
    prices = point_prices(costs, np.asarray(log["v"]))
    distance = float(log["cost"])
    dual = float(candidates.pool.masses @ prices + log["v"] @ demand)
    if log["warning"] is not None or abs(distance - dual) > 1e-7 * max(distance, 1e-300) + 1e-12:
        raise HandfulError(
            f"POT's emd did not reach an optimal plan (cost {distance:.6g}, dual {dual:.6g}): use transport='exact'"
        )
    rows, served_by = np.nonzero(plan)
    return Solved(columns, picks, distance, prices, rows, served_by, plan[rows, served_by])


def by_sinkhorn(candidates: Candidates, columns: Indices, regularisation: float) -> Solved:
    """Entropic transport; the distance is that of its plan rounded to a feasible one, so never below the exact one."""
    picks = candidates.picks(columns)
    costs = candidates.pool.distances(picks)
    found = entropic(costs, candidates.pool.masses, regularisation)
    served_by, rows = np.nonzero(found.plan)
    distance = float((costs * found.plan).sum())
    mass = found.plan[served_by, rows]
    return Solved(columns, picks, distance, found.prices, rows, served_by, mass, found.temperature)


def subproblem(name: str, regularisation: float) -> Subproblem:
    """The subproblem of this name: "exact", "emd" or "sinkhorn"."""
    if name == "sinkhorn":
        return lambda candidates, columns: by_sinkhorn(candidates, columns, regularisation)
    return by_emd if name == "emd" else by_kernel
