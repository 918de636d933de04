"""Whole points against brute force over all assignments."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import handful
from handful import HandfulError, Pool


def best(pool: Pool, budget: int, low: float, high: float, already: tuple[int, ...] = ()) -> float:
    costs = pool.distances(np.arange(pool.n)) * pool.masses
    least = np.inf
    for picks in itertools.combinations(range(pool.n), budget):
        if not set(already) <= set(picks):
            continue
        for labels in itertools.product(range(budget), repeat=pool.n):
            loads = np.bincount(labels, pool.masses, minlength=budget)
            if (loads >= low - 1e-12).all() and (loads <= high + 1e-12).all():
                least = min(least, costs[np.array(picks)[list(labels)], np.arange(pool.n)].sum())
    return float(least)


@pytest.mark.parametrize(
    ("seed", "low", "high", "already"),
    [(0, 0.0, 0.6, ()), (1, 0.4, 0.6, ()), (2, 0.45, 1.0, ()), (3, 0.0, 0.55, (6,)), (4, 0.5, 0.5, ())],
)
def test_whole_plans_are_the_best_there_are(seed: int, low: float, high: float, already: tuple[int, ...]) -> None:
    random = np.random.default_rng(seed)
    masses = np.ones(8) if seed == 4 else random.integers(1, 5, 8).astype(float)
    pool = Pool(random.normal(size=(8, 2)), "euclidean", masses=masses)
    expected = best(pool, 2, low, high, already)
    run = handful.select_whole(
        pool, 2, picks_weight=(low, high), already=already, count_already=True, time_limit=60, threads=1
    )
    assert run.distance == pytest.approx(expected, rel=1e-9)
    assert run.lower_bound <= expected * (1 + 1e-9)
    assert run.lower_bound == min(run.shared.lower_bound, run.distance)
    assert set(already) <= set(run.indices.tolist())
    assert set(run.plan.tolist()) <= set(run.indices.tolist())
    loads = np.array([pool.masses[run.plan == pick].sum() for pick in run.indices])
    assert loads == pytest.approx(run.masses)
    assert ((loads >= low - 1e-8) & (loads <= high + 1e-8)).all()
    costs = pool.distances(np.arange(8))
    assert run.distance == pytest.approx((costs[run.plan, np.arange(8)] * pool.masses).sum())


def test_where_no_plan_exists_the_error_says_what_to_do() -> None:
    pool = Pool(np.arange(5.0)[:, None], "euclidean", masses=[4.0, 4.0, 4.0, 1.0, 1.0])
    with pytest.raises(HandfulError, match=r"masses of .* per pick: widen the range"):
        handful.select_whole(pool, 2, picks_weight=(0.5, 0.5), time_limit=3, threads=1)
