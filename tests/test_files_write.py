"""The folder of a run is written as a whole or not at all."""

import csv
import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful.errors import HandfulError
from handful.files import check_target, run_folder, write_csv, write_json


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, hidden ones too, with its bytes; folders count as empty."""
    below = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): b"" if p.is_dir() else p.read_bytes() for p in below}


def run(target: Path, force: bool, *steps: Callable[[Path], object]) -> None:
    with run_folder(target, force=force) as folder:
        for step in steps:
            step(folder)


def raising(failure: BaseException) -> Callable[[Path], object]:
    def step(_: Path) -> None:
        raise failure

    return step


def write_run(folder: Path, text: str = "new") -> None:
    (folder / "picks.csv").write_text(text)
    np.savez(folder / "plan.npz", plan=np.arange(3))


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("before", ["nothing", "empty"])
def test_a_new_run_is_put_in_place(tmp_path: Path, before: str, force: bool) -> None:
    target = tmp_path / "run"
    if before == "empty":
        target.mkdir()
    with run_folder(target, force=force) as folder:
        write_run(folder, "new")
        assert folder != target
        assert not target.exists() or not contents(target)
        assert os.stat(folder).st_dev == os.stat(tmp_path).st_dev
    assert sorted(contents(tmp_path)) == ["run", "run/picks.csv", "run/plan.npz"]
    assert (target / "picks.csv").read_text() == "new"


def test_missing_parents_are_made_only_for_a_run_that_ends_well(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "run"
    with pytest.raises(KeyError):
        run(target, False, write_run, raising(KeyError()))
    assert contents(tmp_path) == {}
    with run_folder(target, force=False) as folder:
        write_run(folder, "deep")
    assert (target / "picks.csv").read_text() == "deep"


def test_the_folder_has_the_permissions_of_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with run_folder(tmp_path / "run", force=False):
        pass
    modes = {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("plain", "run")}
    assert len(modes) == 1


def test_force_replaces_the_whole_earlier_run(tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.mkdir()
    for name in ("picks.csv", "certificate.npz", "summary.json", "picture.png", "report.html"):
        (target / name).write_text("old")
    with run_folder(target, force=True) as folder:
        write_run(folder, "new")
        assert (target / "picks.csv").read_text() == "old"
    assert sorted(contents(tmp_path)) == ["run", "run/picks.csv", "run/plan.npz"]
    assert (target / "picks.csv").read_text() == "new"


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt(), SystemExit(1), OSError(errno.ENOSPC, "")])
def test_a_failure_leaves_the_earlier_run_as_it_was(tmp_path: Path, failure: BaseException) -> None:
    target = tmp_path / "run"
    target.mkdir()
    write_run(target, "old")
    before = contents(tmp_path)
    expected = HandfulError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        run(target, True, write_run, raising(failure))
    assert contents(tmp_path) == before


def test_a_failure_at_the_last_rename_brings_the_earlier_run_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run"
    target.mkdir()
    write_run(target, "old")
    before = contents(tmp_path)
    rename = Path.rename

    def failing(self: Path, to: Path) -> Path:
        if self.name == "new":
            assert not target.exists()
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(HandfulError, match="run can't be written: Input/output error"):
        run(target, True, write_run)
    assert contents(tmp_path) == before


def test_disk_full_is_one_sentence_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(HandfulError, match="run can't be written: the disk is full; make room"):
        run(
            tmp_path / "run",
            False,
            lambda folder: write_csv(folder / "picks.csv", {"rank": [1]}),
            lambda folder: write_json(folder / "summary.json", {}),
        )
    assert contents(tmp_path) == {}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_csv(path, {"rank": np.arange(9999)}),
        lambda path: write_json(path, list(range(9999))),
        lambda path: np.save(path, np.zeros(9999)),
    ],
    ids=["csv", "json", "npy"],
)
def test_a_device_that_is_really_full(tmp_path: Path, write: Callable[[Path], object]) -> None:
    def write_there(folder: Path) -> None:
        (folder / "out.npy").symlink_to("/dev/full")
        write(folder / "out.npy")

    with pytest.raises(HandfulError, match=r"run can't be written: the disk (is full|may be full)"):
        run(tmp_path / "run", False, write_there)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("there", "force", "words"),
    [
        ("picks.csv", False, "exists and holds an earlier run; use --force"),
        ("thesis.tex", False, "'thesis.tex', which is no file of a run.*choose another folder"),
        ("thesis.tex", True, "'thesis.tex', which is no file of a run"),
        (".hidden", True, "'.hidden', which is no file of a run"),
        ("plan.npz/", True, "'plan.npz', which is no file of a run"),
    ],
)
def test_folders_that_are_never_replaced(tmp_path: Path, there: str, force: bool, words: str) -> None:
    target = tmp_path / "run"
    target.mkdir()
    if there.endswith("/"):
        (target / there).mkdir()
    else:
        (target / there).write_text("mine")
    before = contents(tmp_path)
    for attempt in (check_target, run):
        with pytest.raises(HandfulError, match=f"{target}.*{words}"):
            attempt(target, force)
        assert contents(tmp_path) == before


def test_places_where_no_folder_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(HandfulError, match="file is a file; give the output the name of a folder"):
        check_target(tmp_path / "file", True)
    for below in ("file/run", "file/a/run"):
        with pytest.raises(HandfulError, match=f"{below} can't be made: .*file is a file, not a folder"):
            check_target(tmp_path / below, True)
    with pytest.raises(HandfulError, match="can't be written: File name too long"):
        check_target(tmp_path / ("x" * 300), False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(HandfulError, match="is the folder you are in"):
        check_target(".", False)
    check_target("run", False)
    assert sorted(contents(tmp_path)) == ["file", "here"]


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(HandfulError, match="run can't be written: permission is denied in"):
        check_target(tmp_path / "run", False)
    monkeypatch.undo()

    def denied(*_: Any, **__: Any) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", denied)
    with pytest.raises(HandfulError, match="run can't be written: permission is denied;"):
        run(tmp_path / "run", False)


def test_what_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "run"

    def other_run(_: Path) -> None:
        target.mkdir()
        (target / "picks.csv").write_text("fast")

    with pytest.raises(HandfulError, match="exists and holds an earlier run"):
        run(target, False, write_run, other_run)
    assert contents(tmp_path) == {"run": b"", "run/picks.csv": b"fast"}


def test_a_link_to_a_run_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with run_folder(tmp_path / "link", force=False) as folder:
        write_run(folder, "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "picks.csv").read_text() == "new"


def test_csv_reads_back_as_the_same_values(tmp_path: Path) -> None:
    floats = np.array([0.1 + 0.2, 1e-300, np.float64(1) / 3])
    names = ['say "hi"', "a,b", "two\nlines"]
    write_csv(tmp_path / "t.csv", {"rank": [1, 2, 3], "id": names, "x": floats, "y": list(floats), "z": [None] * 3})
    data = (tmp_path / "t.csv").read_bytes()
    assert data.startswith(b'rank,id,x,y,z\r\n1,"say ""hi""",0.30000000000000004,0.30000000000000004,\r\n')
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == names
    assert [float(row["x"]) for row in rows] == floats.tolist()
    assert [float(row["y"]) for row in rows] == floats.tolist()


def test_csv_columns_of_different_lengths_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_csv(tmp_path / "t.csv", {"a": [1, 2], "b": np.arange(1)})


def test_json_takes_numpy_values_and_no_nan(tmp_path: Path) -> None:
    data = {
        "gap": np.float32(0.25),
        "picks": np.array([3, 1]),
        "bound": float("nan"),
        "trace": [(np.int64(1), np.inf)],
        "whole": np.bool_(True),
        "nested": {"name": "é", "none": None},
        7: np.array(2.5),
    }
    write_json(tmp_path / "t.json", data)
    text = (tmp_path / "t.json").read_text()
    assert text.startswith('{\n  "gap": 0.25,\n')
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "gap": 0.25,
        "picks": [3, 1],
        "bound": None,
        "trace": [[1, None]],
        "whole": True,
        "nested": {"name": "é", "none": None},
        "7": 2.5,
    }
