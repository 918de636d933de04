"""Scenario reduction: few scenarios with probabilities in place of many, and how far they can be from the best few."""

from handful.scenarios.greedy import backward_reduction, forward_selection
from handful.scenarios.paths import scenario_pool
from handful.scenarios.reduction import METHODS, Reduction, reduce_scenarios

__all__ = [
    "METHODS",
    "Reduction",
    "backward_reduction",
    "forward_selection",
    "reduce_scenarios",
    "scenario_pool",
]
