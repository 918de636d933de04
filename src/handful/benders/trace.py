"""The trace of a run: one line per iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Iteration:
    """One iteration; number 0 is what went before the first solve of the master, in several lines.

    ``elapsed`` seconds since the start, the highest ``master_bound`` so far, the ``transport_value`` of the selection
    proposed, the ``incumbent`` (the least so far), the ``cuts`` in the master, and the seconds spent in it, in
    transport and in making cuts.
    """

    iteration: int
    elapsed: float
    master_bound: float
    transport_value: float
    incumbent: float
    cuts: int
    master_seconds: float
    transport_seconds: float
    cut_seconds: float


COLUMNS = tuple(field.name for field in fields(Iteration))


def columns(history: Sequence[Iteration]) -> dict[str, list[Any]]:
    """The trace as a table."""
    return {name: [getattr(line, name) for line in history] for name in COLUMNS}
