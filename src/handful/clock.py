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
        self._start = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return self.limit - self.elapsed

    def interrupt(self) -> None:
        """Make every later `check` raise."""
        self.interrupted = True

    def check(self) -> None:
        """Raise `Stopped` where the run is to end."""
        if self.interrupted or self.left <= 0:
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
