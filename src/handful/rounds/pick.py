"""The picks of a round by any strategy, of the whole pool or of parts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful import strategies
from handful.pool import Pool
from handful.strategies import Effort, Strategy, Task
from handful.strategies.common.start import without_model

Indices = NDArray[np.int64]
Floats = NDArray[np.floating]

_PARTS = 77  # the stream of chance that cuts the pool, which no strategy uses


@dataclass(frozen=True)
class Question:
    """What a round asks a strategy: new picks of a pool, given what is known."""

    pool: Pool
    budget: int
    already: Indices
    labels: Indices
    probabilities: Floats | None
    seed: int
    effort: Effort


@dataclass(frozen=True)
class Answer:
    """The picks, and why the search for them ended, if it was one."""

    picks: Indices
    ending: str | None


def pick(name: str, question: Question, parts: int = 1, start: str | None = None) -> Answer:
    """Pick by the strategy of that name; by ``start``, if given, where nothing is labelled yet."""
    first = not len(question.already)
    strategy = strategies.get(start if start is not None and first else name)
    if strategy.needs and question.probabilities is None:
        strategy = without_model(strategy, first)
    if parts == 1:
        return _picked(strategy, question)
    answers = [(rows, _picked(strategy, part)) for rows, part in _parts(question, parts)]
    endings = {answer.ending for _, answer in answers} - {None}
    picks = np.concatenate([rows[answer.picks] for rows, answer in answers])
    return Answer(picks, "time" if "time" in endings else min(endings, default=None))  # type: ignore[type-var]


def _picked(strategy: Strategy, question: Question) -> Answer:
    knows = strategy.needs and question.probabilities is not None
    task = Task.of(
        question.pool,
        question.budget,
        already=question.already,
        labels=question.labels if knows else None,
        probabilities=question.probabilities if knows else None,
        seed=question.seed,
        effort=question.effort,
    )
    outcome = strategy.run(task)
    ending = None if outcome.selection is None else outcome.selection.status
    if ending == "interrupted":
        raise KeyboardInterrupt  # what was cut off by hand is no result
    return Answer(outcome.indices, ending)


def _parts(question: Question, parts: int) -> list[tuple[Indices, Question]]:
    """The pool cut at random into parts of the same size, each with its share of the budget, if it has any."""
    n = question.pool.n
    order = np.random.default_rng([question.seed, _PARTS]).permutation(n)
    cut = []
    for number, rows in enumerate(np.array_split(order, parts)):
        budget = question.budget * (number + 1) // parts - question.budget * number // parts
        rows = np.sort(rows)
        here = np.isin(question.already, rows)
        if budget:
            part = Question(
                question.pool.subset(rows),
                budget,
                np.searchsorted(rows, question.already[here]),
                question.labels[here],
                None if question.probabilities is None else question.probabilities[rows],
                question.seed,
                question.effort,
            )
            cut.append((rows, part))
    return cut
