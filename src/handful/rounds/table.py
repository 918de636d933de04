"""The table of a run: accuracy over labels, for every strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handful.rounds.store import Round


@dataclass(frozen=True)
class Entry:
    """Accuracies of one strategy at one number of labels, over seeds.

    Attributes
    ----------
    mean : float
    deviation : float or None
        Sample standard deviation; None of a single seed.
    runs : int
    best : bool
        Whether no strategy with as many runs has a larger mean.
    clocked : bool
        Whether a search was ended by the clock, so that the same run may pick other points.
    """

    mean: float
    deviation: float | None
    runs: int
    best: bool
    clocked: bool


@dataclass(frozen=True)
class Table:
    """Entries by strategy, in the order of their mean accuracy over all rounds, and number of labels."""

    labels: tuple[int, ...]
    strategies: tuple[str, ...]
    entries: dict[tuple[str, int], Entry]


def table(rounds: Sequence[Round]) -> Table:
    """Of all finished rounds with an accuracy."""
    counts: dict[tuple[str, int], int] = {}
    values: dict[tuple[str, int], list[Round]] = {}
    for found in sorted(rounds, key=lambda found: found.round):
        counts[found.strategy, found.seed] = counts.get((found.strategy, found.seed), 0) + found.budget
        if found.accuracy is not None:
            values.setdefault((found.strategy, counts[found.strategy, found.seed]), []).append(found)
    accuracies = {key: [found.accuracy or 0.0 for found in own] for key, own in values.items()}
    means = {key: float(np.mean(own)) for key, own in accuracies.items()}
    most = {count: max(len(values[key]) for key in values if key[1] == count) for _, count in values}
    top = {
        count: max(means[key] for key in values if key[1] == count and len(values[key]) == most[count])
        for count in most
    }
    entries = {
        (name, count): Entry(
            means[name, count],
            float(np.std(accuracies[name, count], ddof=1)) if len(own) > 1 else None,
            len(own),
            len(own) == most[count] and means[name, count] == top[count],
            any(found.ending == "time" for found in own),
        )
        for (name, count), own in values.items()
    }
    names = {name for name, _ in values}
    overall = {name: float(np.mean([means[key] for key in values if key[0] == name])) for name in names}
    complete = {name: sum(key[0] == name for key in values) for name in names}
    order = sorted(names, key=lambda name: (-complete[name], -overall[name], name))
    return Table(tuple(sorted(most)), tuple(order), entries)


def rows(found: Table) -> list[list[str]]:
    """The table as words, with its header: mean ± standard deviation in percent; ``*`` best, ``†`` clocked."""
    lines = [["strategy", "seeds", *map(str, found.labels)]]
    for name in found.strategies:
        own = [found.entries.get((name, count)) for count in found.labels]
        runs = max(entry.runs for entry in own if entry is not None)
        lines.append([name, str(runs), *("" if entry is None else _text(entry, runs) for entry in own)])
    return lines


def _text(entry: Entry, runs: int) -> str:
    spread = "" if entry.deviation is None else f" ± {100 * entry.deviation:.1f}"
    fewer = "" if entry.runs == runs else f" ({entry.runs})"
    return f"{100 * entry.mean:.1f}{spread}{' *' if entry.best else ''}{' †' if entry.clocked else ''}{fewer}"


def markdown(lines: list[list[str]]) -> str:
    """As a table of Markdown."""
    bars = ["---", *["---:"] * (len(lines[0]) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], bars, *lines[1:]))
