"""`handful demo`, with little time."""

import json
import struct
from pathlib import Path

import pytest
from command_line import Run, names


def test_the_demo_picks_20_digits_and_draws_them(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.cli.demo._SECONDS", 3.0)
    done = run("demo")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "20 picks of 1,797 points" in done.stdout
    output = folder / "handful-demo"
    assert names(output) == ["certificate.npz", "picks.csv", "picture.png", "plan.npz", "summary.json"]
    summary = json.loads((output / "summary.json").read_text())
    assert (summary["n"], summary["dimension"], summary["metric"], summary["budget"]) == (1797, 64, "cosine", 20)
    assert summary["gap"] < 0.05
    start = (output / "picture.png").read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", start[16:24]) == (1625, 1066)


def test_the_demo_keeps_an_earlier_one(run: Run, folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "picks.csv").write_text("rank\n")
    done = run("demo", "-o", "there")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there exists and holds an earlier run; use --force")
    assert (folder / "there" / "picks.csv").read_text() == "rank\n"
