"""Pools that can't be read: every bad file gets one clear sentence with its name."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handful.errors import HandfulError
from handful.files import read_pool

POINTS = np.array([[0.5, -1.25, 3.0], [1e-300, 2.0, 0.1], [7.0, 8.5, -9.0], [0.25, 0.0, 1e30]])
IDS = ["a", "b", "c", "d"]


def lists(rows: Any = POINTS) -> pa.Array:
    return pa.array([list(row) for row in rows], pa.list_(pa.float64()))


def put(name: str, content: str | bytes) -> Callable[[Path], object]:
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def npy(array: Any) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / "p.npy", array, allow_pickle=True)


def npz(**arrays: Any) -> Callable[[Path], object]:
    return lambda folder: np.savez(folder / "p.npz", **arrays)


def parquet(**columns: Any) -> Callable[[Path], object]:
    return lambda folder: pq.write_table(pa.table(columns), folder / "p.parquet")


def cut(name: str, make: Callable[[Path], object], length: int) -> Callable[[Path], object]:
    """Write a real file, then keep its beginning (or, with a negative length, all but its end)."""

    def cut_file(folder: Path) -> None:
        make(folder)
        (folder / name).write_bytes((folder / name).read_bytes()[:length])

    return cut_file


def flip(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Write a real file, then turn 40 bytes in its first half around."""

    def flip_file(folder: Path) -> None:
        make(folder)
        data = bytearray((folder / name).read_bytes())
        data[60:100] = bytes(255 - byte for byte in data[60:100])
        (folder / name).write_bytes(data)

    return flip_file


def odd_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "p.npz", "w") as archive:
        archive.writestr("readme.md", "hello")


NOISE = np.random.default_rng(1).normal(size=(50, 4))
OBJECTS = np.array([[1, None]], dtype=object)
FOUR = np.arange(4)

BAD: list[tuple[str, Callable[[Path], object], dict[str, str], str]] = [
    ("p.npy", lambda folder: None, {}, "does not exist"),
    ("p.npy", lambda folder: (folder / "p.npy").mkdir(), {}, "is a folder.*file.*.npy .npz .parquet .csv"),
    ("p.txt", put("p.txt", "1,2\n"), {}, "unknown extension '.txt'.*.npy .npz .parquet .csv"),
    ("p", put("p", "1,2\n"), {}, "no extension.*.npy .npz .parquet .csv"),
    ("p.npy", npy(POINTS), {"array": "X"}, "--array 'X'.*leave --array out"),
    ("p.npy", npy(POINTS), {"id_column": "k"}, "no 'k' for --id"),
    ("p.npy", npy(POINTS), {"mass_column": "w"}, "no 'w' for --mass; give the masses as a file"),
    # .npy
    ("p.npy", cut("p.npy", npy(POINTS), 0), {}, "truncated"),
    ("p.npy", cut("p.npy", npy(POINTS), 4), {}, "truncated"),
    ("p.npy", cut("p.npy", npy(POINTS), 50), {}, "truncated"),
    ("p.npy", cut("p.npy", npy(POINTS), 128), {}, "truncated.*promises 96 bytes.* 0 are there"),
    ("p.npy", cut("p.npy", npy(POINTS), -1), {}, r"truncated.*promises 96 bytes.*\(4, 3\).* 95 are there"),
    ("p.npy", put("p.npy", "not an array at all"), {}, "corrupt"),
    ("p.npy", npy(np.arange(5.0)), {}, r"shape \(5,\).*one row per point"),
    ("p.npy", npy(np.zeros((5, 4, 2))), {}, r"shape \(5, 4, 2\).*reshape it to \(5, 8\)"),
    ("p.npy", npy(np.array(3.0)), {}, r"shape \(\)"),
    ("p.npy", npy(np.empty((0, 3))), {}, "empty.*0 rows and 3 columns"),
    ("p.npy", npy(np.empty((3, 0))), {}, "empty.*3 rows and 0 columns"),
    ("p.npy", npy(OBJECTS), {}, "not numeric.*object"),
    ("p.npy", npy(np.zeros((2, 2), bool)), {}, "not numeric.*bool"),
    ("p.npy", npy(np.zeros((2, 2), complex)), {}, "not numeric.*complex128"),
    ("p.npy", npy(np.array([["a", "b"]])), {}, "not numeric.*<U1"),
    ("p.npy", npy(np.zeros((2, 2), "M8[s]")), {}, "not numeric.*datetime"),
    # .npz
    ("p.npz", cut("p.npz", npz(X=NOISE), 0), {}, "truncated"),
    ("p.npz", cut("p.npz", npz(X=NOISE), 300), {}, "truncated"),
    ("p.npz", cut("p.npz", npz(X=NOISE), -30), {}, "truncated"),
    ("p.npz", flip("p.npz", npz(X=NOISE)), {}, "corrupt"),
    ("p.npz", odd_zip, {}, "no array of 2 dimensions.*no arrays"),
    ("p.npz", npz(a=POINTS, b=POINTS), {}, r"several arrays.*--array.*'a' \(4, 3\), 'b' \(4, 3\)"),
    ("p.npz", npz(a=np.arange(3)), {}, r"no array of 2 dimensions.*'a' \(3,\)"),
    ("p.npz", npz(a=POINTS), {"array": "b"}, r"no array 'b' for --array; it holds 'a' \(4, 3\)"),
    ("p.npz", npz(a=np.arange(3)), {"array": "a"}, r"'a' has the shape \(3,\)"),
    ("p.npz", npz(a=OBJECTS), {}, "'a' is not numeric.*object"),
    ("p.npz", npz(X=POINTS, id=np.array([1, 2, 1, 2])), {}, r"id 1 stands in rows 0 and 2 \(counted from 0\)"),
    ("p.npz", npz(X=POINTS, id=np.zeros(4)), {}, "ids in 'id' are float64.*whole numbers or as text"),
    ("p.npz", npz(X=POINTS, id=np.array(IDS, dtype=object)), {}, "ids in 'id' are object"),
    ("p.npz", npz(X=POINTS, id=np.array([1, 2, 3, 2**63], dtype=np.uint64)), {}, r"larger than 2\^63 - 1"),
    ("p.npz", npz(X=POINTS), {"id_column": "key"}, "no array 'key' for --id.*'X'"),
    ("p.npz", npz(X=POINTS, key=np.arange(3)), {"id_column": "key"}, r"'key' for --id has the shape \(3,\); \(4,\)"),
    ("p.npz", npz(X=POINTS, w=np.array(IDS)), {"mass_column": "w"}, "'w' for --mass is not numeric"),
    # .parquet
    ("p.parquet", cut("p.parquet", parquet(x=NOISE[:, 0]), 0), {}, "truncated"),
    ("p.parquet", cut("p.parquet", parquet(x=NOISE[:, 0]), 100), {}, "truncated"),
    ("p.parquet", cut("p.parquet", parquet(x=NOISE[:, 0]), -1), {}, "truncated"),
    ("p.parquet", put("p.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1"), {}, "corrupt"),
    ("p.parquet", parquet(x=pa.array([], pa.float64())), {}, "empty"),
    ("p.parquet", parquet(v=lists(np.empty((2, 0)))), {}, "empty.*'v'"),
    ("p.parquet", parquet(id=FOUR), {}, "no columns of points.*'id'"),
    ("p.parquet", parquet(x=FOUR, name=IDS), {}, "'name' is not numeric: it holds string.*--id.*drop it"),
    ("p.parquet", parquet(x=[True, False]), {}, "'x' is not numeric: it holds bool"),
    ("p.parquet", parquet(x=FOUR, w=IDS), {"mass_column": "w"}, "'w' for --mass is not numeric: it holds string"),
    ("p.parquet", parquet(v=pa.array([["a"]])), {}, "'v' is not numeric: it holds list<.*string>"),
    ("p.parquet", parquet(v=lists(), u=lists()), {}, "several columns of lists.*'v', 'u'"),
    ("p.parquet", parquet(v=pa.array([[1, 2], [3, 4], [5]])), {}, r"row 2 \(counted from 0\).*'v' holds 1 .*holds 2"),
    ("p.parquet", parquet(v=pa.array([[1, 2], None])), {}, "'v'.*null.*row 1"),
    ("p.parquet", parquet(v=pa.array([[1, 2], [3, 4], [5, None]])), {}, "'v'.*null.*row 2"),
    ("p.parquet", parquet(v=pa.array([[1, 2], None, [5, 6]], pa.list_(pa.int8(), 2))), {}, "'v'.*null.*row 1"),
    ("p.parquet", parquet(x=pa.array([1.0, 2.0, None])), {}, "'x'.*null.*row 2"),
    ("p.parquet", parquet(x=FOUR, id=["a", None, "c", "d"]), {}, "'id'.*null.*row 1"),
    ("p.parquet", parquet(x=FOUR, id=["a", "b", "c", "b"]), {}, "id 'b' stands in rows 1 and 3"),
    ("p.parquet", parquet(x=FOUR, id=[0.5, 1.5, 2.5, 3.5]), {}, "ids in 'id' are float64"),
    ("p.parquet", parquet(x=FOUR, y=FOUR), {"id_column": "key"}, "no column 'key' for --id.*'x', 'y'"),
    ("p.parquet", parquet(x=FOUR, y=FOUR), {"mass_column": "w"}, "no column 'w' for --mass.*'x', 'y'"),
    ("p.parquet", parquet(x=FOUR, __index_level_0__=FOUR), {}, "column 2 .'__index_level_0__'.*drop it"),
    # .csv
    ("p.csv", put("p.csv", ""), {}, "empty"),
    ("p.csv", put("p.csv", "\n\n"), {}, "empty"),
    ("p.csv", put("p.csv", "x,y\n"), {}, "empty.*no rows"),
    ("p.csv", put("p.csv", "id\n1\n"), {}, "no columns of points.*id"),
    ("p.csv", put("p.csv", "x,y\n1,2\n\n3,n/a\n"), {}, "line 4, column 'y' is not numeric.*'n/a'.*--id"),
    ("p.csv", put("p.csv", "1,2\n3,1_0\n"), {}, "line 2, column '2' is not numeric.*'1_0'"),
    ("p.csv", put("p.csv", 'id,x\n"two\nlines",1\nb,oops\n'), {}, "line 4, column 'x' is not numeric"),
    ("p.csv", put("p.csv", "x,y\n1,2\n3,\n"), {}, "line 3, column 'y' is empty"),
    ("p.csv", put("p.csv", "x\n1\n  \n"), {}, "line 3, column 'x' is empty"),
    ("p.csv", put("p.csv", "id,x\na,2\n ,3\n"), {}, "line 3, column 'id' is empty"),
    ("p.csv", put("p.csv", "x,y\n1,2\n3"), {}, "line 3 has 1 cell.s. and 2 were expected.*cut off"),
    ("p.csv", put("p.csv", "x,x\n1,2\n"), {}, "two columns called 'x'"),
    ("p.csv", put("p.csv", ",x\n0,2\n"), {}, "column 1 .''. looks like row numbers"),
    ("p.csv", put("p.csv", "id,2020\na,2\n"), {}, "line 1 mixes column names and numbers .'id', '2020'"),
    ("p.csv", put("p.csv", "1;2\n3;4\n"), {}, "line 1 has no commas"),
    ("p.csv", put("p.csv", "1 2\n3 4\n"), {}, "line 1 has no commas"),
    ("p.csv", put("p.csv", b"x,y\n1,2\n\xff\xfe,3\n"), {}, "line 3 is not UTF-8"),
    ("p.csv", put("p.csv", "x,y\n1,2\n".encode("utf-16")), {}, "line 1 is not UTF-8"),
    ("p.csv", put("p.csv", "id,x\n5,1\n6,2\n5,3\n"), {}, "id 5 stands in rows 0 and 2"),
    ("p.csv", put("p.csv", "x,y\n1,2\n"), {"id_column": "key"}, "no column 'key' for --id.*'x', 'y'"),
    ("p.csv", put("p.csv", "x,y\n1,2\n"), {"mass_column": "w"}, "no column 'w' for --mass.*'x', 'y'"),
    ("p.csv", put("p.csv", "x,w\n1,heavy\n"), {"mass_column": "w"}, "line 2, column 'w' is not numeric"),
]


@pytest.mark.parametrize(("name", "make", "options", "words"), BAD, ids=[f"{case[0]}: {case[3]}" for case in BAD])
def test_bad_files_get_one_sentence(
    tmp_path: Path, name: str, make: Callable[[Path], object], options: dict[str, str], words: str
) -> None:
    make(tmp_path)
    with pytest.raises(HandfulError) as caught:
        read_pool(tmp_path / name, **options)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / name))
    assert re.search(words, message), message
    assert message.endswith(".")
    assert "\n" not in message
