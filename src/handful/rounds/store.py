"""What came of each round, in SQLite, so that a run that was killed goes on from there."""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from handful import __version__
from handful.errors import HandfulError

Indices = NDArray[np.int64]

FILE: Final = "rounds.sqlite"
_LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "numba", "torch", "kornia")
_TABLES: Final = """
create table if not exists run (what text primary key, value text not null);
create table if not exists sessions (started text not null, versions text not null);
create table if not exists rounds (
    strategy text not null, seed integer not null, round integer not null, budget integer not null,
    picks text not null, ending text, select_seconds real not null,
    labels text, accuracy real, train_seconds real, finished text,
    primary key (strategy, seed, round)
) without rowid;
"""


@dataclass(frozen=True)
class Round:
    """A round of one strategy with one seed, as far as it has come.

    Attributes
    ----------
    strategy, seed, round
        The first round is 0.
    budget : int
        How many points were labelled in it.
    picks : array of int
        These points.
    ending : str or None
        Why the search for them ended, if it was one.
    select_seconds, train_seconds : float
    labels : array of int or None
        Their classes, once somebody said them.
    accuracy : float or None
        Of the classifier that learned from all labels so far, on the test set if there is one.
    finished : bool
        Whether the classifier has learned.
    """

    strategy: str
    seed: int
    round: int
    budget: int
    picks: Indices
    ending: str | None
    select_seconds: float
    labels: Indices | None = None
    accuracy: float | None = None
    train_seconds: float | None = None
    finished: bool = False


class Store:
    """The file of a run: its configuration, the versions it was made with, and its rounds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = sqlite3.connect(path)
        except sqlite3.OperationalError as error:
            raise HandfulError(f"{path} can't be opened ({error}); choose another folder") from error
        try:
            self._file.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise HandfulError(f"{path} is no file of rounds ({error}); choose another folder") from error

    @classmethod
    def open(cls, folder: Path) -> Store:
        """The one that is in a folder already."""
        if not (folder / FILE).is_file():
            raise HandfulError(f"{folder} holds no {FILE}; give the folder of a run of rounds")
        return cls(folder / FILE)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._file:  # one transaction: all of it or nothing, whenever the process is killed
                yield self._file
        except (sqlite3.IntegrityError, sqlite3.OperationalError) as error:
            raise HandfulError(f"{self.path} can't be written ({error}); does another process work on it?") from error

    def begin(self, identity: Mapping[str, Any], config: Mapping[str, Any], budgets: Sequence[int]) -> None:
        """Say what is run, and by whom; refuse what does not fit what is there."""
        there, told = self.fact("identity"), json.loads(json.dumps(identity))
        if there is not None:
            _compare(self.path, there, told)
            before = self.fact("budgets")
            common = min(len(before), len(budgets))
            if list(budgets[:common]) != before[:common]:
                raise HandfulError(
                    f"{self.path} holds rounds of {before} labels, and {list(budgets)} are asked for; choose another "
                    "folder"
                )
            if len(before) > len(budgets):
                budgets = before
        versions = {"handful": __version__, "python": platform.python_version(), "machine": platform.platform()}
        versions |= {name: found for name in _LIBRARIES if (found := _version(name)) is not None}
        with self._writing() as file:
            for what, value in (("identity", told), ("config", config), ("budgets", list(budgets))):
                file.execute("insert or replace into run values (?, ?)", (what, json.dumps(value)))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            file.execute("insert into sessions values (?, ?)", (now, json.dumps(versions)))

    def fact(self, what: str) -> Any:
        """``identity``, ``config`` or ``budgets`` of the run; None if it has not begun."""
        found = self._file.execute("select value from run where what = ?", (what,)).fetchone()
        return None if found is None else json.loads(found[0])

    @property
    def sessions(self) -> list[tuple[str, dict[str, str]]]:
        """When the run was started or taken up again, and by which versions."""
        return [(started, json.loads(text)) for started, text in self._file.execute("select * from sessions")]

    def picked(self, found: Round) -> None:
        """Keep the picks of a round."""
        with self._writing() as file:
            file.execute(
                "insert into rounds (strategy, seed, round, budget, picks, ending, select_seconds) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (found.strategy, found.seed, found.round, found.budget, json.dumps(found.picks.tolist()),
                 found.ending, found.select_seconds),
            )  # fmt: skip

    def answered(self, found: Round) -> None:
        """Keep their labels."""
        assert found.labels is not None
        self._set(found, "labels = ?", (json.dumps(found.labels.tolist()),))

    def learned(self, found: Round) -> None:
        """Keep what the classifier reached."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._set(found, "accuracy = ?, train_seconds = ?, finished = ?", (found.accuracy, found.train_seconds, now))

    def _set(self, found: Round, what: str, values: tuple[Any, ...]) -> None:
        with self._writing() as file:
            key = (found.strategy, found.seed, found.round)
            file.execute(f"update rounds set {what} where strategy = ? and seed = ? and round = ?", (*values, *key))

    def rounds(self, strategy: str | None = None, seed: int | None = None) -> list[Round]:
        """All rounds, or those of a strategy with a seed, in order."""
        rows = self._file.execute(
            "select strategy, seed, round, budget, picks, ending, select_seconds, labels, accuracy, train_seconds, "
            "finished from rounds where (?1 is null or strategy = ?1) and (?2 is null or seed = ?2) "
            "order by strategy, seed, round",
            (strategy, seed),
        )
        return [
            Round(
                strategy=row[0],
                seed=row[1],
                round=row[2],
                budget=row[3],
                picks=np.array(json.loads(row[4]), np.int64),
                ending=row[5],
                select_seconds=row[6],
                labels=None if row[7] is None else np.array(json.loads(row[7]), np.int64),
                accuracy=row[8],
                train_seconds=row[9],
                finished=row[10] is not None,
            )
            for row in rows
        ]


def _compare(path: Path, there: Mapping[str, Any], told: Mapping[str, Any], place: str = "") -> None:
    for word in there.keys() | told.keys():
        before, now = there.get(word), told.get(word)
        if isinstance(before, dict) and isinstance(now, dict):
            _compare(path, before, now, f"{place}{word}.")
        elif before != now:
            raise HandfulError(
                f"{path} holds rounds of another run: {place}{word} was {before!r} and is {now!r}; choose another "
                "folder"
            )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
