"""What the probes of a comparison learn from: the labels of the picks, or those labels spread over the pool."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from handful.compare.cells import Contest
from handful.compare.probe import Features, Points, Probe
from handful.pool import Pool
from handful.spreading import Spreading

Indices = NDArray[np.int64]


class Probing:
    """Fits and tests probes on the points of a contest that has labels."""

    def __init__(self, contest: Contest) -> None:
        assert contest.labels is not None
        self._contest, self._labels = contest, contest.labels
        self._features = Features(contest.points, contest.metric)
        self._spreading = None if contest.spread == "none" else Spreading(contest.spread)

    @property
    def pool(self) -> Points:
        """Every point of the pool, as probes see it."""
        return self._features.of(self._contest.points)

    def fit(self, picks: Indices) -> Probe:
        """The probe that the labels of these picks teach."""
        labels = self._labels[picks]
        if self._spreading is None:
            return Probe.fit(self._features.of(self._contest.points[picks]), labels)
        found = self._spreading.spread(self._measured, picks, labels)
        rows = np.flatnonzero(found.confidence > 0)
        return Probe.fit(self._features.of(self._contest.points[rows]), found.labels[rows], found.confidence[rows])

    def accuracy(self, picks: Indices) -> float | None:
        """Of that probe on the test set, if there is one."""
        test, labels = self._contest.test, self._contest.test_labels
        if test is None or labels is None:
            return None
        return self.fit(picks).accuracy(self._features.of(test), labels)

    @cached_property
    def _measured(self) -> Pool:
        return self._contest.pool()
