"""No strategy holds the costs of all pairs of points."""

import tracemalloc

import numpy as np
import pytest
from strategy_cases import CLASSES

from handful import strategies
from handful.strategies import Effort

POINTS = 4_000
ALL_PAIRS = 4 * POINTS**2  # bytes, in single precision: 64 MB
# Those that ask the engine are held by its own memory limit.
GREEDY = [name for name in strategies.names() if not name.startswith(("wasserstein", "gbd")) and "exact" not in name]


@pytest.mark.parametrize("name", [name for name in GREEDY if name != "uncertainty-wasserstein"])
def test_blocks_only(name: str) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(POINTS, 10)).astype(np.float32)
    strategy = strategies.get(name)
    given = {"probabilities": random.dirichlet(np.ones(CLASSES), POINTS)} if strategy.needs else {}
    strategy(points[:50], 3, **({"probabilities": given["probabilities"][:50]} if given else {}))  # compiles
    tracemalloc.start()
    try:
        strategy(points, 5, effort=Effort(threads=1), **given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < ALL_PAIRS / 4
