r"""Cuts of the master problem, by family.

A cut is :math:`\eta \ge c_0 + \sum_j c_j \pi_j`, with :math:`\eta` the distance and :math:`\pi` the picks. It is
*valid* if it holds for every selection with :math:`\eta` its distance. Every valid family here is implied by the lifted
cut at some prices, which a valid cut carries as its proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from handful.benders import corrected, printed
from handful.benders.candidates import Candidates
from handful.benders.cut import Cut
from handful.benders.subproblem import Solved

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """One kind of cut: how it is made, whether it is valid, and when it is added.

    ``when`` is "once" (before the first iteration), "always" (for every selection that the master proposes) or
    "better" (only for those that are better than all before).
    """

    make: Callable[[Candidates, Solved], Cut]
    valid: bool
    when: Literal["once", "always", "better"]


FAMILIES: Final[dict[str, Family]] = {
    "benders": Family(corrected.benders, True, "always"),
    "lifted": Family(corrected.lifted, True, "always"),
    "lower-bound": Family(corrected.lower_bound, True, "once"),
    "lower-bound-printed": Family(printed.lower_bound, False, "once"),
    "triangle": Family(corrected.triangle, True, "better"),
    "triangle-printed": Family(printed.triangle, False, "always"),
    "dual": Family(corrected.dual, True, "always"),
    "sinkhorn-printed": Family(printed.sinkhorn, False, "always"),
}

# A master with none of these has no cut that follows its selections, and never ends.
DRIVING: Final = ("benders", "lifted", "dual", "sinkhorn-printed")


def valid(families: tuple[str, ...]) -> bool:
    """Whether the master with these cuts bounds the optimum from below."""
    return all(FAMILIES[name].valid for name in families)


def make(name: str, candidates: Candidates, solved: Solved) -> Cut:
    """The cut of one family at one selection."""
    return FAMILIES[name].make(candidates, solved)
