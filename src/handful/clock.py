"""The deadline that search and bound share, and the polite end of a run by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(Exception):
    """Time is up, or the person pressed Ctrl-C: take what there is."""


class Clock:
    """Counts from its making; `check` raises `Stopped` once `limit` seconds are over or `interrupt` was called."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.interrupted = False
        self._reserve = 0.0
        self._start = time.monotonic()
        self._halts = 0
        self._halted_at = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without those for which it stood still."""
        return (self._halted_at if self._halts else time.monotonic()) - self._start

    def halt(self) -> None:
        """Stand still, until as many calls of `go_on`."""
        if not self._halts:
            self._halted_at = time.monotonic()
        self._halts += 1

    def go_on(self) -> None:
        """Count on."""
        self._halts -= 1
        if not self._halts:
            self._start += time.monotonic() - self._halted_at

    def reserve(self, seconds: float) -> None:
        """Keep so many seconds free at the end, but no more than a tenth of all."""
        self._reserve = min(seconds, self.limit / 10)

    @property
    def left(self) -> float:
        """Seconds until the work has to end."""
        return self.limit - self._reserve - self.elapsed

    def interrupt(self) -> None:
        """Make every later `check` raise."""
        self.interrupted = True

    @property
    def over(self) -> bool:
        """Whether the run is to end."""
        return self.interrupted or self.left <= 0

    def check(self) -> None:
        """Raise `Stopped` where the run is to end."""
        if self.over:
            raise Stopped

    @contextmanager
    def catching_interrupts(self) -> Iterator[None]:
        """Turn the first Ctrl-C into `interrupt`; a second one raises KeyboardInterrupt as usual."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_interrupt(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, before)
            self.interrupt()

        before = signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
