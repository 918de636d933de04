"""A pool with a run on disk, where the tests run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from handoff_cases import PICKED


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in: pool.npy, 60 points, and two runs of 5 picks, ``run`` without ids and ``named`` with."""
    np.save(tmp_path / "pool.npy", np.random.default_rng(5).normal(size=(60, 4)))
    for name, ids in (("run", [str(row) for row in PICKED]), ("named", [f"naïve {row}" for row in PICKED])):
        (tmp_path / name).mkdir()
        lines = [f"{rank},{row},{id},0.2,12,0.5" for rank, (row, id) in enumerate(zip(PICKED, ids, strict=True), 1)]
        (tmp_path / name / "picks.csv").write_text(
            "\n".join(["rank,index,id,mass,stands_for,mean_distance", *lines]), encoding="utf-8"
        )
        (tmp_path / name / "summary.json").write_text('{"n": 60}')
    monkeypatch.chdir(tmp_path)
    return tmp_path
