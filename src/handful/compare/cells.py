"""What is compared, and the result of one strategy at one budget with one seed: a cell of the comparison."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import strategies
from handful.errors import HandfulError
from handful.pool import Pool
from handful.spread import METHODS
from handful.strategies import Effort, Strategy

Labels = NDArray[Any]

BOUND = "wasserstein"
"""The strategy whose certificate says how far the others are from the best possible; it runs in any case."""


@dataclass(frozen=True)
class Contest:
    """What is to be compared, checked.

    Attributes
    ----------
    points, metric
        The pool; every cell makes a `Pool` of its own of them, so that none gains by the work of another.
    budgets : tuple of int
        In ascending order.
    names : tuple of str
        The strategies.
    seeds : int
        How many runs there are of every strategy that uses chance.
    labels, test, test_labels
        Labels of the pool, and points and labels for the accuracy of the linear probe.
    effort : Effort
    spread : str
        How labels are spread over the pool before probes learn from them, for all strategies alike: "none", "graph",
        "nearest" or "plan".
    """

    points: NDArray[Any]
    metric: str
    budgets: tuple[int, ...]
    names: tuple[str, ...]
    seeds: int = 5
    labels: Labels | None = None
    test: NDArray[Any] | None = None
    test_labels: Labels | None = None
    effort: Effort = field(default_factory=Effort)
    spread: str = "none"

    def __post_init__(self) -> None:
        if not self.budgets or list(self.budgets) != sorted(set(self.budgets)) or self.budgets[0] < 1:
            raise HandfulError(f"budgets must be whole numbers of 1 or more, ascending; got {self.budgets}")
        if self.seeds < 1:
            raise HandfulError(f"seeds must be 1 or more; got {self.seeds}")
        for name in self.names:
            if strategies.get(name).needs and self.labels is None:
                raise HandfulError(f"{name} needs a model, which needs labels: give labels, or leave it out")
        if (self.test is None) != (self.test_labels is None):
            raise HandfulError("test points and test labels must be given together")
        if self.test is not None and self.labels is None:
            raise HandfulError("test points measure a probe trained on labels: give the labels of the pool too")
        if self.spread not in ("none", *METHODS):
            raise HandfulError(f"spread must be one of none, {', '.join(METHODS)}; got {self.spread!r}")
        if self.spread != "none" and self.labels is None:
            raise HandfulError("labels can be spread only where there are some: give the labels of the pool")
        _check_lengths(self.labels, self.points, "labels")
        _check_lengths(self.test_labels, self.test, "test labels")
        if self.test is not None and self.test.shape[1:] != self.points.shape[1:]:
            raise HandfulError(f"test points have the shape {self.test.shape}, and the pool's {self.points.shape}")

    @cached_property
    def strategies(self) -> tuple[Strategy, ...]:
        """Those named, and the one that gives the bound."""
        listed = self.names if BOUND in self.names else (*self.names, BOUND)
        return tuple(strategies.get(name) for name in listed)

    def pool(self) -> Pool:
        """A pool that nobody has worked with yet."""
        return Pool(self.points, self.metric)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What must be the same for results to belong to one comparison."""
        return {
            "spread": None if self.spread == "none" else self.spread,
            "pool": self.pool().fingerprint[:16],
            "metric": self.metric,
            "labels": _checksum(self.labels),
            "test": _checksum(self.test),
            "test labels": _checksum(self.test_labels),
            "time limit": self.effort.time_limit,
            "gap": self.effort.gap,
        }


@dataclass(frozen=True)
class Cell:
    """What one strategy reached at one budget with one seed.

    Attributes
    ----------
    strategy, budget, seed
    rounds : tuple of int
        The budgets of the rounds in which the picks were made; only strategies with a model have more than one.
    picks : tuple of int
        All of them, in order.
    seconds : float
        Of the last round.
    peak : int or None
        Bytes that the process held at most while it selected, pool and libraries included.
    distance, radius, mean_distance : float
        Wasserstein distance of even picks, largest and mean cost to the nearest pick.
    lower_bound : float or None
        Proven bound on the Wasserstein distance of any even picks, where the strategy gives one.
    objective, objective_bound : float or None
        The cost that the strategy itself lowers, and the proven bound on it.
    classes, accuracy : float or None
        Effective number of classes among the picks; accuracy of the linear probe.
    """

    strategy: str
    budget: int
    seed: int
    rounds: tuple[int, ...]
    picks: tuple[int, ...]
    seconds: float
    peak: int | None
    distance: float
    radius: float
    mean_distance: float
    lower_bound: float | None = None
    objective: float | None = None
    objective_bound: float | None = None
    classes: float | None = None
    accuracy: float | None = None

    @property
    def key(self) -> tuple[str, int, int, tuple[int, ...]]:
        """What tells it from all others of a comparison."""
        return self.strategy, self.budget, self.seed, self.rounds

    def record(self) -> dict[str, Any]:
        """As it is written."""
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Cell:
        """As it was written."""
        return cls(**{**record, "rounds": tuple(record["rounds"]), "picks": tuple(record["picks"])})


def _check_lengths(labels: Labels | None, points: NDArray[Any] | None, what: str) -> None:
    if labels is not None and points is not None and len(labels) != len(points):
        raise HandfulError(f"there are {len(labels)} {what} for {len(points)} points; give one for each")


def _checksum(array: NDArray[Any] | None) -> str | None:
    if array is None:
        return None
    data = np.ascontiguousarray(array)
    return f"{data.shape} {data.dtype.str} {zlib.crc32(data.tobytes()):08x}"
