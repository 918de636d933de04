"""The paper's settings for encoders: they are read as they stand, start, and make a step on tiny data."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kornia")

from scipy.io import savemat  # noqa: E402
from typer.testing import CliRunner, Result  # noqa: E402

from handful.cli.app import app  # noqa: E402
from handful.errors import HandfulError  # noqa: E402
from handful.learning.encoders import encoder  # noqa: E402
from handful.learning.saved import ImageEncoder  # noqa: E402
from handful.learning.settings import fdal_settings, simclr_settings  # noqa: E402

PAPER = Path(__file__).parents[2] / "configs" / "paper"
SELF_SUPERVISED = sorted(PAPER.glob("simclr-*.toml"))
ADAPTED = sorted(PAPER.glob("fdal-*.toml"))
Images = Callable[[tuple[int, ...]], np.ndarray]


def bytes_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def cifar10(folder: Path) -> None:
    for name in (*(f"data_batch_{at}" for at in range(1, 6)), "test_batch"):
        (folder / f"{name}.bin").write_bytes(b"".join(b"\3" + image.tobytes() for image in bytes_of((2, 3072))))


def stl10(folder: Path) -> None:
    for part, count in (("train", 3), ("test", 2)):
        bytes_of((count, 3 * 96 * 96)).tofile(folder / f"{part}_X.bin")
        np.full(count, 4, np.uint8).tofile(folder / f"{part}_y.bin")
    bytes_of((9, 3 * 96 * 96)).tofile(folder / "unlabeled_X.bin")


def svhn(folder: Path) -> None:
    for part, count in (("train", 9), ("test", 2)):
        savemat(folder / f"{part}_32x32.mat", {"X": bytes_of((32, 32, 3, count)), "y": np.full((count, 1), 10)})


def office31(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for domain in ("amazon", "dslr", "webcam"):
        for kind in ("mug", "stapler"):
            place = folder / domain / "images" / kind
            place.mkdir(parents=True)
            for at, pixels in enumerate(bytes_of((5, 40, 40, 3))):
                image.fromarray(pixels).save(place / f"{at}.jpg")


WRITERS = {"cifar10": cifar10, "stl10": stl10, "svhn": svhn, "office31": office31}


def started(tmp_path: Path, config: Path, *changes: str) -> Result:
    """The command on this configuration, beside tiny data of the official format."""
    part = "simclr" if config.name.startswith("simclr") else "fdal"
    beside = tmp_path / "configs" / "paper"
    beside.mkdir(parents=True)
    shutil.copy(config, beside)
    name = tomllib.loads(config.read_text())["data"]["name"]
    folder = tmp_path / "data" / name
    folder.mkdir(parents=True)
    WRITERS[name](folder)
    words = [f"{part}.epochs=1", f"{part}.batch=4", "data.checksums=false", *changes]
    sets = [word for change in words for word in ("--set", change)]
    command = ["learn", part, str(beside / config.name), "-o", str(tmp_path / "run"), "--device", "cpu", *sets]
    return CliRunner().invoke(app, command)


def test_there_is_one_for_every_data_set_of_the_paper() -> None:
    names = {path.stem for path in (*SELF_SUPERVISED, *ADAPTED)}
    assert {"simclr-cifar10", "simclr-stl10", "simclr-svhn"} <= names
    assert len(ADAPTED) >= 2


@pytest.mark.parametrize("config", SELF_SUPERVISED, ids=lambda path: path.stem)
def test_simclr_is_the_papers_and_makes_a_step(tmp_path: Path, config: Path) -> None:
    settings = simclr_settings(tomllib.loads(config.read_text())["simclr"])
    assert (settings.epochs, settings.rate, settings.final_rate, settings.projection) == (800, 0.1, 0.001, 64)
    assert settings.batch in (128, 512)
    assert (settings.views.flip == 0) == ("svhn" in config.stem)
    done = started(tmp_path, config)
    assert done.exit_code == 0, done.output
    assert "1 epochs in 0:0" in done.output
    made = ImageEncoder.load(tmp_path / "run" / "encoder.pt")
    assert (made.recipe.encoder, made.recipe.stem) == (settings.encoder, settings.stem)
    start = tmp_path / "run" / "loss.csv"
    assert float(start.read_text().splitlines()[1].split(",")[1]) > 0


@pytest.mark.parametrize("config", ADAPTED, ids=lambda path: path.stem)
def test_fdal_is_read_as_it_stands_and_makes_a_step(tmp_path: Path, config: Path) -> None:
    table = tomllib.loads(config.read_text())
    settings = fdal_settings(table["fdal"])
    assert (settings.encoder, settings.divergence, table["data"]["pool_share"]) == ("resnet50", "pearson", 0.7)
    changes = ["source.checksums=false", "fdal.size=40", "data.size=40", "source.size=40"]
    network = encoder("resnet50", stem="imagenet") if config == ADAPTED[0] else encoder("resnet18", stem="imagenet")
    if config != ADAPTED[0]:
        changes.append("fdal.encoder='resnet18'")
    (tmp_path / "data").mkdir()
    torch.save(network.state_dict(), tmp_path / "data" / "resnet50.pth")
    done = started(tmp_path, config, *changes)
    assert done.exit_code == 0, done.output
    assert "Accuracy on the test set of the target: " in done.output
    header, line = (tmp_path / "run" / "loss.csv").read_text().splitlines()
    assert header == "epoch,loss,risk,discrepancy,rate,seconds"
    assert np.isfinite([float(cell) for cell in line.split(",")]).all()


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    done = started(tmp_path, SELF_SUPERVISED[0], "simclr.warmth=3")
    assert done.exit_code == 2
    assert "[simclr] has no 'warmth'" in done.output
    with pytest.raises(HandfulError, match=r"simclr\.epochs must be of type int; got 'many'"):
        simclr_settings({"epochs": "many"})
    with pytest.raises(HandfulError, match=r"\[simclr\.views\] has no 'blur'"):
        simclr_settings({"views": {"blur": 1.0}})
    assert simclr_settings({"views": {"crop": [0.5, 1.0], "flip": 0}}).views.crop == (0.5, 1.0)
    done = CliRunner().invoke(app, ["learn", "fdal", str(tmp_path / "none.toml")])
    assert done.exit_code == 2
    assert "there is no such file" in done.output
