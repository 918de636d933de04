"""Lists of points and masses from files."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handful.errors import HandfulError
from handful.files import Table, names_a_file, read_masses, read_points_list

POINTS = np.zeros((6, 2))
PLAIN = Table(Path("pool.npy"), POINTS, None, {})
NAMED = Table(Path("pool.parquet"), POINTS, np.array(["f", "e", "d", "c", "b", "a"]), {"w": np.arange(6)})
NUMBERED = Table(Path("pool.npz"), POINTS, np.array([60, 50, 40, 30, 20, 2**62 + 1]), {})

Make = Callable[[Path], object]


def text(content: str) -> Make:
    return lambda path: path.write_text(content)


def parquet(**columns: Any) -> Make:
    return lambda path: pq.write_table(pa.table(columns), path)


def npy(values: Any) -> Make:
    return lambda path: np.save(path, np.asarray(values))


PICKS = "rank,index,id,mass,stands_for,mean_distance\r\n1,4,{},0.5,3,0.1\r\n2,0,{},0.5,3,0.2\r\n"

LISTS: list[tuple[Table, str, Make, list[int]]] = [
    (PLAIN, "l.txt", text("4\n\n 0 \n5"), [4, 0, 5]),
    (PLAIN, "l.csv", text("4\n0\n"), [4, 0]),
    (PLAIN, "l.csv", text("index\n4\n0\n"), [4, 0]),
    (PLAIN, "picks.csv", text(PICKS.format("", "")), [4, 0]),
    (PLAIN, "l.npy", npy(np.array([4, 0], np.uint8)), [4, 0]),
    (PLAIN, "l.json", text("[4, 0]"), [4, 0]),
    (PLAIN, "l.parquet", parquet(id=["x", "y"], index=[4, 0]), [4, 0]),
    (NAMED, "l.txt", text("b\nf\n"), [4, 0]),
    (NAMED, "picks.csv", text(PICKS.format("b", "f")), [4, 0]),
    (NAMED, "l.json", text('["b", "f"]'), [4, 0]),
    (NAMED, "l.npy", npy(["b", "f"]), [4, 0]),
    (NAMED, "l.parquet", parquet(id=["b", "f"], index=[1, 2]), [4, 0]),
    (NUMBERED, "l.txt", text(f"20\n{2**62 + 1}\n60\n"), [4, 5, 0]),
    (NUMBERED, "picks.csv", text(PICKS.format(20, 60)), [4, 0]),
    (NUMBERED, "l.npy", npy([2**62 + 1, 60]), [5, 0]),
    (NUMBERED, "l.json", text("[20, 60]"), [4, 0]),
    (NUMBERED, "l.json", text('["20", "60"]'), [4, 0]),
    (NUMBERED, "l.parquet", parquet(id=[20, 60]), [4, 0]),
    (PLAIN, "none.txt", text(""), []),
    (NAMED, "none.txt", text("\n \n"), []),
    (PLAIN, "none.csv", text("rank,index,id\n"), []),
    (PLAIN, "none.json", text("[]"), []),
    (NAMED, "none.npy", npy([]), []),
    (NUMBERED, "none.parquet", parquet(id=pa.array([], pa.int64())), []),
]


@pytest.mark.parametrize(("table", "name", "make", "rows"), LISTS)
def test_lists_name_rows_in_their_order(tmp_path: Path, table: Table, name: str, make: Make, rows: list[int]) -> None:
    make(tmp_path / name)
    found = read_points_list(tmp_path / name, table)
    assert found.dtype == np.int64
    assert found.tolist() == rows


BAD_LISTS: list[tuple[Table, str, Make, str]] = [
    (PLAIN, "l.txt", lambda path: None, "does not exist"),
    (PLAIN, "l.npz", npy([1]), "does not exist"),  # np.save adds .npy
    (PLAIN, "l.xlsx", text("1"), "unknown extension '.xlsx'.*.txt .csv .npy .json .parquet"),
    (PLAIN, "l.txt", text("4\n\nfour\n"), "line 3 holds 'four'.*pool.npy.*row number, counted from 0"),
    (PLAIN, "l.txt", text("4.0\n"), "line 1 holds '4.0'"),
    (PLAIN, "l.txt", text("9" * 30), "line 1 holds '9999"),
    (PLAIN, "l.txt", lambda path: path.write_bytes(b"1\n\xff\n"), "line 2 is not UTF-8"),
    (PLAIN, "l.csv", text("rank,id\n1,2\n"), "no column 'index'.*'rank', 'id'"),
    (NAMED, "l.csv", text("rank,index\n1,2\n"), "no column 'id'.*'rank', 'index'"),
    (NAMED, "l.csv", text("rank,id\n1\n"), "line 2 does not name a point"),
    (NAMED, "picks.csv", text(PICKS.format("b", "")), "line 3 does not name a point"),
    (PLAIN, "l.txt", text("4\n6\n-1\n"), "names row 6.*pool.npy.*rows 0 to 5; 2 of its 3"),
    (PLAIN, "l.npy", npy([0, -1]), "names row -1"),
    (PLAIN, "l.npy", npy([0.0, 1.0]), "float64.*pool.npy has no ids.*row number"),
    (PLAIN, "l.npy", npy([True, False]), "bool"),
    (PLAIN, "l.npy", npy([[0, 1]]), r"shape \(1, 2\).*flatten"),
    (PLAIN, "l.npy", lambda path: np.save(path, np.array([None]), allow_pickle=True), "Python objects"),
    (PLAIN, "l.npy", text("junk"), "corrupt"),
    (NUMBERED, "l.npy", npy([20.0]), "float64.*ids of pool.npz"),
    (PLAIN, "l.json", text('["a"]'), "pool.npy has no ids"),
    (PLAIN, "l.json", text("[1, true]"), "one JSON list"),
    (PLAIN, "l.json", text('{"index": [1]}'), "one JSON list"),
    (PLAIN, "l.json", text("[[1]]"), "one JSON list"),
    (PLAIN, "l.json", text("[1, 2"), "not JSON.*line 1"),
    (PLAIN, "l.json", text(""), "not JSON"),
    (PLAIN, "l.json", text(f"[{2**64}]"), r"larger than 2\^63"),
    (PLAIN, "l.parquet", parquet(id=[1]), "must have a column 'index'.*'id'"),
    (PLAIN, "l.parquet", parquet(index=[1, None]), "'index'.*null.*row 1"),
    (PLAIN, "l.parquet", parquet(index=[1.5]), "float64"),
    (PLAIN, "l.parquet", text("junk"), "corrupt"),
    (NAMED, "l.txt", text("b\nx\ny\nz\nw\n"), "4 of 5.*pool.parquet doesn't have: 'x', 'y', 'z' and 1 more"),
    (NUMBERED, "l.txt", text("20\nb\n"), "line 2 holds 'b'.*whole number"),
    (NUMBERED, "l.txt", text("21\n"), "1 of 1.*'21'"),
    (PLAIN, "l.txt", text("4\n2\n4\n2\n"), "names the point 4 twice"),
    (NAMED, "l.txt", text("f\nb\nb\n"), "names the point 'b' twice"),
]


@pytest.mark.parametrize(("table", "name", "make", "words"), BAD_LISTS)
def test_bad_lists_get_one_sentence(tmp_path: Path, table: Table, name: str, make: Make, words: str) -> None:
    make(tmp_path / name)
    with pytest.raises(HandfulError) as caught:
        read_points_list(tmp_path / name, table)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / name))
    assert re.search(words, message), message
    assert message.endswith(".")


MASSES: list[tuple[str, Make]] = [
    ("m.npy", npy(np.array([0, 1, 2, 3, 4, 5], np.float32))),
    ("m.txt", text("0\n1\n2\n\n3\n4\n5\n")),
    ("m.csv", text("mass\n0\n1\n2\n3e0\n4\n5.0\n")),
    ("m.parquet", parquet(anything=[0, 1, 2, 3, 4, 5])),
]


@pytest.mark.parametrize(("name", "make"), MASSES)
def test_masses_from_files_and_columns_agree(tmp_path: Path, name: str, make: Make) -> None:
    make(tmp_path / name)
    masses = read_masses(str(tmp_path / name), NAMED)
    assert names_a_file(name)
    assert masses.dtype == np.float64
    np.testing.assert_array_equal(masses, read_masses("w", NAMED))
    assert masses.tolist() == [0, 1, 2, 3, 4, 5]


BAD_MASSES: list[tuple[str, Make, str]] = [
    ("m.npy", npy([1.0, 2.0]), "holds 2 masses and pool.parquet 6 points"),
    ("m.npy", npy(np.ones((6, 1))), r"shape \(6, 1\)"),
    ("m.npy", npy(["a"] * 6), "not numeric"),
    ("m.npy", lambda path: path.write_bytes(b""), "truncated"),
    ("m.csv", text("1\n2\n"), "holds 2 masses"),
    ("m.txt", text(""), "holds 0 masses"),
    ("m.csv", text("mass\n1\nheavy\n"), "line 3 is not numeric.*'heavy'"),
    ("m.csv", text("id,mass\na,1\n"), "line 1 has 2 cells"),
    ("m.parquet", parquet(a=[1], b=[2]), "single column.*'a', 'b'"),
    ("m.parquet", parquet(a=["x"] * 6), "not numeric"),
    ("m.npz", lambda path: np.savez(path, np.ones(6)), "unknown extension '.npz'.*.npy .csv .txt .parquet"),
    ("gone.csv", lambda path: None, "does not exist"),
]


@pytest.mark.parametrize(("name", "make", "words"), BAD_MASSES)
def test_bad_masses_get_one_sentence(tmp_path: Path, name: str, make: Make, words: str) -> None:
    make(tmp_path / name)
    with pytest.raises(HandfulError, match=f"{re.escape(str(tmp_path / name))}.*{words}"):
        read_masses(str(tmp_path / name), NAMED)


def test_masses_that_are_neither_column_nor_file() -> None:
    assert not names_a_file("weight")
    with pytest.raises(HandfulError, match=r"'weight' are neither a column of pool.parquet \(columns there: 'w'\) nor"):
        read_masses("weight", NAMED)
    with pytest.raises(HandfulError, match=r"pool.npy \(it has no other columns\) nor a file"):
        read_masses("weight", PLAIN)


def test_a_long_list_is_found_in_a_large_pool(tmp_path: Path) -> None:
    count = 50_000
    ids = np.random.default_rng(0).permutation(count) * 7
    asked = np.random.default_rng(1).permutation(count)[:20_000]
    (tmp_path / "l.json").write_text(json.dumps(ids[asked].tolist()))
    table = Table(Path("pool.npz"), np.zeros((count, 1)), ids, {})
    np.testing.assert_array_equal(read_points_list(tmp_path / "l.json", table), asked)
