"""Runs to report on: small enough that everything shown can be recomputed point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from handful.files.finished import Finished, read_run
from handful.files.runs import save
from handful.files.table import Table
from handful.lifted import Shares
from handful.planned import planned
from handful.pool import Pool
from handful.proof import Proof
from handful.selection import Progress, Selection

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A pool and picks of it, the first ``earlier`` of which were labelled before."""

    picks: Sequence[int]
    low: float
    high: float
    metric: str = "euclidean"
    weighted: bool = False
    earlier: int = 0
    n: int = 60

    @property
    def points(self) -> Floats:
        random = np.random.default_rng(self.n)
        groups = np.arange(self.n) % 4
        return random.normal(size=(4, 5))[groups] * 2 + random.normal(size=(self.n, 5))

    @property
    def masses(self) -> Floats:
        weights = np.random.default_rng(9).integers(0, 6, self.n) if self.weighted else np.ones(self.n)
        return weights / weights.sum()

    @property
    def costs(self) -> Floats:
        """Costs from the picks to all points, by SciPy."""
        return cdist(self.points[list(self.picks)], self.points, self.metric)

    def table(self, ids: Sequence[str] | None = None) -> Table:
        names = None if ids is None else np.array(ids)
        return Table(Path("pool.npy"), self.points, names, {})

    def selection(self, bound: float = 0.5) -> Selection:
        pool = Pool(self.points, self.metric, masses=self.masses)
        plan = planned(pool, Shares(self.low, self.high), np.array(self.picks), self.earlier)
        lower = bound * plan["distance"]
        trace = (Progress(0.5, 2 * plan["distance"], 0.0, "search"), Progress(1.0, plan["distance"], lower, "bound"))
        return Selection(**plan, lower_bound=lower, proof=Proof.nothing(pool.n), status="gap", seconds=1.5, trace=trace)

    def write(self, folder: Path, ids: Sequence[str] | None = None, **summary: Any) -> Finished:
        names = None if ids is None else np.array(ids)
        save(self.selection(), folder, force=False, ids=names, extra_summary=summary)
        return read_run(folder)


CASES = {
    "uniform": Case([3, 17, 28, 41, 55, 8], 1 / 6, 1 / 6),
    "not whole": Case([3, 17, 28, 41, 55, 8, 12], 1 / 7, 1 / 7),
    "free": Case([3, 17, 28, 41, 55, 8], 0.0, 1.0),
    "ranged": Case([3, 17, 28, 41, 55, 8], 0.05, 0.25, "sqeuclidean"),
    "weighted": Case([1, 2, 28, 41, 55, 8], 1 / 6, 1 / 6, weighted=True),
    "earlier": Case([3, 17, 28, 41, 55, 8, 9], 1 / 7, 1 / 7, earlier=2),
    "cosine": Case([3, 17, 28, 41, 55], 0.1, 1.0, "cosine", weighted=True, earlier=1),
}


def least_cost(costs: Floats, masses: Floats, low: float, high: float) -> float:
    """Optimum of the transport of points (columns) to picks (rows), by HiGHS."""
    picks, points = costs.shape
    carried = np.kron(np.eye(picks), np.ones(points))
    solved = linprog(
        costs.ravel(),
        A_eq=np.tile(np.eye(points), picks),
        b_eq=masses,
        A_ub=np.vstack([carried, -carried]),
        b_ub=np.append(np.full(picks, high + 1e-12), np.full(picks, 1e-12 - low)),
    )
    assert solved.status == 0
    return float(solved.fun)
