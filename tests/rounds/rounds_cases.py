"""Small runs of rounds, and oracles that watch what is asked of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.datasets import Dataset
from handful.rounds import Config, Fixed, Known, ProbeLearner, Select, Setting, Tables

RANDOM = np.random.default_rng(8)
CENTRES = 3 * RANDOM.normal(size=(4, 6))
LABELS = RANDOM.integers(0, 4, 120)
POINTS = CENTRES[LABELS] + RANDOM.normal(size=(120, 6))
POOL, TEST = slice(0, 80), slice(80, 120)


def dataset() -> Dataset:
    return Dataset("blobs", POINTS[POOL], LABELS[POOL], "abcd", test=POINTS[TEST], test_labels=LABELS[TEST])


def setting(oracle: Any = None, **changes: Any) -> Setting:
    tables = Tables(POINTS[POOL], 4, POINTS[TEST], LABELS[TEST])
    given = {"features": Fixed(POINTS[POOL]), "learner": ProbeLearner(tables, "cosine"), **changes}
    return Setting(oracle or Known(dataset()), **given)


def select(*strategies: str, seeds: tuple[int, ...] = (0, 1), **changes: Any) -> Select:
    return Select(strategies or ("random", "badge", "k-means"), seeds, rounds=1, time_limit=60.0, **changes)


class Killed(BaseException):
    """The process ends here."""


class Watched:
    """Labels that nobody may see before they were asked for; it can be killed at any question."""

    def __init__(self, labels: NDArray[np.int64], die_at: int = -1) -> None:
        self._labels = labels
        self.asked: list[list[int]] = []
        self._left = die_at

    def ask(self, rows: NDArray[np.int64], what: str) -> NDArray[np.int64]:
        if self._left == 0:
            raise Killed
        self._left -= 1
        self.asked.append(rows.tolist())
        return self._labels[rows]


def digits(**parts: Any) -> Config:
    """A run on 150 digits that takes a second or two."""
    table: dict[str, dict[str, Any]] = {
        "data": {"name": "digits", "points": 150},
        "features": {"source": "pca", "components": 8},
        "budget": {"rounds": [6, 6]},
        "select": {"strategies": ["random", "badge"], "seeds": 2, "rounds": 1},
        "classifier": {"kind": "probe"},
    }
    for name, changes in parts.items():
        table[name] = {**table.get(name, {}), **changes}
    return Config.of(table)
