"""Closing the gap over the few candidates that fixing left: the loop with lifted cuts, until bounds meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.benders.loop import Decomposition, Rules
from handful.benders.subproblem import by_kernel
from handful.benders.trace import Iteration
from handful.blocks import Workers
from handful.clock import Stopped
from handful.lifted import Shares
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SOLVE_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class Closed:
    """The best picks (forced ones first), their distance, and a lower bound on all picks among the candidates.

    ``met`` says whether the two met to a relative 1e-6. ``prices`` are those of the cuts of the last master, whose dual
    bound ``lower_bound`` is: with them, anybody can solve that master again.
    """

    picks: Indices
    distance: float
    lower_bound: float
    met: bool
    prices: Floats
    history: tuple[Iteration, ...]


def close_gap(
    pool: Pool,
    shares: Shares,
    budget: int,
    forced: Indices,
    candidates: Indices,
    picks: Indices,
    prices: Sequence[Floats],
    workers: Workers,
    *,
    solver: str = "highs",
    gap: float = 1e-6,
    report: Callable[[Iteration], None] | None = None,
) -> Closed:
    """Run the decomposition on candidates that may still be in better picks.

    Parameters
    ----------
    budget : int
        Picks in all, the forced ones counted.
    forced, candidates : array of int
        Rows that must be picked, and rows that may be.
    picks : array of int
        The best picks so far; their new ones must be among the candidates.
    prices : sequence of arrays
        Good prices, one vector per cut to begin with.
    workers : Workers
        Its clock ends the run; the best so far is returned then.
    """
    allowed = np.union1d(candidates, np.setdiff1d(picks, forced))
    among = Candidates(pool, shares, budget, forced, allowed, workers, keep=True)
    rules = Rules(("lifted",), _SOLVE_LIMIT, None, 0.0, gap)
    run = Decomposition(among, rules, solver, by_kernel, report=report)
    run.prepare(among.columns(picks))
    try:
        run.begin(prices)
        run.run()
    except Stopped:
        pass
    used = [cut.prices for cut in run.cuts if cut.prices is not None]
    return Closed(
        among.picks(run.best.columns),
        run.best.distance,
        run.bound,
        run.ended() is not None,
        np.array(used).reshape(len(used), pool.n),
        tuple(run.history),
    )
