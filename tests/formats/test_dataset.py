"""Data sets of folders and files, labels that stay hidden, and downloads."""

import functools
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from handful import HandfulError, datasets
from handful.datasets import Dataset
from handful.datasets.official import Official, Source

Image = pytest.importorskip("PIL.Image")


def picture(path: Path, shade: int, size: tuple[int, int] = (20, 10)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (shade, 0, 255 - shade)).save(path)


def test_labels_are_hidden_until_asked_for() -> None:
    data = Dataset("it", np.zeros((4, 2)), [0, 1, 1, 0], ["a", "b"])
    assert not [word for word in vars(data) if "labels" in word and not word.startswith("_") and word != "test_labels"]
    assert not data.asked.any()
    assert data.ask([2, 0]).tolist() == [1, 0]
    assert data.asked.tolist() == [True, False, True, False]


def test_parts_keep_points_and_labels_together() -> None:
    data = Dataset(
        "it", np.arange(20).reshape(10, 2), np.arange(10) % 3, "abc", ids=np.array([f"p{i}" for i in range(10)])
    )
    part = data.part([7, 2])
    assert (part.pool[:, 0].tolist(), part.ask([0, 1]).tolist(), list(part.ids)) == ([14, 4], [1, 2], ["p7", "p2"])
    assert not part.asked[:0].any()
    assert not data.asked.any()  # what was asked of a part is not known of the whole
    held = data.divided(0.7, seed=3)
    assert held.test is not None
    assert held.test_labels is not None
    assert (len(held), len(held.test)) == (7, 3)
    rows = np.concatenate([held.pool[:, 0], held.test[:, 0]]) // 2
    assert sorted(rows) == list(range(10))
    labels = np.concatenate([held.ask(np.arange(7)), held.test_labels])
    np.testing.assert_array_equal(labels, rows % 3)
    drawn = data.drawn(4, seed=1)
    assert (np.diff(drawn.pool[:, 0]) > 0).all()
    np.testing.assert_array_equal(drawn.ask(np.arange(4)), drawn.pool[:, 0] // 2 % 3)


@pytest.mark.parametrize(
    ("labels", "said"), [([0, 1], "must be 3"), ([0, 1, 2], "from -1 to 1"), ([0.0, 1, 1], "whole numbers")]
)
def test_labels_that_do_not_fit(labels: list[float], said: str) -> None:
    with pytest.raises(HandfulError, match=said):
        Dataset("it", np.zeros((3, 2)), labels, "ab")


def test_asking_where_nobody_knows() -> None:
    with pytest.raises(HandfulError, match="has no labels"):
        Dataset("it", np.zeros((3, 2)), None, "ab").ask([0])
    with pytest.raises(HandfulError, match="no label for row 1"):
        Dataset("it", np.zeros((3, 2)), [0, -1, 1], "ab").ask([0, 1])


def test_digits_are_always_there() -> None:
    data, held = datasets.load("digits"), load_digits()
    assert data.test is not None
    assert data.pool.shape == (1437, 8, 8, 1)
    everything = np.concatenate([data.pool, data.test])[..., 0] / (255 / 16)
    labels = np.concatenate([data.ask(np.arange(1437)), data.test_labels])
    order, theirs = np.lexsort(everything.round().reshape(1797, -1).T), np.lexsort(held.images.reshape(1797, -1).T)
    np.testing.assert_allclose(everything[order], held.images[theirs], atol=0.04)
    np.testing.assert_array_equal(labels[order], held.target[theirs])


def test_a_folder_of_images(tmp_path: Path) -> None:
    for name, shade in (("b/2.png", 20), ("b/1.jpg", 40), ("a/x.bmp", 60)):
        picture(tmp_path / name, shade)
    (tmp_path / "notes.txt").write_text("no image")
    data = datasets.load("images", tmp_path, size=6)
    assert data.pool.shape == (3, 6, 6, 3)
    assert data.ids is not None
    assert data.ids.tolist() == ["a/x.bmp", "b/1.jpg", "b/2.png"]
    assert data.classes == ("a", "b")
    assert data.ask([0, 1, 2]).tolist() == [0, 1, 1]
    np.testing.assert_allclose(data.pool[:, 3, 3, 0], [60, 40, 20], atol=3)


def test_a_folder_of_images_without_classes(tmp_path: Path) -> None:
    picture(tmp_path / "1.png", 5)
    data = datasets.load("images", tmp_path, size=4)
    assert not data.labelled


def test_a_folder_of_training_and_test_images(tmp_path: Path) -> None:
    for name in ("train/a/1.png", "train/b/2.png", "test/b/3.png"):
        picture(tmp_path / name, 9)
    data = datasets.load("images", tmp_path, size=4)
    assert data.ask([0, 1]).tolist() == [0, 1]
    assert data.test_labels is not None
    assert data.test_labels.tolist() == [1]
    picture(tmp_path / "test/c/4.png", 9)
    with pytest.raises(HandfulError, match="the class 'c'"):
        datasets.load("images", tmp_path, size=4)


def test_a_truncated_image(tmp_path: Path) -> None:
    picture(tmp_path / "a" / "1.png", 5, (60, 60))
    path = tmp_path / "a" / "1.png"
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(HandfulError, match=r"1\.png is truncated"):
        datasets.load("images", tmp_path, size=4)


def test_office31(tmp_path: Path) -> None:
    for domain in ("amazon", "dslr", "webcam"):
        for number, name in enumerate(("bike", "mug")):
            picture(tmp_path / domain / "images" / name / "frame_0001.jpg", 50 * number)
    data = datasets.load("office31", tmp_path, domain="dslr", size=8, checksums=False)
    assert (len(data), data.name, data.classes) == (2, "office31-dslr", ("bike", "mug"))
    assert data.ask([0, 1]).tolist() == [0, 1]
    with pytest.raises(HandfulError, match="2 images of 2 classes, and Office-31 has 498 of 31"):
        datasets.load("office31", tmp_path, domain="dslr", size=8)
    with pytest.raises(HandfulError, match="unknown domain 'phone'"):
        datasets.load("office31", tmp_path, domain="phone")


def test_embeddings(tmp_path: Path) -> None:
    points, words = np.random.default_rng(0).normal(size=(5, 3)), np.array(["oak", "ash", "oak", "elm", "ash"])
    np.savez(tmp_path / "it.npz", train=points[:3], names=words[:3], test=points[3:], test_names=words[3:])
    file = f"{tmp_path}/it.npz"
    data = datasets.load(
        "embeddings",
        f"{file}:train",
        labels=f"{file}:names",
        test=f"{file}:test",
        test_labels=f"{file}:test_names",
    )
    np.testing.assert_array_equal(data.pool, points[:3])
    assert data.classes == ("ash", "elm", "oak")
    assert data.ask([0, 1, 2]).tolist() == [2, 0, 2]
    assert data.test_labels is not None
    assert data.test_labels.tolist() == [1, 0]
    np.save(tmp_path / "pool.npy", points)
    (tmp_path / "labels.txt").write_text("10\n9\n10\n-1\n9\n")
    data = datasets.load("embeddings", tmp_path / "pool.npy", labels=tmp_path / "labels.txt")
    assert (data.classes, data.ask(np.arange(5)).tolist()) == (("-1", "9", "10"), [2, 1, 2, 0, 1])
    assert not datasets.load("embeddings", tmp_path / "pool.npy").labelled


@pytest.mark.parametrize(
    ("name", "folder", "options", "said"),
    [
        ("imagenet", None, {}, "unknown data set 'imagenet': choose one of digits"),
        ("mnist", None, {}, "read from a folder"),
        ("mnist", "nowhere", {}, "no folder nowhere"),
        ("mnist", ".", {"domain": "dslr"}, "no option 'domain'; its options are: none"),
        ("usps", ".", {"download": True}, "no address"),
        ("digits", None, {"download": True}, "can't be downloaded"),
    ],
)
def test_what_can_not_be_loaded(name: str, folder: str | None, options: dict[str, object], said: str) -> None:
    with pytest.raises(HandfulError, match=said):
        datasets.load(name, folder, **options)  # type: ignore[arg-type]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An address, and the folder whose files it gives."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", folder
    server.shutdown()
    thread.join()
    server.server_close()


def test_downloads_are_unpacked_and_compared(tmp_path: Path, served: tuple[str, Path]) -> None:
    pytest.importorskip("pooch")
    address, folder = served
    with tarfile.open(folder / "it.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("inside/file")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    checksum = hashlib.md5((folder / "it.tar.gz").read_bytes()).hexdigest()
    Official("it", {}, Source(address, {"it.tar.gz": checksum}, archive=True)).download(tmp_path / "data")
    assert (tmp_path / "data" / "inside" / "file").read_bytes() == b"abc"
    with pytest.raises(HandfulError, match=r"it\.tar\.gz could not be downloaded"):
        Official("it", {}, Source(address, {"it.tar.gz": "0" * 32})).download(tmp_path / "other")
    with pytest.raises(HandfulError, match=r"gone could not be downloaded"):
        Official("it", {}, Source(address, {"gone": "0" * 32})).download(tmp_path / "other")
