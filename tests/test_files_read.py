"""Pools read from files: every kind gives the same points."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handful.files import read_pool

POINTS = np.array([[0.5, -1.25, 3.0], [1e-300, 2.0, 0.1], [7.0, 8.5, -9.0], [0.25, 0.0, 1e30]])
IDS = ["a", "b", "c", "d"]
NAMES = ["x", "y", "z"]


def numbers() -> dict[str, Any]:
    return {name: POINTS[:, at] for at, name in enumerate(NAMES)}


def save_parquet(path: Path, columns: dict[str, Any], **options: Any) -> None:
    pq.write_table(pa.table(columns), path, **options)


def lists(kind: pa.DataType | None = None, rows: Any = POINTS) -> pa.Array:
    return pa.array([list(row) for row in rows], kind or pa.list_(pa.float64()))


def chunked_lists(path: Path) -> None:
    parts = [pa.table({"v": lists(rows=part)}) for part in (POINTS[:1], POINTS[1:])]
    pq.write_table(pa.concat_tables(parts), path, row_group_size=3)


def csv_text(header: str = "", end: str = "\n") -> str:
    return header + end.join(",".join(map(repr, row.tolist())) for row in POINTS) + end


GOOD: dict[str, Callable[[Path], object]] = {
    "plain.npy": lambda path: np.save(path, POINTS),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(POINTS)),
    "CAPITALS.NPY": lambda path: path.write_bytes(npy_bytes(POINTS)),
    "one.npz": lambda path: np.savez(path, anything=POINTS, labels=np.arange(9)),
    "packed.npz": lambda path: np.savez_compressed(path, other=POINTS[:2], X=POINTS),
    "lists.parquet": lambda path: save_parquet(path, {"v": lists()}),
    "large.parquet": lambda path: save_parquet(path, {"v": lists(pa.large_list(pa.float64()))}),
    "fixed.parquet": lambda path: save_parquet(path, {"v": lists(pa.list_(pa.float64(), 3))}),
    "chunks.parquet": chunked_lists,
    "beside.parquet": lambda path: save_parquet(path, {"text": ["a", None, "b", ""], "v": lists(), "ok": [True] * 4}),
    "numbers.parquet": lambda path: save_parquet(path, numbers(), row_group_size=2),
    "plain.csv": lambda path: path.write_text(csv_text()),
    "named.csv": lambda path: path.write_text(csv_text("x,y,z\n")),
    "pandas.csv": lambda path: path.write_text(csv_text("0,1,2\n")),
    "excel.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + csv_text('"x",y ,z\r\n', "\r\n").encode()),
    "bom.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + csv_text().encode()),
    "blanks.csv": lambda path: path.write_text(csv_text("\n\nx,y,z\n\n", "\n\n")),
}


def npy_bytes(array: np.ndarray) -> bytes:
    """Return the official bytes of format 1.0, put together by hand."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {array.shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + array.astype("<f8").tobytes()


@pytest.mark.parametrize("name", GOOD)
def test_every_kind_gives_the_same_points(tmp_path: Path, name: str) -> None:
    GOOD[name](tmp_path / name)
    table = read_pool(tmp_path / name)
    assert table.path == tmp_path / name
    assert table.points.dtype == np.float64
    np.testing.assert_array_equal(table.points, POINTS)
    assert table.ids is None
    assert not table.columns


def test_npy_is_mapped_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "pool.npy"
    np.save(path, POINTS)
    points = read_pool(path).points
    assert isinstance(points, np.memmap)
    assert points.mode == "r"
    writer = np.load(path, mmap_mode="r+")
    writer[2, 1] = 77.0
    writer.flush()
    assert points[2, 1] == 77.0


@pytest.mark.parametrize("dtype", ["float16", "float32", ">f8", "int8", "uint64"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_number_types_stay_as_stored(tmp_path: Path, dtype: str, suffix: str) -> None:
    path = tmp_path / f"pool{suffix}"
    stored = np.arange(6).reshape(3, 2).astype(dtype)
    if suffix == ".npy":
        np.save(path, stored)
    else:
        np.savez(path, stored)
    points = read_pool(path).points
    assert points.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(points, stored)


@pytest.mark.parametrize(
    ("kind", "expected"), [(pa.float16(), "float16"), (pa.float32(), "float32"), (pa.int32(), "int32")]
)
def test_parquet_number_types_stay_as_stored(tmp_path: Path, kind: pa.DataType, expected: str) -> None:
    rows = np.arange(6).reshape(3, 2).astype(expected)
    save_parquet(tmp_path / "lists.parquet", {"v": lists(pa.list_(kind, 2), rows)})
    save_parquet(tmp_path / "numbers.parquet", {"x": pa.array(rows[:, 0], kind), "y": pa.array(rows[:, 1], kind)})
    for name in ("lists", "numbers"):
        points = read_pool(tmp_path / f"{name}.parquet").points
        assert points.dtype == np.dtype(expected)
        np.testing.assert_array_equal(points, rows)


def test_many_blocks_of_parquet_are_put_together_in_order(tmp_path: Path) -> None:
    count = 40_000
    points = np.random.default_rng(0).normal(size=(count, 2)).astype(np.float32)
    flat = pa.FixedSizeListArray.from_arrays(points.ravel(), 2)
    ids = [f"p{row}" for row in range(count)]
    save_parquet(tmp_path / "pool.parquet", {"id": ids, "v": flat, "w": np.arange(count)}, row_group_size=11_000)
    table = read_pool(tmp_path / "pool.parquet", mass_column="w")
    np.testing.assert_array_equal(table.points, points)
    assert table.ids is not None
    assert table.ids.tolist() == ids
    np.testing.assert_array_equal(table.columns["w"], np.arange(count))


WITH_COLUMNS: dict[str, Callable[[Path], object]] = {
    "pool.npz": lambda path: np.savez(path, X=POINTS, id=np.array(IDS), w=np.array([1.0, 2, 3, 4])),
    "lists.parquet": lambda path: save_parquet(path, {"id": IDS, "v": lists(), "w": [1.0, 2, 3, 4]}),
    "numbers.parquet": lambda path: save_parquet(path, {"w": [1.0, 2, 3, 4], **numbers(), "id": IDS}),
    "categories.parquet": lambda path: save_parquet(
        path, {"id": pa.array(IDS).dictionary_encode(), **numbers(), "w": [1, 2, 3, 4]}
    ),
    "views.parquet": lambda path: save_parquet(
        path, {"id": pa.array(IDS, pa.large_string()), **numbers(), "w": [1, 2, 3, 4]}
    ),
    "pool.csv": lambda path: path.write_text(
        "w,x,id,y,z\n"
        + "".join(f"{row + 1},{x!r},{IDS[row]},{y!r},{z!r}\n" for row, (x, y, z) in enumerate(POINTS.tolist()))
    ),
}


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_ids_and_masses_are_found_and_are_not_points(tmp_path: Path, name: str) -> None:
    WITH_COLUMNS[name](tmp_path / name)
    table = read_pool(tmp_path / name, mass_column="w")
    np.testing.assert_array_equal(table.points, POINTS)
    assert table.ids is not None
    assert table.ids.dtype.kind == "U"
    assert table.ids.tolist() == IDS
    assert list(table.columns) == ["w"]
    assert table.columns["w"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["pool.npz", "pool.parquet", "pool.csv"])
def test_ids_by_name_and_whole_numbers(tmp_path: Path, name: str) -> None:
    path, keys = tmp_path / name, np.array([9, 2**62 + 1, -3, 4], dtype=np.int64)
    if path.suffix == ".npz":
        np.savez(path, X=POINTS, key=keys)
    elif path.suffix == ".parquet":
        save_parquet(path, {"key": keys, **numbers()})
    else:
        path.write_text("key,x\n" + "".join(f"{key},1\n" for key in keys))
    table = read_pool(path, id_column="key")
    assert table.ids is not None
    assert table.ids.dtype == np.int64
    np.testing.assert_array_equal(table.ids, keys)
    assert not table.columns


def test_csv_ids_keep_zeros_in_front_and_lines_inside(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text('id,x\n007,1\n" 8",2\n"two\nlines, one comma",3\n')
    table = read_pool(path)
    assert table.ids is not None
    assert table.ids.tolist() == ["007", "8", "two\nlines, one comma"]
    assert table.points.tolist() == [[1], [2], [3]]


def test_csv_without_names_numbers_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text("7,0.5,2\n8,1.5,3\n")
    table = read_pool(path, id_column="1", mass_column="3")
    assert table.ids is not None
    assert table.ids.tolist() == [7, 8]
    assert table.points.tolist() == [[0.5], [1.5]]
    assert table.columns["3"].tolist() == [2, 3]


def test_csv_nan_and_infinity_are_left_to_the_pool(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text("nan,1\nNaN,-inf\n")
    np.testing.assert_array_equal(read_pool(path).points, [[np.nan, 1], [np.nan, -np.inf]])


def test_npz_prefers_the_named_array_then_the_usual_names(tmp_path: Path) -> None:
    path = tmp_path / "pool.npz"
    np.savez(path, test=POINTS[:1], train=POINTS[:2], features=POINTS[:3], ids=np.arange(3), y=np.arange(3.0))
    table = read_pool(path)
    assert table.points.shape == (3, 3)
    assert table.ids is not None
    assert table.ids.tolist() == [0, 1, 2]
    assert list(table.columns) == ["y"]
    assert read_pool(path, array="test").points.shape == (1, 3)
    assert read_pool(path, array="test").ids is None


def test_reading_npy_loads_nothing_heavy() -> None:
    code = "import handful.files, sys; print([n for n in ('pyarrow', 'scipy', 'numba') if n in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
