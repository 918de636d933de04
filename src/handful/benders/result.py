"""What a run of the decomposition returns: a selection, and what its master says of the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.benders.trace import Iteration, columns
from handful.selection import STATUS, Selection, relative_gap

Floats = NDArray[np.float64]

_PARTS = ("master_seconds", "transport_seconds", "cut_seconds")
# Where there is no bound, to end by one means less.
_ENDING = STATUS | {
    "gap": "its master problem promises no more than the tolerance",
    "converged": "its master problem promises no more than the tolerance",
    "interrupted": "interrupted: the best picks so far",
}


@dataclass(frozen=True)
class BendersResult(Selection):
    """A selection found by the decomposition.

    There are two bounds. ``lower_bound`` is that of the `proof`: anybody can check it with passes over the pool, and
    `handful verify` does. ``master_bound`` is the dual bound of the master: it rests on ``cut_prices``, one vector per
    cut, and on the solver that solved the master of these cuts, or any that solves it again. It may be the
    larger one where time was over before there was a proof of it by cases, and the smaller one where its own cuts are
    weak. Where an invalid cut or pruning was used, ``valid_bound`` is False, ``master_bound`` may lie above the
    optimum, and there is no certificate: ``lower_bound`` is then 0, which prices of 0 prove.

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
    def iterations(self) -> int:
        """How often the master was solved."""
        return self.history[-1].iteration if self.history else 0

    @property
    def certified(self) -> bool:
        """Whether the bounds are bounds."""
        return self.valid_bound

    @property
    def claim(self) -> str:
        """What the run says of all picks, in words; to be shown wherever a bound of it is shown."""
        if not self.valid_bound:
            return f"no certificate: {self._doubt}"
        if relative_gap(self.master_bound, self.lower_bound) < 1e-6:
            return super().claim
        return (
            f"at least {self.master_bound:.6g} for any picks by its master problem (gap {self.master_gap:.3%}), "
            f"{self.lower_bound:.6g} by prices alone (gap {self.gap:.3%})"
        )

    @property
    def ending(self) -> str:
        """Why the work ended, in words."""
        return STATUS[self.status] if self.valid_bound else _ENDING[self.status]

    @property
    def details(self) -> dict[str, Any]:
        """How the run was made, and what its master says."""
        seconds = {part: sum(getattr(line, part) for line in self.history) for part in _PARTS}
        return {
            "method": "benders",
            "claim": self.claim,
            "preset": self.preset,
            "cuts": self.families,
            "solver": self.solver,
            "master_bound": self.master_bound if self.valid_bound else None,
            "master_gap": self.master_gap,
            "master_value_without_certificate": None if self.valid_bound else self.master_bound,
            "iterations": self.iterations,
            **seconds,
        }

    @property
    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """The trace, one line per iteration; none where the pool was cut into parts."""
        return {"trace": columns(self.history)} if self.history else {}

    @property
    def _doubt(self) -> str:
        if math.isnan(self.master_bound):
            return "its parts were solved apart, which says nothing of the whole pool"
        return (
            f"its cuts or constraints may cut off optima, and the value {self.master_bound:.6g} of its master problem "
            "bounds nothing"
        )
