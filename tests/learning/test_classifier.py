"""The classifier of a round: against scikit-learn, by seed, and what it leaves alone."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sklearn.linear_model import LogisticRegression  # noqa: E402

from handful import HandfulError  # noqa: E402
from handful.learning.classifier import Training, deterministic, train  # noqa: E402
from handful.learning.saved import ImageEncoder, Recipe  # noqa: E402

RANDOM = np.random.default_rng(2)
LABELS = RANDOM.integers(0, 3, 90)
POINTS = (2.5 * RANDOM.normal(size=(3, 5)))[LABELS] + RANDOM.normal(size=(90, 5))
SHADES = np.array([20, 120, 220])
IMAGES = np.clip(SHADES[LABELS][:, None, None, None] + RANDOM.normal(0, 8, (90, 8, 8, 1)), 0, 255).astype(np.uint8)
QUICK = Training(epochs=1, steps=30, device="cpu")


def encoder(seed: int = 0) -> ImageEncoder:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ImageEncoder.fresh(Recipe("small", "small", 1, 8, (0.5,), (0.3,)))


def test_a_head_on_features_learns_as_well_as_logistic_regression() -> None:
    found = train(POINTS[:60], LABELS[:60], 3, training=Training(device="cpu"))
    theirs = LogisticRegression(max_iter=500).fit(POINTS[:60], LABELS[:60]).score(POINTS[60:], LABELS[60:])
    assert found.accuracy(POINTS[60:], LABELS[60:]) >= theirs - 0.07
    probabilities = found.probabilities(POINTS[60:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert found.accuracy(POINTS[60:], LABELS[60:]) == np.mean(probabilities.argmax(axis=1) == LABELS[60:])


def test_features_are_what_the_last_layer_sees() -> None:
    found = train(POINTS, LABELS, 3, training=QUICK)
    features = torch.from_numpy(found.features(POINTS))
    assert features.shape == (90, 64)
    expected = torch.softmax(found.head[3](features), dim=1).detach().numpy()
    np.testing.assert_allclose(expected, found.probabilities(POINTS), rtol=1e-5)


@pytest.mark.parametrize("whole", [False, True])
def test_seeds_reach_everything(whole: bool) -> None:
    def run(seed: int) -> Any:
        torch.rand(seed + 3)  # what happened before must not matter
        found = train(IMAGES[:40], LABELS[:40], 3, encoder=encoder(), whole=whole, training=QUICK, seed=seed,
                      augment=lambda batch: batch + 0.05 * torch.rand_like(batch))  # fmt: skip
        return found.probabilities(IMAGES)

    one = run(5)
    np.testing.assert_array_equal(one, run(5))
    assert not np.array_equal(one, run(6))


def test_chance_outside_is_as_it_was() -> None:
    torch.manual_seed(7)
    expected = torch.rand(4)
    torch.manual_seed(7)
    train(POINTS, LABELS, 3, training=QUICK, seed=1)
    with deterministic(3, torch.device("cpu")):
        torch.rand(9)
    assert torch.equal(torch.rand(4), expected)


def test_a_frozen_encoder_stays_as_it_is() -> None:
    for augment in (None, lambda batch: batch):
        below = encoder()
        before = {name: value.clone() for name, value in below.network.state_dict().items()}
        found = train(IMAGES, LABELS, 3, encoder=below, augment=augment, training=QUICK)
        for name, value in found.encoder.network.state_dict().items():  # type: ignore[union-attr]
            assert torch.equal(value, before[name]), name


def test_cached_features_change_nothing() -> None:
    cached = train(IMAGES, LABELS, 3, encoder=encoder(), training=QUICK, seed=4)
    again = train(IMAGES, LABELS, 3, encoder=encoder(), augment=lambda batch: batch, training=QUICK, seed=4)
    np.testing.assert_allclose(cached.probabilities(IMAGES), again.probabilities(IMAGES), atol=2e-3)
    features = train(encoder().features(IMAGES), LABELS, 3, training=QUICK, seed=4)
    np.testing.assert_allclose(
        cached.probabilities(IMAGES), features.probabilities(encoder().features(IMAGES)), atol=1e-4
    )


def test_a_whole_network_changes_its_encoder_and_learns() -> None:
    below = encoder()
    before = below.network.state_dict()["features.conv1.weight"].clone()
    found = train(IMAGES[:60], LABELS[:60], 3, encoder=below, whole=True, training=QUICK)
    assert not torch.equal(below.network.state_dict()["features.conv1.weight"], before)
    assert found.accuracy(IMAGES[60:], LABELS[60:]) > 0.9
    assert found.features(IMAGES).shape == (90, 64)


def test_weights_count_as_copies_do() -> None:
    """The loss of weighted examples is that of as many copies, so both end at the same place."""
    steps = Training(epochs=0, steps=150, batch=200, device="cpu")
    counts = RANDOM.integers(1, 4, 30)
    weighted = train(POINTS[:30], LABELS[:30], 3, weights=counts, training=steps, seed=1)
    rows = np.repeat(np.arange(30), counts)
    copies = train(POINTS[rows], LABELS[rows], 3, training=steps, seed=1)
    heavy = train(POINTS[:30], LABELS[:30], 3, weights=np.where(LABELS[:30] == 0, 1.0, 0.0), training=steps)
    assert (heavy.probabilities(POINTS).argmax(axis=1) == 0).all()
    agree = weighted.probabilities(POINTS).argmax(axis=1) == copies.probabilities(POINTS).argmax(axis=1)
    assert agree.mean() > 0.9


def test_shares_of_classes_are_learned_from() -> None:
    shares = np.full((60, 3), 0.1)
    shares[np.arange(60), LABELS[:60]] = 0.8
    found = train(POINTS[:60], shares, 3, training=Training(device="cpu", steps=400))
    assert np.mean(found.probabilities(POINTS[:60]).argmax(axis=1) == LABELS[:60]) > 0.9
    assert found.probabilities(POINTS[:60]).max(axis=1).mean() == pytest.approx(0.8, abs=0.07)


@pytest.mark.parametrize("count", [1, 2, 3, 129])
def test_any_number_of_labels(count: int) -> None:
    rows = np.arange(count) % 90
    found = train(POINTS[rows], LABELS[rows], 3, training=QUICK)
    assert np.isfinite(found.probabilities(POINTS)).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": [0, 1]}, "targets must be 90 classes from 0 to 2"),
        ({"targets": LABELS + 1}, "targets must be 90 classes from 0 to 2"),
        ({"inputs": POINTS[:0], "targets": []}, "no labelled inputs"),
        ({"inputs": IMAGES}, "must be a table of features"),
        ({"weights": [1.0]}, "weights must be 90 numbers"),
        ({"weights": np.zeros(90)}, "not all 0"),
    ],
)
def test_what_can_not_be_trained(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(HandfulError, match=said):
        train(**{"inputs": POINTS, "targets": LABELS, "classes": 3, "training": QUICK, **changes})


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(HandfulError, match="batch 2 or more"):
        Training(batch=1)
