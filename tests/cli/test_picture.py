"""The picture of a selection."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

from handful import picture
from handful.axes import principal
from handful.engine import select
from handful.pool import Pool
from handful.selection import Selection


def chosen(pool: Pool, budget: int, **more: object) -> Selection:
    return select(pool, budget, rounds=1, **more)  # type: ignore[arg-type]


def drawn(selection: Selection, **more: object) -> np.ndarray:
    file = BytesIO()
    picture.draw(selection, file, **more)  # type: ignore[arg-type]
    file.seek(0)
    return imread(file)


def pixels(image: np.ndarray, colour: str) -> int:
    from matplotlib.colors import to_rgb

    return int((np.abs(image[..., :3] - to_rgb(colour)).max(axis=-1) < 0.01).sum())


@pytest.fixture(scope="module")
def selection() -> Selection:
    return chosen(Pool(np.random.default_rng(0).normal(size=(80, 5))), 4)


def test_every_pick_is_a_disc_in_its_colour(selection: Selection) -> None:
    image = drawn(selection)
    assert image.shape[:2] == (1066, 1430)
    for colour in ("C0", "C1", "C2", "C3"):
        assert pixels(image, colour) > 200
    assert pixels(image, "C4") == 0


def test_a_heavier_pick_is_a_larger_disc(selection: Selection) -> None:
    image = drawn(replace(selection, masses=np.array([0.7, 0.1, 0.1, 0.1])))
    assert pixels(image, "C0") > 3 * pixels(image, "C1")


def test_images_stand_beside_the_map_framed_in_the_colours(selection: Selection) -> None:
    alone, beside = drawn(selection), drawn(selection, images=np.ones((4, 8, 8)))
    assert beside.shape[1] > alone.shape[1]
    assert pixels(beside, "C2") > pixels(alone, "C2") + 1000


@pytest.mark.parametrize(
    "pool",
    [
        Pool(np.arange(1.0, 31)[:, None], "euclidean"),
        Pool(np.abs(np.arange(30)[:, None] - np.arange(30)), "precomputed"),
        Pool(np.ones((6, 3)), "euclidean"),
        Pool(1e200 * np.random.default_rng(1).normal(size=(30, 3)), "cosine"),
    ],
    ids=["one dimension", "precomputed", "all the same", "huge"],
)
def test_any_pool_has_a_map(pool: Pool) -> None:
    assert pixels(drawn(chosen(pool, 2)), "C0") > 100


def test_many_picks_and_earlier_ones_are_all_there() -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(200, 5)))
    assert pixels(drawn(chosen(pool, 60, already=[1, 2])), "C0") > 100


def test_the_map_of_a_plane_keeps_its_distances() -> None:
    plane = np.random.default_rng(0).normal(size=(50, 2)) * [3, 1]
    pool = Pool(plane @ np.linalg.qr(np.random.default_rng(1).normal(size=(7, 2)))[0].T, "euclidean")
    places = principal(pool, np.arange(3), np.arange(50)) * np.abs(pool.points).max()
    wanted = np.linalg.norm(plane[:, None] - plane, axis=2)
    assert np.linalg.norm(places[:, None] - places, axis=2) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("distance", "bound", "words"),
    [
        (0.5, 0.49, "4 picks for 80 points: distance 0.5, proven within 2.00% of the least possible"),
        (0.5, 0.5, "4 picks for 80 points: distance 0.5, proven to be the least possible"),
        (0.5, 0.0, "4 picks for 80 points: distance 0.5, not yet proven to be near the least possible"),
    ],
)
def test_the_sentence_says_what_is_proven(selection: Selection, distance: float, bound: float, words: str) -> None:
    assert picture.sentence(replace(selection, distance=distance, lower_bound=bound), "points") == words
