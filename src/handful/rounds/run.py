"""Rounds: select, ask, learn, test, and again, each kept as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from handful.pool import Pool
from handful.rounds.config import Select
from handful.rounds.features import FeatureSource
from handful.rounds.learners import Examples, Learned, Learner
from handful.rounds.oracle import Oracle, Waiting
from handful.rounds.pick import Question, pick
from handful.rounds.store import Round, Store
from handful.spreading import Spreading
from handful.strategies import Effort

Indices = NDArray[np.int64]
Tell = Callable[[Round, str], None]

_SELECT, _LEARN = 0, 1


@dataclass(frozen=True)
class Setting:
    """What all strategies and seeds of a run share.

    Attributes
    ----------
    oracle : Oracle
    features : FeatureSource
    learner : Learner
    metric : str
    spreading : Spreading, optional
        Spreads labels over the pool before the learner sees them.
    """

    oracle: Oracle
    features: FeatureSource
    learner: Learner
    metric: str = "cosine"
    spreading: Spreading | None = None

    @cached_property
    def pool(self) -> Pool:
        """The pool of features that do not change."""
        return Pool(self.features.points(None), self.metric)


def run(setting: Setting, select: Select, budgets: tuple[int, ...], store: Store, tell: Tell | None = None) -> None:
    """Run all rounds of all strategies and seeds that are not done yet.

    Raises `Waiting` once somebody has to be waited for and all else is done.
    """
    waiting: list[Waiting] = []
    for seed in select.seeds:
        for strategy in select.strategies:
            try:
                Chain(setting, select, budgets, store, strategy, seed, tell or (lambda *_: None)).go()
            except Waiting as wait:
                waiting.append(wait)
    if waiting:
        raise waiting[0]


@dataclass
class Chain:
    """The rounds of one strategy with one seed, one after the other."""

    setting: Setting
    select: Select
    budgets: tuple[int, ...]
    store: Store
    strategy: str
    seed: int
    tell: Tell

    def __post_init__(self) -> None:
        self._rounds = self.store.rounds(self.strategy, self.seed)
        self._last: tuple[int, Learned] | None = None

    def go(self) -> None:
        """Do what is left."""
        for number in range(len(self.budgets)):
            if number == len(self._rounds):
                self._rounds.append(self._select(number))
                self.store.picked(self._rounds[number])
            found = self._rounds[number]
            if found.labels is None:
                self.tell(found, "asking")
                what = f"{self.strategy}-seed{self.seed}-round{number + 1}"
                found = self._rounds[number] = replace(found, labels=self.setting.oracle.ask(found.picks, what))
                self.store.answered(found)
            if not found.finished:
                self.tell(found, "learning")
                found = self._rounds[number] = self._learn(number)
                self.store.learned(found)
                self.tell(found, "done")

    def _select(self, number: int) -> Round:
        found = Round(self.strategy, self.seed, number, self.budgets[number], np.empty(0, np.int64), None, 0.0)
        self.tell(found, "selecting")
        last = self._learned(number - 1) if number and self._needs_model else None
        already, labels = self._known(number)
        start = time.perf_counter()
        answer = pick(
            self.strategy,
            Question(
                self._pool(number),
                self.budgets[number],
                already,
                labels,
                None if last is None else last.probabilities(),
                mixed(self.seed, number, _SELECT),
                Effort(self.select.time_limit, self.select.gap, self.select.rounds or None, self.select.threads,
                       self.select.memory),
            ),
            self.select.parts,
            self.select.start,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        return replace(found, picks=answer.picks, ending=answer.ending, select_seconds=seconds)

    def _learn(self, number: int) -> Round:
        start = time.perf_counter()
        accuracy = self._learned(number).accuracy()
        return replace(
            self._rounds[number],
            accuracy=accuracy,
            train_seconds=time.perf_counter() - start,
            finished=True,
        )

    def _learned(self, number: int) -> Learned:
        """What the learner knows after a round: not kept on disk, as the same labels and seed teach it the same."""
        if self._last is None or self._last[0] != number:
            rows, labels = self._known(number + 1)
            examples = self._examples(number, rows, labels)
            self._last = number, self.setting.learner.learn(examples, mixed(self.seed, number, _LEARN))
        return self._last[1]

    def _examples(self, number: int, rows: Indices, labels: Indices) -> Examples:
        """The labelled points or, if labels are spread, all that they reach, each as much as it is certain."""
        if self.setting.spreading is None:
            return Examples(rows, labels)
        found = self.setting.spreading.spread(self._pool(number), rows, labels)
        reached = np.flatnonzero(found.confidence > 0)
        return Examples(reached, found.labels[reached].astype(np.int64), found.confidence[reached])

    def _pool(self, number: int) -> Pool:
        """The pool as its features are in a round."""
        if not self.setting.features.changes:
            return self.setting.pool
        last = self._learned(number - 1) if number else None
        return Pool(self.setting.features.points(last), self.setting.metric)

    @property
    def _needs_model(self) -> bool:
        from handful import strategies

        return bool(strategies.get(self.strategy).needs)

    def _known(self, rounds: int) -> tuple[Indices, Indices]:
        """Points labelled in the first so many rounds, and their classes."""
        done = [found for found in self._rounds[:rounds] if found.labels is not None]
        none = np.empty(0, np.int64)
        return (
            np.concatenate([none, *(found.picks for found in done)]),
            np.concatenate([none, *(found.labels for found in done if found.labels is not None)]),
        )


def mixed(*numbers: int) -> int:
    """A seed that depends on all of the numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
