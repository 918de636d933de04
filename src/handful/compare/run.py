"""Runs the cells of a comparison one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from handful import strategies
from handful.compare.cells import BOUND, Cell, Contest
from handful.compare.measures import closeness, effective_classes
from handful.compare.peak import peak_memory
from handful.compare.probing import Probing
from handful.strategies import Outcome, Strategy, Task
from handful.strategies.common.start import without_model

Indices = NDArray[np.int64]
Key = tuple[str, int, int, tuple[int, ...]]


def cells_of(contest: Contest) -> list[Key]:
    """The cells that the comparison has, budget by budget.

    Strategies without chance run once. Those with a model work in rounds: the picks of every budget are added to
    those of the budget before.
    """
    keys: list[Key] = []
    for at, budget in enumerate(contest.budgets):
        for strategy in contest.strategies:
            seeds = contest.seeds if _chancy(strategy) and strategy.name in contest.names else 1
            rounds = contest.budgets[: at + 1] if strategy.needs else (budget,)
            keys += [(strategy.name, budget, seed, rounds) for seed in range(seeds)]
    return keys


def run(
    contest: Contest,
    done: Iterable[Cell] = (),
    *,
    started: Callable[[Key, int, int], None] | None = None,
    finished: Callable[[Cell], None] | None = None,
) -> list[Cell]:
    """Run every cell that is not ``done`` yet; return those of the comparison.

    ``started`` is called with the key, how many cells are done, and how many there are; ``finished`` with each result.
    """
    known = {cell.key: cell for cell in done}
    keys = cells_of(contest)
    missing = [key for key in keys if key not in known]
    probing = Probing(contest) if contest.labels is not None else None
    for count, key in enumerate(missing):
        if started:
            started(key, len(keys) - len(missing) + count, len(keys))
        known[key] = _run_cell(contest, key, known, probing)
        if finished:
            finished(known[key])
    return [known[key] for key in keys]


def _chancy(strategy: Strategy) -> bool:
    """Whether seeds matter: also by the random picks of a first round without a model."""
    return strategy.seeded or bool(strategy.needs)


def _run_cell(contest: Contest, key: Key, known: dict[Key, Cell], probing: Probing | None) -> Cell:
    name, budget, seed, rounds = key
    before: tuple[int, ...] = ()
    if len(rounds) > 1:
        before = known[(name, rounds[-2], seed, rounds[:-1])].picks
    chosen, task = _prepared(contest, strategies.get(name), budget, np.array(before, np.int64), seed, probing)
    with peak_memory() as peak:
        start = time.perf_counter()
        outcome = chosen.run(task)
        seconds = time.perf_counter() - start
    if outcome.selection is not None and outcome.selection.status == "interrupted":
        raise KeyboardInterrupt  # what was cut off by hand is no result
    picks = np.append(task.already, outcome.indices)
    near = closeness(task.pool, picks)
    return Cell(
        strategy=name,
        budget=budget,
        seed=seed,
        rounds=rounds,
        picks=tuple(picks.tolist()),
        seconds=seconds,
        peak=peak.bytes,
        distance=near.distance,
        radius=near.radius,
        mean_distance=near.mean_distance,
        lower_bound=None if outcome.selection is None or name != BOUND else outcome.selection.lower_bound,
        objective=outcome.objective,
        objective_bound=_bound(outcome),
        classes=None if contest.labels is None else effective_classes(contest.labels[picks]),
        accuracy=_accuracy(picks, probing),
    )


def _prepared(
    contest: Contest, strategy: Strategy, budget: int, before: Indices, seed: int, probing: Probing | None
) -> tuple[Strategy, Task]:
    """The strategy and its task; random picks where it needs a model and there is none yet."""
    pool = contest.pool()
    new = budget - len(before)
    if not strategy.needs:
        return strategy, Task.of(pool, new, seed=seed, effort=contest.effort)
    assert contest.labels is not None
    assert probing is not None
    labels = contest.labels[before]
    probe = probing.fit(before) if len(before) else None
    probabilities = probe.probabilities(probing.pool) if probe else None
    if probe is None or probabilities is None:
        starts = without_model(strategy, first=not len(before))
        return starts, Task.of(pool, new, already=before, seed=seed, effort=contest.effort)
    columns = np.searchsorted(probe.classes, labels)
    return strategy, Task.of(
        pool, new, already=before, labels=columns, probabilities=probabilities, seed=seed, effort=contest.effort
    )


def _bound(outcome: Outcome) -> float | None:
    """The proven bound on the strategy's own objective; the printed Benders decomposition has none."""
    if outcome.selection is None or not outcome.selection.lower_bound > 0:
        return None
    return outcome.selection.lower_bound


def _accuracy(picks: Indices, probing: Probing | None) -> float | None:
    return None if probing is None else probing.accuracy(picks)
