"""Adds to errors of the engine, which knows rows and values, the file or option that they came from."""

from collections.abc import Iterator
from contextlib import contextmanager

from handful.errors import HandfulError


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Say which file or option an error of the engine speaks of: it knows only rows and values."""
    try:
        yield
    except HandfulError as error:
        raise HandfulError(f"{what}: {error}") from error
