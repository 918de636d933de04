"""Where words go: the result to standard output, everything said beside it to standard error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console

from handful.errors import HandfulError

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
READER_GONE = 141  # 128 + SIGPIPE

_WIDE = 240  # columns of a table that goes to a file or a pipe


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `plain_errors`; rich would exit with status 1, which says INVALID here."""
        raise BrokenPipeError


def result() -> Console:
    """Return the console of the result; one that isn't a terminal has room for any table."""
    return _Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _WIDE)


def aside() -> Console:
    """Return the console of everything that isn't the result."""
    return _Console(stderr=True, highlight=False, markup=False)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what a person can do something about into one sentence and an exit status."""
    try:
        yield
        sys.stdout.flush()  # here, where a reader that is gone does no harm
    except HandfulError as error:
        _fail(str(error), BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(READER_GONE) from None
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror or error}", BAD_INPUT)
    except MemoryError:
        _fail("the memory of this machine is used up; set --memory lower, or free some of it", BAD_INPUT)
    except KeyboardInterrupt:
        _fail("interrupted before the work was done", INTERRUPTED)


def _fail(sentence: str, status: int) -> NoReturn:
    console = aside()
    console.print("error:", style="bold red", end=" ")
    console.print(sentence if sentence.endswith(".") else f"{sentence}.", soft_wrap=True)
    raise typer.Exit(status) from None
