"""Passes over blocks of candidates: the protocol that all executors obey, and the threads that are the default one.

Blocks are cut the same way and their results come back in the same order whatever the number of threads, and each
block is computed by one thread, so that results do not depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from handful.clock import Clock
from handful.compilation import noticing

if TYPE_CHECKING:
    from handful.forecast import Holding
    from handful.lifted import Shares
    from handful.pool import Pool
    from handful.sample import Sample

Block = TypeVar("Block")
Result = TypeVar("Result")
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Passes(Protocol):
    """Passes over the costs of candidates, which are named by their rows in the pool, to all points.

    Prices go out, one number per point; of every candidate come back its value (`handful.lifted`) and its threshold,
    and of some the mass of the points that they take. Costs are those of the precision the passes were made for.
    """

    def kept(self, candidates: Indices) -> NDArray[np.bool_]:
        """Which of these candidates have their costs in memory."""

    def keep(self, candidates: Indices, others: Indices, workers: Workers) -> None:
        """Have the costs of these in memory as far as there is room, and of ``others`` those that are there still."""

    def values(
        self, candidates: Indices, prices: Floats, thresholds: Floats, widths: Floats, workers: Workers
    ) -> tuple[Floats, Floats]:
        """Values and thresholds; those given, and how far off they may be, are a guess that may save time."""

    def floors(self, candidates: Indices, prices: Floats, workers: Workers) -> tuple[Floats, Floats]:
        """Bounds below the values, at thresholds guessed from a sample, which come back with them."""

    def taken(self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers) -> Floats:
        """The mass of every point that these candidates take together, at the thresholds that `values` gave."""


class Executor(Protocol):
    """Where passes are made, if not on threads of this process."""

    holding: Holding

    def passes(self, points: Pool | Sample, shares: Shares, room: int, dtype: type[np.floating[Any]]) -> Passes:
        """Passes over the costs to these points, of which those of up to ``room`` candidates are kept."""


class Workers:
    """A few threads that share a clock; without ``pool``, the thread that asks.

    ``executor`` makes the passes over costs, where that is to be done elsewhere.
    """

    def __init__(
        self, pool: ThreadPoolExecutor | None, threads: int, clock: Clock, executor: Executor | None = None
    ) -> None:
        self._pool = pool
        self.threads = threads
        self.clock = clock
        self.executor = executor

    def alone(self) -> Workers:
        """One worker, for work that itself runs on one of several threads."""
        return Workers(None, 1, self.clock, self.executor)

    def map(self, function: Callable[[Block], Result], blocks: Sequence[Block]) -> list[Result]:
        """``[function(b) for b in blocks]``; raises `Stopped` between two blocks when the clock says so."""

        def guarded(block: Block) -> Result:
            self.clock.check()
            return function(block)

        if self._pool is None or len(blocks) == 1:
            return [guarded(block) for block in blocks]
        return list(self._pool.map(guarded, blocks))


@contextmanager
def workers(threads: int | None, clock: Clock, executor: Executor | None = None) -> Iterator[Workers]:
    """Open the threads (default: all cores). Libraries stay on one thread each meanwhile, so that none compete.

    The clock stands still while a kernel is compiled, which happens once per installation.
    """
    count = threads or available_cores()
    standing = noticing(clock.halt, clock.go_on)
    with threadpool_limits(1), standing, ThreadPoolExecutor(count) as pool:
        yield Workers(pool, count, clock, executor)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slices(length: int, step: int) -> list[slice]:
    """``range(length)`` cut into slices of ``step``."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
