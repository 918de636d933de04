"""What a run of the decomposition returns: a selection, and what its master says of the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.benders.trace import Iteration
from handful.selection import STATUS, Selection, relative_gap

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BendersResult(Selection):
    """A selection found by the decomposition.

    There are two bounds. ``lower_bound`` is that of one vector of prices, `prices`: anybody can check it with one pass
    over the pool, and `handful verify` does. ``master_bound`` is the dual bound of the master, the larger of the two
    where lifted cuts are used: it is proven by ``cut_prices``, one vector per cut, and by the solver that solved the
    master of these cuts, or any that solves it again. Where an invalid cut or pruning was used, ``valid_bound`` is
    False, ``master_bound`` may lie above the optimum, and there is no certificate: ``lower_bound`` is then 0, which
    prices of 0 prove.

    Attributes
    ----------
    preset, solver : str
    families : tuple of str
        The cuts that were used.
    valid_bound : bool
        Whether ``master_bound`` is a lower bound on the optimum.
    master_bound : float
    cut_prices : array of shape (cuts, points)
        Prices of the valid cuts.
    history : tuple of Iteration
    """

    preset: str
    solver: str
    families: tuple[str, ...]
    valid_bound: bool
    master_bound: float
    cut_prices: Floats
    history: tuple[Iteration, ...]

    @property
    def master_gap(self) -> float | None:
        """``(distance - master_bound) / distance``, or None where the master bounds nothing."""
        return relative_gap(self.distance, self.master_bound) if self.valid_bound else None

    @property
    def claim(self) -> str:
        """What the run says of the optimum, in words; to be shown wherever a bound of it is shown."""
        if not self.valid_bound:
            return (
                "no certificate: its cuts or constraints may cut off optima, and the master's value "
                f"{self.master_bound:.6g} bounds nothing"
            )
        return (
            f"at least {self.master_bound:.6g} for any picks by its master problem (gap {self.master_gap:.3%}), "
            f"{self.lower_bound:.6g} by one vector of prices (gap {self.gap:.3%})"
        )

    def __str__(self) -> str:
        return (
            f"{len(self.indices)} picks of {self.pool.n:,} points: distance {self.distance:.6g}; {self.claim}; "
            f"{STATUS[self.status] if self.valid_bound else self.status}"
        )
