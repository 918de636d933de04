"""`handful spread`: what the labels of the picks say of all other points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import options
from handful.cli.console import result
from handful.cli.inputs import Source
from handful.cli.progress import live_line
from handful.errors import HandfulError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from handful.certificate import Certificate
    from handful.pool import Pool
    from handful.spread import Spread

    Indices = NDArray[np.int64]

SPREAD = "spread.csv"

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful spread run --pool pool.npy --labels labels.csv[/cyan]   over the graph of near neighbours

[cyan]handful spread run --labels labels.csv[/cyan]   by the plan of the run alone
"""

_Labels = Annotated[
    str,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels of the picks: a table with the columns index (or id) and label, or one label per pick, in their "
        "order (those of earlier rounds first).",
        show_default=False,
    ),
]
_Pool = Annotated[
    Path | None,
    typer.Option("--pool", metavar="POOL", help="The points of the run; needed by all methods but plan."),
]
_Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="graph|nearest|plan",
        help="Over a sparse graph of near neighbours, from the nearest pick, or by the plan of the run.",
        show_default="graph with --pool, else plan",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE.csv", help="Where to write it.", show_default="spread.csv in DIR"),
]


def spread(
    folder: options.RunFolder,
    labels: _Labels,
    pool: _Pool = None,
    method: _Method = None,
    output: _Output = None,
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    quiet: options.Quiet = False,
) -> None:
    """Give every point of the pool a label and a confidence, from the labels of the picks of a run.

    Writes a table: index, id, label, confidence, and the share of every class.
    """
    way = method or ("plan" if pool is None else "graph")
    if pool is None and way != "plan":
        raise HandfulError(f"--method {way} needs the points: name their file with --pool.")
    target = output or folder / SPREAD
    if not target.parent.is_dir():
        raise HandfulError(f"{target} can't be written: there is no folder {target.parent}.")
    with live_line(not quiet, f"reading {folder}") as line:
        from handful.certificate import Certificate
        from handful.files.write import write_csv

        claim = Certificate.read(folder / "certificate.npz")
        points, ids = _points(pool, claim, id_column, array)
        line.now(f"spreading {len(claim.picks)} labels")
        found = _spread(folder, points, claim, _labels(labels, claim, ids), way)
        line.now("writing")
        write_csv(target, _columns(found, ids))
    certain = float((found.confidence >= 0.5).mean())
    result().print(
        f"{len(claim.picks)} labels of {len(found.classes)} classes, spread over {len(found.labels):,} points by "
        f"{way}: {certain:.0%} of them with a confidence of 0.5 or more. Kept in {target}.",
        soft_wrap=True,
    )


def _points(
    file: Path | None, claim: Certificate, id_column: str | None, array: str | None
) -> tuple[Pool | None, NDArray[Any] | None]:
    """The pool of the run, and the ids of its points; only its size is known without its file."""
    if file is None:
        return None, None
    source = Source(file, id_column, array, None)
    table = source.read()
    pool = source.pool(table, claim.metric)
    if pool.n != len(claim.prices):
        raise HandfulError(f"{file} holds {pool.n:,} points, but the run is of {len(claim.prices):,}; give its pool.")
    return pool, table.ids


def _labels(source: str, claim: Certificate, ids: NDArray[Any] | None) -> NDArray[Any]:
    """One label for each pick."""
    import numpy as np

    from handful.files.labels import read_labels
    from handful.files.text import read_records

    path = Path(source)
    if path.suffix.lower() != ".csv":
        return read_labels(source, len(claim.picks))
    records = read_records(path, commas=True)
    header = records[0][1] if records else []
    key = "id" if ids is not None and "id" in header else "index"
    if "label" not in header or key not in header:
        return read_labels(source, len(claim.picks))
    at, said = header.index(key), header.index("label")
    given = {cells[at]: cells[said] for _, cells in records[1:] if len(cells) > max(at, said)}
    wanted = [str(pick if key == "index" or ids is None else ids[pick]) for pick in claim.picks.tolist()]
    missing = [name for name in wanted if not given.get(name)]
    if missing:
        raise HandfulError(f"{path} has no label for the pick {missing[0]} ({len(missing)} missing); fill them in.")
    return np.array([given[name] for name in wanted])


def _spread(folder: Path, pool: Pool | None, claim: Certificate, labels: NDArray[Any], way: str) -> Spread:
    import numpy as np

    from handful.files.table import failing_means_corrupt
    from handful.spread import by_plan, spread

    if way != "plan" and pool is not None:
        return spread(pool, claim.picks, labels, method=way)
    path = folder / "plan.npz"
    with failing_means_corrupt(path, OSError, ValueError, KeyError, EOFError), np.load(path) as plan:
        flow = plan["flow_rows"], plan["flow_picks"], plan["flow_masses"]
        return by_plan(len(plan["pick"]), flow, plan["rank"], claim.picks, labels)


def _columns(found: Spread, ids: NDArray[Any] | None) -> dict[str, Any]:
    import numpy as np

    rows = np.arange(len(found.labels))
    columns = {"index": rows, "id": rows if ids is None else ids, "label": found.labels}
    columns["confidence"] = np.round(found.confidence, 6)
    return columns | {f"share_{name}": np.round(found.shares[:, at], 6) for at, name in enumerate(found.classes)}
