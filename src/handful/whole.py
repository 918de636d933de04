r"""Selections in which every point is served whole, by one pick, and picks carry masses within a range.

.. math:: \min \sum_i a_i D_{i\,c(i)} \quad\text{s.t.}\quad l \le \sum_{i: c(i) = j} a_i \le h \text{ for every pick } j

the capacitated p-median problem, for whose assignment alone a feasible answer is hard to find. If points may be shared,
as `handful.select` has it, there are more plans, so *its lower bound holds here too*; no better one is computed.

The search descends by shifting and exchanging points between picks, with a penalty on mass out of range that grows
until none is, moves every pick to the medoid of its points, and perturbs (Lourenço, Martin & Stützle 2003, *Iterated
local search*); on the way it accepts plans that are a little worse. For picks that would be better than any known if
points could be shared HiGHS finds the best plan, where the pool is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye, kron

from handful import _assign
from handful.clock import Clock
from handful.engine import select
from handful.errors import HandfulError
from handful.lifted import Shares
from handful.pool import Pool
from handful.selection import Selection, relative_gap
from handful.transport import transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_RANGE = 1e-9  # how far a mass may be out of its range, for rounding
_BORDER = 2_500  # points among which exchanges are tried: those that would lose least elsewhere
_HARDER = 4.0  # growth of the penalty
_ROUNDS = 12  # of that growth, at most
_EXACT = 20_000  # points times picks up to which the plan of promising picks is solved exactly
_SECONDS = 5.0  # for that, at most
_PATIENCE = 3_000  # perturbations without success after which the search ends
_WALK = 60  # perturbations after which the search goes back to the best plan
_WORSE = 0.02  # how much worse than that, as a share, plans on the way may be
_NEAR = 12  # candidates near a pick from which a perturbation takes another, half of the time


@dataclass(frozen=True, eq=False)
class WholeSelection:
    """Picks that serve every point whole.

    Attributes
    ----------
    indices : array of int
        The picks, earlier ones first.
    plan : array of int, one per point
        The row of the pick that serves the point.
    masses : array
        Mass that each pick carries.
    distance, lower_bound : float
        Cost of the plan, and a proven lower bound on that of any such plan for any picks.
    shared : Selection
        The selection in which points may be shared, to be saved and verified: the lower bound is its.
    """

    indices: Indices
    plan: Indices
    masses: Floats
    distance: float
    lower_bound: float
    shared: Selection

    @property
    def gap(self) -> float:
        """``(distance - lower_bound) / distance``; 0 where the distance is 0."""
        return relative_gap(self.distance, self.lower_bound)

    def __str__(self) -> str:
        return (
            f"{len(self.indices)} picks of {len(self.plan):,} points, each served whole: distance {self.distance:.6g}, "
            f"at least {self.lower_bound:.6g} for any picks (gap {self.gap:.3%})"
        )


def select_whole(
    pool: ArrayLike | Pool,
    budget: int,
    *,
    picks_weight: tuple[float, float],
    time_limit: float = 60.0,
    gap: float = 0.0,
    seed: int = 0,
    **options: Any,
) -> WholeSelection:
    """Pick points, and serve every point whole by one of them.

    Parameters
    ----------
    pool, budget, options
        As for `handful.select`, which is run first, for a third of the time at most.
    picks_weight : (low, high)
        The mass range of a pick.
    gap : float
        Stop when the distance is within this share of the lower bound.
    time_limit : float

    Raises
    ------
    HandfulError
        Where no plan within the range was found; there may be none, as points can't be shared.
    """
    clock = Clock(time_limit)
    shared = select(pool, budget, picks_weight=picks_weight, time_limit=time_limit / 3, gap=0.0, seed=seed, **options)
    search = _WholeSearch(shared.pool, Shares(shared.low, shared.high), len(shared.already), clock)
    best = search.run(shared.picks, shared.labels, shared.lower_bound * (1 + gap), np.random.default_rng([seed, 5]))
    if best is None:
        raise HandfulError(
            f"no plan was found that serves every point whole with masses of {shared.low:g} to {shared.high:g} per "
            "pick: widen the range, allow more picks or more time, or let points be shared (handful.select)"
        )
    masses = np.bincount(best.labels, shared.pool.masses, minlength=len(best.picks)).astype(np.float64)
    return WholeSelection(
        best.picks, best.picks[best.labels], masses, best.cost, min(shared.lower_bound, best.cost), shared
    )


@dataclass(frozen=True, eq=False)
class _State:
    picks: Indices
    labels: Indices
    cost: float
    out: float
    """Mass out of range."""

    def beats(self, other: _State) -> bool:
        if (self.out > _RANGE) or (other.out > _RANGE):
            return self.out < other.out - _RANGE
        return self.cost < other.cost * (1 - 1e-12)


class _WholeSearch:
    def __init__(self, pool: Pool, shares: Shares, fixed: int, clock: Clock) -> None:
        self.pool = pool
        # The range is as wide as rounding may make a sum of masses, so that full picks count as within.
        self.low, self.high = shares.low - _RANGE / 2, shares.high + _RANGE / 2
        self.fixed = fixed
        self.clock = clock
        self._least = np.inf
        self._seen: set[bytes] = set()

    def run(self, picks: Indices, labels: Indices, enough: float, random: np.random.Generator) -> _State | None:
        """The best plan found; None where none is within the range."""
        best = self._descend(picks, labels)
        here, failures = best, 0
        while failures < _PATIENCE and self.clock.left > 0 and not (best.out <= _RANGE and best.cost <= enough):
            found = self._descend(*self._perturbed(here, random))
            failures += 1
            if found.beats(best):
                best, here, failures = found, found, 0
            elif failures % _WALK == 0:
                here = best
            elif found.out <= max(_RANGE, best.out) and found.cost < best.cost * (1 + _WORSE * random.random()):
                here = found
        return best if best.out <= _RANGE else None

    def _descend(self, picks: Indices, labels: Indices) -> _State:
        """Assignment and medoids in turn."""
        best = self._assigned(picks, labels)
        while self.clock.left > 0:
            moved = self._medoids(best)
            if (moved == best.picks).all():
                break
            found = self._assigned(moved, best.labels)
            if not found.beats(best):
                break
            best = found
        return best

    def _assigned(self, picks: Indices, labels: Indices) -> _State:
        """Shift and exchange points, first at a low price of mass out of range, then at a higher one."""
        masses = self.pool.masses
        costs = np.asarray(self.pool.distances(picks), np.float64) * masses
        labels = labels.copy()
        loads = np.bincount(labels, masses, minlength=len(picks)).astype(np.float64)
        border = self._border(costs)
        penalty = 0.5 * float(costs.min(axis=0).sum()) + 1e-300
        for _ in range(_ROUNDS):
            _assign.improve(costs, masses, self.low, self.high, penalty, border, labels, loads)
            out = sum(_assign.excess(load, self.low, self.high) for load in loads)
            if out <= 0 or self.clock.left <= 0:
                break
            penalty *= _HARDER
        found = _State(picks, labels, float(costs[labels, np.arange(len(labels))].sum()), out)
        exact = self._exact(picks, costs) if self._promising(picks) else None
        best = exact if exact is not None and exact.beats(found) else found
        if best.out <= _RANGE:
            self._least = min(self._least, best.cost)
        return best

    def _promising(self, picks: Indices) -> bool:
        """Whether the picks were not there before, and would be better than any yet if points could be shared."""
        key = np.sort(picks).tobytes()
        if len(picks) * self.pool.n > _EXACT or key in self._seen:
            return False
        self._seen.add(key)
        shared = transport(self.pool.distances(picks), self.pool.masses, max(0.0, self.low), min(1.0, self.high))
        return shared.distance < self._least * (1 - 1e-9)

    def _exact(self, picks: Indices, costs: Floats) -> _State | None:
        """The best plan for these picks, by HiGHS; None where there is none, or none was found in a few seconds."""
        count, n = costs.shape
        served = csr_array(kron(np.ones((1, count)), eye(n)))
        carried = csr_array(kron(eye(count), self.pool.masses[None, :]))
        solved = milp(
            costs.ravel() / costs.max(),
            constraints=[LinearConstraint(served, 1, 1), LinearConstraint(carried, self.low, self.high)],
            integrality=np.ones(costs.size),
            bounds=Bounds(0, 1),
            options={"time_limit": min(_SECONDS, max(0.1, self.clock.left)), "mip_rel_gap": 0.0},
        )
        if solved.x is None:
            return None
        labels = solved.x.reshape(costs.shape).argmax(axis=0)
        loads = np.bincount(labels, self.pool.masses, minlength=count)
        out = sum(_assign.excess(load, self.low, self.high) for load in loads)
        return _State(picks, labels, float(costs[labels, np.arange(n)].sum()), out)

    def _border(self, costs: Floats) -> Indices:
        if len(costs) == 1:
            return np.empty(0, np.int64)
        least = np.partition(costs, 1, axis=0)
        return np.sort(np.argsort(least[1] - least[0], kind="stable")[:_BORDER])

    def _medoids(self, state: _State) -> Indices:
        """For every pick the candidate that serves its points at the least cost."""
        moved = state.picks.copy()
        free = np.setdiff1d(self.pool.candidates, state.picks)
        for b in range(self.fixed, len(moved)):
            members = np.flatnonzero(state.labels == b)
            options = np.append(moved[b], np.setdiff1d(free, moved))
            if len(members):
                costs = self.pool.group_costs(members, np.zeros(1, np.int64), self.pool.masses[members], options)[0]
                if costs.min() < costs[0] * (1 - 1e-6):
                    moved[b] = options[np.argmin(costs)]
        return moved

    def _perturbed(self, state: _State, random: np.random.Generator) -> tuple[Indices, Indices]:
        """Move one or two picks, and let their points and those that they are nearest to go to their nearest."""
        picks, labels = state.picks.copy(), state.labels.copy()
        others = np.setdiff1d(self.pool.candidates, picks)
        movable = len(picks) - self.fixed
        if movable and len(others):
            for b in self.fixed + random.choice(movable, min(movable, int(random.integers(1, 3))), replace=False):
                near = others
                if random.random() < 0.5:
                    near = others[np.argsort(self.pool.distances(others, picks[[b]])[:, 0], kind="stable")[:_NEAR]]
                picks[b] = random.choice(np.setdiff1d(near, picks)) if len(np.setdiff1d(near, picks)) else picks[b]
        nearest = self.pool.distances(picks).argmin(axis=0)
        changed = picks != state.picks
        again = changed[labels] | changed[nearest]
        # And some points at random, so that a plan for the same picks may change too.
        again |= random.random(len(labels)) < 0.05
        labels[again] = nearest[again]
        return picks, labels
