"""Hugging Face datasets: a file of records that `datasets` loads, or the picked rows of a dataset that is there."""

from __future__ import annotations

from typing import Any

from handful.errors import HandfulError
from handful.handoff.picks import Picks


def records(picks: Picks) -> list[dict[str, Any]]:
    """A record for each pick, for ``load_dataset("json", data_files=FILE)``."""
    return [fields | shown for fields, shown in zip(picks.fields(), picks.shown(), strict=True)]


def pick(dataset: Any, picks: Picks) -> Any:
    """Select the picked rows of a ``datasets.Dataset`` with a row per point, in order, with the fields as columns."""
    if len(dataset) != picks.n:
        raise HandfulError(f"the dataset has {len(dataset)} rows and the pool had {picks.n} points; give the same one.")
    fields = picks.fields()
    found = dataset.select(list(picks.index))
    for name in fields[0] if fields else ():
        found = found.add_column(name, [record[name] for record in fields])
    return found
