r"""The linear relaxation for picks of free weight over few candidates, exactly, with prices that prove it.

Let :math:`c_1 \le c_2 \le \dots` be the costs of a point's near candidates in their order, :math:`T_k` the set of the
first k of them, and its horizon the cost after the last. Serving the point costs

.. math:: c_1 + \sum_k (c_{k+1} - c_k)\,[\,\text{no candidate of } T_k \text{ is picked}\,]

(the radius formulation: Cornuéjols, Nemhauser & Wolsey 1980, *A canonical representation of simple plant location
problems*, SIAM J. Alg. Disc. Meth. 1). Equal sets of different points become one (Church 2003, *COBRA*, Ann. Oper. Res.
122), so many points become few sets T with weights w, and the relaxation is

.. math:: \min \; \text{const} + \sum_T w_T s_T \quad\text{s.t.}\quad s_T + z(T) \ge 1,\; s \ge 0,\;
          \sum_j z_j = p,\; 0 \le z \le 1 .

For most sets one of the two constraints plays no part: where no member is picked :math:`s_T = 1 - z(T)` all the way,
where one surely is :math:`s_T = 0`. Only sets that are violated otherwise get a row. A dual solution gives each set a
part :math:`\varphi_T = \pi_T / w_T`, and the prices :math:`u_i = c_1 + \sum_k \varphi_{T_k} (c_{k+1} - c_k)` prove at
least the dual's value.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from numba import njit
from numpy.typing import NDArray

from handful.clock import Clock
from handful.errors import HandfulError
from handful.near import NearPairs

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SLACK = 1e-7  # by how much a set may be violated
_UNSERVED = 1e-6  # what of a point may be left to its horizon
_SCALE = 1e5  # the objective is about so much, as tolerances of the solver are absolute
_OPEN, _CLOSED, _ROW = 1, 0, 2


class Radius:
    """The relaxation over the candidates of ``pairs``; positions are theirs.

    Parameters
    ----------
    budget : int
        Picks, all of them counted.
    prices : array
        Good prices: they say which sets to begin with.
    distance : float
        About the optimum.

    Attributes
    ----------
    unserved : array of bool
        Points that the last solution leaves, in part, to cost their horizon: with a farther one its value may be higher.
    """

    def __init__(self, pairs: NearPairs, budget: int, prices: Floats, distance: float) -> None:
        self.pairs = pairs
        self.count = len(pairs.candidates)
        masses, horizon = pairs.pool.masses, pairs.horizon
        self._scale = _SCALE / distance
        self.unserved = np.zeros(pairs.pool.n, bool)
        owner = np.repeat(np.arange(self.count), pairs.last - pairs.first)
        pairs.keep(np.arange(self.count))
        points, costs = pairs.points, pairs.costs
        order = np.lexsort((owner, costs, points))
        self._member, points, costs = owner[order], points[order], costs[order]
        self._start = np.searchsorted(points, np.arange(pairs.pool.n + 1))
        keys = np.random.default_rng(0).integers(1, 2**62, self.count).astype(np.uint64)
        hashes, self._step = _prefixes(self._start, self._member, costs, horizon, keys)
        weight = masses[points] * self._step
        _, self._where, self._set = np.unique(hashes, return_index=True, return_inverse=True)
        self._weight = np.bincount(self._set, weight, minlength=len(self._where)) * self._scale
        self._point = points[self._where]
        self._least = horizon.copy()
        some = self._start[1:] > self._start[:-1]
        self._least[some] = costs[self._start[:-1][some]]
        # How far the prices reach into every step: a set is open where they go all the way, closed where not at all.
        reach = np.clip(prices[points] - costs, 0, self._step) * masses[points]
        part = np.bincount(self._set, reach, minlength=len(self._where)) * self._scale
        self._state = np.full(len(self._where), _ROW)
        self._state[part <= 1e-9 * self._weight] = _CLOSED
        self._state[part >= (1 - 1e-9) * self._weight] = _OPEN
        self._state[self._weight <= 0] = _CLOSED
        self._rows = np.empty(0, np.int64)
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._model.setOptionValue("output_flag", False)
        self._model.setOptionValue("threads", 1)
        self._model.passModel(_picks_only(self.count, budget))
        self._add(np.flatnonzero(self._state == _ROW))
        self._price()

    @property
    def size(self) -> int:
        """Sets."""
        return len(self._where)

    @property
    def rows(self) -> int:
        """Sets that have a row."""
        return len(self._rows)

    def solve(self, lower: Floats, upper: Floats, clock: Clock) -> tuple[Floats, Floats] | None:
        """How much of each candidate is picked, and prices that prove the value; None where nothing is feasible."""
        columns = np.arange(self.count, dtype=np.int32)
        self._model.changeColsBounds(self.count, columns, lower, upper)
        while True:
            self._model.setOptionValue("time_limit", self._model.getRunTime() + max(clock.left, 0.1))
            self._model.run()
            clock.check()
            status = self._model.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                return None
            if status != highspy.HighsModelStatus.kOptimal:
                raise HandfulError(f"HiGHS ended the relaxation with {status.name}")
            solution = self._model.getSolution()
            picked = np.array(solution.col_value)[: self.count]
            every = _held(self._start, self._member, picked)
            held = every[self._where]
            wrong = ((self._state == _OPEN) & (held > 1 + _SLACK)) | ((self._state == _CLOSED) & (held < 1 - _SLACK))
            wrong &= self._weight > 0
            if not wrong.any():
                served = np.zeros(len(self._least))
                some = self._start[1:] > self._start[:-1]
                served[some] = every[self._start[1:][some] - 1]
                self.unserved = (served < 1 - _UNSERVED) & (self.pairs.pool.masses > 0)
                return picked, self._prices(np.array(solution.row_dual)[1:])
            self._add(np.flatnonzero(wrong))
            self._price()

    def _prices(self, duals: Floats) -> Floats:
        part = np.where(self._state == _OPEN, 1.0, 0.0)
        part[self._rows] = np.clip(duals / self._weight[self._rows], 0.0, 1.0)
        return _raised(self._start, self._least, part[self._set] * self._step)

    def _add(self, sets: Indices) -> None:
        """Give sets a row, and their s a column."""
        if not len(sets):
            return
        self._state[sets] = _ROW
        ends = self._where[sets] + 1
        begins = self._start[self._point[sets]]
        lengths = ends - begins
        starts = np.append(0, np.cumsum(lengths + 1))
        index = np.empty(starts[-1], np.int32)
        _fill(begins, lengths, starts, self._member, index)
        index[starts[1:] - 1] = self.count + len(self._rows) + np.arange(len(sets))
        many, none = len(sets), np.empty(0)
        self._model.addCols(
            many, self._weight[sets], np.zeros(many), np.full(many, highspy.kHighsInf), 0, np.zeros(many, np.int32),
            none.astype(np.int32), none,
        )  # fmt: skip
        self._model.addRows(
            many, np.ones(many), np.full(many, highspy.kHighsInf), int(starts[-1]), starts[:-1].astype(np.int32),
            index, np.ones(len(index)),
        )  # fmt: skip
        self._rows = np.append(self._rows, sets)

    def _price(self) -> None:
        """Open sets cost less the more of their members are picked."""
        weight = np.where(self._state == _OPEN, self._weight, 0.0)
        share = np.zeros(len(self._member))
        share[self._where] = weight
        costs = _members_costs(self._start, self._member, share, self.count)
        self._model.changeColsCost(self.count, np.arange(self.count, dtype=np.int32), costs)


def _picks_only(count: int, budget: int) -> Any:
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count, 1
    model.col_cost_ = np.zeros(count)
    model.col_lower_, model.col_upper_ = np.zeros(count), np.ones(count)
    model.row_lower_ = model.row_upper_ = np.array([float(budget)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array([0, count])
    model.a_matrix_.index_ = np.arange(count)
    model.a_matrix_.value_ = np.ones(count)
    return model


@njit(cache=True, nogil=True)
def _prefixes(
    start: Indices, member: Indices, costs: Floats, horizon: Floats, keys: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], Floats]:
    """For every entry the name of the set of entries of its point up to it, and the step to the next cost."""
    names = np.empty(len(member), np.uint64)
    step = np.empty(len(member))
    for i in range(len(start) - 1):
        name = np.uint64(0)
        for at in range(start[i], start[i + 1]):
            name += keys[member[at]]
            names[at] = name
            after = costs[at + 1] if at + 1 < start[i + 1] else horizon[i]
            step[at] = after - costs[at]
    return names, step


@njit(cache=True, nogil=True)
def _held(start: Indices, member: Indices, picked: Floats) -> Floats:
    """For every entry how much is picked of the set up to it."""
    held = np.empty(len(member))
    for i in range(len(start) - 1):
        total = 0.0
        for at in range(start[i], start[i + 1]):
            total += picked[member[at]]
            held[at] = total
    return held


@njit(cache=True, nogil=True)
def _members_costs(start: Indices, member: Indices, share: Floats, count: int) -> Floats:
    costs = np.zeros(count)
    for i in range(len(start) - 1):
        total = 0.0
        for at in range(start[i + 1] - 1, start[i] - 1, -1):
            total += share[at]
            costs[member[at]] -= total
    return costs


@njit(cache=True, nogil=True)
def _raised(start: Indices, least: Floats, rise: Floats) -> Floats:
    prices = least.copy()
    for i in range(len(start) - 1):
        for at in range(start[i], start[i + 1]):
            prices[i] += rise[at]
    return prices


@njit(cache=True, nogil=True)
def _fill(
    begins: Indices, lengths: Indices, starts: Indices, member: Indices, index: NDArray[np.int32]
) -> None:
    for k in range(len(begins)):
        for m in range(lengths[k]):
            index[starts[k] + m] = member[begins[k] + m]
