"""The files of a scenario reduction: a table, and names and probabilities for solvers of stochastic programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful import __version__
from handful.files.runs import write_run
from handful.files.write import run_folder, write_csv, write_json

if TYPE_CHECKING:
    from handful.scenarios import Reduction

Ids = NDArray[Any]


def save(
    reduction: Reduction,
    folder: str | PathLike[str],
    points: NDArray[Any],
    ids: Ids | None = None,
    names: Sequence[str] = (),
    *,
    force: bool,
    extra_summary: Mapping[str, Any] | None = None,
) -> None:
    """Write ``scenarios.csv``, ``scenarios.json`` and, where there is one, the run behind them into a new folder.

    ``extra_summary`` is added to that run's ``summary.json``.
    """
    with run_folder(folder, force=force) as target:
        write_csv(target / "scenarios.csv", scenarios_table(reduction, points, ids, names))
        write_json(target / "scenarios.json", listing(reduction, ids))
        if reduction.selection is not None:
            write_run(reduction.selection, target, ids, extra_summary)


def scenarios_table(
    reduction: Reduction, points: NDArray[Any], ids: Ids | None, names: Sequence[str] = ()
) -> dict[str, Any]:
    """The columns of ``scenarios.csv``; values go by their ``names``, or else are x1, x2 and so on."""
    kept = reduction.indices
    counts = np.bincount(reduction.plan, minlength=len(points))[kept]
    table = {
        "rank": np.arange(1, len(kept) + 1),
        "index": kept,
        "id": kept if ids is None else np.asarray(ids)[kept],
        "probability": reduction.probabilities,
        "stands_for": counts,
    }
    values = np.asarray(points[kept])
    if len(names) != values.shape[1] or not set(names).isdisjoint(table):
        names = [f"x{column + 1}" for column in range(values.shape[1])]
    return table | {name: values[:, column] for column, name in enumerate(names)}


def listing(reduction: Reduction, ids: Ids | None) -> dict[str, Any]:
    """What ``scenarios.json`` holds.

    ``all_scenario_names`` is the list of that name of mpi-sppy; the probability of a scenario belongs into the
    attribute ``_mpisppy_probability`` of the model that its ``scenario_creator`` returns.
    """
    names = [f"Scenario{rank}" for rank in range(1, len(reduction.indices) + 1)]
    rows = reduction.indices.tolist()
    return {
        "version": __version__,
        "all_scenario_names": names,
        "probabilities": dict(zip(names, reduction.probabilities.tolist(), strict=True)),
        "rows": dict(zip(names, rows, strict=True)),
        "ids": None if ids is None else dict(zip(names, np.asarray(ids)[rows].tolist(), strict=True)),
        "p": reduction.p,
        "method": reduction.method,
        "distance": reduction.distance,
        "lower_bound": reduction.lower_bound if reduction.selection is not None else None,
        "gap": reduction.gap if reduction.selection is not None else None,
        "sentence": str(reduction),
    }
