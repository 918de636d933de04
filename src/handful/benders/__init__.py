"""Generalized Benders Decomposition for the selection of B of N points (Mahmood, Fidler & Law, *Low-budget active
learning via Wasserstein distance: an integer programming approach*, ICLR 2022), as printed and as corrected."""

from handful.benders.closing import Closed, close_gap
from handful.benders.cuts import FAMILIES
from handful.benders.presets import PRESETS
from handful.benders.result import BendersResult
from handful.benders.solve import solve
from handful.benders.trace import Iteration

__all__ = [
    "FAMILIES",
    "PRESETS",
    "BendersResult",
    "Closed",
    "Iteration",
    "close_gap",
    "solve",
]
