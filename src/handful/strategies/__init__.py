"""Selection strategies, one file each, under one interface.

>>> from handful import strategies
>>> picks = strategies.get("k-centers")([[0.0, 1], [1, 0], [1, 1]], 2, seed=1)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from handful.errors import HandfulError
from handful.strategies.common.strategy import Outcome, Strategy
from handful.strategies.common.task import Effort, Task

__all__ = ["Effort", "Outcome", "Strategy", "Task", "get", "names"]

# Each stands in the file of its name, with underscores.
_FILES: Final = (
    "random",
    "k-centers",
    "k-means",
    "k-medoids",
    "typiclust",
    "probcover",
    "max-herding",
    "kernel-herding",
    "facility-location",
    "wasserstein",
    "gbd",
    "least-confidence",
    "maximum-entropy",
    "badge",
    "dcom",
    "uncertainty-herding",
    "uncertainty-wasserstein",
    "waal",
)
# Name: (strategy, options, line).
_VARIANTS: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "k-medoids-exact": ("k-medoids", {"exact": True}, "k-medoids by the engine, with proof"),
    "probcover-exact": ("probcover", {"exact": True}, "ProbCover's objective by the engine, with proof"),
    "max-herding-exact": ("max-herding", {"exact": True}, "MaxHerding's objective by the engine, with proof"),
    "facility-location-exact": (
        "facility-location",
        {"exact": True},
        "facility location's objective by the engine, with proof",
    ),
    "uncertainty-herding-exact": (
        "uncertainty-herding",
        {"exact": True},
        "Uncertainty Herding's objective by the engine, with proof",
    ),
    "wasserstein-free": ("wasserstein", {"picks_weight": "free"}, "wasserstein, picks with the shares that are best"),
    "wasserstein-range": ("wasserstein", {"picks_weight": "range"}, "wasserstein, shares of 1/4x to 3x an even one"),
    "gbd+eoc": ("gbd", {"preset": "wass+eoc"}, "gbd with the paper's enhanced optimality cuts, as printed"),
    "gbd+eoc+p": ("gbd", {"preset": "wass+eoc+p"}, "gbd+eoc with the paper's pruning constraints"),
}


def names() -> tuple[str, ...]:
    """The names of all strategies, every variant after the strategy it is one of."""
    listed: list[str] = []
    for name in _FILES:
        listed += [name, *(variant for variant, (base, _, _) in _VARIANTS.items() if base == name)]
    return tuple(listed)


def get(name: str) -> Strategy:
    """The strategy of that name."""
    if name in _VARIANTS:
        base, options, line = _VARIANTS[name]
        return get(base).variant(name, line, options)
    if name not in _FILES:
        raise HandfulError(f"unknown strategy {name!r}: choose one of {', '.join(names())}")
    word = name.replace("-", "_")
    found: Strategy = getattr(import_module(f"handful.strategies.{word}"), word)
    return found
