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

import handful
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.pool import Pool
from handful.proof import Proof
from handful.selection import Selection
from small_selections import CASES, best, in_cases

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
    integers = {"picks", "already", "candidates", "cases", "regions", "region_most", "discarded"}
    assert {name for name in NAMES if arrays[name].dtype == np.int64} == integers
    assert {name for name in NAMES if arrays[name].dtype.kind == "U"} == {"metric", "fingerprint", "version", "claim"}
    assert {arrays[name].dtype.str for name in ("shares", "prices", "distance", "low", "masses")} == {"<f8"}


def test_a_proof_becomes_tables_of_what_it_needs() -> None:
    """The root was split, so its vector proves nothing more but stays as ``prices``; each other one is held once."""
    proof = Proof()
    root, first, second, third = (np.full(10, float(k)) for k in range(4))
    proof.close(0, root)
    proof.discard(0, np.array([4, 5]), first)
    inside, outside = proof.split(0, 2)
    proof.close(inside, second)
    proof.close(outside, third)
    proof.discard(outside, np.array([8]), third)
    proof.split(inside, 3)
    certificate = Certificate.of(replace(best("not whole"), proof=proof))
    assert certificate.prices.tolist() == root.tolist()
    assert [set(row) for row in certificate.further_prices.tolist()] == [{3.0}, {2.0}, {1.0}]
    assert certificate.cases.tolist() == [[-1, -1, 0, 0], [0, 2, 1, 0], [0, 2, 0, 1], [1, 3, 1, 2], [1, 3, 0, 2]]
    assert certificate.discarded.tolist() == [[0, 4, 3], [0, 5, 3], [2, 8, 1]]


@pytest.mark.parametrize(
    "selection", [best("uniform"), best("masses"), best("already, no candidate"), in_cases("not whole")]
)
def test_what_is_written_is_read(tmp_path: Path, selection: Selection) -> None:
    certificate = Certificate.of(selection)
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
        arrays = dict(file) | changes
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items() if array is not None})


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
        (lambda path: rewritten(path, prices=np.ones((4, 3))), r"'prices' must be a list of real numbers; .* \(4, 3\)"),
        (lambda path: rewritten(path, picks=[0.5, 1, 2]), "'picks' must be a list of whole numbers; .* of float64"),
        (lambda path: rewritten(path, distance=[0.1]), r"'distance' must be one real number; got shape \(1,\)"),
        (lambda path: rewritten(path, metric=3), "'metric' must be a text"),
        (lambda path: rewritten(path, shares=[0.5, 0.5]), r"'shares' must be of shape \(3,\); got \(2,\)"),
        (lambda path: rewritten(path, masses=[0.5, 0.5]), r"'masses' must be of shape \(10,\); got \(2,\)"),
        (lambda path: rewritten(path, further_prices=np.ones((2, 9))), r"must be of shape \(2, 10\); got \(2, 9\)"),
        (lambda path: rewritten(path, cases=np.ones((0, 4), int)), r"'cases' must be of shape \(1, 4\); got \(0, 4\)"),
        (lambda path: rewritten(path, discarded=np.ones((2, 2), int)), r"'discarded' must be of shape \(2, 3\)"),
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


def scripts() -> list[str]:
    document = (Path(__file__).parents[1] / "docs" / "certificate.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", document, re.DOTALL)


def run_script(script: str, folder: Path, selection: Selection) -> subprocess.CompletedProcess[str]:
    np.save(folder / "pool.npy", selection.pool.points)
    (folder / "run").mkdir()
    Certificate.of(selection).write(folder / "run" / "certificate.npz")
    return subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("raised", [False, True])
@pytest.mark.parametrize("name", ["uniform", "not whole", "one pick", "already", "candidates"])
def test_the_scripts_of_the_document_check_the_bound(tmp_path: Path, name: str, raised: bool, number: int) -> None:
    selection = best(name)
    if raised:
        selection = replace(selection, lower_bound=selection.lower_bound * (1 + 1e-6))
    ran = run_script(scripts()[number], tmp_path, selection)
    proven = CASES[name].bound(selection.prices)
    assert ran.stdout == f"stated {selection.lower_bound:.9f}, proven by the prices {proven:.9f}\n", ran.stderr
    assert ran.returncode == raised
    assert ("the lower bound is overstated" in ran.stderr) == raised


@pytest.mark.parametrize("name", ["uniform", "not whole", "already", "candidates"])
def test_the_second_script_goes_through_all_cases(tmp_path: Path, name: str) -> None:
    selection = in_cases(name)
    assert len(Certificate.of(selection).cases) > 1
    ran = run_script(scripts()[1], tmp_path, selection)
    assert ran.returncode == 0, ran.stderr
    stated, proven = map(float, re.findall(r"0\.\d+", ran.stdout))
    assert stated == pytest.approx(best(name).distance, abs=1e-9)
    assert proven >= stated


def test_the_scripts_need_numpy_alone_and_the_first_few_lines() -> None:
    first, second = scripts()
    assert re.findall(r"(?:import|from) (\w+)", first + second) == ["numpy", "functools", "lru_cache", "numpy"]
    assert len(first.splitlines()) == 15
