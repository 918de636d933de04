"""Presets: which cuts the paper's variants use, and the one that proves what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from handful.benders.corrected import check_metric
from handful.benders.cuts import DRIVING, FAMILIES
from handful.errors import HandfulError
from handful.pool import Pool


@dataclass(frozen=True)
class Preset:
    """Families of cuts, pruning, and the printed values of tolerance and gap of a master solve, where it has them."""

    families: tuple[str, ...]
    pruning: tuple[float, float] | None = None
    tolerance: float = 1e-3
    solve_gap: float | None = 0.1


_PRINTED: Final = ("benders", "lower-bound-printed", "triangle-printed", "dual")
PRESETS: Final[dict[str, Preset]] = {
    "wass": Preset(("benders",)),
    "wass+eoc": Preset(_PRINTED),
    "wass+eoc+p": Preset(_PRINTED, pruning=(0.6, 0.99)),
    "certified": Preset(("lifted", "lower-bound", "triangle"), tolerance=0.0, solve_gap=None),
}


def families_for(pool: Pool, preset: Preset, cuts: tuple[str, ...] | None) -> tuple[str, ...]:
    """The families that a run uses: those asked for, or those of the preset that the pool's cost allows."""
    if cuts is None:
        return tuple(name for name in preset.families if name != "triangle" or _is_metric(pool))
    for name in cuts:
        if name not in FAMILIES:
            raise HandfulError(f"unknown cut {name!r}: choose among {', '.join(FAMILIES)}")
    if not set(cuts) & set(DRIVING):
        raise HandfulError(f"cuts must hold at least one of {', '.join(DRIVING)}; got {', '.join(cuts) or 'none'}")
    if "triangle" in cuts:
        check_metric(pool)
    return cuts


def _is_metric(pool: Pool) -> bool:
    try:
        check_metric(pool)
    except HandfulError:
        return False
    return True
