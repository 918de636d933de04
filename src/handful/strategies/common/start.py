"""The first round: what strategies that need a model do while there is none."""

from __future__ import annotations

from handful import strategies
from handful.strategies.common.strategy import Strategy


def without_model(strategy: Strategy, first: bool) -> Strategy:
    """The strategy itself where it needs no model, or has a first round of its own; else random picks."""
    own = not strategy.needs or (strategy.name == "dcom" and first)
    return strategy if own else strategies.get("random")
