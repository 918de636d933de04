"""What a run of rounds is, as a TOML file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

from handful.errors import HandfulError
from handful.rounds.schedule import paper_schedule

SOURCES: Final = ("pixels", "pca", "file", "encoder", "simclr", "f-dal", "last-classifier")
CLASSIFIERS: Final = ("probe", "head", "network")
SPREADS: Final = ("none", "graph", "nearest", "plan")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Data:
    """Where the points come from.

    Attributes
    ----------
    name, folder, checksums, download
        See `handful.datasets.load`.
    points : int, optional
        So many of the pool only, drawn at random, the same for all seeds of the run.
    pool_share : float, optional
        This share of the pool, drawn at random, is the pool, and the rest of it the test set.
    options : table
        Of the data set's loader, such as ``domain`` or ``labels``.
    """

    name: str
    folder: str | None = None
    checksums: bool = True
    download: bool = False
    points: int | None = None
    pool_share: float | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Features:
    """How strategies see the points.

    Attributes
    ----------
    source : str
        "pixels" (or the features that the data are), "pca" of them, a "file" of any kind that a pool may have, or an
        ``.npz`` with ``train`` and ``test``, an "encoder" trained before (``file``), one that "simclr" or "f-dal"
        trains first, or the last layer of the "last-classifier", for which ``start`` is the source of the first round.
    file : str, optional
    components : int
        Of "pca".
    start : str
    metric : str
    """

    source: str = "pixels"
    file: str | None = None
    components: int = 64
    start: str = "pca"
    metric: str = "cosine"

    def __post_init__(self) -> None:
        _one_of("features.source", self.source, SOURCES)
        _one_of("features.start", self.start, SOURCES[:-1])
        if self.file is None and self.first in ("file", "encoder"):
            raise HandfulError(f"features.source {self.first!r} needs features.file, which holds them")

    @property
    def first(self) -> str:
        """The source of the first round."""
        return self.start if self.source == "last-classifier" else self.source


@dataclass(frozen=True)
class Budget:
    """How many points are labelled in each round: ``rounds``, or the paper's schedule up to ``total`` by ``step``."""

    rounds: tuple[int, ...] = ()
    step: int | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        if bool(self.rounds) == (self.step is not None) or (self.step is None) != (self.total is None):
            raise HandfulError("[budget] needs either rounds = [10, 10, 20], or step and total")
        if not all(isinstance(count, int) and count > 0 for count in self.rounds):
            raise HandfulError(f"budget.rounds must be whole numbers of 1 or more; got {list(self.rounds)}")
        if self.step is not None and self.total is not None:
            paper_schedule(self.step, self.total)

    @property
    def schedule(self) -> tuple[int, ...]:
        """New labels in each round."""
        if self.step is None or self.total is None:
            return self.rounds
        return paper_schedule(self.step, self.total)


@dataclass(frozen=True)
class Select:
    """How points are picked.

    Attributes
    ----------
    strategies : tuple of str
    seeds : tuple of int
    start : str, optional
        The strategy of the first round, for all; without it each has its own, and those with a model start at random.
    parts : int
        The pool is cut at random into so many parts, and each gives its share of the budget.
    gap, rounds, time_limit, threads, memory
        Of strategies that optimise; see `handful.select`. With ``rounds`` of 0 only gap and clock end them. Picks that
        ``time_limit`` (seconds) cut off can't be repeated exactly.
    """

    strategies: tuple[str, ...] = ("wasserstein",)
    seeds: tuple[int, ...] = (0,)
    start: str | None = None
    parts: int = 1
    gap: float = 0.01
    rounds: int = 3
    time_limit: float = 600.0
    threads: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        from handful import strategies

        if not self.strategies or not self.seeds:
            raise HandfulError("[select] needs at least one strategy and one seed")
        for name in (*self.strategies, *([self.start] if self.start else [])):
            strategies.get(name)
        if self.start is not None and strategies.get(self.start).needs:
            raise HandfulError(f"select.start {self.start!r} needs a model, and there is none in the first round")
        if self.rounds < 0:
            raise HandfulError(f"select.rounds must be 0 or more; got {self.rounds}")
        if self.parts < 1:
            raise HandfulError(f"select.parts must be 1 or more; got {self.parts}")


@dataclass(frozen=True)
class Learn:
    """What learns from the labels of each round.

    Attributes
    ----------
    kind : str
        "probe" (logistic regression on the features), "head" (a fresh head of two layers on them, or on a frozen
        encoder where ``augment`` is given), or "network" (encoder and head, on images).
    spread : str
        By which method labels are spread over the pool before it learns; "none" for the labels alone.
    epochs, steps, batch, rate, device
        See `handful.learning.classifier.Training`.
    encoder, stem : str
        Of the network.
    augment : str, optional
        Which views of the images it learns from; see `handful.learning.augment.PRESETS`.
    """

    kind: str = "head"
    spread: str = "none"
    epochs: int = 50
    steps: int = 300
    batch: int = 128
    rate: float = 0.002
    device: str | None = None
    encoder: str = "resnet18"
    stem: str = "small"
    augment: str | None = None

    def __post_init__(self) -> None:
        _one_of("classifier.kind", self.kind, CLASSIFIERS)
        _one_of("classifier.spread", self.spread, SPREADS)


@dataclass(frozen=True)
class Asked:
    """Who answers: the labels of the "data" set, or a "person", who is told the ``classes`` there are."""

    kind: str = "data"
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("oracle.kind", self.kind, ("data", "person"))


@dataclass(frozen=True)
class Config:
    """A whole run.

    ``source`` is the labelled domain of domain adaptation, which the head learns from too; ``simclr`` and ``fdal`` are
    settings of `handful.learning.simclr.SimCLR` and `handful.learning.fdal.FDAL`.
    """

    data: Data
    budget: Budget
    features: Features = field(default_factory=Features)
    select: Select = field(default_factory=Select)
    classifier: Learn = field(default_factory=Learn)
    oracle: Asked = field(default_factory=Asked)
    source: Data | None = None
    simclr: dict[str, Any] = field(default_factory=dict)
    fdal: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.features.source == "last-classifier" and self.classifier.kind == "probe":
            raise HandfulError("features of the last classifier need one with layers: classifier.kind head or network")
        if self.features.first == "f-dal" and self.source is None:
            raise HandfulError("f-DAL needs a labelled domain: a table [source], like [data]")
        if self.oracle.kind == "person" and (len(self.select.strategies), len(self.select.seeds)) != (1, 1):
            raise HandfulError("a person answers for one strategy and one seed: name one of each in [select]")

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for results to belong together: all but how many strategies, seeds and rounds."""
        told = asdict(self)
        for word in ("strategies", "seeds"):
            del told["select"][word]
        del told["budget"]
        return told

    @classmethod
    def of(cls, table: Mapping[str, Any], where: str = "the configuration") -> Config:
        """A run from nested tables, as TOML gives them."""
        sections = {"data": Data, "budget": Budget, "features": Features, "select": Select, "classifier": Learn,
                    "oracle": Asked, "source": Data}  # fmt: skip
        for name in table:
            if name not in {known.name for known in fields(cls)}:
                raise HandfulError(
                    f"{where} has an unknown part [{name}]; known are {', '.join(sections)}, simclr, fdal"
                )
        for name in ("data", "budget"):
            if name not in table:
                raise HandfulError(f"{where} has no [{name}], which every run needs")
        made: dict[str, Any] = {
            name: _made(sections[name], value, f"{where}, [{name}]") if name in sections else dict(value)
            for name, value in table.items()
        }
        return cls(**made)

    @classmethod
    def read(cls, path: str | PathLike[str], changes: Mapping[str, Any] | None = None) -> Config:
        """Read a TOML file; ``changes`` such as ``{"select.seeds": [0]}`` replace what it says.

        Files and folders in it are relative to it.
        """
        file = Path(path)
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise HandfulError(f"{file} is not TOML: {error}") from None
        for place, value in (changes or {}).items():
            section, dot, word = place.partition(".")
            if not dot or not isinstance(table.setdefault(section, {}), dict):
                raise HandfulError(f"{place!r} names nothing in {file}; write it like select.seeds")
            table[section][word] = value
        return cls.of(_placed(table, file.parent, set(changes or ())), str(file))


def _placed(table: dict[str, Any], folder: Path, given: set[str]) -> dict[str, Any]:
    """The tables with relative paths made relative to the file that holds them, other than those that were given."""
    for section, word in (("data", "folder"), ("source", "folder"), ("features", "file")):
        held = table.get(section, {})
        if isinstance(held, dict) and isinstance(held.get(word), str) and f"{section}.{word}" not in given:
            held[word] = str(folder / held[word])
    return table


def _made(kind: type[Made], table: Any, where: str) -> Made:
    if not isinstance(table, Mapping):
        raise HandfulError(f"{where} must be a table; got {table!r}")
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    given = dict(table)
    if "options" in known:
        given["options"] = {word: given.pop(word) for word in list(given) if word not in known} | given.get(
            "options", {}
        )
    for word in given:
        if word not in known:
            raise HandfulError(f"{where} has no {word!r}; it may have {', '.join(known)}")
    for word, item in known.items():
        if word not in given and item.default is MISSING and item.default_factory is MISSING:
            raise HandfulError(f"{where} needs {word!r}")
    values = {word: tuple(value) if isinstance(value, list) else value for word, value in given.items()}
    if "seeds" in values and isinstance(values["seeds"], int):
        values["seeds"] = tuple(range(values["seeds"]))
    if "strategies" in values and isinstance(values["strategies"], str):
        values["strategies"] = tuple(values["strategies"].replace(" ", "").split(","))
    for word, value in values.items():
        _check_kind(f"{where}: {word}", value, str(known[word].type))
    return kind(**values)


def _check_kind(what: str, value: Any, expected: str) -> None:
    """Refuse a value of another type than the field's."""
    kinds: dict[str, tuple[type, ...]] = {
        "str": (str,), "int": (int,), "float": (int, float), "bool": (bool,), "tuple": (tuple,), "dict": (dict,)
    }  # fmt: skip
    words = [word.partition("[")[0].strip() for word in expected.split("|")]
    fits = any(
        isinstance(value, kinds.get(word, ())) and (word == "bool" or not isinstance(value, bool)) for word in words
    )
    if not fits and not (value is None and "None" in words):
        raise HandfulError(f"{what} must be {expected}; got {value!r}")


def _one_of(what: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise HandfulError(f"{what} must be one of {', '.join(known)}; got {value!r}")
