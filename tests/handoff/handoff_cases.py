"""The picks that tests hand on, and the command line that does it."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from handful.cli.app import app

PICKED = (17, 3, 58, 41, 29)


def command(*words: object) -> Result:
    """Run `handful` in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])
