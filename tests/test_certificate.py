"""The certificate is a plain NumPy file, read back as it was written or refused in one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from small_selections import CASES, best

import handful
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.pool import Pool

NAMES = [field.name for field in fields(Certificate)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Certificate.of(best("already, no candidate")).write(tmp_path / "certificate.npz")
    return tmp_path / "certificate.npz"


def test_of_says_what_the_selection_says() -> None:
    selection, problem = best("already, no candidate"), CASES["already, no candidate"]
    certificate = Certificate.of(selection)
    assert certificate.picks.tolist() == [0, 2, *selection.indices]
    assert certificate.already.tolist() == [0, 2]
    assert certificate.candidates.tolist() == problem.candidates
    assert (certificate.low, certificate.high, certificate.metric) == (0.1, 0.5, "cosine")
    assert (certificate.distance, certificate.lower_bound) == (selection.distance, selection.lower_bound)
    assert certificate.version == handful.__version__
    assert len(certificate.masses) == 0
    weighted = Certificate.of(best("masses, ranged"))
    assert weighted.metric == "rbf:1.5"
    assert len(weighted.candidates) == 0
    np.testing.assert_array_equal(weighted.masses, CASES["masses, ranged"].pool.masses)


def test_the_file_is_read_by_numpy_alone(path: Path) -> None:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    assert list(arrays) == NAMES
    assert {name for name in NAMES if arrays[name].dtype == np.int64} == {"picks", "already", "candidates"}
    assert {name for name in NAMES if arrays[name].dtype.kind == "U"} == {"metric", "fingerprint", "version"}
    assert {arrays[name].dtype.str for name in ("shares", "prices", "distance", "low", "masses")} == {"<f8"}


@pytest.mark.parametrize("name", ["uniform", "masses", "already, no candidate"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    certificate = Certificate.of(best(name))
    certificate.write(tmp_path / "c")
    again = Certificate.read(tmp_path / "c")
    for field in NAMES:
        before, after = getattr(certificate, field), getattr(again, field)
        np.testing.assert_array_equal(before, after, err_msg=field)
        if not isinstance(before, np.ndarray):
            assert type(before) is type(after), field


def rewritten(path: Path, **changes: object) -> None:
    """Write the file again with some arrays changed, or left out where the change is None."""
    with np.load(path) as file:
        arrays = dict(file) | {name: np.asarray(array) for name, array in changes.items() if array is not None}
    np.savez(path, **{name: array for name, array in arrays.items() if name not in changes or changes[name] is not None})


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    at = data.index(np.float64(best("already, no candidate").prices[0]).tobytes())
    data[at] ^= 1
    path.write_bytes(data)


def put_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def save_another_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.arange(3))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (Path.unlink, "is missing; give the folder of a run"),
        (cut, "is truncated or no .npz file"),
        (flip_a_byte, "is truncated or no .npz file"),
        (lambda path: path.write_bytes(b""), "is truncated or no .npz file"),
        (lambda path: path.write_text("rank,index"), "is truncated or no .npz file"),
        (save_another_array, "has no array 'picks'"),
        (put_a_folder, "can't be read"),
        (lambda path: rewritten(path, prices=None), "has no array 'prices'"),
        (lambda path: rewritten(path, prices=np.ones((4, 3))), r"'prices' must be a list of real numbers; got shape \(4"),
        (lambda path: rewritten(path, picks=[0.5, 1, 2]), "'picks' must be a list of whole numbers; .* of float64"),
        (lambda path: rewritten(path, distance=[0.1]), r"'distance' must be one real number; got shape \(1,\)"),
        (lambda path: rewritten(path, metric=3), "'metric' must be a text"),
        (lambda path: rewritten(path, shares=[0.5, 0.5]), "'shares' has 2 entries, 'picks' 3"),
        (lambda path: rewritten(path, masses=[0.5, 0.5]), "'masses' has 2 entries, 'prices' 10"),
        (lambda path: rewritten(path, picks=np.empty(0, int), shares=np.empty(0)), "names no picks"),
        (lambda path: rewritten(path, prices=np.empty(0)), "names no picks or no prices"),
        (lambda path: rewritten(path, picks=np.array([{}], object)), "is truncated or no .npz file"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(path: Path, damage: Callable[[Path], object], words: str) -> None:
    damage(path)
    with pytest.raises(HandfulError, match=words) as error:
        Certificate.read(path)
    assert str(path) in str(error.value)


def test_the_fingerprint_is_of_the_points_alone() -> None:
    points = CASES["uniform"].points
    fingerprint = Pool(points).fingerprint
    assert len(fingerprint) == 64
    assert Pool(points, "rbf:2", masses=np.arange(9), candidates=[1]).fingerprint == fingerprint
    assert Pool(np.asfortranarray(points)).fingerprint == fingerprint
    others = [points[::-1], points.astype(np.float32), points[:-1], points.reshape(12, 3), np.nextafter(points, 9)]
    assert len({fingerprint, *(Pool(other).fingerprint for other in others)}) == 6


def script() -> str:
    document = (Path(__file__).parents[1] / "docs" / "certificate.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    return str(code)


@pytest.mark.parametrize("name", ["uniform", "not whole", "one pick", "already", "candidates"])
@pytest.mark.parametrize("raised", [False, True])
def test_the_script_of_the_document_checks_the_bound(tmp_path: Path, name: str, raised: bool) -> None:
    selection = best(name)
    if raised:
        selection = replace(selection, lower_bound=selection.lower_bound * (1 + 1e-6))
    np.save(tmp_path / "pool.npy", CASES[name].points)
    (tmp_path / "run").mkdir()
    Certificate.of(selection).write(tmp_path / "run" / "certificate.npz")
    ran = subprocess.run([sys.executable, "-c", script()], cwd=tmp_path, capture_output=True, text=True)
    proven = CASES[name].bound(selection.prices)
    assert ran.stdout == f"stated {selection.lower_bound:.9f}, proven by the prices {proven:.9f}\n"
    assert ran.returncode == raised
    assert ("the lower bound is overstated" in ran.stderr) == raised


def test_the_script_needs_numpy_alone_and_few_lines() -> None:
    assert re.findall(r"import (\w+)", script()) == ["numpy"]
    assert len(script().splitlines()) == 15
