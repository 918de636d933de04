"""The swap search against brute force: what it keeps of every point, what it says of a swap, where it ends."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import Pool, _swap
from handful.lifted import Shares
from handful.medoids import MedoidSearch
from handful.swaps import Swaps

NONE = np.empty(0, np.int64)
FREE = Shares(0.0, 1.0)


def pool_of(seed: int, n: int = 40, metric: str = "euclidean", weighted: bool = True) -> Pool:
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, 2)) + 3 * random.integers(0, 3, size=(n, 1))
    if metric == "precomputed":
        points = random.integers(1, 60, size=(n, n)).astype(float)
    return Pool(points, metric, masses=random.integers(0, 4, n) + (np.arange(n) == 0) if weighted else None)


def cost(pool: Pool, picks: np.ndarray) -> float:
    return float(pool.distances(picks).min(axis=0) @ pool.masses)


@given(st.integers(0, 10_000), st.sampled_from(["euclidean", "sqeuclidean", "precomputed", "cosine"]))
@settings(max_examples=25, deadline=None)
def test_what_is_kept_of_every_point_stays_true(seed: int, metric: str) -> None:
    pool = pool_of(seed, metric=metric)
    random = np.random.default_rng(seed)
    candidates = np.sort(random.choice(40, 25, replace=False))
    picks = random.choice(candidates, 5, replace=False)
    swaps = Swaps(pool, np.arange(40), pool.masses, candidates, picks, 0)
    for _ in range(6):
        swaps.replace(int(random.integers(5)), int(random.choice(np.setdiff1d(candidates, swaps.picks))))
    costs = pool.distances(swaps.picks, dtype=np.float32)
    ranked = np.sort(costs, axis=0)
    assert np.array_equal(swaps._nearest, ranked[0])
    assert np.array_equal(swaps._next, ranked[1])
    assert np.array_equal(costs[swaps._first, np.arange(40)], ranked[0])
    assert np.array_equal(costs[swaps._second, np.arange(40)], ranked[1])
    assert (swaps._first != swaps._second).all()
    among = pool.distances(swaps.picks, candidates, dtype=np.float32)
    assert np.array_equal(swaps._away, among.min(axis=0))
    assert np.array_equal(among[swaps._group, np.arange(25)], among.min(axis=0))
    assert swaps.distance == pytest.approx(cost(pool, swaps.picks), rel=1e-5)


@given(st.integers(0, 10_000), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_the_change_of_the_best_swap_is_that_of_brute_force(seed: int, fixed: int) -> None:
    pool = pool_of(seed)
    picks = np.random.default_rng(seed).choice(40, 4, replace=False)
    swaps = Swaps(pool, np.arange(40), pool.masses, pool.candidates, picks, fixed)
    others = np.setdiff1d(np.arange(40), picks)
    before = cost(pool, picks)
    changes = np.array(
        [[cost(pool, np.append(np.delete(picks, b), j)) - before for b in range(fixed, 4)] for j in others]
    )
    lost = _swap.losses(swaps._first, swaps._nearest, swaps._next, swaps.masses, 4)
    block = pool.distances(others, dtype=np.float32)
    args = (swaps._first, swaps._nearest, swaps._next, swaps.masses, lost, fixed)
    row, out, change = _swap.best_swap(block, np.arange(40), *args)
    assert change == pytest.approx(changes.min(), abs=1e-5)
    assert changes[row, out - fixed] == pytest.approx(changes.min(), abs=1e-5)
    # Over some of the points it may say too much, never too little.
    some = np.arange(0, 40, 2)
    row, out, change = _swap.best_swap(np.ascontiguousarray(block[:, some]), some, *args)
    assert changes[row, out - fixed] <= change + 1e-5


@pytest.mark.parametrize("picks", [1, 2, 3])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "manhattan"])
def test_a_few_perturbations_find_the_best_picks(picks: int, metric: str) -> None:
    for seed in range(4):
        pool = pool_of(seed, 14, metric)
        best = min(cost(pool, np.array(some)) for some in itertools.combinations(range(14), picks))
        search = MedoidSearch(pool, FREE, pool.candidates, NONE)
        random = np.random.default_rng(0)
        found = search.alternate(search.seed(picks, random))
        for _ in range(30):
            found = min(found, search.perturb(found, random), key=lambda one: one.distance)
        assert found.distance == pytest.approx(best, rel=1e-6, abs=1e-12)
        assert found.distance == pytest.approx(cost(pool, found.picks), rel=1e-12)


def test_no_single_swap_is_left_that_helps_where_all_groups_border_on_each_other() -> None:
    pool = pool_of(3, 60, weighted=False)
    search = MedoidSearch(pool, FREE, pool.candidates, NONE)
    found = search.alternate(np.arange(3))
    for b, j in itertools.product(range(3), range(60)):
        swapped = found.picks.copy()
        swapped[b] = j
        assert cost(pool, swapped) >= found.distance * (1 - 1e-6)


def test_forced_picks_stay_and_only_candidates_are_taken() -> None:
    pool = pool_of(5)
    forced = np.array([39, 38])
    search = MedoidSearch(pool, FREE, np.arange(20), forced)
    random = np.random.default_rng(1)
    found = search.alternate(search.seed(3, random))
    for _ in range(20):
        found = search.perturb(found, random)
        assert np.array_equal(found.picks[:2], forced)
        assert set(found.picks[2:]) <= set(range(20))
        assert len(set(found.picks)) == 5
