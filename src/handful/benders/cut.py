"""One cut of the master candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cut:
    """``eta >= constant + coefficients @ pi``, with one coefficient per open candidate.

    ``prices`` prove a valid cut: the lifted cut at these prices is at least as strong. An invalid one has none.
    """

    family: str
    constant: float
    coefficients: Floats
    prices: Floats | None

    def at(self, columns: Indices) -> float:
        """What the cut says of the selection of these columns."""
        return self.constant + float(self.coefficients[columns].sum())
