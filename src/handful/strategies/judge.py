"""Picks of any strategy as a `Selection`: their exact distance and plan and, where cheap, a proven lower bound."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handful.planned import planned
from handful.problem import PicksWeight, mass_range
from handful.proof import Proof
from handful.selection import Progress, Selection
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import Strategy
from handful.strategies.common.task import Task

Indices = NDArray[np.int64]

_CHEAP = 5_000  # points of a pool whose bound takes seconds
_SECONDS = 10.0  # that it may take


@dataclass(frozen=True)
class Judged(Selection):
    """A selection by a strategy that did not optimise its distance."""

    strategy: str = ""

    @property
    def certified(self) -> bool:
        """Whether anything is proven of other picks."""
        return self.lower_bound > 0

    @property
    def claim(self) -> str:
        """What is known of all picks, in words."""
        if not self.certified:
            return "no lower bound was sought"
        return f"at least {self.lower_bound:.6g} for any picks{self._among} (gap {self.gap:.3%})"

    def __str__(self) -> str:
        picks = f"{len(self.indices)} picks of {self.pool.n:,} points by {self.strategy}"
        return f"{picks}: distance {self.distance:.6g}, {self.claim}"


def judged(strategy: Strategy, task: Task, picks_weight: PicksWeight) -> Selection:
    """Pick by the strategy, and judge the picks as carrying ``picks_weight``.

    Where the engine found them for just that distance, its own selection is returned. In pools of at most 5,000 points
    the bound is sought for up to 10 seconds; in others it is 0, which is said.
    """
    start = time.perf_counter()
    outcome = strategy.run(task)
    shares = mass_range(picks_weight, task.total)
    own = outcome.selection
    if own is not None and own.pool is task.pool and (own.low, own.high) == (shares.low, shares.high):
        return own
    picks = np.append(task.already, outcome.indices)
    pool = task.pool
    plan = planned(pool, shares, picks, len(task.already))
    proof, bound = _bound(task, picks_weight)
    seconds = time.perf_counter() - start
    bound = min(bound, plan["distance"])
    return Judged(
        **plan,
        lower_bound=bound,
        proof=proof,
        status="strategy",
        seconds=seconds,
        trace=(Progress(seconds, plan["distance"], bound, "done"),),
        strategy=strategy.name,
    )


def _bound(task: Task, picks_weight: PicksWeight) -> tuple[Proof, float]:
    """A proof that holds for any picks of this kind, these too, and the bound it proves."""
    if task.pool.n <= _CHEAP:
        effort = replace(task.effort, time_limit=min(_SECONDS, task.effort.time_limit), progress=None)
        best = optimised(replace(task, effort=effort), task.pool, picks_weight)
        return best.proof, best.lower_bound
    return Proof.nothing(task.pool.n), 0.0
