"""The folder of a run: what a selection leaves on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import __version__
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.files.write import run_folder, write_csv, write_json, write_parquet
from handful.selection import Selection

Ids = NDArray[np.generic]


def save(
    selection: Selection,
    folder: str | PathLike[str],
    *,
    force: bool,
    ids: Ids | None = None,
    extra_summary: Mapping[str, Any] | None = None,
    picks: Mapping[str, Any] | None = None,
) -> None:
    """Write the run into a new folder, all of it or nothing.

    ``force`` replaces an earlier run; ``ids`` are the points' names, one each (default: their rows);
    ``extra_summary`` is added to ``summary.json``; ``picks`` are the columns of `picks_table`, if known already.
    """
    if ids is not None and len(ids) != selection.pool.n:
        raise HandfulError(f"{len(ids)} ids were given for {selection.pool.n} points; give one for each point.")
    with run_folder(folder, force=force) as target:
        write_run(selection, target, ids, extra_summary, picks)


def write_run(
    selection: Selection,
    target: Path,
    ids: Ids | None = None,
    extra_summary: Mapping[str, Any] | None = None,
    picks: Mapping[str, Any] | None = None,
) -> None:
    """Write ``picks.csv``, ``plan.npz``, ``certificate.npz``, ``summary.json`` and tables into an existing folder."""
    write_csv(target / "picks.csv", picks or picks_table(selection, ids))
    with (target / "plan.npz").open("wb") as file:
        np.savez(
            file,
            pick=selection.plan,
            rank=selection.labels,
            flow_rows=selection.flow_rows,
            flow_picks=selection.flow_picks,
            flow_masses=selection.flow_masses,
        )
    Certificate.of(selection).write(target / "certificate.npz")
    for name, columns in selection.tables.items():
        write_csv(target / f"{name}.csv", columns)
        write_parquet(target / f"{name}.parquet", columns)
    write_json(target / "summary.json", summary(selection) | dict(extra_summary or {}))


def picks_table(selection: Selection, ids: Ids | None) -> dict[str, Any]:
    """The columns of ``picks.csv``: the new picks only, in their order."""
    new = slice(len(selection.already), None)
    served = np.bincount(selection.labels, minlength=len(selection.picks))
    return {
        "rank": np.arange(1, len(selection.indices) + 1),
        "index": selection.indices,
        "id": selection.indices if ids is None else np.asarray(ids)[selection.indices],
        "mass": selection.masses[new],
        "stands_for": served[new],
        "mean_distance": _mean_distances(selection)[new],
    }


def _mean_distances(selection: Selection) -> list[float | None]:
    """Mean distance of the mass that each pick serves; None if it serves none."""
    order = np.argsort(selection.flow_picks, kind="stable")
    ends = np.cumsum(np.bincount(selection.flow_picks, minlength=len(selection.picks)))
    means: list[float | None] = []
    for position, own in enumerate(np.split(order, ends[:-1])):
        masses = selection.flow_masses[own]
        costs = selection.pool.distances(selection.picks[[position]], selection.flow_rows[own])[0]
        means.append(float(costs @ masses / masses.sum()) if masses.sum() > 0 else None)
    return means


def summary(selection: Selection) -> dict[str, Any]:
    """What ``summary.json`` holds."""
    return {
        "version": __version__,
        "n": selection.pool.n,
        "dimension": selection.pool.dimension,
        "metric": str(selection.pool.metric),
        "budget": len(selection.indices),
        "already": len(selection.already),
        "candidates": len(selection.pool.candidates),
        "restriction": selection.restriction,
        "picks_weight": {"low": selection.low, "high": selection.high},
        "distance": selection.distance,
        "lower_bound": selection.lower_bound,
        "gap": selection.gap,
        "certified": selection.certified,
        "status": selection.status,
        "sentence": str(selection),
        "seconds": selection.seconds,
        "trace": [asdict(line) | {"gap": line.gap} for line in selection.trace],
        **selection.details,
    }
