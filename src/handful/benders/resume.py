"""What a checkpoint holds of a run, and the run it brings back."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from handful.benders.checkpoint import Checkpoint, Record
from handful.benders.cut import Cut
from handful.benders.inout import InOut
from handful.benders.loop import Decomposition
from handful.benders.trace import Iteration


class Saver:
    """Appends what is new since the last time."""

    def __init__(self, checkpoint: Checkpoint, run: Decomposition) -> None:
        self._checkpoint = checkpoint
        self._run = run
        self._cuts = len(run.cuts)
        self._lines = len(run.history)
        self._best = run.best if run.cuts else None

    def save(self) -> None:
        """Write the last iteration; before the first one, what the run began with."""
        run = self._run
        new = run.cuts[self._cuts :]
        proven = [cut for cut in new if cut.prices is not None]
        nothing = np.empty(0, np.int64)
        record: Record = {
            "families": np.array([cut.family for cut in new], dtype="U32"),
            "constants": np.array([cut.constant for cut in new]),
            "coefficients": np.array([cut.coefficients for cut in new]),
            "proven": np.array([cut.prices is not None for cut in new], dtype=bool),
            "prices": np.array([cut.prices for cut in proven]),
            "proposed": nothing if run.proposed is None else run.proposed.columns,
            "best": run.best.columns,
            "improved": np.array(run.best is not self._best),
            "alive": run.candidates.alive,
            "core": np.empty(0) if run.inout is None else run.inout.core,
            "bound": np.array(run.bound),
            "elapsed": np.array(run.elapsed),
            "lines": np.array([astuple(line) for line in run.history[self._lines :]]),
        }
        self._checkpoint.append(record)
        self._cuts, self._best, self._lines = len(run.cuts), run.best, len(run.history)


def restore(run: Decomposition, records: list[Record]) -> None:
    """Bring a prepared run to where the records end."""
    for record in records:
        for cut in _cuts(record):
            run.add(cut)
        improved = bool(record["improved"])
        if len(record["proposed"]) and not (improved and np.array_equal(record["proposed"], record["best"])):
            run.remember(run.solve(record["proposed"]), better=False)
        if improved:
            run.remember(run.solve(record["best"]), better=True)
        run.history += [_line(values) for values in record["lines"].tolist()]
    run.iterations = run.history[-1].iteration
    last = records[-1]
    run.bound = float(last["bound"])
    if len(last["core"]):
        run.inout = InOut(run.candidates, last["core"])
    run.shut(np.flatnonzero(run.candidates.alive & ~last["alive"]))


def elapsed(records: list[Record]) -> float:
    """Seconds that the run had worked."""
    return float(records[-1]["elapsed"]) if records else 0.0


def _cuts(record: Record) -> list[Cut]:
    prices = iter(record["prices"])
    return [
        Cut(str(family), float(constant), coefficients, next(prices) if proven else None)
        for family, constant, coefficients, proven in zip(
            record["families"], record["constants"], record["coefficients"], record["proven"], strict=True
        )
    ]


def _line(values: list[float]) -> Iteration:
    line = Iteration(*values)  # type: ignore[arg-type]
    return replace(line, iteration=int(line.iteration), cuts=int(line.cuts))
