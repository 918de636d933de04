"""The problem to be solved, checked: a pool, how many picks, what they may carry, and which are there already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.errors import HandfulError
from handful.lifted import Shares
from handful.pool import Pool, checked_indices

Indices = NDArray[np.int64]
PicksWeight = str | tuple[float, float]


@dataclass(frozen=True)
class Problem:
    """``budget`` picks of ``pool``, counting the ``forced`` ones, each to carry a mass within ``shares``."""

    pool: Pool
    budget: int
    shares: Shares
    forced: Indices

    @property
    def new(self) -> int:
        """How many picks are to be found."""
        return self.budget - len(self.forced)

    @classmethod
    def of(cls, pool: Pool, budget: int, picks_weight: PicksWeight, already: ArrayLike, count_already: bool) -> Problem:
        """Check what was asked for."""
        forced = checked_indices(already, pool.n, "already")
        if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
            raise HandfulError(f"budget must be a whole number; got {budget!r}")
        if budget < 1:
            raise HandfulError(f"budget must be at least 1; got {budget}")
        if count_already and len(forced) > budget:
            raise HandfulError(
                f"there are {len(forced)} earlier picks but the budget that counts them is {budget}: raise the budget, "
                "or do not count them"
            )
        total = int(budget) + (0 if count_already else len(forced))
        free = len(np.setdiff1d(pool.candidates, forced))
        if total - len(forced) > free:
            raise HandfulError(
                f"{total - len(forced)} new picks are asked for, but only {free} candidates are free: lower the budget "
                "or allow more candidates"
            )
        return cls(pool, total, mass_range(picks_weight, total), forced)


def mass_range(picks_weight: PicksWeight, picks: int) -> Shares:
    """What a pick may carry: all the same, anything, or a range."""
    if isinstance(picks_weight, str):
        if picks_weight == "uniform":
            return Shares(1 / picks, 1 / picks)
        if picks_weight == "free":
            return Shares(0.0, 1.0)
        raise HandfulError(f'picks_weight must be "uniform", "free" or a range (low, high); got {picks_weight!r}')
    try:
        low, high = (float(bound) for bound in picks_weight)
    except (TypeError, ValueError):
        raise HandfulError(f'picks_weight must be "uniform", "free" or (low, high); got {picks_weight!r}') from None
    if not 0 <= low <= high:
        raise HandfulError(f"a mass range must have 0 <= low <= high; got {low:g} to {high:g}")
    if low * picks > 1 + 1e-12 or high * picks < 1 - 1e-12:
        raise HandfulError(
            f"{picks} picks of mass {low:g} to {high:g} carry {low * picks:g} to {high * picks:g} in all, but the "
            f"pool's mass is 1: low must be at most 1/{picks} and high at least 1/{picks}"
        )
    return Shares(low, min(high, 1.0))
