"""`handful demo`: the main job on data that comes with scikit-learn."""

from pathlib import Path

from handful.cli import options
from handful.cli.output import Output
from handful.cli.progress import live_line

_BUDGET = 20
_SECONDS = 45.0
_GAP = 0.005


def demo(
    folder: options.Output = Path("handful-demo"),
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Pick 20 of scikit-learn's 1,797 handwritten digits, with proof, and draw them: about a minute.

    Writes to the folder handful-demo, or to another one with -o.
    """
    output = Output(folder, force, picture=None, as_json=False, quiet=quiet)
    with live_line(not quiet, "reading the digits") as line:
        from sklearn.datasets import load_digits

        from handful.engine import select

        digits = load_digits()
        line.say(f"Picking {_BUDGET} of {len(digits.data):,} handwritten digits, for {_SECONDS:.0f} seconds at most.")
        selection = select(digits.data, _BUDGET, gap=_GAP, time_limit=_SECONDS, progress=line)
    output.deliver(selection, what="handwritten digits", images=digits.images[selection.indices])
