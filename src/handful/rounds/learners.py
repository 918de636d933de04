"""What learns from the labels of a round, and what it knows afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.learning.classifier import Augmentation, Classifier, Training
    from handful.learning.saved import ImageEncoder

Points = NDArray[Any]
Indices = NDArray[np.int64]
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Examples:
    """What to learn from: rows of the pool, their classes, and how much each counts."""

    rows: Indices
    classes: Indices
    weights: Floats | None = None


class Learned(Protocol):
    """What a learner knows of the pool and the test set."""

    def probabilities(self) -> Floats:
        """Of every class, for every point of the pool."""

    def features(self) -> NDArray[np.float32]:
        """What the last layer sees of every point of the pool."""

    def accuracy(self) -> float | None:
        """On the test set; None without one."""


class Learner(Protocol):
    """Learns anew from examples; the same ones and the same seed teach it the same."""

    def learn(self, examples: Examples, seed: int) -> Learned: ...


@dataclass(frozen=True)
class Tables:
    """The points that a learner is given and tested on: features, or images."""

    pool: Points
    classes: int
    test: Points | None = None
    test_labels: Indices | None = None


@dataclass(frozen=True)
class ProbeLearner:
    """Logistic regression, as in comparisons."""

    tables: Tables
    metric: str

    def learn(self, examples: Examples, seed: int) -> Learned:
        """Seeds change nothing: its solution is unique."""
        from handful.compare.probe import Features, Probe

        features = Features(self.tables.pool, self.metric)
        seen = features.of(self.tables.pool[examples.rows])
        return _Probed(self.tables, features, Probe.fit(seen, examples.classes, examples.weights))


@dataclass(frozen=True)
class _Probed:
    tables: Tables
    seen: Any
    probe: Any

    def probabilities(self) -> Floats:
        found = np.zeros((len(self.tables.pool), self.tables.classes))
        known = self.probe.probabilities(self.seen.of(self.tables.pool))
        found[:, self.probe.classes] = 1.0 if known is None else known
        return found

    def features(self) -> NDArray[np.float32]:
        raise HandfulError("a probe has no layers whose features could be used; take a head or a network")

    def accuracy(self) -> float | None:
        if self.tables.test is None or self.tables.test_labels is None:
            return None
        return float(self.probe.accuracy(self.seen.of(self.tables.test), self.tables.test_labels))


@dataclass(frozen=True)
class NetworkLearner:
    """A fresh head on features or on a frozen encoder; with ``fresh`` a whole network that begins anew each time.

    ``unit`` scales features to unit length, as the metric cosine sees them; ``base`` are points of another domain with
    their classes, which are learned from too and count as much in all as the examples do.
    """

    tables: Tables
    training: Training | None = None
    encoder: ImageEncoder | None = None
    fresh: Any = None
    augment: Augmentation | None = None
    unit: bool = False
    base: tuple[Points, Indices] | None = None

    def learn(self, examples: Examples, seed: int) -> Learned:
        """Train it."""
        from handful.learning.classifier import train

        inputs, classes, weights = self.tables.pool[examples.rows], examples.classes, examples.weights
        if self.base is not None:
            points, known = self.base
            own = np.ones(len(inputs)) if weights is None else weights
            weights = np.append(own, np.full(len(points), own.sum() / len(points)))
            inputs, classes = np.concatenate([inputs, points]), np.append(classes, known)
        trained = train(
            self._inputs(inputs),
            classes,
            self.tables.classes,
            encoder=self.encoder if self.fresh is None else self.fresh(seed),
            whole=self.fresh is not None,
            weights=weights,
            augment=self.augment,
            training=self.training,
            seed=seed,
        )
        return _Trained(self, trained)

    def _inputs(self, points: Points) -> Points:
        if not self.unit:
            return points
        table = np.asarray(points, np.float32)
        return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class _Trained:
    learner: NetworkLearner
    classifier: Classifier

    def probabilities(self) -> Floats:
        return self.classifier.probabilities(self.learner._inputs(self.learner.tables.pool))

    def features(self) -> NDArray[np.float32]:
        return self.classifier.features(self.learner._inputs(self.learner.tables.pool))

    def accuracy(self) -> float | None:
        tables = self.learner.tables
        if tables.test is None or tables.test_labels is None:
            return None
        return self.classifier.accuracy(self.learner._inputs(tables.test), tables.test_labels)
