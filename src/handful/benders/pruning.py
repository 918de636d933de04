r"""The pruning constraints P: a local search around the best picks, away from the bad ones.

With :math:`\hat S^+` the best selection so far and :math:`\hat S^-` every other one that was solved,

.. math:: |S \cap \hat S^+| \ge \beta^+ k, \qquad |S \cap \hat S^-| \le \beta^- k

where k counts the new picks. They may cut off every optimum, so a run that uses them has no bound.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.benders.master import Master

Indices = NDArray[np.int64]

_ROUND = 1e-9


class Pruning:
    """Keeps the constraints of one master up to date."""

    def __init__(self, near: float, far: float, free: int) -> None:
        self._least = math.ceil(near * free - _ROUND)
        self._most = math.floor(far * free + _ROUND)
        self._free = free
        self._best: Indices | None = None
        self._row = -1

    def improved(self, master: Master, columns: Indices) -> None:
        """A new best selection: search around it, and no longer around the one before."""
        if self._best is not None:
            master.release(self._row)
            self.avoid(master, self._best)
        self._best = columns
        self._row = master.overlap(columns, self._least, self._free)

    def avoid(self, master: Master, columns: Indices) -> None:
        """A selection that is not the best: search away from it."""
        if self._most < self._free:
            master.overlap(columns, 0, self._most)
