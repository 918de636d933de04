"""A run goes on from its own certificate, however it ended, and from no other's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import handful
from handful.certificate import Certificate

DIGITS = load_digits().data


def test_a_tree_goes_on_where_it_was(tmp_path: Path) -> None:
    """Rounds end the first run within its tree; the second splits further, and its proof is valid."""
    pool, file = handful.Pool(DIGITS[:500]), tmp_path / "run.npz"
    first = handful.select(pool, 20, gap=0, rounds=9, checkpoint=file)
    assert first.status == "iterations"
    assert len(Certificate.read(file).cases) > 1
    second = handful.select(pool, 20, gap=0, rounds=2, checkpoint=file)
    assert second.trace[0].lower_bound >= first.lower_bound * (1 - 1e-9)
    assert len(second.proof.parents) > len(first.proof.parents)
    second.save(tmp_path / "out")
    assert handful.verify(DIGITS[:500], tmp_path / "out").valid


def test_the_end_is_that_of_one_run(tmp_path: Path) -> None:
    points, file = DIGITS[:300], tmp_path / "run.npz"
    handful.select(points, 8, gap=0, rounds=3, checkpoint=file)
    second, alone = handful.select(points, 8, gap=0, checkpoint=file), handful.select(points, 8, gap=0)
    assert second.status == alone.status == "optimal"
    assert second.distance == pytest.approx(alone.distance, rel=1e-6)


def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    """SIGKILL leaves the last checkpoint, whole."""
    file = tmp_path / "run.npz"
    code = (
        "import handful, handful.run as e; from sklearn.datasets import load_digits; e._KEEP = 0\n"
        f"handful.select(load_digits().data, 40, gap=0, checkpoint={str(file)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 120
    while not (file.exists() and Certificate.read(file).lower_bound > 0.06) and time.monotonic() < deadline:
        time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = Certificate.read(file)
    after = handful.select(DIGITS, 40, gap=0, rounds=1, checkpoint=file)
    assert after.distance <= before.distance * (1 + 1e-9)
    assert after.lower_bound >= before.lower_bound * (1 - 1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"budget": 4}, "number of picks"),
        ({"metric": "euclidean"}, "metric"),
        ({"picks_weight": "free"}, "mass range"),
        ({"already": [1], "count_already": True}, "earlier picks"),
        ({"candidates": np.arange(40)}, "candidates"),
        ({"masses": np.arange(1.0, 51.0)}, "masses"),
        ({"points": DIGITS[50:100]}, "pool"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path: Path, change: dict[str, Any], name: str) -> None:
    file = tmp_path / "run.npz"
    handful.select(DIGITS[:50], 3, checkpoint=file)
    before = file.read_bytes()
    options: dict[str, Any] = {"points": DIGITS[:50], "budget": 3} | change
    with pytest.raises(handful.HandfulError, match=f"another {name}"):
        handful.select(options.pop("points"), options.pop("budget"), checkpoint=file, **options)
    assert file.read_bytes() == before


def test_a_checkpoint_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    handful.select(DIGITS[:50], 3, checkpoint=file)
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(handful.HandfulError, match="truncated"):
        handful.select(DIGITS[:50], 3, checkpoint=file)
