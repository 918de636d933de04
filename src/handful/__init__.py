"""handful: the few points worth labelling out of a large unlabelled pool, with proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "HandfulError",
    "KMedoids",
    "Pool",
    "Progress",
    "Reduction",
    "Selection",
    "WassersteinSelector",
    "WholeSelection",
    "reduce_scenarios",
    "select",
    "select_whole",
    "verify",
]

if TYPE_CHECKING:
    from handful.engine import select
    from handful.errors import HandfulError
    from handful.estimators import KMedoids, WassersteinSelector
    from handful.pool import Pool
    from handful.scenarios import Reduction, reduce_scenarios
    from handful.selection import Progress, Selection
    from handful.verification import verify
    from handful.whole import WholeSelection, select_whole

_ROOMS = {
    "HandfulError": "errors",
    "KMedoids": "estimators",
    "Pool": "pool",
    "Progress": "selection",
    "Reduction": "scenarios",
    "Selection": "selection",
    "WassersteinSelector": "estimators",
    "WholeSelection": "whole",
    "reduce_scenarios": "scenarios",
    "select": "engine",
    "select_whole": "whole",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    # The rooms are opened when first used: the command line's help must not wait for compilers and linear algebra.
    if name not in _ROOMS:
        raise AttributeError(f"module 'handful' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"handful.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value
