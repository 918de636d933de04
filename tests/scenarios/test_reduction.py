"""Scenario reduction against brute force, POT, and slow versions of the known heuristics."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import ot
import pytest
from numpy.typing import NDArray

import handful
from handful import HandfulError, reduce_scenarios
from handful.scenarios import backward_reduction, forward_selection, scenario_pool

Floats = NDArray[np.float64]


def scenarios(seed: int, n: int = 12, shape: tuple[int, ...] = (3,)) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    weights = random.integers(1, 6, n).astype(float)
    return random.normal(size=(n, *shape)), weights / weights.sum()


def distances(values: Floats, metric: str) -> Floats:
    flat = values.reshape(len(values), -1)
    difference = flat[:, None] - flat
    return np.abs(difference).sum(axis=2) if metric == "manhattan" else np.sqrt(np.square(difference).sum(axis=2))


def emd(costs: Floats, rows: Floats, columns: Floats) -> float:
    return float(ot.emd2(rows, columns / columns.sum() * rows.sum(), np.ascontiguousarray(costs)))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("weights", ["optimal", "uniform"])
def test_the_best_reduction_is_found_and_proven(p: int, metric: str, weights: str) -> None:
    values, likely = scenarios(p)
    costs = distances(values, metric) ** p

    def value(picks: tuple[int, ...]) -> float:
        if weights == "optimal":
            return float(costs[:, picks].min(axis=1) @ likely)
        return emd(costs[:, picks], likely, np.full(3, 1 / 3))

    best = min(value(picks) for picks in itertools.combinations(range(12), 3)) ** (1 / p)
    found = reduce_scenarios(values, 3, likely, metric=metric, p=p, weights=weights, gap=0, time_limit=30, threads=1)
    assert found.distance == pytest.approx(best, rel=1e-7)
    assert found.lower_bound == pytest.approx(best, rel=1e-5)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert value(tuple(found.indices)) ** (1 / p) == pytest.approx(best, rel=1e-7)
    # The probabilities are those of the distance: POT, given them, finds the same.
    assert emd(costs[:, found.indices], likely, found.probabilities) ** (1 / p) == pytest.approx(best, rel=1e-7)
    assert found.probabilities.sum() == pytest.approx(1)
    assert (np.diff(found.probabilities) <= 1e-12).all()
    assert np.array_equal(found.representatives, values[found.indices])
    if weights == "optimal":
        assert np.array_equal(found.plan, found.indices[costs[:, found.indices].argmin(axis=1)])
        carried = [likely[found.plan == row].sum() for row in found.indices]
        assert found.probabilities == pytest.approx(np.array(carried))


def naive_forward(costs: Floats, likely: Floats, k: int) -> list[int]:
    picks: list[int] = []
    for _ in range(k):
        totals = [np.inf if j in picks else (costs[:, [*picks, j]].min(axis=1) @ likely) for j in range(len(costs))]
        picks.append(int(np.argmin(totals)))
    return picks


def naive_backward(costs: Floats, likely: Floats, k: int) -> list[int]:
    kept = list(range(len(costs)))
    while len(kept) > k:
        totals = [costs[:, [i for i in kept if i != out]].min(axis=1) @ likely for out in kept]
        kept.pop(int(np.argmin(totals)))
    return kept


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [1, 2])
def test_the_heuristics_are_those_of_the_papers(seed: int, p: int) -> None:
    values, likely = scenarios(seed, 40)
    costs = distances(values, "euclidean") ** p
    pool = scenario_pool(values, likely, p=p)
    assert forward_selection(pool, 7).tolist() == naive_forward(costs, likely, 7)
    assert backward_reduction(pool, 7).tolist() == naive_backward(costs, likely, 7)
    for method, naive in (("forward", naive_forward), ("backward", naive_backward)):
        found = reduce_scenarios(values, 7, likely, p=p, method=method)
        assert sorted(found.indices.tolist()) == sorted(naive(costs, likely, 7))
        assert found.distance == pytest.approx((costs[:, found.indices].min(axis=1) @ likely) ** (1 / p))
        assert (found.lower_bound, found.selection) == (0.0, None)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_paths_are_compared_period_by_period(metric: str) -> None:
    values, likely = scenarios(4, 20, (5, 2))
    weights = np.array([1.0, 0.5, 0.25, 0.0, 2.0])
    pool = scenario_pool(values, likely, metric=metric, period_weights=weights)
    difference = values[:, None] - values
    if metric == "manhattan":
        expected = np.abs(difference).sum(axis=3) @ weights
    else:
        expected = np.sqrt(np.square(difference).sum(axis=3) @ weights)
    assert pool.distances(np.arange(20)) == pytest.approx(expected, abs=1e-12)
    found = reduce_scenarios(values, 4, likely, metric=metric, period_weights=weights, gap=0, threads=1)
    assert found.representatives.shape == (4, 5, 2)
    assert found.distance == pytest.approx(expected[:, found.indices].min(axis=1) @ likely)
    flat = reduce_scenarios(values.reshape(20, 10), 4, likely, metric=metric, gap=0, threads=1)
    assert flat.distance == pytest.approx(reduce_scenarios(values, 4, likely, metric=metric, gap=0, threads=1).distance)


def test_a_reduction_can_be_verified(tmp_path: Any) -> None:
    values, likely = scenarios(6, 60)
    found = reduce_scenarios(values, 5, likely, p=2, gap=0, threads=1)
    assert found.selection is not None
    found.selection.save(tmp_path / "run")
    verdict = handful.verify(scenario_pool(values, likely, p=2), tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound**0.5 == pytest.approx(found.lower_bound)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"p": 3}, "p must be 1 or 2"),
        ({"weights": "best"}, '"optimal" or "uniform"'),
        ({"method": "magic"}, "certified, forward, backward"),
        ({"k": 0, "method": "forward"}, "from 1 to the number of scenarios, 12"),
        ({"k": 13}, "13 new picks"),
        ({"period_weights": [1, 2]}, "period_weights need scenarios of shape"),
        ({"probabilities": [1.0]}, "12 numbers"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], words: str) -> None:
    values, _ = scenarios(0)
    with pytest.raises(HandfulError, match=words):
        reduce_scenarios(values, **{"k": 3} | options)
