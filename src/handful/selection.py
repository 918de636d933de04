"""What a selection returns: the picks, the plan, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.proof import ROOT, Proof

if TYPE_CHECKING:
    from handful.pool import Pool
    from handful.spread import Spread

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

OPTIMAL = 1e-6
"""Relative gap at which picks are called optimal."""

STATUS = {
    "optimal": "proven optimal",
    "gap": "the gap asked for is reached",
    "converged": "neither search nor bound made progress any more",
    "iterations": "all rounds asked for are done",
    "time": "the time is over",
    "interrupted": "interrupted: the best picks so far, with their valid bound",
    "strategy": "picked by a strategy that does not optimise this distance",
}


@dataclass(frozen=True)
class Progress:
    """One line of the trace: how far the work had come after ``elapsed`` seconds."""

    elapsed: float
    distance: float
    lower_bound: float
    phase: str

    @property
    def gap(self) -> float:
        """How far, relative to the distance, the optimum may be below it."""
        return relative_gap(self.distance, self.lower_bound)


@dataclass(frozen=True)
class Selection:
    """Picks with proof.

    Attributes
    ----------
    indices : array of int
        The new picks, as rows of the pool, in an order in which every prefix is a good smaller selection.
    already : array of int
        The picks labelled earlier.
    distance, lower_bound : float
        Wasserstein distance of the picks to the pool, and a proven lower bound on that of the best possible picks.
    masses : array
        Mass that each of `picks` carries.
    flow_rows, flow_picks, flow_masses : arrays
        The positive entries of the optimal plan: point, position in `picks`, mass. A point may be shared.
    plan : array of int, one per point
        The row of the pick that serves the point (most of it, if it is shared).
    proof : Proof
        The proof of the lower bound: prices, one per point, for each case of it.
    status : str
        Why the work ended: a key of `STATUS`.
    trace : tuple of Progress
    """

    indices: Indices
    already: Indices
    distance: float
    lower_bound: float
    masses: Floats
    plan: Indices
    flow_rows: Indices
    flow_picks: Indices
    flow_masses: Floats
    proof: Proof
    low: float
    high: float
    status: str
    seconds: float
    trace: tuple[Progress, ...]
    pool: Pool = field(repr=False)

    @property
    def picks(self) -> Indices:
        """Every pick of the plan: those of earlier rounds, then the new ones."""
        return np.concatenate([self.already, self.indices])

    @property
    def labels(self) -> Indices:
        """For every point the position in `picks` of the pick that serves it."""
        order = np.argsort(self.picks)
        return order[np.searchsorted(self.picks[order], self.plan)]

    @property
    def prices(self) -> Floats:
        """The prices of the root of the proof; where it has no other case, they alone prove the bound."""
        return self.proof.prices[self.proof.closing[ROOT]]

    @property
    def gap(self) -> float:
        """``(distance - lower_bound) / distance``; 0 where the distance is 0."""
        return relative_gap(self.distance, self.lower_bound)

    @property
    def certified(self) -> bool:
        """Whether the run proves anything of other picks; where it does not, ``lower_bound`` is 0."""
        return True

    @property
    def claim(self) -> str:
        """What the run says of all picks, in words."""
        return f"at least {self.lower_bound:.6g} for any picks (gap {self.gap:.3%})"

    @property
    def ending(self) -> str:
        """Why the work ended, in words."""
        return STATUS[self.status]

    @property
    def details(self) -> dict[str, Any]:
        """Facts of this kind of run only, by name; ``summary.json`` holds them too."""
        return {}

    @property
    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Columns of tables of this kind of run only, by name; `save` writes them too, as CSV and Parquet."""
        return {}

    def spread(self, labels: ArrayLike, *, method: str = "graph", **options: Any) -> Spread:
        """A soft label and a confidence for every point of the pool, from one label for each of `picks`.

        ``method`` is "graph", "nearest" or "plan"; see `handful.spread.spread` for the options.
        """
        from handful.spread import spread

        plan = (self.flow_rows, self.flow_picks, self.flow_masses), self.labels
        return spread(self.pool, self.picks, labels, method=method, plan=plan, **options)

    def save(self, folder: str | PathLike[str], *, force: bool = False, ids: NDArray[np.generic] | None = None) -> None:
        """Write ``picks.csv``, ``plan.npz``, ``certificate.npz``, ``summary.json`` and `tables` into a new folder."""
        from handful.files.runs import save

        save(self, folder, force=force, ids=ids)

    def __str__(self) -> str:
        picks = f"{len(self.indices)} picks of {self.pool.n:,} points"
        return f"{picks}: distance {self.distance:.6g}, {self.claim}; {self.ending}"


def relative_gap(distance: float, lower_bound: float) -> float:
    """``(distance - lower_bound) / distance``, and 0 where both are 0."""
    return (distance - lower_bound) / distance if distance > lower_bound else 0.0
