"""Passes over blocks of candidates, on threads.

Blocks are cut the same way and their results come back in the same order whatever the number of threads, and each
block is computed by one thread, so that results do not depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import threadpool_limits

from handful.clock import Clock
from handful.compilation import noticing

Block = TypeVar("Block")
Result = TypeVar("Result")


class Workers:
    """A few threads that share a clock; without an executor, the thread that asks."""

    def __init__(self, executor: ThreadPoolExecutor | None, threads: int, clock: Clock) -> None:
        self._executor = executor
        self.threads = threads
        self.clock = clock

    def alone(self) -> Workers:
        """One worker, for work that itself runs on one of several threads."""
        return Workers(None, 1, self.clock)

    def map(self, function: Callable[[Block], Result], blocks: Sequence[Block]) -> list[Result]:
        """``[function(b) for b in blocks]``; raises `Stopped` between two blocks when the clock says so."""

        def guarded(block: Block) -> Result:
            self.clock.check()
            return function(block)

        if self._executor is None or len(blocks) == 1:
            return [guarded(block) for block in blocks]
        return list(self._executor.map(guarded, blocks))


@contextmanager
def workers(threads: int | None, clock: Clock) -> Iterator[Workers]:
    """Open the threads (default: all cores). Libraries stay on one thread each meanwhile, so that none compete.

    The clock stands still while a kernel is compiled, which happens once per installation.
    """
    count = threads or available_cores()
    standing = noticing(clock.halt, clock.go_on)
    with threadpool_limits(1), standing, ThreadPoolExecutor(count) as executor:
        yield Workers(executor, count, clock)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slices(length: int, step: int) -> list[slice]:
    """``range(length)`` cut into slices of ``step``."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
