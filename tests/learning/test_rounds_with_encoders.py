"""Rounds on features of encoders that are trained for them, on a frozen encoder with views, and on whole networks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kornia")

from handful import HandfulError  # noqa: E402
from handful.rounds import Config, Store, build, load, perform  # noqa: E402

SIMCLR = {"encoder": "small", "epochs": 1, "batch": 64, "views": "digits"}
FDAL = {"encoder": "small", "epochs": 1, "batch": 32, "bottleneck": 8, "hidden": 8}


def config(**parts: dict[str, Any]) -> Config:
    table: dict[str, dict[str, Any]] = {
        "data": {"name": "digits", "points": 130},
        "budget": {"rounds": [6, 6]},
        "select": {"strategies": ["k-means", "badge"], "rounds": 1},
        "classifier": {"epochs": 0, "steps": 20, "device": "cpu"},
    }
    for name, changes in parts.items():
        table[name] = {**table.get(name, {}), **changes}
    return Config.of(table)


def told(folder: Path) -> list[Any]:
    store = Store.open(folder)
    found = [(one.strategy, one.round, one.picks.tolist(), one.accuracy) for one in store.rounds()]
    store.close()
    return found


@pytest.mark.parametrize(
    "parts",
    [
        {"features": {"source": "simclr"}, "simclr": SIMCLR},
        {"features": {"source": "simclr"}, "simclr": SIMCLR, "classifier": {"augment": "digits"}},
        {"features": {"source": "f-dal"}, "fdal": FDAL, "source": {"name": "digits", "points": 70}},
        {"features": {"source": "last-classifier"}, "classifier": {"kind": "network", "encoder": "small"}},
        {"features": {"source": "last-classifier"}, "classifier": {"kind": "head", "spread": "graph"}},
    ],
    ids=["simclr", "simclr with views", "f-dal", "network", "head"],
)
def test_the_same_again_and_after_a_kill(tmp_path: Path, parts: dict[str, Any]) -> None:
    perform(config(**parts), tmp_path / "one")
    assert len(told(tmp_path / "one")) == 4

    class Killed(BaseException):
        pass

    def tell(found: Any, what: str) -> None:
        if (found.strategy, found.round, what) == ("badge", 1, "selecting"):
            raise Killed

    with pytest.raises(Killed):
        perform(config(**parts), tmp_path / "two", tell=tell)
    perform(config(**parts), tmp_path / "two")
    assert told(tmp_path / "one") == told(tmp_path / "two")


def test_an_encoder_is_trained_once(tmp_path: Path) -> None:
    parts = {"features": {"source": "simclr"}, "simclr": SIMCLR}
    said: list[str] = []
    first = build(config(**parts), tmp_path, said.append)
    assert "SimCLR, epoch 1 of 1" in said
    said.clear()
    second = build(config(**parts), tmp_path, said.append)
    assert said == ["reading digits"]
    np.testing.assert_array_equal(first.features.points(None), second.features.points(None))
    (tmp_path / "features.npz").unlink()
    third = build(config(**parts), tmp_path)  # by the encoder that is there
    np.testing.assert_allclose(third.features.points(None), first.features.points(None), rtol=1e-5, atol=1e-6)


def test_the_source_is_learned_from_too(tmp_path: Path) -> None:
    """Its labels must reach a head that is given none of a class in the target."""
    parts = {"features": {"source": "f-dal"}, "fdal": FDAL, "source": {"name": "digits", "points": 90}}
    made = build(config(**parts), tmp_path)
    learner: Any = made.learner
    points, labels = learner.base
    assert points.shape == (90, made.features.points(None).shape[1])
    np.testing.assert_array_equal(labels, load(config(**parts).source).ask(np.arange(90)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"features": {"source": "simclr"}, "simclr": {"warmth": 1}}, r"\[simclr\] has no 'warmth'"),
        ({"classifier": {"augment": "digits"}}, "needs images and an encoder"),
        ({"source": {"name": "digits"}}, "needs features that both domains have"),
        ({"source": {"name": "digits"}, "classifier": {"kind": "probe"}}, "by a head on features"),
        ({"features": {"source": "encoder", "file": "nothing.pt"}}, "nothing.pt"),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, parts: dict[str, Any], said: str) -> None:
    with pytest.raises(HandfulError, match=said):
        build(config(**parts), tmp_path)
