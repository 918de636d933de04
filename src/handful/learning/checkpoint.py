"""The state of a training on disk: whole at any time, and only taken up by the run that it is of."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from handful.errors import HandfulError
from handful.learning.encoders import read_tensors


class Checkpoint:
    """One file, renewed every so many seconds; without a path nothing is kept.

    Parameters
    ----------
    path : Path or None
    run : table
        What the run is: a checkpoint of a run that differs in any of it is refused.
    every : float
        Seconds between two states.
    """

    def __init__(self, path: Path | None, run: Mapping[str, Any], every: float) -> None:
        self.path = path
        self._run = dict(run)
        self._every = every
        self._last = time.monotonic()

    def resumed(self) -> Any:
        """The state that was kept, or None where there is none."""
        if self.path is None or not self.path.exists():
            return None
        held = read_tensors(self.path)
        if not isinstance(held, dict) or held.keys() != {"run", "state"}:
            raise HandfulError(f"{self.path} is no checkpoint of a training; remove it, or give another folder")
        for name in sorted(held["run"].keys() | self._run.keys()):
            was, given = held["run"].get(name), self._run.get(name)
            if was != given:
                raise HandfulError(
                    f"{self.path} is of a run with {name} = {was!r}, not {given!r}: give it another folder, or the "
                    "same settings"
                )
        return held["state"]

    @property
    def due(self) -> bool:
        """Whether it is time to keep a state."""
        return self.path is not None and time.monotonic() - self._last >= self._every

    def keep(self, state: Mapping[str, Any]) -> None:
        """Write the state aside and move it into place."""
        if self.path is None:
            return
        aside = self.path.with_name(f".{self.path.name}.part")
        torch.save({"run": self._run, "state": dict(state)}, aside)
        os.replace(aside, self.path)
        self._last = time.monotonic()
