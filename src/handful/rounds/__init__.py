"""Rounds of active learning: select, ask, learn, test, and again; killed at any moment, they go on where they were.

`perform` runs a configuration. Its parts can be put together otherwise: `run` takes a `Setting`, which is an oracle, a
source of features and a learner, each replaceable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from pathlib import Path

from handful.rounds.build import build
from handful.rounds.config import Config, Select
from handful.rounds.features import FeatureSource, Fixed, LastClassifier
from handful.rounds.learners import Examples, Learned, Learner, NetworkLearner, ProbeLearner, Tables
from handful.rounds.oracle import Known, Oracle, Person, Waiting
from handful.rounds.run import Setting, Tell, run
from handful.rounds.schedule import paper_schedule
from handful.rounds.store import FILE, Round, Store
from handful.rounds.table import Entry, Table, markdown, rows, table
from handful.spreading import Spreading

__all__ = [
    "FILE",
    "Config",
    "Entry",
    "Examples",
    "FeatureSource",
    "Fixed",
    "Known",
    "LastClassifier",
    "Learned",
    "Learner",
    "NetworkLearner",
    "Oracle",
    "Person",
    "ProbeLearner",
    "Round",
    "Select",
    "Setting",
    "Spreading",
    "Store",
    "Table",
    "Tables",
    "Waiting",
    "build",
    "markdown",
    "paper_schedule",
    "perform",
    "rows",
    "run",
    "table",
]


def perform(
    config: Config,
    folder: str | PathLike[str],
    *,
    tell: Tell | None = None,
    say: Callable[[str], None] | None = None,
) -> Table:
    """Run what is not done yet of a configuration, and return the table of all there is.

    Parameters
    ----------
    config : Config
    folder : path
        Where results are kept, in ``rounds.sqlite``, with encoders that are trained for them.
    tell : callable, optional
        Told of every round and what it is at: "selecting", "asking", "learning" or "done".
    say : callable, optional
        Told what is being prepared.

    Raises
    ------
    Waiting
        When a person has to answer first.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    store = Store(place / FILE)
    try:
        store.begin(config.identity, asdict(config), config.budget.schedule)
        run(build(config, place, say), config.select, config.budget.schedule, store, tell)
        return table(store.rounds())
    finally:
        store.close()
