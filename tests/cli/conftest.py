"""A small pool in a folder of its own, and the command line run there."""

from pathlib import Path

import numpy as np
import pytest
from command_line import Run, Shell, as_process, in_process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in: it holds pool.npy, 60 points in 4 dimensions, and nothing else."""
    np.save(tmp_path / "pool.npy", np.random.default_rng(5).normal(size=(60, 4)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    return in_process


@pytest.fixture
def shell(folder: Path) -> Shell:
    return as_process
