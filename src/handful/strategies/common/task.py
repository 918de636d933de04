"""What a strategy is given, checked: a pool, how many picks, and what is known of the points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.errors import HandfulError
from handful.pool import Pool, as_pool
from handful.problem import Problem
from handful.selection import Progress

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]

_SUM = 1e-3  # by which the probabilities of a point may miss 1


@dataclass(frozen=True)
class Effort:
    """How long and how hard the strategies that optimise may work; see `handful.select`."""

    time_limit: float = 60.0
    gap: float = 0.01
    rounds: int | None = None
    threads: int | None = None
    memory: int | None = None
    progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True)
class Task:
    """``budget`` new picks of ``pool``, given those of earlier rounds.

    Attributes
    ----------
    pool : Pool
    budget : int
    already : array of int
        Picks of earlier rounds.
    labels : array, one per earlier pick, or None
    probabilities : array of shape (n, classes) or None
        A model's class probabilities of every point.
    gradients : array of shape (n, d) or None
        Embeddings of the model's loss gradients.
    seed : int
    effort : Effort
    """

    pool: Pool
    budget: int
    already: Indices
    labels: NDArray[Any] | None = None
    probabilities: Floats | None = None
    gradients: Floats | None = None
    seed: int = 0
    effort: Effort = field(default_factory=Effort)

    @classmethod
    def of(
        cls,
        pool: ArrayLike | Pool,
        budget: int,
        *,
        metric: str = "cosine",
        already: ArrayLike = (),
        labels: ArrayLike | None = None,
        probabilities: ArrayLike | None = None,
        gradients: ArrayLike | None = None,
        seed: int = 0,
        effort: Effort | None = None,
    ) -> Task:
        """Check what was given."""
        pool = as_pool(pool, metric, None, None)
        problem = Problem.of(pool, budget, "free", already, False)
        known = None if labels is None else np.asarray(labels)
        if known is not None and known.shape != problem.forced.shape:
            raise HandfulError(
                f"labels must be one for each of the {len(problem.forced)} earlier picks; got shape {known.shape}"
            )
        return cls(
            pool,
            problem.new,
            problem.forced,
            known,
            None if probabilities is None else _checked_probabilities(probabilities, pool.n),
            None if gradients is None else _checked_table(gradients, pool.n, "gradients"),
            seed,
            effort or Effort(),
        )

    @cached_property
    def open(self) -> Indices:
        """Candidates that may still be picked, in ascending order."""
        free = np.ones(self.pool.n, bool)
        free[self.already] = False
        return self.pool.candidates[free[self.pool.candidates]]

    @property
    def total(self) -> int:
        """All picks, those of earlier rounds too."""
        return self.budget + len(self.already)

    def random(self, stream: int = 0) -> np.random.Generator:
        """The chance of this task: the same for the same seed and stream."""
        return np.random.default_rng([self.seed, stream])

    def require_probabilities(self, name: str) -> Floats:
        """A model's probabilities, or one sentence that says that the strategy called ``name`` needs them."""
        if self.probabilities is None:
            raise HandfulError(
                f"{name} needs a model's class probabilities of all {self.pool.n:,} points: give them as "
                "probabilities, a table of shape (points, classes)"
            )
        return self.probabilities


def _checked_probabilities(probabilities: ArrayLike, n: int) -> Floats:
    table = _checked_table(probabilities, n, "probabilities")
    if table.shape[1] < 2:
        raise HandfulError(f"probabilities must be of two classes or more; got shape {table.shape}")
    off = np.flatnonzero((table < 0).any(axis=1) | (np.abs(table.sum(axis=1, dtype=np.float64) - 1) > _SUM))
    if len(off):
        raise HandfulError(
            f"the probabilities of row {off[0]} must be 0 or more and sum to 1; got {np.round(table[off[0]][:6], 4)}"
        )
    return table


def _checked_table(table: ArrayLike, n: int, what: str) -> Floats:
    array = np.asarray(table)
    if array.dtype.kind not in "fiu" or array.ndim != 2 or len(array) != n:
        raise HandfulError(f"{what} must be {n} rows of numbers, one per point; got {array.dtype} of {array.shape}")
    array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise HandfulError(f"row {bad[0]} of {what} holds NaN or infinity: repair it")
    return array
