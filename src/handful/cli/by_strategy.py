"""`handful select --strategy NAME`: picks by any strategy, judged like those of the engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.naming import naming
from handful.errors import HandfulError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from handful.pool import Pool
    from handful.selection import Selection


def runner(
    name: str | None, labels: str | None, probabilities: Path | None, gradients: Path | None
) -> Callable[[NDArray[Any] | None], Callable[..., Selection]] | None:
    """What selects by the strategy of that name, with the arguments of `handful.select`; None without a name.

    It is made once the labels that stand in --already, if any, are known; --labels goes before them.
    """
    model = {"--labels": labels, "--probabilities": probabilities, "--gradients": gradients}
    if name is None:
        for option, value in model.items():
            if value is not None:
                raise HandfulError(f"{option} {value} means nothing without --strategy; name one, or leave it out.")
        return None
    from handful.strategies import get

    with naming("--strategy"):
        strategy = get(name)

    def run(known: NDArray[Any] | None, pool: Pool, budget: int, **given: Any) -> Selection:
        from handful.files.labels import read_labels
        from handful.strategies import Effort, Task
        from handful.strategies.judge import judged

        already, counted = given["already"], given["count_already"]
        new = budget - len(already) if counted else budget
        if new < 1:
            raise HandfulError(f"the {len(already)} earlier picks count in --budget {budget}, so none is left to pick.")
        given["progress"].now(f"picking by {name}")
        effort = Effort(
            **{word: given[word] for word in ("time_limit", "gap", "rounds", "threads", "memory", "progress")}
        )
        task = Task.of(
            pool,
            new,
            already=already,
            labels=known if labels is None else read_labels(labels, len(already)),
            probabilities=_table(probabilities),
            gradients=_table(gradients),
            seed=given["seed"],
            effort=effort,
        )
        return judged(strategy, task, given["picks_weight"])

    return lambda known: partial(run, known)


def _table(path: Path | None) -> NDArray[np.generic] | None:
    """One row of numbers per point, from a file of any kind that a pool may have."""
    from handful.files import read_pool

    return None if path is None else read_pool(path).points
