"""The figures that the verifier computes anew are those of the formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from handful import cases, recheck
from handful.errors import HandfulError
from small_selections import Problem, claim, knapsack


def proven(problem: Problem, prices: np.ndarray) -> tuple[float, float]:
    certificate = claim(problem, prices[None])
    return recheck.lower_bound(problem.pool, certificate, cases.parts(certificate), lambda done: None)


def cheapest_plan(costs: np.ndarray, masses: np.ndarray, low: float, high: float) -> float:
    picks, n = costs.shape
    served, carried = np.tile(np.eye(n), picks), np.kron(np.eye(picks), np.ones(n))
    solved = linprog(
        costs.ravel(),
        A_eq=served,
        b_eq=masses,
        A_ub=np.vstack([carried, -carried]),
        b_ub=np.append(np.full(picks, high), np.full(picks, -low)),
    )
    assert solved.status == 0
    return float(solved.fun)


small = st.integers(0, 6)  # whole numbers tie a lot


@given(st.data(), st.integers(1, 8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_costs_are_those_of_linear_programming(data: st.DataObject, n: int, equal: bool) -> None:
    picks = data.draw(st.integers(1, 5))
    costs = np.array(data.draw(st.lists(small, min_size=picks * n, max_size=picks * n)), float).reshape(picks, n)
    masses = np.ones(n) if equal else np.array(data.draw(st.lists(small, min_size=n, max_size=n).filter(any)), float)
    masses /= masses.sum()
    low, high = data.draw(st.sampled_from([0, 0.25, 1])) / picks, data.draw(st.sampled_from([1, 1.5, picks])) / picks
    expected = cheapest_plan(costs, masses, low, high)
    assert recheck.cost(costs, masses, low, high) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("doctored", "reason"),
    [
        ({}, "numItermax reached"),
        ({"warning": "trouble"}, "trouble"),
        ({"warning": None, "u": np.zeros(8)}, "its plan costs .*, its prices prove"),
    ],
)
def test_an_unproven_transport_is_refused(
    monkeypatch: pytest.MonkeyPatch, doctored: dict[str, Any], reason: str
) -> None:
    costs, masses, honest = np.random.default_rng(0).random((8, 60)), np.full(60, 1 / 60), ot.emd
    assert recheck.cost(costs, masses, 1 / 8, 1 / 8) < 0.3

    def emd(*given: Any, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        plan, log = honest(*given, **options)
        return plan, log | doctored

    monkeypatch.setattr(ot, "emd", emd)
    if not doctored:
        monkeypatch.setattr(recheck, "_ITERATIONS", 3)
    refusal = "the cost of the picks can't be checked, as POT's emd found no optimum: "
    with pytest.raises(HandfulError, match=refusal + reason):
        recheck.cost(costs, masses, 1 / 8, 1 / 8)


@given(st.data(), st.integers(2, 8), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_prices_prove_the_bound_of_the_formula(data: st.DataObject, n: int, equal: bool) -> None:
    numbers = st.lists(small, min_size=n, max_size=n)
    picks = data.draw(st.integers(1, n))
    costs = np.array([data.draw(numbers) for _ in range(n)], float)
    masses = None if equal else data.draw(numbers.filter(any))
    low, high = data.draw(st.sampled_from([0, 0.3, 1])) / picks, data.draw(st.sampled_from([1, 1.7, picks])) / picks
    already = data.draw(st.lists(st.integers(0, n - 1), max_size=picks, unique=True))
    prices = np.array(data.draw(numbers), float) * data.draw(st.sampled_from([-1.0, 0.7, 1.0]))
    problem = Problem(costs, picks, low, high, "precomputed", masses=masses, already=already)
    bound, certain = proven(problem, prices)
    expected = max(0.0, problem.bound(prices))
    assert bound == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert certain == 0 or 0 < bound - certain < 1e-12
    assert certain <= expected


def test_the_margin_covers_rounding_and_stays_small() -> None:
    """Bounds at prices shifted by a constant are equal; what rounding does to them must lie within the margins."""
    random = np.random.default_rng(5)
    some = np.arange(0, 3000, 9)
    problem = Problem(random.normal(size=(3000, 5)), 7, 1 / 7, 1 / 7, candidates=some.tolist())
    prices = random.random(3000) + 0.4
    bound, certain = proven(problem, prices)
    costs = problem.pool.distances(some)
    values = [knapsack(row - prices, problem.pool.masses, 1 / 7, 1 / 7) for row in costs]
    chosen = np.argsort(values)[:7]
    assert bound == pytest.approx(prices.mean() + np.take(values, chosen).sum(), rel=1e-12)
    terms = np.sort(costs[chosen] - prices, axis=1)[:, :429]
    sums = (terms[:, -1:] - terms).sum() / 3000
    assert 3000 * 2.0**-53 * sums < bound - certain < 1e-11
    for shift in (1e3, 1e5, 1e7):
        moved, less = proven(problem, prices + shift)
        assert less <= bound
        assert abs(moved - bound) <= moved - less
        assert moved - less < 1e-11 * shift


def test_masses_that_do_not_sum_to_one_widen_the_margin() -> None:
    problem = Problem(np.random.default_rng(6).normal(size=(40, 3)), 2, 0.5, 0.5)
    prices = np.full(40, 2.0)
    certificate = replace(claim(problem, prices[None]), masses=np.full(40, (1 + 5e-10) / 40))
    bound, certain = recheck.lower_bound(problem.pool, certificate, cases.parts(certificate), lambda done: None)
    exact, _ = proven(problem, prices)
    assert abs(bound - exact) < bound - certain
    assert 1e-9 < bound - certain < 1e-8
