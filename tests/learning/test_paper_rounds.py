"""The paper's settings for rounds: they are read as they stand, start, and make their first rounds on tiny data."""

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kornia")

from test_paper_configurations import PAPER, bytes_of  # noqa: E402

from handful.learning.saved import ImageEncoder, Recipe  # noqa: E402
from handful.rounds import FILE, Config, Store, perform  # noqa: E402

CONFIGS = sorted([*PAPER.glob("rounds-*.toml"), *PAPER.glob("classical-*.toml")])
MANY = 24


def cifar10(folder: Path) -> None:
    for name in (*(f"data_batch_{at}" for at in range(1, 6)), "test_batch"):
        images = bytes_of((MANY // 4, 3072))
        records = [bytes([at % 10]) + image.tobytes() for at, image in enumerate(images)]
        (folder / f"{name}.bin").write_bytes(b"".join(records))


def stl10(folder: Path) -> None:
    for part, count in (("train", MANY), ("test", 3)):
        bytes_of((count, 3 * 96 * 96)).tofile(folder / f"{part}_X.bin")
        (np.arange(count, dtype=np.uint8) % 10 + 1).tofile(folder / f"{part}_y.bin")


def svhn(folder: Path) -> None:
    from scipy.io import savemat

    for part, count in (("train", MANY), ("test", 3)):
        held = {"X": bytes_of((32, 32, 3, count)), "y": (np.arange(count) % 10 + 1)[:, None]}
        savemat(folder / f"{part}_32x32.mat", held)


def office31(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for domain in ("amazon", "dslr", "webcam"):
        for kind in ("mug", "stapler"):
            place = folder / domain / "images" / kind
            place.mkdir(parents=True)
            for at, pixels in enumerate(bytes_of((8, 24, 24, 3))):
                image.fromarray(pixels).save(place / f"{at}.png")


WRITERS: dict[str, Callable[[Path], None]] = {"cifar10": cifar10, "stl10": stl10, "svhn": svhn, "office31": office31}


def test_there_is_one_for_every_setting_of_the_paper() -> None:
    assert {path.stem for path in CONFIGS} >= {
        *("rounds-cifar10", "rounds-stl10", "rounds-svhn", "classical-cifar10", "classical-svhn"),
        *("rounds-office31-dslr-amazon", "rounds-office31-webcam-amazon"),
    }


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_settings_are_the_papers(path: Path) -> None:
    found = Config.read(path)
    first, second, *others = found.budget.schedule
    assert first == second == others[0] / 2
    assert len(set(others)) == 1
    assert (found.classifier.batch, found.classifier.rate) == (128, 0.002)
    assert {"random", "k-centers", "k-medoids", "waal", "gbd+eoc+p", "wasserstein"} <= set(found.select.strategies)
    if path.stem.startswith("rounds-office31"):
        assert (found.data.pool_share, found.select.start) == (0.7, "k-centers")
    elif path.stem.startswith("rounds"):
        assert found.budget.schedule == (10, 10, *[20] * 8)
        assert found.select.time_limit == 3 * 3600
    else:
        assert found.features.source == "last-classifier"
        assert found.select.parts > 1


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_they_start_and_go_on_to_a_second_round(tmp_path: Path, path: Path) -> None:
    beside = tmp_path / "configs" / "paper"
    beside.mkdir(parents=True)
    shutil.copy(path, beside)
    told = tomllib.loads(path.read_text())
    folder = tmp_path / "data" / told["data"]["name"]
    folder.mkdir(parents=True)
    WRITERS[told["data"]["name"]](folder)
    changes = {
        "data.checksums": False,
        "budget.step": 4,
        "budget.total": 4,
        "select.seeds": 1,
        "select.strategies": ["random", "least-confidence"],
        "select.parts": 2 if "parts" in told["select"] else 1,
        "classifier.epochs": 0,
        "classifier.steps": 1,
        "classifier.device": "cpu",
    }
    if path.stem == "classical-svhn":  # the other one runs its ResNet
        changes["classifier.encoder"] = "small"
    if "source" in told:
        changes |= {"data.size": 24, "source.size": 24, "source.checksums": False}
    if "file" in told["features"]:
        made = (beside / told["features"]["file"]).resolve()
        made.parent.mkdir()
        size = 24 if "source" in told else 32
        ImageEncoder.fresh(Recipe("small", "small", 3, size, (0.5,) * 3, (0.3,) * 3)).save(made)
    found = perform(Config.read(beside / path.name, changes), tmp_path / "run")
    assert found.labels == (2, 4)
    store = Store.open(tmp_path / "run")
    assert all(one.finished and 0 <= one.accuracy <= 1 for one in store.rounds() if one.accuracy is not None)
    assert len(store.rounds()) == 4
    assert store.fact("config")["data"]["name"] == told["data"]["name"]
    store.close()
    assert (tmp_path / "run" / FILE).is_file()
