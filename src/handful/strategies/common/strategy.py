"""A strategy: a rule that turns a task into picks, with a name, a line about it, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.errors import HandfulError
from handful.pool import Pool
from handful.selection import Selection
from handful.strategies.common.task import Effort, Task

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """What a strategy found.

    Attributes
    ----------
    indices : array of int
        The new picks in order.
    objective : float, optional
        What is left of the cost that the strategy lowers, where it lowers one.
    selection : Selection, optional
        The engine's, with the certificate of that objective, where the engine found the picks.
    """

    indices: Indices
    objective: float | None = None
    selection: Selection | None = None

    @classmethod
    def of(cls, found: Found) -> Outcome:
        """What a rule returned: bare indices, indices with the cost they leave, or a selection."""
        if isinstance(found, Selection):
            return cls(found.indices, found.distance, found)
        if isinstance(found, tuple):
            return cls(*found)
        return cls(found)


Found = Indices | tuple[Indices, float] | Selection
Rule = Callable[..., Found]


@dataclass(frozen=True)
class Strategy:
    """A selection strategy; call it with a pool and how many points to pick.

    Attributes
    ----------
    name, line : str
        What it is called, and what it does in one line.
    needs : str
        What it must be given beside the pool, in words; empty for nothing.
    model : bool
        Whether it can't do without a model's probabilities.
    seeded : bool
        Whether its picks depend on the seed.
    """

    name: str
    line: str
    rule: Rule = field(repr=False)
    needs: str = ""
    model: bool = False
    seeded: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(
        self,
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
        **options: Any,
    ) -> Indices:
        """Pick ``budget`` points, in order.

        Parameters
        ----------
        pool : array of shape (n, d) or Pool
        budget : int
            How many new points to pick.
        metric : str
            Of an array; see `handful.Pool`.
        already : array of int
            Points picked earlier: they count as picks and are not returned.
        labels : array, optional
            Labels of those.
        probabilities : array of shape (n, classes), optional
            A model's class probabilities of all points.
        gradients : array of shape (n, d), optional
            Embeddings of the model's loss gradients.
        seed : int
        effort : Effort, optional
            Time, gap, threads and memory of the strategies that optimise.
        options
            Of this strategy, such as ``exact=True``.
        """
        task = Task.of(
            pool,
            budget,
            metric=metric,
            already=already,
            labels=labels,
            probabilities=probabilities,
            gradients=gradients,
            seed=seed,
            effort=effort,
        )
        return self.run(task, **options).indices

    def run(self, task: Task, **options: Any) -> Outcome:
        """Do a task that has been checked."""
        if self.model:
            task.require_probabilities(self.name)
        known = self.rule.__kwdefaults__ or {}
        for option in options:
            if option not in known:
                listed = ", ".join(known) or "none"
                raise HandfulError(f"{self.name} has no option {option!r}; its options are: {listed}")
        return Outcome.of(self.rule(task, **{**self.options, **options}))

    def variant(self, name: str, line: str, options: dict[str, Any]) -> Strategy:
        """The same rule under another name, with other options; all that there are search, so they use the seed."""
        return replace(self, name=name, line=line, seeded=True, options={**self.options, **options})


def strategy(
    name: str, line: str, *, needs: str = "", model: bool = False, seeded: bool = True
) -> Callable[[Rule], Strategy]:
    """Make a strategy of a rule: a function of a task, with options as keywords."""

    def make(rule: Rule) -> Strategy:
        made = Strategy(name, line, rule, needs, model, seeded)
        object.__setattr__(made, "__doc__", rule.__doc__)
        return made

    return make
