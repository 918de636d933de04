r"""The relaxed master problem W-RMP, behind one small interface.

.. math:: \min \eta \quad\text{s.t.}\quad \eta \ge c_0 + \sum_j c_j \pi_j \text{ for every cut so far},\quad
          \sum_j \pi_j = B - |F|,\quad \pi_j \in \{0, 1\}

One variable per open candidate and one more for :math:`\eta`. The model lives on: cuts are rows added to it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.benders.cut import Cut
from handful.errors import HandfulError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SOLVERS: Final = ("highs", "cbc")
# Tolerances of both solvers, for a master whose objective is scaled to about 100: what they may be off is then far
# below the relative 1e-6 to which bounds are asked to meet.
TOLERANCE: Final = 1e-9
SCALE: Final = 100.0


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solve gave: the best selection found, if any, and the dual bound; ``empty`` if no selection is left."""

    columns: Indices | None
    bound: float
    empty: bool = False


class Master(Protocol):
    """A live W-RMP."""

    def add(self, cut: Cut) -> None:
        """Add a cut."""

    def close(self, columns: Indices) -> None:
        """Fix these candidates at 0, for good."""

    def overlap(self, columns: Indices, least: float, most: float) -> int:
        """Ask that between ``least`` and ``most`` of these candidates are picked; a handle for `release`."""

    def release(self, handle: int) -> None:
        """Ask it no longer."""

    def solve(self, seconds: float, gap: float, start: Indices, value: float, stop: Callable[[], bool]) -> Answer:
        """Solve to a relative ``gap`` or for ``seconds``, starting from a selection whose largest cut is ``value``."""


def make_master(solver: str, count: int, free: int, unit: float) -> Master:
    """An empty master of ``count`` candidates, ``free`` of which are picked; ``unit`` is the size of a distance."""
    check_solver(solver)
    if solver == "cbc":
        from handful.benders.cbc import CbcMaster

        return CbcMaster(count, free, SCALE / unit)
    from handful.benders.highs import HighsMaster

    return HighsMaster(count, free, SCALE / unit)


def check_solver(solver: str) -> None:
    """Refuse a solver that is unknown or not installed."""
    if solver not in SOLVERS:
        raise HandfulError(f"unknown solver {solver!r}: choose one of {', '.join(SOLVERS)}")
    if solver == "cbc" and importlib.util.find_spec("mip") is None:
        raise HandfulError("solver cbc needs the package mip, which is not installed: pip install 'handful[cbc]'")
