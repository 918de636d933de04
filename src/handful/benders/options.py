"""Options of a run, checked: each bad value gets one sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.benders.loop import Rules
from handful.benders.master import check_solver
from handful.benders.presets import PRESETS, families_for
from handful.benders.starts import STARTS
from handful.benders.subproblem import SUBPROBLEMS
from handful.errors import HandfulError
from handful.problem import Problem

SOLVE_LIMIT: Final = 180.0  # seconds of a master solve, as in the paper


@dataclass(frozen=True)
class Options:
    """What `handful.benders.solve` was asked for; see there."""

    preset: str = "certified"
    cuts: tuple[str, ...] | None = None
    solver: str = "highs"
    transport: str = "exact"
    regularisation: float = 0.05
    start: str | NDArray[np.int64] = "k-medoids"
    pruning: tuple[float, float] | None = None
    tolerance: float | None = None
    gap: float = 1e-6
    time_limit: float = 600.0
    solve_limit: float = SOLVE_LIMIT
    solve_gap: float | None = None
    iterations: int | None = None
    checkpoint: Path | None = None
    parts: int = 1
    processes: int = 1

    def __post_init__(self) -> None:
        _choice("preset", self.preset, tuple(PRESETS))
        check_solver(self.solver)
        _choice("transport", self.transport, SUBPROBLEMS)
        if isinstance(self.start, str):
            _choice("start", self.start, STARTS)
        _number("regularisation", self.regularisation, above=0.0)
        _number("gap", self.gap, least=0.0)
        _number("time_limit", self.time_limit, above=0.0)
        _number("solve_limit", self.solve_limit, above=0.0)
        if self.tolerance is not None:
            _number("tolerance", self.tolerance, least=0.0)
        if self.solve_gap is not None:
            _number("solve_gap", self.solve_gap, least=0.0, below=1.0)
        if self.iterations is not None:
            _whole("iterations", self.iterations)
        _whole("parts", self.parts)
        _whole("processes", self.processes)
        if self.pruning is not None:
            _check_pruning(self.pruning)
        if self.checkpoint is not None and not self.checkpoint.absolute().parent.is_dir():
            raise HandfulError(f"checkpoint {self.checkpoint}: the folder {self.checkpoint.parent} does not exist")

    def rules(self, problem: Problem) -> Rules:
        """How the loop is to work on this problem."""
        preset = PRESETS[self.preset]
        families = families_for(problem.pool, preset, self.cuts)
        if self.transport != "exact" and not problem.shares.uniform:
            raise HandfulError(f"transport {self.transport!r} knows uniform picks only: use 'exact' for other weights")
        if "sinkhorn-printed" in families and self.transport != "sinkhorn":
            raise HandfulError("the cut sinkhorn-printed needs transport='sinkhorn'")
        return Rules(
            families=families,
            solve_limit=self.solve_limit,
            solve_gap=preset.solve_gap if self.solve_gap is None else self.solve_gap,
            tolerance=preset.tolerance if self.tolerance is None else self.tolerance,
            gap=self.gap,
            iterations=self.iterations,
            pruning=preset.pruning if self.pruning is None else self.pruning,
        )


def parsed_start(start: str | ArrayLike) -> str | NDArray[np.int64]:
    """A name, or an array of rows."""
    return start if isinstance(start, str) else np.asarray(start)


def parsed_path(path: str | PathLike[str] | None) -> Path | None:
    """A path, if one is given."""
    return None if path is None else Path(path)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise HandfulError(f"unknown {name} {value!r}: choose one of {', '.join(choices)}")


def _number(
    name: str, value: float, least: float = -math.inf, above: float = -math.inf, below: float = math.inf
) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise HandfulError(f"{name} must be a finite number; got {value!r}")
    if value < least or value <= above or value >= below:
        lower = f"at least {least:g}" if above < least else f"above {above:g}"
        raise HandfulError(f"{name} must be {lower}{f' and below {below:g}' * math.isfinite(below)}; got {value:g}")


def _whole(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise HandfulError(f"{name} must be a whole number of at least 1; got {value!r}")


def _check_pruning(pruning: tuple[float, float]) -> None:
    try:
        near, far = (float(part) for part in pruning)
    except (TypeError, ValueError):
        raise HandfulError(f"pruning must be two numbers (near, far), as in (0.6, 0.99); got {pruning!r}") from None
    if not (0 <= near <= 1 and 0 <= far <= 1):
        raise HandfulError(f"pruning must be two parts between 0 and 1, as in (0.6, 0.99); got ({near:g}, {far:g})")
