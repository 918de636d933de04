"""Every official format, written byte by byte as it is published, and what is said of broken ones."""

import gzip
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from handful import HandfulError, datasets

RANDOM = np.random.default_rng(4)


def images(count: int, side: int, colours: int) -> NDArray[np.uint8]:
    return RANDOM.integers(0, 256, (count, side, side, colours), dtype=np.uint8)


def idx(array: NDArray[np.uint8]) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_idx(folder: Path, *, packed: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    pool, labels = images(7, 28, 1), RANDOM.integers(0, 10, 7, dtype=np.uint8)
    for part, some, classes in (("train", pool, labels), ("t10k", pool[:2], labels[:2])):
        for name, data in (("images-idx3", some[..., 0]), ("labels-idx1", classes)):
            path = folder / f"{part}-{name}-ubyte"
            if packed:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(idx(data)))
            else:
                path.write_bytes(idx(data))
    return pool, labels


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", ["mnist", "fashion-mnist", "usps"])
def test_idx(tmp_path: Path, name: str, packed: bool) -> None:
    pool, labels = write_idx(tmp_path, packed=packed)
    data = datasets.load(name, tmp_path, checksums=False)
    np.testing.assert_array_equal(data.pool, pool)
    np.testing.assert_array_equal(data.ask(np.arange(7)), labels)
    assert data.test is not None
    np.testing.assert_array_equal(data.test, pool[:2])
    np.testing.assert_array_equal(data.test_labels, labels[:2])


def test_idx_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "array"
    path.write_bytes(struct.pack(">BBBB2I", 0, 0, 13, 2, 2, 3) + np.arange(6, dtype=">f4").tobytes())
    np.testing.assert_array_equal(datasets.read_idx(path), np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda data: data[:-1], "truncated"),
        (lambda data: data + b"\0", "has too much"),
        (lambda data: data[:9], "truncated"),
        (lambda data: b"\1" + data[1:], "no IDX file"),
        (lambda data: data[:2] + b"\7" + data[3:], "no IDX file"),
        (lambda data: b"", "no IDX file"),
    ],
)
def test_broken_idx(tmp_path: Path, broken: Any, said: str) -> None:
    write_idx(tmp_path, packed=False)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(broken(path.read_bytes()))
    with pytest.raises(HandfulError, match=said):
        datasets.load("mnist", tmp_path, checksums=False)


def test_a_packed_file_that_was_cut_off(tmp_path: Path) -> None:
    write_idx(tmp_path, packed=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(HandfulError, match="truncated"):
        datasets.load("mnist", tmp_path, checksums=False)


def test_other_numbers_of_images_and_labels(tmp_path: Path) -> None:
    write_idx(tmp_path, packed=False)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(np.zeros(6, np.uint8)))
    with pytest.raises(HandfulError, match=r"labels of shape \(6,\) for the 7 images"):
        datasets.load("mnist", tmp_path, checksums=False)


BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


def planes(some: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Red, then green, then blue, each row by row."""
    return np.concatenate([some[..., colour].reshape(len(some), -1) for colour in range(3)], axis=1)


def write_cifar(folder: Path, *, binary: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    place = folder / ("cifar-10-batches-bin" if binary else "cifar-10-batches-py")
    place.mkdir()
    pool, labels = images(12, 32, 3), RANDOM.integers(0, 10, 12, dtype=np.uint8)
    for at, batch in enumerate(BATCHES):
        part = slice(2 * at, 2 * at + 2)
        if binary:
            records = np.concatenate([labels[part, None], planes(pool[part])], axis=1)
            (place / f"{batch}.bin").write_bytes(records.tobytes())
        else:
            held = {b"batch_label": b"x", b"data": planes(pool[part]), b"labels": labels[part].tolist()}
            (place / batch).write_bytes(pickle.dumps(held, protocol=2))
    return pool, labels


@pytest.mark.parametrize("binary", [True, False])
def test_cifar10(tmp_path: Path, binary: bool) -> None:
    pool, labels = write_cifar(tmp_path, binary=binary)
    data = datasets.load("cifar10", tmp_path, checksums=False)
    np.testing.assert_array_equal(data.pool, pool[:10])
    np.testing.assert_array_equal(data.ask(np.arange(10)), labels[:10])
    np.testing.assert_array_equal(data.test, pool[10:])
    np.testing.assert_array_equal(data.test_labels, labels[10:])
    assert data.classes[3] == "cat"


@pytest.mark.parametrize("binary", [True, False])
def test_truncated_cifar10(tmp_path: Path, binary: bool) -> None:
    write_cifar(tmp_path, binary=binary)
    path = next(tmp_path.rglob("data_batch_3*"))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(HandfulError, match=f"{path} is truncated"):
        datasets.load("cifar10", tmp_path, checksums=False)


def test_a_pickle_that_would_run_something(tmp_path: Path) -> None:
    write_cifar(tmp_path, binary=False)
    marker = tmp_path / "marker"

    class Evil:
        def __reduce__(self) -> Any:
            return Path.touch, (marker,)

    next(tmp_path.rglob("data_batch_2")).write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(HandfulError, match="no batch needs"):
        datasets.load("cifar10", tmp_path, checksums=False)
    assert not marker.exists()


def write_stl(folder: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    place = folder / "stl10_binary"
    place.mkdir()
    pool, labels = images(4, 96, 3), RANDOM.integers(0, 10, 4, dtype=np.uint8)
    columns = np.stack([[image[:, :, colour].T for colour in range(3)] for image in pool])
    (place / "train_X.bin").write_bytes(columns[:3].tobytes())
    (place / "test_X.bin").write_bytes(columns[3:].tobytes())
    (place / "unlabeled_X.bin").write_bytes(columns[1:3].tobytes())
    (place / "train_y.bin").write_bytes((labels[:3] + 1).tobytes())
    (place / "test_y.bin").write_bytes((labels[3:] + 1).tobytes())
    return pool, labels


def test_stl10(tmp_path: Path) -> None:
    pool, labels = write_stl(tmp_path)
    data = datasets.load("stl10", tmp_path, checksums=False)
    np.testing.assert_array_equal(data.pool, pool[:3])
    np.testing.assert_array_equal(data.ask([0, 1, 2]), labels[:3])
    np.testing.assert_array_equal(data.test, pool[3:])
    np.testing.assert_array_equal(data.test_labels, labels[3:])
    assert data.unlabelled is not None
    np.testing.assert_array_equal(data.unlabelled, pool[1:3])


def test_truncated_stl10(tmp_path: Path) -> None:
    write_stl(tmp_path)
    labels = tmp_path / "stl10_binary" / "train_y.bin"
    labels.write_bytes(labels.read_bytes()[:-1])
    with pytest.raises(HandfulError, match="2 labels for 3 images"):
        datasets.load("stl10", tmp_path, checksums=False)
    path = tmp_path / "stl10_binary" / "train_X.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(HandfulError, match="truncated"):
        datasets.load("stl10", tmp_path, checksums=False)


def test_svhn(tmp_path: Path) -> None:
    pool, labels = images(5, 32, 3), np.array([1, 10, 3, 9, 10], np.uint8)
    for part, rows in (("train", slice(0, 4)), ("test", slice(4, 5))):
        held = {"X": pool[rows].transpose(1, 2, 3, 0), "y": labels[rows, None]}
        savemat(tmp_path / f"{part}_32x32.mat", held, do_compression=True)
    data = datasets.load("svhn", tmp_path, checksums=False)
    np.testing.assert_array_equal(data.pool, pool[:4])
    np.testing.assert_array_equal(data.ask([0, 1, 2, 3]), [1, 0, 3, 9])
    np.testing.assert_array_equal(data.test, pool[4:])
    np.testing.assert_array_equal(data.test_labels, [0])
    path = tmp_path / "train_32x32.mat"
    whole = path.read_bytes()
    for length in (len(whole) - 100, 200, 60, 0):
        path.write_bytes(whole[:length])
        with pytest.raises(HandfulError, match="truncated"):
            datasets.load("svhn", tmp_path, checksums=False)
    savemat(path, {"X": pool[:4], "y": labels[:4, None]})
    with pytest.raises(HandfulError, match="the last axis counting them"):
        datasets.load("svhn", tmp_path, checksums=False)


def test_usps_as_text(tmp_path: Path) -> None:
    pool, labels = images(3, 16, 1), [4, 0, 9]
    lines = [
        " ".join([f"{label:.4f}", *(f"{value:.4f}" for value in image.ravel() / 127.5 - 1)])
        for label, image in zip(labels, pool, strict=True)
    ]
    (tmp_path / "zip.train.gz").write_bytes(gzip.compress("\n".join(lines[:2]).encode()))
    (tmp_path / "zip.test").write_text(lines[2] + "\n")
    data = datasets.load("usps", tmp_path)
    np.testing.assert_array_equal(data.pool, pool[:2])
    np.testing.assert_array_equal(data.ask([0, 1]), labels[:2])
    np.testing.assert_array_equal(data.test, pool[2:])
    (tmp_path / "zip.test").write_text(lines[2][:-30])
    with pytest.raises(HandfulError, match="256 numbers"):
        datasets.load("usps", tmp_path)


def test_usps_as_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    pool, labels = images(3, 16, 1), np.array([4, 0, 9])
    path = tmp_path / "usps.h5"
    with h5py.File(path, "w") as file:
        for part, rows in (("train", slice(0, 2)), ("test", slice(2, 3))):
            file[f"{part}/data"] = pool[rows].reshape(-1, 256) / np.float32(255)
            file[f"{part}/target"] = labels[rows]
    data = datasets.load("usps", tmp_path)
    np.testing.assert_array_equal(data.pool, pool[:2])
    np.testing.assert_array_equal(data.ask([0, 1]), labels[:2])
    np.testing.assert_array_equal(data.test_labels, [9])
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(HandfulError, match="truncated"):
        datasets.load("usps", tmp_path)


@pytest.mark.parametrize(
    ("name", "write", "file"),
    [
        ("mnist", lambda folder: write_idx(folder, packed=True), "train-images-idx3-ubyte.gz"),
        ("fashion-mnist", lambda folder: write_idx(folder, packed=False), "train-images-idx3-ubyte"),
        ("cifar10", lambda folder: write_cifar(folder, binary=False), "data_batch_1"),
        ("stl10", write_stl, "train_X.bin"),
    ],
)
def test_files_that_are_not_the_published_ones(tmp_path: Path, name: str, write: Any, file: str) -> None:
    write(tmp_path)
    with pytest.raises(HandfulError, match=rf"{file} is not the published file.*its MD5 is [0-9a-f]{{32}} and"):
        datasets.load(name, tmp_path)


def test_a_checksum_is_of_what_is_in_a_packed_file(tmp_path: Path) -> None:
    from handful.datasets.official import Official, md5

    plain, packed = tmp_path / "file", tmp_path / "packed" / "file.gz"
    packed.parent.mkdir()
    plain.write_bytes(b"abc")
    packed.write_bytes(gzip.compress(b"abc", 1))
    assert md5(plain) == md5(packed) == "900150983cd24fb0d6963f7d28e17f72"  # of RFC 1321
    official = Official("it", {"file": "900150983cd24fb0d6963f7d28e17f72"})
    official.check(plain)
    official.check(packed)
    packed.write_bytes(gzip.compress(b"abd"))
    with pytest.raises(HandfulError, match="not the published file of it"):
        official.check(packed)
