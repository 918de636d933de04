"""Everything that the page shows, as plain data for its script: numbers packed, texts cut to a bounded size."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.files.columns import Values
from handful.report.coverage import Coverage
from handful.report.gather import Standings
from handful.report.thumbnails import Thumbnails

Floats = NDArray[np.float64]
Number = Callable[[Any], Any]

_FINEST = 65_535
_MOST_CLASSES = 50  # different values up to which whole numbers are taken as classes
_MISSING = 65_535
_LONGEST = 400  # letters of a text
_SHORTEST = 40


def packed(values: NDArray[Any], kind: str) -> dict[str, str]:
    """Numbers as little-endian bytes in base64, for a typed array of the page's script."""
    letters = {"u16": "<u2", "u32": "<u4", "f32": "<f4"}
    return {"kind": kind, "bytes": base64.b64encode(values.astype(letters[kind]).tobytes()).decode()}


def places(coordinates: Floats) -> dict[str, Any]:
    """Coordinates as whole numbers, both of one scale, the map in the middle of the square."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    scale = float((high - low).max()) or 1.0
    fine = ((coordinates - (low + high) / 2) / scale + 0.5) * _FINEST
    whole = fine.round().clip(0, _FINEST)
    return {"x": packed(whole[:, 0], "u16"), "y": packed(whole[:, 1], "u16")}


def picks(found: Standings, number: Number) -> list[dict[str, Any]]:
    """The picks as the script wants them; ``number`` says which dots points are."""
    return [
        {
            "dot": int(number(pick.row)),
            "rank": pick.rank,
            "mass": pick.mass,
            "count": pick.stands_for,
            "mean": pick.mean_distance,
            "near": number(pick.nearest).tolist(),
            "nearAway": _short(pick.nearest_distances),
            "far": number(pick.farthest).tolist(),
            "farAway": _short(pick.farthest_distances),
        }
        for pick in found.picks
    ]


def curve(found: Coverage) -> dict[str, Any]:
    """The coverage curve as the script wants it."""
    return {
        "counts": found.counts.tolist(),
        "distances": _short(found.distances),
        "points": found.points,
        "bend": found.bend,
        "advice": found.advice,
    }


def colour(column: Values) -> dict[str, Any]:
    """A column to colour points by: classes, the more frequent ones first, or numbers on a scale."""
    known = [value for value in column.values if not _unknown(value)]
    kinds = {type(value) for value in known}
    numbers = bool(known) and kinds <= {int, float}
    if numbers and (float in kinds or len(set(known)) > _MOST_CLASSES):
        values = np.array([math.nan if _unknown(value) else float(value) for value in column.values])
        finite = values[np.isfinite(values)]
        ends = [float(finite.min()), float(finite.max())] if len(finite) else [0.0, 0.0]
        return {"name": column.name, "kind": "scale", "ends": ends, "values": packed(values, "f32")}
    counted: dict[Any, int] = {}
    for value in known:
        counted[value] = counted.get(value, 0) + 1
    names = sorted(counted) if numbers else sorted(counted, key=lambda value: -counted[value])
    numbered = {name: min(at, _MISSING - 1) for at, name in enumerate(names)}
    codes = np.array([_MISSING if _unknown(value) else numbered[value] for value in column.values])
    shown = [_cut(str(name), _LONGEST) for name in names[: _MISSING - 1]]
    return {"name": column.name, "kind": "classes", "names": shown, "values": packed(codes, "u16")}


def texts(values: Sequence[Any], most: int) -> list[str]:
    """The text of each point, all of them cut where together they would take more than ``most`` letters."""
    whole = ["" if _unknown(value) else str(value) for value in values]
    lengths = np.array([len(text) for text in whole])
    allowed = _LONGEST
    while allowed > _SHORTEST and np.minimum(lengths, allowed).sum() > most:
        allowed = max(_SHORTEST, int(allowed * 0.8))
    return [_cut(text, allowed) for text in whole]


def images(found: Thumbnails | None, number: Number) -> dict[str, Any] | None:
    """Thumbnails as the script wants them."""
    if found is None:
        return None
    return {
        "sheets": found.sheets,
        "side": found.side,
        "across": found.across,
        "dots": packed(number(found.rows), "u32"),
    }


def _unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _short(values: Floats) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
