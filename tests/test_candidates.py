"""Candidates drawn at random or near centres: which they are, and that every result says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import handful
from handful import HandfulError, Pool
from handful.candidates import names_a_set, restricted, size_of
from handful.certificate import Certificate


def clusters(n: int = 3000, seed: int = 0) -> Any:
    """Four far clusters, in which one point in ten is the copy of another."""
    random = np.random.default_rng(seed)
    centres = 20 * np.eye(4, 5)
    points = centres[random.integers(4, size=n)] + random.normal(size=(n, 5))
    copies = random.random(n) < 0.1
    points[copies] = points[random.integers(0, n, copies.sum())]
    return points


@pytest.mark.parametrize(
    ("words", "is_one"),
    [("20000", True), ("sampled:20000", True), ("clustered:5", True), ("few.txt", False), ("sampled", False)],
)
def test_a_set_is_told_from_a_file(words: str, is_one: bool) -> None:
    assert names_a_set(words) is is_one


@pytest.mark.parametrize("words", ["sampled:700", "700", "clustered:700"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean", "manhattan"])
def test_so_many_are_left_all_of_them_allowed_and_by_the_seed_alone(words: str, metric: str) -> None:
    allowed = np.arange(0, 3000, 2)
    pool = Pool(clusters(), metric, candidates=allowed)
    some = [restricted(pool, words, seed).candidates for seed in (0, 0, 1)]
    assert size_of(words, len(allowed)) == len(some[0]) == len(np.unique(some[0])) == 700
    assert np.isin(some[0], allowed).all()
    assert some[0].tolist() == some[1].tolist() != some[2].tolist()
    assert len(pool.candidates) == 1500  # the pool itself is as it was


def test_a_sample_is_an_even_one() -> None:
    pool = Pool(clusters(400), "euclidean")
    times = np.zeros(400)
    for seed in range(300):
        times[restricted(pool, "sampled:100", seed).candidates] += 1
    assert times.mean() == 75
    assert 40 < times.min() < times.max() < 110  # each is binomial: standard deviation 7.5


def test_clustered_candidates_are_central_and_no_copies() -> None:
    points = clusters()
    near = restricted(Pool(points, "euclidean"), "clustered:120", 0).candidates
    centres = 20 * np.eye(4, 5)
    away = cdist(points, centres).min(axis=1)
    assert np.median(away[near]) < 0.9 * np.median(away)
    assert np.bincount(cdist(points[near], centres).argmin(axis=1), minlength=4).min() >= 15
    assert len(np.unique(points[near], axis=0)) == 120


def test_equal_points_leave_room_for_any_others() -> None:
    points = np.vstack([np.zeros((50, 3)), np.ones((50, 3))]) + 1
    points[50:, 0] = 5
    assert len(restricted(Pool(points), "clustered:30", 0).candidates) == 30


def test_more_than_there_are_is_all_of_them() -> None:
    pool = Pool(clusters(50), "euclidean")
    assert restricted(pool, "clustered:50", 0) is pool
    assert pool.restriction == restricted(pool, "sampled:90", 0).restriction == ""


@pytest.mark.parametrize(
    ("words", "metric", "sentence"),
    [
        ("sampled:0", "euclidean", "candidates 'sampled:0' is not understood"),
        ("nearest:5", "euclidean", "candidates 'nearest:5' is not understood: write sampled:20000"),
        ("clustered:5", "precomputed", "needs coordinates, and a matrix of costs has none: write sampled:N"),
    ],
)
def test_what_cannot_be_is_refused(words: str, metric: str, sentence: str) -> None:
    with pytest.raises(HandfulError, match=sentence):
        handful.select(np.ones((10, 10)), 2, metric=metric, candidates=words)


@pytest.mark.parametrize(
    ("candidates", "which"),
    [
        ("clustered:300", "300 candidates near the centres of clusters"),
        ("sampled:300", "300 candidates drawn at random"),
        (np.arange(300), "the 300 candidates given"),
    ],
)
def test_the_restriction_is_said_wherever_the_result_is(tmp_path: Path, candidates: Any, which: str) -> None:
    points = clusters(1000)
    found = handful.select(points, 6, metric="euclidean", candidates=candidates, rounds=1, threads=1)
    sentence = f"Picks and bound are out of {which}: nothing is proven of the other 700 of the 1,000 points."
    assert found.restriction == sentence
    assert f"for any picks out of {which} (gap" in str(found)
    assert np.isin(found.indices, found.pool.candidates).all()
    found.save(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["candidates"], summary["restriction"]) == (300, sentence)
    certificate = Certificate.read(tmp_path / "run" / "certificate.npz")
    assert certificate.candidates.tolist() == found.pool.candidates.tolist()
    assert f"out of {which}" in certificate.claim
    verdict = handful.verify(points, tmp_path / "run")
    assert verdict.valid
    assert "no picks out of the 300 candidates can be nearer than" in str(verdict)
    assert str(verdict).endswith("nothing is proven of the other 700 points")


def test_a_bound_over_all_points_says_nothing_of_that(tmp_path: Path) -> None:
    points = clusters(200)
    found = handful.select(points, 3, metric="euclidean", rounds=1, threads=1)
    found.save(tmp_path / "run")
    assert found.restriction == ""
    assert " for any picks (gap" in str(found)
    assert "candidates" not in str(handful.verify(points, tmp_path / "run"))


def test_threads_change_nothing_of_a_restricted_run() -> None:
    points = clusters(600)
    one, two = (handful.select(points, 6, candidates="clustered:150", rounds=1, gap=0, threads=k) for k in (1, 2))
    assert one.indices.tolist() == two.indices.tolist()
    assert (one.distance, one.lower_bound) == (two.distance, two.lower_bound)
    assert (one.prices == two.prices).all()
