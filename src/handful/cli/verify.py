"""`handful verify`: is what a run claims true?"""

from typing import Any

import typer

from handful.cli import options
from handful.cli.console import result
from handful.cli.inputs import Source
from handful.cli.progress import live_line

INVALID = 1

EXAMPLES = """
[bold]Examples[/bold]

[cyan]handful verify pool.npy run[/cyan]

[cyan]handful verify pool.parquet run --id name --mass weight[/cyan]   read the pool with the words of its run
"""


def verify(
    pool: options.PoolFile,
    folder: options.RunFolder,
    id_column: options.IdColumn = None,
    array: options.ArrayKey = None,
    mass: options.Mass = None,
    quiet: options.Quiet = False,
) -> None:
    """Check a run from scratch: the distance of its picks, and the lower bound that its prices prove.

    Prints VALID and exits with status 0, or INVALID with what is wrong and exits with status 1.
    """
    with live_line(not quiet, f"reading {pool.name}") as line:
        from handful.certificate import Certificate
        from handful.verification import verify as check

        source = Source(pool, id_column, array, mass)
        table = source.read()
        claim = Certificate.read(folder / "certificate.npz")
        # Without masses of its own the pool has those of the certificate, which are part of what it claims.
        points: Any = table.points
        if mass is not None:
            points = source.pool(table, claim.metric, claim.candidates if len(claim.candidates) else None)
        line.now("checking the distance")
        verdict = check(points, folder, progress=lambda done: line.now(f"checking the lower bound, {done:.0%}"))
    result().print(str(verdict), soft_wrap=True)
    if not verdict.valid:
        raise typer.Exit(INVALID)
