"""Packages of encoders, which are there only where they were asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from handful.errors import HandfulError


def needed(name: str, reason: str) -> Any:
    """The package of that name, or one sentence that says what for and how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise HandfulError(f"{reason} that is not installed: pip install 'handful[embed]'") from None
