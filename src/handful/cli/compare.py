"""`handful compare`: strategies side by side, at several budgets and seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import options, values
from handful.cli.comparison import Report
from handful.cli.console import aside
from handful.cli.inputs import Source
from handful.cli.naming import naming
from handful.cli.progress import live_line
from handful.errors import HandfulError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from handful.compare import Cell

USUAL = (
    "random,k-centers,k-means,k-medoids,typiclust,probcover,max-herding,kernel-herding,facility-location,wasserstein,"
    "wasserstein-free,wasserstein-range"
)

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful compare pool.npy -b 10,20,40[/cyan]   the usual strategies, five seeds each

[cyan]handful compare data.npz --array train -b 10,20,40 --strategies random,k-means,wasserstein,badge --labels \
data.npz:train_labels --test data.npz:test --test-labels data.npz:test_labels -o comparison[/cyan]

[dim]Results are kept as they come: the same command again goes on where it was stopped, and with other budgets, \
strategies or more seeds it adds to what is there.[/dim]
"""

_Budgets = Annotated[
    str, typer.Option("--budgets", "-b", metavar="B,B,…", help="How many points to pick.", show_default=False)
]
_Strategies = Annotated[
    str,
    typer.Option(
        "--strategies",
        metavar="NAME,NAME,…",
        help="Which to compare; handful strategies lists them. Wasserstein runs in any case, for its lower bound.",
        show_default="the 12 usual ones, which need no model",
    ),
]
_Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="FILE", help="Labels of all points, one each: .npy, FILE.npz:ARRAY, .txt, .csv or .parquet."
    ),
]
_Test = Annotated[
    str | None,
    typer.Option(
        "--test", metavar="FILE", help="Points on which a linear probe, trained on the picks, is tested; or .npz:ARRAY."
    ),
]
_TestLabels = Annotated[str | None, typer.Option("--test-labels", metavar="FILE", help="Their labels.")]
_Spread = Annotated[
    str,
    typer.Option(
        "--spread",
        metavar="none|graph|nearest|plan",
        help="Spread the labels of the picks over POOL before a probe learns from them, for all strategies alike.",
    ),
]
_Seeds = Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="Runs of every strategy that uses chance.")]
_TimeLimit = Annotated[
    str, typer.Option("--time-limit", metavar="TIME", help="Of every run of a strategy that optimises.")
]
_Folder = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Where results, tables and pictures are kept.")
]


def compare(
    pool: options.PoolFile,
    budgets: _Budgets,
    names: _Strategies = USUAL,
    metric: options.MetricName = "cosine",
    labels: _Labels = None,
    test: _Test = None,
    test_labels: _TestLabels = None,
    spread: _Spread = "none",
    seeds: _Seeds = 5,
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    gap: options.Gap = "0.01",
    time_limit: _TimeLimit = "1m",
    threads: options.Threads = None,
    folder: _Folder = Path("handful-comparison"),
    quiet: options.Quiet = False,
) -> None:
    """Compare strategies on POOL: distance, coverage, accuracy, time and memory, over several seeds.

    Strategies that need a model get one where there are --labels: they pick in rounds, one for each budget, \
with a linear probe trained on the picks of the round before; the first round is random.
    """
    counts, listed = _budgets(budgets), _names(names)
    if (test is None) != (test_labels is None):
        raise HandfulError("--test and --test-labels belong together; give both or neither.")
    share, seconds = values.gap(gap), values.duration(time_limit)
    with live_line(not quiet, f"reading {pool.name}") as line:
        from handful.compare import Contest, cells_of, run
        from handful.compare.cells import Cell
        from handful.files.results import RESULTS, ResultsFile
        from handful.metrics import Metric
        from handful.strategies import Effort

        with naming("--metric"):
            Metric.parse(metric)
        table = Source(pool, id_column, array, None).read()
        tested = None if test is None else _points(test)
        contest = Contest(
            points=table.points,
            metric=metric,
            budgets=counts,
            names=listed,
            seeds=seeds,
            labels=_labels(labels, len(table.points)),
            test=tested,
            test_labels=None if tested is None else _labels(test_labels, len(tested)),
            effort=Effort(time_limit=seconds, gap=share, threads=threads),
            spread=spread,
        )
        if counts[-1] > len(table.points):
            raise HandfulError(f"--budgets {budgets} asks for more picks than {pool} has points, {len(table.points)}.")
        with naming(str(pool)):
            identity = contest.identity
        folder.mkdir(parents=True, exist_ok=True)
        kept = ResultsFile(folder / RESULTS, identity)
        done = [Cell.of(record) for record in kept.records]
        known = {cell.key for cell in done}
        there = sum(key in known for key in cells_of(contest))
        line.say(f"{len(cells_of(contest))} runs, {there} of them done before; Ctrl-C loses only the one at work.")
        tell = _Teller(line, quiet)

        def finished(cell: Cell) -> None:
            kept.add(cell.record())
            tell.finished(cell)

        cells = run(contest, done, started=tell.started, finished=finished)
    Report(folder, pool.name, quiet).deliver(cells, counts)


class _Teller:
    """Says what is at work and what came of it."""

    def __init__(self, line: Any, quiet: bool) -> None:
        self._line = line
        self._console = None if quiet else aside()

    def started(self, key: tuple[Any, ...], done: int, total: int) -> None:
        self._line.now(f"{done + 1} of {total}: {key[0]}, {key[1]} picks, seed {key[2]}")
        self._place = f"{done + 1}/{total}"

    def finished(self, cell: Cell) -> None:
        if self._console is not None:
            accuracy = "" if cell.accuracy is None else f", accuracy {cell.accuracy:.1%}"
            self._console.print(
                f"{self._place} {cell.strategy}, {cell.budget} picks, seed {cell.seed}: distance {cell.distance:.5g}"
                f"{accuracy}, {cell.seconds:.1f} s",
                soft_wrap=True,
            )


def _budgets(text: str) -> tuple[int, ...]:
    words = text.replace(" ", "").split(",")
    if not all(word.isascii() and word.isdecimal() and int(word) > 0 for word in words):
        raise HandfulError(f"--budgets {text} is no list of whole numbers above 0; write it like 10,20,40.")
    return tuple(sorted({int(word) for word in words}))


def _names(text: str) -> tuple[str, ...]:
    from handful.strategies import get

    listed = tuple(dict.fromkeys(text.replace(" ", "").split(",")))
    with naming("--strategies"):
        for name in listed:
            get(name)
    return listed


def _labels(source: str | None, count: int) -> NDArray[Any] | None:
    from handful.files.labels import read_labels

    return None if source is None else read_labels(source, count)


def _points(source: str) -> NDArray[Any]:
    from handful.files import read_pool
    from handful.files.labels import named_array

    file, array = named_array(source)
    return read_pool(file, array=array).points
