r"""Scenario reduction with proof.

Few scenarios with probabilities :math:`q` stand for many with probabilities :math:`a`; how well is the Wasserstein
distance :math:`W_p = \big(\min_\Gamma \sum_{ij} \Gamma_{ij}\, d(x_i, x_j)^p\big)^{1/p}` between the two. With
``weights="optimal"`` every scenario's probability goes to its nearest representative, which is the best that can be
done with them (Dupačová, Gröwe-Kuska & Römisch 2003); which scenarios to take is then the p-median problem. With
``"uniform"`` all representatives are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful.engine import select
from handful.errors import HandfulError
from handful.pool import Pool
from handful.scenarios.greedy import backward_reduction, forward_selection
from handful.scenarios.paths import scenario_pool
from handful.selection import Progress, Selection, relative_gap
from handful.transport import transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

METHODS = ("certified", "forward", "backward")
_WEIGHTS = {"optimal": "free", "uniform": "uniform"}


@dataclass(frozen=True, eq=False)
class Reduction:
    """Few scenarios in place of many.

    Attributes
    ----------
    indices : array of int
        The representatives, as rows of the scenarios; the likeliest first.
    probabilities : array
        One per representative, of sum 1.
    representatives : array
        Their values, as they were given.
    distance, lower_bound : float
        Wasserstein distance of order ``p`` to all scenarios, and a proven lower bound on that of any ``k`` of them.
    plan : array of int, one per scenario
        The row of the representative that stands for it (for most of its probability, if it is shared).
    p : int
    method : str
    selection : Selection or None
        The run behind it, to be saved and verified; its distance and bound are those here to the power p. None for the
        heuristics, which prove nothing: their bound is 0.
    """

    indices: Indices
    probabilities: Floats
    representatives: NDArray[Any]
    distance: float
    lower_bound: float
    plan: Indices
    p: int
    method: str
    selection: Selection | None

    @property
    def gap(self) -> float:
        """``(distance - lower_bound) / distance``; 0 where the distance is 0."""
        return relative_gap(self.distance, self.lower_bound)

    def __str__(self) -> str:
        known = f"{len(self.indices)} of {len(self.plan):,} scenarios: Wasserstein distance {self.distance:.6g}"
        known += f" (p = {self.p})"
        if self.selection is None:
            return f"{known}; {self.method}, without proof"
        return f"{known}, at least {self.lower_bound:.6g} for any {len(self.indices)} of them (gap {self.gap:.3%})"


def reduce_scenarios(
    scenarios: ArrayLike,
    k: int,
    probabilities: ArrayLike | None = None,
    *,
    metric: str = "euclidean",
    p: int = 1,
    weights: str = "optimal",
    period_weights: ArrayLike | None = None,
    method: str = "certified",
    gap: float = 0.001,
    time_limit: float = 120.0,
    rounds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reduction:
    """Pick the ``k`` scenarios that stand best for all, and their probabilities.

    Parameters
    ----------
    scenarios, probabilities, metric, p, period_weights
        See `scenario_pool`.
    k : int
    weights : "optimal" or "uniform"
        Probabilities of the representatives: the best there are, or all the same.
    method : "certified", "forward" or "backward"
        Search with a proven bound, or one of the known heuristics (see `handful.scenarios.greedy`).
    gap : float
        Stop when the distance to the power p is proven to be within this share of the optimum; 0 asks for a proof.
    time_limit, rounds, seed, threads, memory, progress
        See `handful.select`.

    Examples
    --------
    >>> from handful import reduce_scenarios
    >>> few = reduce_scenarios([[0.0], [1.0], [2.0], [10.0], [12.0]], 2, gap=0)
    >>> few.representatives.ravel().tolist(), few.probabilities.tolist(), round(few.distance, 9)
    ([1.0, 10.0], [0.6, 0.4], 0.8)
    """
    if weights not in _WEIGHTS:
        raise HandfulError(f'weights must be "optimal" or "uniform"; got {weights!r}')
    if method not in METHODS:
        raise HandfulError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    pool = scenario_pool(scenarios, probabilities, metric=metric, p=p, period_weights=period_weights)
    values = np.asarray(scenarios)
    if method != "certified":
        picks = (forward_selection if method == "forward" else backward_reduction)(pool, k)
        return _reduction(pool, values, picks, weights, p, method, None)
    selection = select(
        pool, k, picks_weight=_WEIGHTS[weights], gap=gap, time_limit=time_limit, rounds=rounds, seed=seed,
        threads=threads, memory=memory, progress=progress,
    )  # fmt: skip
    return _reduction(pool, values, selection.indices, weights, p, method, selection)


def _reduction(
    pool: Pool, values: NDArray[Any], picks: Indices, weights: str, p: int, method: str, selection: Selection | None
) -> Reduction:
    """The reduction to these picks, with the best plan there is for them."""
    low, high = (0.0, 1.0) if weights == "optimal" else (1 / len(picks), 1 / len(picks))
    costs = np.asarray(pool.distances(picks), np.float64)
    plan = transport(costs, pool.masses, low, high)
    shares = plan.shares(len(picks))
    order = np.lexsort((picks, -shares))
    bound = 0.0 if selection is None else min(selection.lower_bound, plan.distance)
    return Reduction(
        indices=picks[order],
        probabilities=shares[order],
        representatives=values[picks[order]],
        distance=plan.distance ** (1 / p),
        lower_bound=bound ** (1 / p),
        plan=picks[plan.labels(costs)],
        p=p,
        method=method,
        selection=selection,
    )
