r"""The linear relaxation for picks of free weight over few candidates, exactly, with prices that prove it.

Let :math:`c_1 \le c_2 \le \dots` be the costs of a point's near candidates in their order, :math:`T_k` the set of the
first k of them, and its horizon the cost after the last. Serving the point costs

.. math:: c_1 + \sum_k (c_{k+1} - c_k)\,[\,\text{no candidate of } T_k \text{ is picked}\,]

(the radius formulation: Cornuéjols, Nemhauser & Wolsey 1980, *A canonical representation of simple plant location
problems*, SIAM J. Alg. Disc. Meth. 1). Equal sets of different points become one (Church 2003, *COBRA*, Ann. Oper. Res.
122), so many points become few sets T with weights w, and the relaxation is

.. math:: \min \; \text{const} + \sum_T w_T s_T \quad\text{s.t.}\quad s_T + z(T) \ge 1,\; s \ge 0,\;
          \sum_j z_j = p,\; 0 \le z \le 1 .

For most sets one of the two constraints plays no part: where no member is picked :math:`s_T = 1 - z(T)` all the way
(the set is *open*), where one surely is :math:`s_T = 0` (*closed*). The others are found as they are violated. What is
solved is the dual, which has few rows,

.. math:: \max \; \sum_T \pi_T + p \lambda - \sum_j \mu_j \quad\text{s.t.}\quad
          \sum_{T \ni j} \pi_T + \lambda - \mu_j \le 0,\; 0 \le \pi_T \le w_T,\; \mu \ge 0,

with :math:`\pi_T` at its upper bound for open sets and 0 for closed ones; its row duals are z. The prices
:math:`u_i = c_1 + \sum_k (\pi_{T_k} / w_{T_k}) (c_{k+1} - c_k)` prove at least its value.
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
# The dual simplex method takes a sixteenth of the primal one's time here, though new columns leave the basis feasible.
_OPTIONS: dict[str, Any] = {"output_flag": False, "threads": 1, "presolve": "off", "simplex_strategy": 1}


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
    before : Radius, optional
        One whose sets with variables are useful here too.

    Attributes
    ----------
    unserved : array of bool
        Points that the last solution leaves, in part, to cost their horizon: a farther one may give a higher value.
    """

    def __init__(
        self, pairs: NearPairs, budget: int, prices: Floats, distance: float, before: Radius | None = None
    ) -> None:
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
        keys = np.random.default_rng(0).integers(1, 2**62, pairs.pool.n).astype(np.uint64)[pairs.candidates]
        names, self._step = _prefixes(self._start, self._member, costs, horizon, keys)
        weight = masses[points] * self._step
        self._names, self._where, self._set = np.unique(names, return_index=True, return_inverse=True)
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
        if before is not None:
            self._state[np.isin(self._names, before._names[before._rows])] = _ROW
        self._state[self._weight <= 0] = _CLOSED
        self._rows: Indices = np.empty(0, np.int64)
        self._costs = np.zeros(self.count)
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            self._model.setOptionValue(option, value)
        self._model.passModel(_dual_without_sets(self.count, budget))
        self._add(np.flatnonzero(self._state == _ROW))

    @property
    def size(self) -> int:
        """Sets."""
        return len(self._where)

    @property
    def rows(self) -> int:
        """Sets that have a variable."""
        return len(self._rows)

    def solve(self, inside: Indices, outside: Indices, clock: Clock) -> tuple[Floats, Floats]:
        """How much of each candidate is picked where these are in and out, and prices that prove the value."""
        least = np.zeros(self.count)
        least[inside] = -highspy.kHighsInf
        everyone = np.arange(self.count, dtype=np.int32)
        self._model.changeColsBounds(self.count, everyone + 1, least, np.full(self.count, highspy.kHighsInf))
        while True:
            most = self._costs.copy()
            most[outside] = highspy.kHighsInf
            self._model.changeRowsBounds(self.count, everyone, np.full(self.count, -highspy.kHighsInf), most)
            self._model.setOptionValue("time_limit", self._model.getRunTime() + max(clock.left, 0.1))
            self._model.run()
            clock.check()
            status = self._model.getModelStatus()
            if status != highspy.HighsModelStatus.kOptimal:
                raise HandfulError(f"HiGHS ended the relaxation with {status.name}")
            solution = self._model.getSolution()
            picked = np.abs(np.array(solution.row_dual))
            every = _held(self._start, self._member, picked)
            held = every[self._where]
            wrong = ((self._state == _OPEN) & (held > 1 + _SLACK)) | ((self._state == _CLOSED) & (held < 1 - _SLACK))
            wrong &= self._weight > 0
            if not wrong.any():
                served = np.zeros(len(self._least))
                some = self._start[1:] > self._start[:-1]
                served[some] = every[self._start[1:][some] - 1]
                self.unserved = (served < 1 - _UNSERVED) & (self.pairs.pool.masses > 0)
                return picked, self._prices(np.array(solution.col_value)[1 + self.count :])
            self._add(np.flatnonzero(wrong))

    def _prices(self, values: Floats) -> Floats:
        part = np.where(self._state == _OPEN, 1.0, 0.0)
        part[self._rows] = np.clip(values / self._weight[self._rows], 0.0, 1.0)
        return _raised(self._start, self._least, part[self._set] * self._step)

    def _add(self, sets: Indices) -> None:
        """Give sets a variable of their own; the others that are open make candidates cheaper."""
        self._state[sets] = _ROW
        ends = self._where[sets] + 1
        begins = self._start[self._point[sets]]
        starts = np.append(0, np.cumsum(ends - begins))
        index = np.empty(starts[-1], np.int32)
        _fill(begins, starts, self._member, index)
        self._model.addCols(
            len(sets), np.full(len(sets), -1.0), np.zeros(len(sets)), self._weight[sets], len(index),
            starts[:-1].astype(np.int32), index, np.ones(len(index)),
        )  # fmt: skip
        self._rows = np.append(self._rows, sets)
        share = np.zeros(len(self._member))
        share[self._where] = np.where(self._state == _OPEN, self._weight, 0.0)
        self._costs = _members_costs(self._start, self._member, share, self.count)


def _dual_without_sets(count: int, budget: int) -> Any:
    """The dual as a minimum: a price for a pick, then what each candidate is worth beyond it; a row per candidate."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 1 + count, count
    model.col_cost_ = np.append(-float(budget), np.ones(count))
    model.col_lower_ = np.append(-highspy.kHighsInf, np.zeros(count))
    model.col_upper_ = np.full(1 + count, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = np.full(count, -highspy.kHighsInf), np.zeros(count)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.arange(0, 2 * count + 1, 2)
    model.a_matrix_.index_ = np.column_stack([np.zeros(count, np.int64), 1 + np.arange(count)]).ravel()
    model.a_matrix_.value_ = np.tile([1.0, -1.0], count)
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
def _fill(begins: Indices, starts: Indices, member: Indices, index: NDArray[np.int32]) -> None:
    for k in range(len(begins)):
        for m in range(starts[k + 1] - starts[k]):
            index[starts[k] + m] = member[begins[k] + m]
