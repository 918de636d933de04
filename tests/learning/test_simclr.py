"""SimCLR: its loss against a naive loop, its views, and runs that are killed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kornia")

from handful.errors import HandfulError  # noqa: E402
from handful.learning.augment import Views, augmentation, preset  # noqa: E402
from handful.learning.saved import ImageEncoder  # noqa: E402
from handful.learning.simclr import SimCLR, nt_xent, train  # noqa: E402
from handful.learning.training import Epoch  # noqa: E402

TINY = SimCLR(encoder="small", epochs=3, batch=8, rate=0.05, views=preset("fashion"), seed=3)


def some_images(count: int = 20, channels: int = 1, size: int = 12) -> np.ndarray:
    shape = (count, size, size, channels) if channels > 1 else (count, size, size)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def naive(projections: np.ndarray, temperature: float) -> float:
    """The formula, term by term."""
    count = len(projections)
    total = 0.0
    for i in range(count):
        partner = i + count // 2 if i < count // 2 else i - count // 2

        def similarity(k: int, i: int = i) -> float:
            a, b = projections[i], projections[k]
            return math.exp(float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)) / temperature)

        total -= math.log(similarity(partner) / sum(similarity(k) for k in range(count) if k != i))
    return total / count


@pytest.mark.parametrize("temperature", [0.07, 0.5, 2.0])
def test_nt_xent_is_its_formula(temperature: float) -> None:
    for seed in range(5):
        projections = np.random.default_rng(seed).normal(size=(2 * (seed + 1), 6))
        found = nt_xent(torch.from_numpy(projections), temperature)
        assert float(found) == pytest.approx(naive(projections, temperature), rel=2e-5)


def test_nt_xent_is_least_where_views_agree_and_images_are_opposed() -> None:
    agreed = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [5.0, 0.0], [-2.0, 0.0]])
    swapped = agreed[[0, 1, 3, 2]]
    least = math.log(1 + 2 * math.exp(-2 / 0.1))
    assert float(nt_xent(agreed, 0.1)) == pytest.approx(least, abs=1e-6)
    assert float(nt_xent(swapped, 0.1)) > 10


@pytest.mark.parametrize("channels", [1, 3])
def test_views_differ_from_image_to_image_and_are_images(channels: int) -> None:
    torch.manual_seed(0)
    image = torch.rand(1, channels, 16, 16).expand(64, -1, -1, -1)
    view = augmentation(Views(), 16, channels)(image)
    assert view.shape == image.shape
    assert view.min() >= 0
    assert view.max() <= 1
    assert len({part.numpy().tobytes() for part in view}) == 64


def test_digits_are_never_mirrored_and_fashion_is() -> None:
    torch.manual_seed(0)
    ramp = torch.linspace(0, 1, 16).expand(200, 1, 16, 16)  # dark on the left
    for name, mirrored in (("digits", False), ("fashion", True)):
        view = augmentation(replace(preset(name), jitter=0.0), 16, 1)(ramp)
        left_is_brighter = (view[..., :4].mean((1, 2, 3)) > view[..., -4:].mean((1, 2, 3))).numpy()
        assert left_is_brighter.any() == mirrored


def test_colours_change_within_bounds() -> None:
    torch.manual_seed(0)
    plain = torch.full((200, 3, 8, 8), 0.5)
    views = Views(crop=(1.0, 1.0), flip=0.0, jitter=1.0, brightness=0.2, contrast=0.0, saturation=0.0, hue=0.0, gray=0)
    bright = augmentation(views, 8, 3)(plain)[:, 0, 4, 4]
    assert 0.4 - 1e-3 <= bright.min() < 0.43
    assert 0.57 < bright.max() <= 0.6 + 1e-3


def test_training_lowers_the_loss() -> None:
    gentle = Views(crop=(0.8, 1.0), flip=0.0, jitter=0.0, gray=0.0)
    settings = replace(TINY, batch=20, epochs=40, temperature=0.2, views=gentle)
    _, history = train(some_images(), settings, device="cpu")
    losses = [line.losses["loss"] for line in history]
    assert np.mean(losses[-3:]) < losses[0] - 0.5


def test_training_is_a_function_of_the_seed() -> None:
    curves = []
    for seed in (3, 3, 4):
        _, history = train(some_images(), replace(TINY, seed=seed), device="cpu")
        curves.append([line.losses["loss"] for line in history])
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]
    assert [line.number for line in history] == [1, 2, 3]
    assert history[-1].rate == pytest.approx(TINY.final_rate)


class Killed(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 3, 4])
def test_a_killed_run_ends_with_identical_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Killed in the step after so many, wherever the last checkpoint was, between epochs and within one."""
    from handful.learning import simclr

    images = some_images()
    whole, curve = train(images, TINY, device="cpu")
    left = [steps]
    proper = simclr.nt_xent

    def dying(projections: torch.Tensor, temperature: float) -> torch.Tensor:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return proper(projections, temperature)

    monkeypatch.setattr(simclr, "nt_xent", dying)
    with pytest.raises(Killed):
        train(images, TINY, folder=tmp_path, device="cpu", every=0.0)
    monkeypatch.setattr(simclr, "nt_xent", proper)
    torch.manual_seed(99)  # whatever else draws from the generator
    made: list[int] = []
    monkeypatch.setattr(simclr, "nt_xent", lambda p, t: made.append(1) or proper(p, t))
    resumed, again = train(images, TINY, folder=tmp_path, device="cpu")
    assert len(made) == 6 - steps
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, resumed.network.state_dict()[name]), name
    assert [line.losses for line in again] == [line.losses for line in curve]


def test_training_leaves_the_callers_chance_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(some_images(), replace(TINY, epochs=1), device="cpu")
    assert torch.equal(torch.rand(3), expected)


def test_the_folder_holds_the_encoder_and_the_curve(tmp_path: Path) -> None:
    images = some_images()
    told: list[Epoch] = []
    trained, history = train(images, TINY, folder=tmp_path, device="cpu", progress=told.append)
    assert told == history
    read = ImageEncoder.load(tmp_path / "encoder.pt")
    assert read.recipe == trained.recipe
    np.testing.assert_array_equal(read.features(images, device="cpu"), trained.features(images, device="cpu"))
    lines = (tmp_path / "loss.csv").read_text().splitlines()
    assert lines[0] == "epoch,loss,rate,seconds"
    assert len(lines) == 1 + TINY.epochs
    assert float(lines[-1].split(",")[1]) == pytest.approx(history[-1].losses["loss"], rel=1e-5)
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_features_do_not_depend_on_the_batch() -> None:
    images = some_images()
    trained, _ = train(images, TINY, device="cpu")
    np.testing.assert_allclose(
        trained.features(images, batch=3, device="cpu"), trained.features(images, device="cpu"), atol=1e-5
    )


def test_another_run_does_not_take_up_the_checkpoint(tmp_path: Path) -> None:
    images = some_images()
    train(images, replace(TINY, epochs=1), folder=tmp_path, device="cpu")
    with pytest.raises(HandfulError, match=r"is of a run with epochs = 1, not 3"):
        train(images, TINY, folder=tmp_path, device="cpu")
    with pytest.raises(HandfulError, match=r"is of a run with images"):
        train(images[::-1], replace(TINY, epochs=1), folder=tmp_path, device="cpu")


def test_bad_input_is_named() -> None:
    with pytest.raises(HandfulError, match="a batch of 64 is larger than the 20 images"):
        train(some_images(), replace(TINY, batch=64))
    with pytest.raises(HandfulError, match="images must be bytes"):
        train(some_images().astype(np.float32), TINY)
    with pytest.raises(HandfulError, match="must be square"):
        train(some_images()[:, :6], TINY)
    with pytest.raises(HandfulError, match="temperature must be above 0"):
        SimCLR(temperature=0)
    with pytest.raises(HandfulError, match="unknown views"):
        preset("imagenet")
    with pytest.raises(HandfulError, match="crop must be"):
        Views(crop=(0.5, 2.0))
    with pytest.raises(HandfulError, match="device 'quantum' can't be used here"):
        train(some_images(), TINY, device="quantum")
