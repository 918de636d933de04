"""The words of the command line: its arguments and options, with what they mean."""

from pathlib import Path
from typing import Annotated

import typer

_PICKS = "What to pick"
_READ = "How to read the pool"
_WORK = "How long and how hard"
_OUTPUT = "What to show and write"

PoolFile = Annotated[
    Path,
    typer.Argument(
        metavar="POOL", help="The points: .npy, .npz, .parquet or .csv, one row per point.", show_default=False
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that a run wrote.", show_default=False)]

Budget = Annotated[
    int, typer.Option("--budget", "-b", help="How many points to pick.", rich_help_panel=_PICKS, show_default=False)
]
MetricName = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="cosine, euclidean, sqeuclidean, manhattan, rbf:SIGMA (1 - kernel), ball:RADIUS (0 within the radius, "
        "1 outside) or precomputed (POOL is a square matrix: row = point, column = candidate).",
        rich_help_panel=_PICKS,
    ),
]
PicksWeight = Annotated[
    str,
    typer.Option(
        "--picks-weight",
        metavar="uniform|free|LOW:HIGH",
        help="How much of the pool each pick stands for: all the same (uniform), whatever is nearest to it (free), or "
        "between two shares, such as 1%:5%, or 0.25x:3x of an even share.",
        rich_help_panel=_PICKS,
    ),
]
Already = Annotated[
    Path | None,
    typer.Option(
        "--already",
        metavar="FILE",
        help="Points labelled earlier: they are picks in any case. A list of points, a table with a column label, or "
        "Label Studio's export (JSON, JSON-MIN, CSV) of tasks by handful export.",
        rich_help_panel=_PICKS,
    ),
]
AlreadyCounts = Annotated[
    bool,
    typer.Option(
        "--already-counts/--already-extra",
        help="Whether earlier picks count in the budget, or come on top of it.",
        rich_help_panel=_PICKS,
    ),
]
Candidates = Annotated[
    Path | None,
    typer.Option("--candidates", metavar="FILE", help="Only these points may be picked.", rich_help_panel=_PICKS),
]
Exclude = Annotated[
    Path | None,
    typer.Option(
        "--exclude",
        metavar="FILE",
        help="These points may not be picked; they are still part of the pool.",
        rich_help_panel=_PICKS,
    ),
]

IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="The column with the ids; without it the one called id.", rich_help_panel=_READ
    ),
]
ArrayKey = Annotated[
    str | None,
    typer.Option("--array", metavar="KEY", help="The array of a .npz that holds the points.", rich_help_panel=_READ),
]
Mass = Annotated[
    str | None,
    typer.Option(
        "--mass",
        metavar="COLUMN|FILE",
        help="How much each point weighs: a column of POOL, or a file. Without it all weigh the same.",
        rich_help_panel=_READ,
    ),
]

Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="engine|benders",
        help="How: search and bound together (engine), or the paper's generalized Benders decomposition (benders).",
        rich_help_panel=_WORK,
    ),
]
Gap = Annotated[
    str,
    typer.Option(
        "--gap",
        metavar="SHARE",
        help="Stop once the picks are proven this close to the best possible: 0.01 or 1%.",
        rich_help_panel=_WORK,
    ),
]
TimeLimit = Annotated[
    str,
    typer.Option("--time-limit", metavar="TIME", help="Stop after 90s, 10m, 2h, 1h30m.", rich_help_panel=_WORK),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        metavar="N",
        min=1,
        help="Stop after so many rounds of search and bound, or iterations of benders, so that the run can be repeated "
        "exactly.",
        rich_help_panel=_WORK,
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Where chance starts.", rich_help_panel=_WORK)]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Without it, one per core.", rich_help_panel=_WORK),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Never take more than this: 500MB, 4GB, 4GiB. Without it, 4 GB, or 3/4 of the machine if that is less.",
        rich_help_panel=_WORK,
    ),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep the work in FILE; the same command goes on from there, after a kill or for more time. (--time-limit "
        "counts anew; with --method benders it counts all runs.)",
        rich_help_panel=_WORK,
    ),
]

RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS|local",
        help="Make the passes over all candidates on the Ray cluster at ADDRESS (HOST:6379 or auto), or on one of this "
        "machine's own (local).",
        rich_help_panel=_WORK,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="cuda|cpu-torch",
        help="Make them by torch: on a graphics card (cuda, cuda:1), or on the processor (cpu-torch).",
        rich_help_panel=_WORK,
    ),
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where to write picks, plan, certificate and summary; without it nothing is written.",
        rich_help_panel=_OUTPUT,
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier run in DIR.", rich_help_panel=_OUTPUT)]
Picture = Annotated[
    bool | None,
    typer.Option(
        "--picture/--no-picture",
        help="Draw picture.png into DIR, and bounds.png with --method benders; without either, where matplotlib is "
        "installed.",
        rich_help_panel=_OUTPUT,
        show_default=False,
    ),
]
Report = Annotated[
    bool,
    typer.Option("--report", help="Write report.html into DIR, as handful report does.", rich_help_panel=_OUTPUT),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.", rich_help_panel=_OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.", rich_help_panel=_OUTPUT)]

_STRATEGY = "By another strategy"

StrategyName = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="Pick by this strategy (handful strategies lists them), and judge its picks like any others.",
        rich_help_panel=_STRATEGY,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels of the earlier picks, in the order of --already, for strategies that use them; without it, "
        "those in --already.",
        rich_help_panel=_STRATEGY,
    ),
]
Probabilities = Annotated[
    Path | None,
    typer.Option(
        "--probabilities",
        metavar="FILE",
        help="A model's class probabilities: a row per point, a column per class.",
        rich_help_panel=_STRATEGY,
    ),
]
Gradients = Annotated[
    Path | None,
    typer.Option(
        "--gradients",
        metavar="FILE",
        help="Embeddings of a model's loss gradients, a row per point.",
        rich_help_panel=_STRATEGY,
    ),
]
