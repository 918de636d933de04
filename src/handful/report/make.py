"""From the folder of a run and its pool to the report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.columns import Values
from handful.files.finished import Finished
from handful.files.table import Table
from handful.pool import Pool
from handful.report import facts, payload
from handful.report.coverage import coverage
from handful.report.gather import Standings, standings
from handful.report.layout import layout
from handful.report.page import page
from handful.report.thumbnails import Draw, thumbnails

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_DOTS = 200_000
_MOST_IMAGES = 6_000_000  # bytes of thumbnails
_MOST_TEXT = 4_000_000  # letters of all texts


@dataclass(frozen=True)
class Shown:
    """What a report shows beside the picks.

    Attributes
    ----------
    layout
        How the map is laid out: one of `handful.report.LAYOUTS`.
    colours
        Columns that points can be coloured by.
    text
        A text for each point.
    draw
        What gives the image of a point.
    """

    layout: str = "tsne"
    colours: tuple[Values, ...] = ()
    text: Values | None = None
    draw: Draw | None = None


@dataclass(frozen=True)
class Made:
    """The report that was written: its file, its bytes, and what it leaves out, in sentences."""

    file: Path
    size: int
    notes: tuple[str, ...]


def pool_of(run: Finished, table: Table) -> Pool:
    """The pool of a run, from the points of its file; refused if they are not those the run was made for."""
    claim = run.certificate
    scenarios = facts.scenarios(run)
    if scenarios is not None:
        from handful.scenarios.paths import scenario_pool

        periods = scenarios.get("periods")
        points = table.points if periods is None else table.points.reshape(len(table.points), periods, -1)
        pool = scenario_pool(
            points,
            claim.point_masses,
            metric=scenarios["metric"],
            p=scenarios["p"],
            period_weights=scenarios.get("period_weights"),
        )
    else:
        candidates = claim.candidates if len(claim.candidates) else None
        pool = Pool(table.points, claim.metric, masses=claim.point_masses, candidates=candidates)
    if pool.n != len(claim.prices) or pool.fingerprint != claim.fingerprint:
        raise HandfulError(
            f"{table.path} holds {pool.n:,} points that are not those of the run in {run.folder}; give these by --pool."
        )
    return pool


def make_report(
    run: Finished,
    table: Table,
    file: Path,
    shown: Shown | None = None,
    progress: Callable[[str], None] | None = None,
) -> Made:
    """Write the report of a run as one HTML file.

    Parameters
    ----------
    run
        What `handful.files.finished.read_run` read.
    table
        The pool of the run, as `handful.files.read_pool` read it.
    file
        Where the report goes; a file that is there is replaced.
    shown
        What it shows beside the picks.
    progress
        Called with what is being done.
    """
    shown, say = shown or Shown(), progress or (lambda what: None)
    pool = pool_of(run, table)
    order = facts.order(run)
    say("looking at what each pick stands for")
    found = standings(run, pool, order)
    dots = _dots(pool.n, found)
    say("laying out the map")
    laid = layout(pool, run.certificate.picks, dots, shown.layout)
    say("following the distance with the budget")
    curve = coverage(pool, run.certificate, order)
    say("making thumbnails")
    images = None if shown.draw is None else thumbnails(shown.draw, _most_telling(dots, found), _MOST_IMAGES)
    notes = _notes(pool.n, len(dots), shown.draw is not None, 0 if images is None else len(images.rows))
    number = _Numbering(dots)
    said = facts.facts(run, table, pool)
    data: dict[str, Any] = {
        "run": said | {"layout": laid.words, "notes": notes},
        "dots": {
            "count": len(dots),
            "rows": None if len(dots) == pool.n else payload.packed(dots, "u32"),
            **payload.places(laid.places),
            "pick": payload.packed(run.labels[dots], "u32"),
            "away": payload.packed(found.distances[dots], "f32"),
            "mass": None if pool.equal_masses else payload.packed(pool.masses[dots], "f32"),
        },
        "ids": None if table.ids is None else [str(name) for name in table.ids[dots].tolist()],
        "texts": None if shown.text is None else payload.texts(_of(shown.text, dots), _MOST_TEXT),
        "images": payload.images(images, number.of),
        "colours": [payload.colour(Values(some.name, _of(some, dots), some.file)) for some in shown.colours],
        "picks": payload.picks(found, number.of),
        "shared": [[int(number.of(row)), pick, part] for row, pick, part in found.shared if number.has(row)],
        "trace": facts.trace(run),
        "coverage": payload.curve(curve),
    }
    say("writing the report")
    html = page(f"{run.folder.resolve().name}: {said['headline']}", data)
    return Made(file, _write(file, html), tuple(notes))


class _Numbering:
    """Numbers of the dots by the rows they stand for."""

    def __init__(self, dots: Indices) -> None:
        self._dots = dots

    def of(self, rows: Any) -> Any:
        """The dots of these rows, which must be drawn."""
        return np.searchsorted(self._dots, rows)

    def has(self, row: int) -> bool:
        """Whether a row is drawn."""
        at = int(self.of(row))
        return at < len(self._dots) and int(self._dots[at]) == row


def _dots(n: int, found: Standings) -> Indices:
    """Rows of the points that are drawn: all of them, or the telling ones and others by chance."""
    if n <= _MOST_DOTS:
        return np.arange(n)
    telling = np.unique(_telling(found))
    others = np.setdiff1d(np.arange(n), telling)
    drawn = np.random.default_rng(0).choice(others, max(0, _MOST_DOTS - len(telling)), replace=False)
    return np.sort(np.append(telling, drawn))


def _telling(found: Standings) -> Indices:
    """The picks, then the nearest and farthest points of each, one of every pick after the other."""
    rows = [np.array([pick.row for pick in found.picks])]
    for near in range(max((len(pick.nearest) for pick in found.picks), default=0)):
        rows += [pick.nearest[near : near + 1] for pick in found.picks]
        rows += [pick.farthest[near : near + 1] for pick in found.picks]
    return np.concatenate(rows).astype(np.int64)


def _most_telling(dots: Indices, found: Standings) -> Indices:
    """All dots, those first that should have a thumbnail in any case; the others by chance."""
    rows = np.append(_telling(found), np.random.default_rng(1).permutation(dots))
    return rows[np.sort(np.unique(rows, return_index=True)[1])]


def _of(column: Values, dots: Indices) -> list[Any]:
    return [column.values[row] for row in dots.tolist()]


def _notes(n: int, dots: int, images_asked: bool, images: int) -> list[str]:
    notes = []
    if dots < n:
        notes.append(f"{dots:,} of {n:,} points are drawn: the picks, their nearest and farthest, others by chance.")
    if images_asked and images < dots:
        notes.append(f"{images:,} of {dots:,} points have a thumbnail: the picks and their nearest and farthest first.")
    return notes


def _write(file: Path, html: str) -> int:
    """Write beside the file and then in its place, so that a report is never half there."""
    data = html.encode()
    try:
        with tempfile.TemporaryDirectory(prefix=".report-", dir=file.resolve().parent) as beside:
            fresh = Path(beside) / "report.html"
            fresh.write_bytes(data)
            fresh.replace(file)
    except OSError as error:
        raise HandfulError(f"{file} can't be written ({error.strerror or error}); choose another place.") from error
    return len(data)
