"""`handful select`: pick, prove, show, write."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from handful.cli import benders, options, values
from handful.cli.inputs import Source, allowed, earlier
from handful.cli.naming import naming
from handful.cli.output import Output
from handful.cli.progress import clock_time, live_line
from handful.errors import HandfulError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from handful.forecast import Holding

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful select embeddings.npy -b 40 -o run[/cyan]   40 picks, with certificate, into the folder run

[cyan]handful select pool.parquet -b 10 --metric euclidean --id name --time-limit 2m --gap 2%[/cyan]

[cyan]handful select pool.npy -b 40 --already run/picks.csv -o next[/cyan]   40 more, given those of the folder run

[cyan]handful select pool.npy -b 40 --already labels.json -o next[/cyan]   the same, given Label Studio's export

[cyan]handful select pool.npy -b 10 --method benders --solver cbc --checkpoint run.checkpoint -o run[/cyan]

[cyan]handful select customers.csv -b 12 --mass revenue --picks-weight 0.25x:3x --json[/cyan]

[dim]A FILE of points is .txt, .csv, .npy, .json or .parquet and names them by id where POOL has ids, otherwise by \
row, counted from 0; picks.csv of an earlier run is one. Ctrl-C ends a run with the best picks so far.[/dim]
"""


def select(
    pool: options.PoolFile,
    budget: options.Budget,
    metric: options.MetricName = "cosine",
    picks_weight: options.PicksWeight = "uniform",
    already: options.Already = None,
    already_counts: options.AlreadyCounts = False,
    candidates: options.Candidates = None,
    exclude: options.Exclude = None,
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    mass: options.Mass = None,
    method: options.Method = "engine",
    gap: options.Gap = "0.01",
    time_limit: options.TimeLimit = "10m",
    rounds: options.Rounds = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    memory: options.Memory = None,
    checkpoint: options.CheckpointFile = None,
    ray: options.RayAddress = None,
    device: options.Device = None,
    folder: options.Output = None,
    force: options.Force = False,
    picture: options.Picture = None,
    report: options.Report = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    preset: benders.Preset = None,
    cuts: benders.Cuts = None,
    solver: benders.Solver = None,
    transport: benders.Transport = None,
    regularisation: benders.Regularisation = None,
    start: benders.Start = None,
    master_time: benders.MasterTime = None,
    master_gap: benders.MasterGap = None,
    tolerance: benders.Tolerance = None,
    pruning: benders.Pruning = None,
    parts: benders.Parts = None,
    processes: benders.Processes = None,
    strategy: options.StrategyName = None,
    labels: options.Labels = None,
    probabilities: options.Probabilities = None,
    gradients: options.Gradients = None,
) -> None:
    """Pick the points of POOL that stand best for all of it, with a proof of how good they are."""
    if budget < 1:
        raise HandfulError(f"--budget {budget} picks nothing; give how many points to pick, 1 or more.")
    weight = values.picks_weight(picks_weight)
    share, seconds = values.gap(gap), values.duration(time_limit)
    size = None if memory is None else values.size(memory)
    words = benders.Words(
        *(preset, cuts, solver, transport, regularisation, start, master_time, master_gap, tolerance),
        *(pruning, parts, processes),
    )
    words.check(method)
    if strategy is not None and (method != "engine" or checkpoint is not None):
        raise HandfulError(f"--strategy {strategy} has a way of its own; leave out --method and --checkpoint.")
    where = _elsewhere(ray, device, strategy is None and method == "engine")
    output = Output(folder, force, picture, as_json, quiet, report)
    # What Ray says of workers that die is no part of the result.
    aside = redirect_stdout(sys.stderr) if ray else nullcontext()
    with live_line(not quiet, f"reading {pool.name}") as line, aside:
        from handful.cli.by_strategy import runner
        from handful.metrics import Metric

        by_strategy = runner(strategy, labels, probabilities, gradients)
        with naming("--metric"):
            Metric.parse(metric)
        source = Source(pool, id_column, array, mass)
        table = source.read()
        known, rows = earlier(table, already), allowed(table, candidates, exclude)
        run = by_strategy(known.labels) if by_strategy else benders.chosen(method, words, table)
        before = known.rows
        picks = budget if already_counts else budget + len(before)
        for note in known.notes:
            line.warn(note)
        line.say(_what(table.points, metric, picks, rows, size, _holding(threads, **where)))
        if strategy is None:
            line.say(_until(share, seconds, rounds))
        selection = run(
            source.pool(table, metric, rows),
            budget,
            picks_weight=weight(picks),
            already=before,
            count_already=already_counts,
            gap=share,
            time_limit=seconds,
            rounds=rounds,
            seed=seed,
            threads=threads,
            memory=size,
            progress=line,
            checkpoint=checkpoint,
            **where,
        )
    output.deliver(selection, table.ids, source=source, table=table, more=benders.drawings(selection))


def _elsewhere(ray: str | None, device: str | None, engine: bool) -> dict[str, str]:
    """The words that say where passes are made; refused where there are none, or twice."""
    said = {name: word for name, word in (("ray", ray), ("device", device)) if word is not None}
    if said and not engine:
        raise HandfulError(f"--{next(iter(said))} is for the engine's passes; leave out --method and --strategy.")
    if len(said) == 2:
        raise HandfulError(f"--ray {ray} and --device {device} exclude each other; give one.")
    return said


def _holding(threads: int | None, **where: str) -> Holding | None:
    if not where:
        return None
    from handful.executors import holding

    return holding(where.get("ray"), where.get("device"), threads)


def _what(
    points: NDArray[Any],
    metric: str,
    picks: int,
    rows: NDArray[Any] | None,
    memory: int | None,
    holding: Holding | None,
) -> str:
    """What the run is about to do, and the memory it will take; refused where that does not fit."""
    from handful.forecast import forecast

    candidates = len(points) if rows is None else len(rows)
    return f"Picking {forecast(points.shape, points.itemsize, metric, picks, candidates, memory, holding).sentence}."


def _until(gap: float, seconds: float, rounds: int | None) -> str:
    ends = ["the picks are proven optimal" if gap == 0 else f"the gap is {100 * gap:g}%"]
    ends += [] if rounds is None else [f"{rounds} rounds are done"]
    return f"Until {', '.join(ends)} or {clock_time(seconds)} has passed; Ctrl-C ends it with the best picks so far."
