"""The master problem in HiGHS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from handful.benders.cut import Cut
from handful.benders.master import TOLERANCE, Answer
from handful.errors import HandfulError

Indices = NDArray[np.int64]

_OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": TOLERANCE,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}
# With few candidates left the dual bound is all that is missing, and searching for better selections is lost time:
# without it a solve takes a third.
_FEW = 200
_NO_SEARCH = {
    "mip_heuristic_effort": 0.0,
    "mip_detect_symmetry": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
}


class HighsMaster:
    """W-RMP as a live HiGHS model; the objective is scaled."""

    def __init__(self, count: int, free: int, scale: float) -> None:
        self._count = count
        self._scale = scale
        self._stop: Callable[[], bool] = lambda: False
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._set(_OPTIONS)
        self._model.passModel(_empty(count, free))
        self._left = count
        self._model.cbMipInterrupt += self._on_interrupt

    def add(self, cut: Cut) -> None:
        """Add a cut."""
        columns = np.append(np.flatnonzero(cut.coefficients), self._count)
        values = np.append(-self._scale * cut.coefficients[columns[:-1]], 1.0)
        self._row(self._scale * cut.constant, highspy.kHighsInf, columns, values)

    def close(self, columns: Indices) -> None:
        """Fix these candidates at 0, for good."""
        zeros = np.zeros(len(columns))
        self._model.changeColsBounds(len(columns), columns.astype(np.int32), zeros, zeros)
        self._left -= len(columns)

    def overlap(self, columns: Indices, least: float, most: float) -> int:
        """Ask that between ``least`` and ``most`` of these candidates are picked."""
        self._row(least, most, columns, np.ones(len(columns)))
        return int(self._model.getNumRow()) - 1

    def release(self, handle: int) -> None:
        """Ask it no longer."""
        self._model.changeRowBounds(handle, -highspy.kHighsInf, highspy.kHighsInf)

    def solve(self, seconds: float, gap: float, start: Indices, value: float, stop: Callable[[], bool]) -> Answer:
        """Solve to a relative ``gap`` or for ``seconds``; ``stop`` ends it early."""
        self._stop = stop
        self._set({"time_limit": max(seconds, 0.01), "mip_rel_gap": gap})
        if self._left <= _FEW:
            self._set(_NO_SEARCH)
        self._model.setSolution(self._solution(start, value))
        self._model.run()
        status = self._model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return Answer(None, np.inf, empty=True)
        if status in (highspy.HighsModelStatus.kSolveError, highspy.HighsModelStatus.kModelError):
            raise HandfulError(f"HiGHS failed on the master problem ({status.name}): try solver='cbc'")
        info = self._model.getInfo()
        bound = float(info.mip_dual_bound) / self._scale
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Answer(None, bound)
        picked = np.array(self._model.getSolution().col_value)[: self._count]
        return Answer(np.flatnonzero(picked > 0.5), bound)

    def _set(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if self._model.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise HandfulError(f"this version of HiGHS does not know the option {name}: update highspy")

    def _solution(self, columns: Indices, value: float) -> Any:
        values = np.zeros(self._count + 1)
        values[columns] = 1.0
        values[-1] = self._scale * value
        solution = highspy.HighsSolution()
        solution.col_value = values.tolist()
        return solution

    def _row(self, low: float, high: float, columns: Indices, values: NDArray[np.float64]) -> None:
        self._model.addRow(low, high, len(columns), columns.astype(np.int32), values)

    def _on_interrupt(self, event: Any) -> None:
        if self._stop():
            event.interrupt()


def _empty(count: int, free: int) -> Any:
    """The master without cuts: pick ``free`` of ``count``."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count + 1, 1
    model.col_cost_ = np.append(np.zeros(count), 1.0)
    model.col_lower_ = np.append(np.zeros(count), -highspy.kHighsInf)
    model.col_upper_ = np.append(np.ones(count), highspy.kHighsInf)
    model.row_lower_ = model.row_upper_ = np.array([float(free)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array([0, count])
    model.a_matrix_.index_ = np.arange(count)
    model.a_matrix_.value_ = np.ones(count)
    model.integrality_ = [highspy.HighsVarType.kInteger] * count + [highspy.HighsVarType.kContinuous]
    return model
