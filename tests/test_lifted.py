"""Values of the lifted cut: those of a sort, bounds below them, and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from handful import lifted
from handful.lifted import Shares
from oracles import knapsack, lifted_values

Floats = NDArray[np.float64]

UNKNOWN = np.inf


def shares(picks: int) -> list[Shares]:
    even = 1 / picks
    ends = [(even, even), (0.0, 1.0), (0.3 * even, 1.0), (0.0, 1.7 * even), (0.6 * even, 1.3 * even), (even, 1.0)]
    return [Shares(low, min(1.0, high)) for low, high in ends]


def values(costs: NDArray[Any], prices: Floats, masses: Floats, share: Shares) -> tuple[Floats, Floats]:
    """Values and thresholds with nothing known of them."""
    count = len(costs)
    return lifted.values(costs, np.arange(count), prices, masses, share, np.zeros(count), np.full(count, UNKNOWN))


def cases(random: np.random.Generator) -> Iterator[tuple[NDArray[Any], Floats, Floats]]:
    """Costs, prices and masses of all kinds; many points make use of samples, few do not."""
    for points in (1, 2, 17, 400, 9000):
        for kind in ("any", "whole", "equal", "single"):
            for weights in ("equal", "any", "some zero"):
                costs = random.random((6, points))
                prices = random.normal(0.3, 0.4, size=points)
                if kind == "whole":
                    costs, prices = np.round(4 * costs), np.round(4 * prices)
                elif kind == "equal":
                    costs, prices = np.full((6, points), 0.5), np.full(points, float(random.integers(3)) / 2)
                elif kind == "single":
                    costs = costs.astype(np.float32)
                masses = np.ones(points)
                if weights != "equal":
                    masses = random.random(points) + 0.01
                if weights == "some zero":
                    masses[random.random(points) < 0.4] = 0
                    masses[0] = 1
                yield costs, prices, masses / masses.sum()


def test_values_are_those_of_a_sort() -> None:
    random = np.random.default_rng(0)
    for costs, prices, masses in cases(random):
        for share in shares(int(random.integers(1, 6))):
            found, thresholds = values(costs, prices, masses, share)
            expected = lifted_values(costs, prices, masses, share.low, share.high)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
            one, _ = knapsack(costs[0].astype(np.float64) - prices, masses, share.low, share.high)
            assert found[0] == pytest.approx(one, rel=1e-10, abs=1e-13)
            # A threshold is a price at which weak duality is tight.
            terms = costs.astype(np.float64) - prices
            taken = (masses * np.minimum(0, terms - thresholds[:, None])).sum(axis=1)
            np.testing.assert_allclose(lifted.floors(taken, share, thresholds), found, rtol=1e-9, atol=1e-12)


def test_what_is_known_of_the_thresholds_changes_no_value() -> None:
    """Right, a little off, far off, and wrong with certainty."""
    random = np.random.default_rng(1)
    for costs, prices, masses in cases(random):
        share = shares(int(random.integers(1, 6)))[int(random.integers(6))]
        expected, thresholds = values(costs, prices, masses, share)
        rows = random.permutation(6)[:4]
        for guess, width in [
            (thresholds, 0.0),
            (thresholds, 1e-3),
            (thresholds + 0.01, 0.05),
            (thresholds - 3, 0.1),
            (thresholds + 3, 0.1),
            (np.full(6, 1e9), 0.0),
        ]:
            found, _ = lifted.values(costs, rows, prices, masses, share, guess[rows], np.full(4, width))
            np.testing.assert_allclose(found, expected[rows], rtol=1e-10, atol=1e-13)


def test_floors_at_any_threshold_are_below_the_values() -> None:
    random = np.random.default_rng(2)
    for costs, prices, masses in cases(random):
        share = shares(int(random.integers(1, 6)))[int(random.integers(6))]
        expected = lifted_values(costs, prices, masses, share.low, share.high)
        _, exact = values(costs, prices, masses, share)
        some = np.arange(0, costs.shape[1], max(1, costs.shape[1] // 100))
        sampled = lifted.sampled_thresholds(costs[:, some], prices[some], share)
        for thresholds in (sampled, exact, exact + 0.02, exact - 0.02, random.normal(size=6)):
            sums = np.zeros(6)
            half = costs.shape[1] // 2
            for part in (slice(None, half), slice(half, None)):  # tile after tile
                lifted.add_taken(np.ascontiguousarray(costs[:, part]), prices[part], masses[part], thresholds, sums)
            terms = costs.astype(np.float64) - prices - thresholds[:, None]
            np.testing.assert_allclose(sums, (masses * np.minimum(0, terms)).sum(axis=1), rtol=1e-10, atol=1e-14)
            floors = lifted.floors(sums, share, thresholds)
            assert (floors <= expected + 1e-12).all()
        sums = np.zeros(6)
        lifted.add_taken(costs, prices, masses, exact, sums)
        np.testing.assert_allclose(lifted.floors(sums, share, exact), expected, rtol=1e-9, atol=1e-12)


def test_what_is_served_is_a_supergradient() -> None:
    """v(u') <= v(u) - y (u' - u) for all u', where y is what is taken at u: v is a least of functions linear in u."""
    random = np.random.default_rng(3)
    for costs, prices, masses in cases(random):
        share = shares(int(random.integers(1, 6)))[int(random.integers(6))]
        rows = np.array([4, 1, 2])
        found, thresholds = lifted.values(costs, rows, prices, masses, share, np.zeros(3), np.full(3, UNKNOWN))
        taken = lifted.served(costs, rows, prices, masses, share, thresholds)
        assert (taken >= 0).all()
        assert (taken <= 3 * masses * (1 + 1e-12)).all()
        assert 3 * share.low - 1e-12 <= taken.sum() <= 3 * share.high + 1e-12
        for size in (1e-3, 0.1, 3.0):
            others = prices + size * random.normal(size=len(prices))
            there = lifted_values(costs[rows], others, masses, share.low, share.high)
            assert there.sum() <= found.sum() - taken @ (others - prices) + 1e-11
        for k, row in enumerate(rows):
            alone = lifted.served(costs, rows[k : k + 1], prices, masses, share, thresholds[k : k + 1])
            terms = costs[row].astype(np.float64) - prices
            assert alone @ terms == pytest.approx(found[k], rel=1e-9, abs=1e-12)


@given(st.data(), st.integers(1, 12))
@settings(max_examples=200, deadline=None)
def test_whole_numbers_that_tie_a_lot(data: st.DataObject, points: int) -> None:
    numbers = st.lists(st.integers(0, 3), min_size=points, max_size=points)
    costs = np.array([data.draw(numbers)], float)
    prices = np.array(data.draw(numbers), float)
    masses = np.array(data.draw(numbers.filter(any)), float)
    masses /= masses.sum()
    share = shares(data.draw(st.integers(1, 5)))[data.draw(st.integers(0, 5))]
    found, thresholds = values(costs, prices, masses, share)
    expected, _ = knapsack(costs[0] - prices, masses, share.low, share.high)
    assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-14)
    taken = lifted.served(costs, np.zeros(1, np.int64), prices, masses, share, thresholds)
    assert taken @ (costs[0] - prices) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert share.low - 1e-12 <= taken.sum() <= share.high + 1e-12
