"""The live line: how long, how good, how far from proven, and what is being done."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from handful.cli.console import aside

if TYPE_CHECKING:
    from handful.selection import Progress

_COMPILING = "compiling the kernels, once per installation"


class LiveLine:
    """What the live line shows; call it with the engine's news. Without a console it shows nothing."""

    def __init__(self, phase: str, console: Console | None = None, warned: Console | None = None) -> None:
        self._console = console
        self._warned = console or warned
        self._start = time.monotonic()
        self._phase = phase
        self._news: Progress | None = None
        self._compiling = 0

    def __call__(self, news: Progress) -> None:
        self._news = news
        self._phase = news.phase

    def now(self, phase: str) -> None:
        """Show what is being done."""
        self._phase = phase

    def say(self, sentence: str) -> None:
        """Write a sentence above the line, to stay."""
        if self._console is not None:
            self._console.print(sentence, soft_wrap=True)

    def warn(self, sentence: str) -> None:
        """Write what a person must know, even where standard error is no terminal."""
        if self._warned is not None:
            self._warned.print(Text.assemble(("note: ", "bold yellow"), sentence), soft_wrap=True)

    def __rich__(self) -> Text:
        parts = [(clock_time(time.monotonic() - self._start), "bold"), *_standing(self._news)]
        parts.append((f"{_COMPILING if self._compiling else self._phase} …", "dim"))
        line = Text("  ").join(Text(text, style) for text, style in parts)
        line.no_wrap, line.overflow = True, "ellipsis"
        return line

    def compiling(self, more: int) -> None:
        """Say that a kernel is being compiled, or one less is."""
        self._compiling += more


@contextmanager
def live_line(shown: bool, phase: str) -> Iterator[LiveLine]:
    """Show a live line on standard error while the block runs, if that is a terminal and the line is to be shown."""
    console = aside()
    if not (shown and console.is_terminal):
        yield LiveLine(phase, warned=console if shown else None)
        return
    from handful.compilation import noticing

    line = LiveLine(phase, console)
    noticed = noticing(lambda: line.compiling(1), lambda: line.compiling(-1))
    # Rich draws from a thread of its own, so the clock ticks on however long the engine is silent.
    with Live(line, console=console, refresh_per_second=4, transient=True), noticed:
        yield line


def clock_time(seconds: float) -> str:
    """Seconds as `0:07`, `12:34` or `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _standing(news: Progress | None) -> list[tuple[str, str]]:
    if news is None or not math.isfinite(news.distance):
        return []
    parts = [(f"distance {news.distance:.5g}", "")]
    if news.lower_bound > 0 or news.distance == 0:
        parts += [(f"at least {news.lower_bound:.5g}", ""), (f"gap {news.gap:.2%}", "cyan")]
    return parts
