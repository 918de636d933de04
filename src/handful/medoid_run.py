"""The run where a pick may carry any mass: search by swaps, and bound and tree over near pairs."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from handful.medoids import MedoidSearch
from handful.near import boxed
from handful.near_ascent import NearAscent
from handful.problem import Problem
from handful.run import Run

_DENSE = 30_000_000  # distances up to which near pairs pay whatever the dimension
_VECTORS = 20_000  # vectors of prices that a proof may hold


def kind_of_run(problem: Problem) -> type[Run]:
    """The run for a problem: over near pairs where these are few, or all pairs not too many."""
    if not problem.shares.free:
        return Run
    pool = problem.pool
    return NearRun if boxed(pool) or pool.n * len(pool.candidates) <= _DENSE else SwapRun


class SwapRun(Run):
    """As any run, but the search swaps."""

    def _searching(self, rows: NDArray[Any] | None = None) -> MedoidSearch:
        problem = self.problem
        return MedoidSearch(
            self.pool, problem.shares, self.pool.candidates, problem.forced, rows, self.crew.clock.check
        )


class NearRun(SwapRun):
    """Bound and tree over near pairs too."""

    def _ascent(self) -> Any:
        problem = self.problem
        self.near = NearAscent(self.pool, problem.budget, problem.forced, self.crew, self.plan.limit, self.seed)
        return self.near

    def _raise(self, round: int) -> None:
        self.near.round(self.best.picks, self.best.distance)
        self.search.candidates = self.near.survivors()
        self._try(self.near.suggestion)

    def _dive(self, *_: Any) -> None:
        """Nothing: swaps, and the solutions of the relaxation, find what a dive would."""

    def _plant(self) -> None:
        if self.near.bundle is not None:
            limit = min(max(self.plan.vectors, 100), _VECTORS)
            self.tree = tree = self.near.tree(self.best.distance, limit)
            for picks in tree.suggestions:
                self._try(picks)
