"""Reads the folder of a run that ended: the picks, the plan, the proof, and what was said of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.certificate import Certificate, read_arrays
from handful.errors import HandfulError

Indices = NDArray[np.int64]

_PLAN = {"rank": "Indices", "flow_rows": "Indices", "flow_picks": "Indices", "flow_masses": "Floats"}


@dataclass(frozen=True, eq=False)
class Finished:
    """A run as its folder holds it.

    Attributes
    ----------
    folder
        Where it was read from.
    certificate
        The picks, those of earlier rounds first, their shares, and what is claimed of them.
    labels
        For every point the position among the picks of the one that stands for it.
    flow_rows, flow_picks, flow_masses
        The plan: point, position among the picks, mass.
    summary
        ``summary.json``; of a folder that is older or was made by hand, words may be missing.
    """

    folder: Path
    certificate: Certificate
    labels: Indices
    flow_rows: Indices
    flow_picks: Indices
    flow_masses: NDArray[np.float64]
    summary: Mapping[str, Any]

    @property
    def pool_file(self) -> Path | None:
        """The file of the pool, where the run says which it was; it is named as seen from the folder."""
        name = self.source.get("file")
        return Path(os.path.normpath(self.folder / name)) if isinstance(name, str) else None

    @property
    def source(self) -> Mapping[str, Any]:
        """How the pool was read: its file, and the names of its parts."""
        source = self.summary.get("pool")
        return source if isinstance(source, dict) else {}


def read_run(folder: str | PathLike[str]) -> Finished:
    """Read a folder that `handful.files.runs.save` wrote."""
    path = Path(folder)
    if not path.is_dir():
        raise HandfulError(f"{path} is no folder; give the folder that a run wrote.")
    if not (path / "certificate.npz").exists() and (path / "scenarios.json").exists():
        raise HandfulError(
            f"{path} holds scenarios of a heuristic, which keeps no plan to show; reduce with --method certified."
        )
    certificate = Certificate.read(path / "certificate.npz")
    plan = read_arrays(path / "plan.npz", _PLAN)
    n, picks = len(certificate.prices), len(certificate.picks)
    rows, at, masses = plan["flow_rows"], plan["flow_picks"], plan["flow_masses"]
    fits = len(plan["rank"]) == n and len(rows) == len(at) == len(masses) and bool(np.isfinite(masses).all())
    if not (fits and _within(rows, n) and _within(at, picks) and _within(plan["rank"], picks)):
        raise HandfulError(f"{path}/plan.npz is no plan of the {picks} picks of {n:,} points; make the run again.")
    if not (_within(certificate.picks, n) and len(np.unique(certificate.picks)) == picks):
        raise HandfulError(f"{path}/certificate.npz names picks that can't be; make the run again.")
    return Finished(path, certificate, plan["rank"], rows, at, masses, _summary(path / "summary.json"))


def named_source(
    file: Path, folder: Path, *, id_column: str | None, array: str | None, mass: str | None
) -> dict[str, Any]:
    """What ``summary.json`` says of the pool's file, named as seen from the folder so that both can move together."""
    try:
        name = os.path.relpath(file.resolve(), folder.resolve())
    except ValueError:  # on another drive
        name = str(file.resolve())
    return {"file": Path(name).as_posix(), "id": id_column, "array": array, "mass": mass}


def _summary(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise HandfulError(f"{path} is not JSON ({error}); make the run again.") from error
    if not isinstance(found, dict):
        raise HandfulError(f"{path} holds no summary of a run; make the run again.")
    return found


def _within(rows: Indices, n: int) -> bool:
    return bool(((rows >= 0) & (rows < n)).all())
