"""`handful select --method benders`: the words of the paper's decomposition, put into its terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from handful.cli import values
from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.files import Table
    from handful.pool import Pool
    from handful.selection import Selection

_METHODS = ("engine", "benders")
_STARTS = ("k-medoids", "k-centers")


def _option(name: str, metavar: str, says: str, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=says, rich_help_panel="With --method benders", **more)


Preset = Annotated[
    str | None,
    _option(
        "--preset",
        "certified|wass|wass+eoc|wass+eoc+p",
        "Which cuts: corrected and lifted (certified, the default), or as the paper prints them. Printed cuts and "
        "pruning may cut off the best picks: such a run carries no certificate.",
    ),
]
Cuts = Annotated[str | None, _option("--cuts", "NAME,NAME", "Families of cuts in place of those of the preset.")]
Solver = Annotated[str | None, _option("--solver", "highs|cbc", "Who solves the master problem; without it highs.")]
Transport = Annotated[
    str | None,
    _option(
        "--transport",
        "exact|emd|sinkhorn",
        "Who solves the subproblem: our kernel (exact), POT's emd as in the paper, or entropic transport (sinkhorn).",
    ),
]
Regularisation = Annotated[
    float | None,
    _option("--regularisation", "X", "Temperature of sinkhorn, in units of the mean distance; without it 0.05."),
]
Start = Annotated[
    str | None,
    _option("--start", "k-medoids|k-centers|FILE", "Where it starts: without it k-medoids; FILE names the new picks."),
]
MasterTime = Annotated[
    str | None, _option("--master-time", "TIME", "Of one solve of the master; without it 180s, as in the paper.")
]
MasterGap = Annotated[
    str | None,
    _option(
        "--master-gap",
        "SHARE",
        "How near to its best a solve of the master must come; without it 10%, as in the paper, or for certified a "
        "tenth of the gap that is left.",
    ),
]
Tolerance = Annotated[
    float | None,
    _option(
        "--tolerance",
        "X",
        "Stop too where distance and master differ by X, not relative; without it 0.001 as in the paper, or 0 for "
        "certified.",
    ),
]
Pruning = Annotated[
    str | None,
    _option(
        "--pruning",
        "NEAR:FAR",
        "Share at least NEAR of the picks with the best ones and at most FAR with any others, as 0.6:0.99 (0.6:0.9 for "
        "large budgets). Faster, without certificate.",
    ),
]
Parts = Annotated[
    int | None,
    _option("--parts", "N", "Cut pool and budget into N random parts and join their picks; no certificate.", min=1),
]
Processes = Annotated[int | None, _option("--processes", "N", "How many parts are solved at a time.", min=1)]


@dataclass(frozen=True)
class Words:
    """The words above, as given; None where nothing was said."""

    preset: str | None
    cuts: str | None
    solver: str | None
    transport: str | None
    regularisation: float | None
    start: str | None
    master_time: str | None
    master_gap: str | None
    tolerance: float | None
    pruning: str | None
    parts: int | None
    processes: int | None

    def check(self, method: str) -> None:
        """Refuse another method, and words that the method does not know."""
        if method not in _METHODS:
            raise HandfulError(f"--method {method} is not known; write {' or '.join(_METHODS)}.")
        said = [field.name.replace("_", "-") for field in fields(self) if getattr(self, field.name) is not None]
        if method == "engine" and said:
            raise HandfulError(f"--{said[0]} is a word of the decomposition; write --method benders with it.")

    def meant(self, table: Table) -> dict[str, Any]:
        """The arguments of `handful.benders.solve` that were said."""
        said = {
            "preset": self.preset,
            "cuts": None if self.cuts is None else tuple(word.strip() for word in self.cuts.split(",")),
            "solver": self.solver,
            "transport": self.transport,
            "regularisation": self.regularisation,
            "start": None if self.start is None else _start(self.start, table),
            "solve_limit": None if self.master_time is None else values.duration(self.master_time, "--master-time"),
            "solve_gap": None if self.master_gap is None else values.gap(self.master_gap, "--master-gap"),
            "tolerance": self.tolerance,
            "pruning": None if self.pruning is None else _pruning(self.pruning),
            "parts": self.parts,
            "processes": self.processes,
        }
        return {name: value for name, value in said.items() if value is not None}


def chosen(method: str, words: Words, table: Table) -> Callable[..., Selection]:
    """What to call in place of `handful.engine.select`, with its arguments."""
    from handful.engine import select

    if method == "engine":
        return select
    from handful.benders import solve
    from handful.benders.options import Options

    meant = words.meant(table)
    Options(**meant)  # refuses what can't be before the pool is looked at

    def run(pool: Pool, budget: int, *, rounds: int | None, **common: Any) -> Selection:
        return solve(pool, budget, iterations=rounds, **common, **meant)

    return run


def drawings(selection: Selection) -> dict[str, Callable[[BinaryIO], None]]:
    """Pictures of this kind of run only, by the names of their files."""
    from handful.benders import BendersResult

    if not isinstance(selection, BendersResult) or not selection.history:
        return {}

    def bounds(file: BinaryIO) -> None:
        from handful.chart import draw_bounds

        draw_bounds({selection.preset: selection}, file)

    return {"bounds.png": bounds}


def _start(word: str, table: Table) -> Any:
    from handful.files import read_points_list

    if word in _STARTS:
        return word
    if not Path(word).suffix and not Path(word).exists():
        raise HandfulError(f"--start {word} is not known; write {', '.join(_STARTS)} or a file with the new picks.")
    return read_points_list(word, table)


def _pruning(text: str) -> tuple[float, float]:
    parts = text.split(":")
    try:
        near, far = (float(part) for part in parts)
    except ValueError:
        raise HandfulError(f"--pruning {text} is not understood; write two shares, as 0.6:0.99.") from None
    return near, far
