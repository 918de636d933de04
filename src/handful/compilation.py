"""Kernels are compiled once per installation, when they are first used; that takes no time from a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


@contextmanager
def noticing(start: Callable[[], None], end: Callable[[], None]) -> Iterator[None]:
    """Call ``start`` and ``end`` around every compilation of a kernel that is not in the cache."""

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            start()

        def on_end(self, event: Any) -> None:
            end()

    with event.install_listener("numba:compile", Listener()):
        yield
