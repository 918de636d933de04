"""The master problem in CBC, through Python-MIP, as in the paper."""

from __future__ import annotations

from collections.abc import Callable

import mip
import numpy as np
from numpy.typing import NDArray

from handful.benders.cut import Cut
from handful.benders.master import TOLERANCE, Answer
from handful.errors import HandfulError

Indices = NDArray[np.int64]


class CbcMaster:
    """W-RMP as a live CBC model; the objective is scaled.

    CBC can't be asked to stop while it solves: Ctrl-C is noticed when the solve ends.
    """

    def __init__(self, count: int, free: int, scale: float) -> None:
        self._scale = scale
        self._model = mip.Model(sense=mip.MINIMIZE, solver_name=mip.CBC)
        self._model.verbose = 0
        self._model.threads = 1
        self._model.seed = 0
        self._model.max_mip_gap_abs = TOLERANCE
        self._model.integer_tol = self._model.infeas_tol = self._model.opt_tol = TOLERANCE
        self._picked = [self._model.add_var(name=f"pick{j}", var_type=mip.BINARY) for j in range(count)]
        self._bound = self._model.add_var(name="eta", lb=-mip.INF, obj=1.0)
        self._model.add_constr(mip.xsum(self._picked) == free)

    def add(self, cut: Cut) -> None:
        """Add a cut."""
        columns = np.flatnonzero(cut.coefficients)
        variables = [self._bound, *(self._picked[j] for j in columns)]
        values = [1.0, *(-self._scale * cut.coefficients[columns]).tolist()]
        self._model.add_constr(mip.LinExpr(variables, values, -self._scale * cut.constant, mip.GREATER_OR_EQUAL))

    def close(self, columns: Indices) -> None:
        """Fix these candidates at 0, for good."""
        for j in columns:
            self._picked[j].ub = 0.0

    def overlap(self, columns: Indices, least: float, most: float) -> int:
        """Ask that at least ``least`` (if positive) or at most ``most`` of these candidates are picked."""
        count = mip.xsum(self._picked[j] for j in columns)
        self._model.add_constr(count >= least if least > 0 else count <= most)
        return int(self._model.num_rows) - 1

    def release(self, handle: int) -> None:
        """Ask it no longer; only a row that asks for a least number is ever released."""
        self._model.constrs[handle].rhs = 0.0

    def solve(self, seconds: float, gap: float, start: Indices, value: float, stop: Callable[[], bool]) -> Answer:
        """Solve to a relative ``gap`` or for ``seconds``."""
        self._model.max_mip_gap = gap
        self._model.start = [(self._picked[j], 1.0) for j in start] + [(self._bound, self._scale * value)]
        status = self._model.optimize(max_seconds=max(seconds, 0.01))
        if status in (mip.OptimizationStatus.INFEASIBLE, mip.OptimizationStatus.INT_INFEASIBLE):
            return Answer(None, np.inf, empty=True)
        if status == mip.OptimizationStatus.ERROR:
            raise HandfulError("CBC failed on the master problem: try solver='highs'")
        found = self._model.objective_bound
        bound = -np.inf if found is None else float(found) / self._scale
        if not self._model.num_solutions:
            return Answer(None, bound)
        return Answer(np.array([j for j, var in enumerate(self._picked) if var.x > 0.5], np.int64), bound)
