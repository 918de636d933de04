"""The pool: distances as others compute them, errors within the bound that is claimed, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from handful import HandfulError, Pool
from handful.metrics import Metric

Floats = NDArray[np.float64]

METRICS = ("cosine", "euclidean", "sqeuclidean", "manhattan", "rbf:1.7", "ball:2.5")
OTHERS: dict[str, Callable[[Floats], Floats]] = {
    "cosine": lambda x: cdist(x, x, "cosine"),
    "euclidean": lambda x: cdist(x, x),
    "sqeuclidean": lambda x: cdist(x, x, "sqeuclidean"),
    "manhattan": lambda x: cdist(x, x, "cityblock"),
    "rbf:1.7": lambda x: 1 - rbf_kernel(x, gamma=1 / (2 * 1.7**2)),
    "ball:2.5": lambda x: (cdist(x, x) > 2.5).astype(float),
}


def exact(points: NDArray[Any], metric: str) -> NDArray[np.longdouble]:
    """All costs, in extended precision, from the differences of the points."""
    x = points.astype(np.longdouble)
    name, parameter = Metric.parse(metric).name, np.longdouble(Metric.parse(metric).parameter)
    if name == "cosine":
        x = x / np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    differences = x[:, None] - x[None]
    squares = np.square(differences).sum(axis=2)
    return {
        "cosine": lambda: squares / 2,
        "euclidean": lambda: np.sqrt(squares),
        "sqeuclidean": lambda: squares,
        "manhattan": lambda: np.abs(differences).sum(axis=2),
        "rbf": lambda: -np.expm1(-squares / (2 * parameter**2)),
        "ball": lambda: (squares > parameter**2).astype(np.longdouble),
    }[name]()


def shapes() -> dict[str, NDArray[Any]]:
    """Pools that are hard on precision."""
    random = np.random.default_rng(0)
    plain = random.normal(size=(60, 5))
    wide = random.normal(size=(60, 70))
    near = np.repeat(wide[:12], 5, axis=0)
    return {
        "few coordinates": plain,
        "many coordinates": wide,
        "single precision": wide.astype(np.float32),
        "far from the origin": wide + 1e4,
        "single, far from the origin": (wide + 100).astype(np.float32),
        "coordinates of all sizes": wide * 10.0 ** random.uniform(-4, 4, size=70),
        "points of all sizes": wide * 10.0 ** random.uniform(-4, 4, size=(60, 1)),
        "few, of all sizes": plain * 10.0 ** random.uniform(-5, 5, size=(60, 1)),
        "duplicates": near,
        "nearly duplicates": near + 1e-7 * random.normal(size=near.shape),
        "hardly duplicates": near + 1e-3 * random.normal(size=near.shape),
        "few, nearly duplicates": np.repeat(plain[:12], 5, axis=0) + 1e-9 * random.normal(size=(60, 5)),
        "one far away": np.vstack([wide[:59], 1e6 * wide[59:]]),
        "small": 1e-6 * wide,
        "whole numbers": random.integers(-9, 10, size=(60, 30)),
        "bytes": random.integers(1, 256, size=(60, 40)).astype(np.uint8),
        "one coordinate": random.normal(size=(60, 1)) + 3,
        "sparse": np.where(random.random((60, 40)) < 0.1, wide[:, :40], 0) + np.eye(60, 40),
        "half precision": wide.astype(np.float16),
    }


POOLS = {name: np.where(~points.any(axis=1, keepdims=True), 1, points) for name, points in shapes().items()}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", POOLS)
def test_no_error_is_larger_than_claimed(name: str, metric: str, dtype: type[np.floating[Any]]) -> None:
    points = POOLS[name]
    pool = Pool(points, metric)
    found = pool.distances(np.arange(60), dtype=dtype)
    assert found.dtype == dtype
    assert found.shape == (60, 60)
    assert (found >= 0).all()
    truth = exact(points, metric)
    errors = np.abs(found.astype(np.longdouble) - truth)
    if metric.startswith("ball"):
        # Defined by a comparison in double precision: only on the rim may it differ from the exact one.
        gaps = np.abs(exact(points, "euclidean") - 2.5)
        assert (gaps[errors > 0] <= 1e-12 * np.abs(points.astype(float)).max()).all()
        assert (found == found.T).all()
        return
    claimed = pool.rounding(dtype)
    assert 0 < claimed < np.inf
    assert errors.max() <= claimed
    same = (points[:, None] == points[None]).all(axis=2)
    assert (found[same] == 0).all()  # duplicates serve each other at no cost


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["few coordinates", "many coordinates", "whole numbers", "half precision"])
def test_the_claim_is_not_much_too_large(name: str, metric: str) -> None:
    """The margin for rounding must not eat the gap: below a millionth of the costs in double precision."""
    pool = Pool(POOLS[name], metric)
    assert pool.rounding(np.float64) <= 1e-11 * float(pool.distances(np.arange(60)).max())
    assert pool.rounding(np.float32) <= 4e-3 * float(pool.distances(np.arange(60)).max())


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scipy_and_scikit_learn(metric: str) -> None:
    points = POOLS["many coordinates"] / 4
    pool = Pool(points, metric)
    np.testing.assert_allclose(pool.distances(np.arange(60)), OTHERS[metric](points), rtol=1e-11, atol=1e-13)
    single = pool.distances(np.arange(60), dtype=np.float32)
    np.testing.assert_allclose(single, OTHERS[metric](points), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("metric", [*METRICS, "precomputed"])
def test_parts_of_the_distances_are_the_distances(metric: str) -> None:
    """Rows, columns, tiles, sums over groups: all parts of one matrix, up to rounding."""
    random = np.random.default_rng(1)
    for points in (random.random((50, 50)), random.normal(size=(50, 3)) + 2):
        if metric == "precomputed" and points.shape[1] != 50:
            continue
        pool = Pool(points, metric)
        picks = random.permutation(50)[:9]
        for dtype in (np.float64, np.float32):
            whole = pool.distances(np.arange(50), dtype=dtype)
            close: dict[str, float] = {"rtol": 0, "atol": 2 * pool.rounding(dtype)}
            np.testing.assert_allclose(pool.distances(picks, dtype=dtype), whole[picks], **close)
            rows = random.permutation(50)[:7]
            np.testing.assert_allclose(pool.distances(picks, rows, dtype=dtype), whole[np.ix_(picks, rows)], **close)
            np.testing.assert_allclose(pool.distances(picks, slice(3, 9), dtype=dtype), whole[picks, 3:9], **close)
            for width in (1, 16, 50, 64):
                tiles = np.full((9, 50), -1.0)
                for part, tile in pool.tiles(picks, width, dtype):
                    assert tile.dtype == dtype
                    assert (tiles[:, part] == -1).all()
                    tiles[:, part] = tile
                np.testing.assert_allclose(tiles, whole[picks], **close)
        starts = np.array([0, 11, 12, 40])
        members, shares = random.permutation(50)[:47], random.random(47)
        sums = pool.group_costs(members, starts, shares, picks)
        weighted = pool.distances(picks)[:, members] * shares
        expected = np.add.reduceat(weighted, starts, axis=1).T
        np.testing.assert_allclose(sums, expected, rtol=1e-4, atol=1e-5)
        everyone = pool.group_costs(members, starts, shares, np.arange(50))
        np.testing.assert_allclose(everyone[:, picks], expected, rtol=1e-4, atol=1e-5)


def test_a_precomputed_cost_is_that_of_a_point_served_by_a_candidate() -> None:
    costs = np.arange(9.0).reshape(3, 3)
    pool = Pool(costs, "precomputed")
    assert pool.distances([2]).tolist() == [[2, 5, 8]]  # the column of candidate 2
    assert pool.distances([1], np.array([2, 0])).tolist() == [[7, 1]]
    assert pool.rounding(np.float64) == 0
    truth = np.random.default_rng(0).random((30, 30)) * 1e5
    errors = np.abs(Pool(truth, "precomputed").distances(np.arange(30), dtype=np.float32) - truth.T)
    assert 0 < errors.max() <= Pool(truth, "precomputed").rounding(np.float32)
    whole = Pool(np.full((2, 2), 2**53 - 1), "precomputed")
    assert np.abs(whole.distances([0]) - (2**53 - 1)).max() <= whole.rounding(np.float64)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float16, np.float32, ">f8"])
@pytest.mark.parametrize("metric", METRICS)
def test_any_number_type_is_understood(metric: str, dtype: Any) -> None:
    points = np.random.default_rng(2).integers(1, 100, size=(20, 12))
    plain, other = Pool(points.astype(float), metric), Pool(points.astype(dtype), metric)
    assert (plain.distances(np.arange(20)) == other.distances(np.arange(20))).all()


def test_a_memory_map_and_strides_are_read_as_they_are(tmp_path: Path) -> None:
    points = np.random.default_rng(3).normal(size=(9000, 4))
    np.save(tmp_path / "pool.npy", points)
    mapped = Pool(np.load(tmp_path / "pool.npy", mmap_mode="r"))
    plain = Pool(points)
    assert isinstance(mapped.points, np.memmap)
    assert (mapped.distances([5, 8999]) == plain.distances([5, 8999])).all()
    assert mapped.fingerprint == plain.fingerprint == Pool(np.asfortranarray(points)).fingerprint
    twice = np.repeat(points, 2, axis=0)[::2]
    assert Pool(twice).fingerprint == plain.fingerprint
    assert (Pool(twice).distances([7]) == plain.distances([7])).all()


def test_the_fingerprint_is_that_of_the_points() -> None:
    points = np.random.default_rng(4).normal(size=(30, 4))
    prints = {Pool(points).fingerprint}
    for other in (points[:-1], points[::-1], points.reshape(60, 2), points.astype(np.float32), points + 1e-15):
        prints.add(Pool(np.array(other)).fingerprint)
    moved = points.copy()
    moved[29, 3] = np.nextafter(moved[29, 3], 9)
    prints.add(Pool(moved).fingerprint)
    assert len(prints) == 7
    assert Pool(points, "euclidean", masses=np.arange(30), candidates=[3]).fingerprint in prints


def test_masses_and_candidates_are_put_in_order() -> None:
    points = np.random.default_rng(5).normal(size=(4, 2))
    pool = Pool(points, masses=[0, 1, 1, 6], candidates=np.array([3, 0], np.uint8))
    assert pool.masses.tolist() == [0, 0.125, 0.125, 0.75]
    assert pool.candidates.tolist() == [0, 3]
    assert not pool.equal_masses
    plain = Pool(points)
    assert plain.equal_masses
    assert plain.candidates.tolist() == [0, 1, 2, 3]
    assert plain.masses.sum() == 1
    assert len(plain) == 4
    assert plain.dimension == 2


def test_a_subset_is_a_pool_of_its_own() -> None:
    points = np.random.default_rng(6).random((8, 8))
    rows = np.array([5, 1, 6])
    for metric in ("euclidean", "precomputed"):
        pool = Pool(points, metric, masses=np.arange(8))
        part = pool.subset(rows)
        whole = pool.distances(np.arange(8))
        np.testing.assert_allclose(part.distances(np.arange(3)), whole[np.ix_(rows, rows)], rtol=1e-12)
        np.testing.assert_allclose(part.masses, rows / rows.sum())
    assert Pool(points, masses=np.eye(8)[0]).subset(rows).equal_masses


def holding(value: float) -> Floats:
    points = np.ones((9000, 2))
    points[[3, 8500]] = value
    return points


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"points": np.array([["a"]])}, "points must be real numbers; got dtype <U1"),
    ({"points": np.ones((2, 2), complex)}, "points must be real numbers; got dtype complex128"),
    ({"points": np.ones(3)}, r"points must be a table .*; got shape \(3,\)"),
    ({"points": np.ones((2, 2, 2))}, r"got shape \(2, 2, 2\)"),
    ({"points": np.ones((0, 3))}, r"the pool is empty: shape \(0, 3\)"),
    ({"points": np.ones((3, 0))}, r"the pool is empty: shape \(3, 0\)"),
    ({"points": holding(np.nan)}, r"rows 3, 8500 \(counted from 0\) hold NaN or infinity: repair or drop them"),
    ({"points": holding(np.inf)}, r"rows 3, 8500 \(counted from 0\) hold NaN or infinity"),
    ({"points": holding(0)}, r"rows 3, 8500 \(counted from 0\) hold only zeros, which have no cosine"),
    ({"points": np.eye(3) - 1e-9, "metric": "precomputed"}, r"rows 0, 1, 2 \(.*\) hold negative costs"),
    ({"points": np.ones((3, 2)), "metric": "precomputed"}, r"must be square; got shape \(3, 2\)"),
    ({"points": POOLS["one coordinate"] * 1e25, "metric": "euclidean"}, "must be between 1e-15 and 1e.15 .* factor"),
    (
        {"points": POOLS["one coordinate"] * 1e-25, "metric": "manhattan"},
        r"the largest number .* is 5\.\d+e-25, and must",
    ),
    ({"points": np.full((2, 2), 1e33), "metric": "precomputed"}, r"is 1e\+33, and must be between 1e-30 and 1e\+30"),
    ({"metric": "hamming"}, r"unknown metric 'hamming': choose one of cosine, euclidean, .* precomputed"),
    ({"metric": "cosine:2"}, "unknown metric 'cosine:2'"),
    ({"metric": "rbf"}, "metric rbf needs a positive number after a colon, as in rbf:0.5; got 'rbf'"),
    ({"metric": "ball:nan"}, "metric ball needs a positive number"),
    ({"metric": "ball:inf"}, "metric ball needs a positive number"),
    ({"metric": "rbf:0"}, "metric rbf needs a positive number"),
    ({"metric": "rbf:one"}, "metric rbf needs a positive number"),
    ({"masses": [1, 2]}, r"masses must be 4 numbers, one per point; got shape \(2,\)"),
    ({"masses": ["a", "b", "c", "d"]}, "masses must be 4 numbers, .* of <U1"),
    ({"masses": [1, 2, -0.5, 1]}, "the mass of row 2 is -0.5: masses must be finite and 0 or more"),
    ({"masses": [1, np.nan, 1, 1]}, "the mass of row 1 is nan"),
    ({"masses": [1, 1, 1, np.inf]}, "the mass of row 3 is inf"),
    ({"masses": np.zeros(4)}, "the masses sum to 0"),
    ({"candidates": []}, "no candidates are left"),
    ({"candidates": [0, 4]}, "candidates names row 4, but the pool has rows 0 to 3"),
    ({"candidates": [-1]}, "candidates names row -1"),
    ({"candidates": [2, 1, 2]}, "candidates names row 2 more than once"),
    ({"candidates": [0.5]}, r"candidates must be a list of row numbers; got shape \(1,\) of float64"),
    ({"candidates": [[0, 1]]}, r"candidates must be a list of row numbers; got shape \(1, 2\)"),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_cannot_be_a_pool_is_refused_in_one_sentence(given: dict[str, Any], sentence: str) -> None:
    points = given.pop("points", np.ones((4, 2)))
    with pytest.raises(HandfulError) as raised:
        Pool(points, **given)
    assert re.search(sentence, str(raised.value)), str(raised.value)


@pytest.mark.parametrize("scale", [1e-14, 1e14])
@pytest.mark.parametrize("metric", METRICS[:4])
def test_errors_at_either_end_of_the_scale_are_within_the_claim(metric: str, scale: float) -> None:
    for points in (POOLS["few coordinates"] * scale, POOLS["nearly duplicates"] * scale):
        pool = Pool(points, metric)
        truth = exact(points, metric)
        for dtype in (np.float64, np.float32):
            errors = np.abs(pool.distances(np.arange(60), dtype=dtype).astype(np.longdouble) - truth)
            assert errors.max() <= pool.rounding(dtype)


def test_metrics_are_written_as_they_are_read() -> None:
    for text in (*METRICS, "precomputed", "rbf:1e-05", "ball:0.30000000000000004"):
        assert str(Metric.parse(text)) == text
