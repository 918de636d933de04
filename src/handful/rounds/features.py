"""How strategies see the points in a round: as they always did, or by the classifier of the round before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.rounds.learners import Learned

Points = NDArray[Any]


class FeatureSource(Protocol):
    """Gives the features of the pool; ``last`` is what was learned in the round before."""

    def points(self, last: Learned | None) -> Points: ...

    @property
    def changes(self) -> bool:
        """Whether they differ from round to round."""


@dataclass(frozen=True)
class Fixed:
    """The same features in every round."""

    table: Points
    changes = False

    def points(self, last: Learned | None) -> Points:
        """These."""
        return self.table


@dataclass(frozen=True)
class LastClassifier:
    """What the last layer of the classifier of the round before sees; other features in the first round."""

    start: Points
    changes = True

    def points(self, last: Learned | None) -> Points:
        """Those of the pool."""
        return self.start if last is None else nonzero(last.features())


def nonzero(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """The features, with a speck in place of rows of zeros, which a ReLU leaves and which have no cosine."""
    empty: NDArray[np.bool_] = ~np.any(table, axis=1)
    return np.where(empty[:, None], np.float32(1e-6), table) if empty.any() else table
