"""Ways to run the command line, and what they are called in the tests."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner, Result

from handful.cli.app import app

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Result]
Shell = Callable[..., Done]

PYTHON = (sys.executable, "-m", "handful")


def in_process(*words: object) -> Result:
    """Run in this process: fast."""
    return CliRunner().invoke(app, [str(word) for word in words])


def as_process(*words: str, program: tuple[str, ...] = PYTHON) -> Done:
    """Run as a process of its own, not on a terminal: real."""
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run([*program, *words], capture_output=True, text=True, timeout=120, env=environment)


def names(folder: Path) -> list[str]:
    """Everything in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())
