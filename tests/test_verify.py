"""The verifier confirms what is true and names what is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from handful import recheck
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.files.runs import write_run
from handful.pool import Pool
from handful.verify import Verdict, verify
from small_selections import CASES, Problem, best, knapsack

Changes = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def put(folder: Path, name: str, **changes: Any) -> None:
    """The certificate of a case, changed, and nothing else."""
    replace(Certificate.of(best(name)), **changes).write(folder / "certificate.npz")


def check(folder: Path, name: str) -> Verdict:
    return verify(CASES[name].points, folder)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("whole_pool", [False, True])
def test_an_honest_run_is_valid(folder: Path, name: str, whole_pool: bool) -> None:
    selection = best(name)
    write_run(selection, folder)
    verdict = verify(CASES[name].pool if whole_pool else CASES[name].points, folder)
    assert verdict.problems == ()
    assert verdict.valid
    assert verdict.distance == pytest.approx(selection.distance, rel=1e-12, abs=1e-12)
    assert verdict.lower_bound == pytest.approx(CASES[name].bound(selection.prices), rel=1e-11)
    assert verdict.lower_bound <= selection.distance
    assert verdict.gap == pytest.approx(selection.gap, abs=1e-9)
    assert str(verdict) == (
        f"VALID: the picks are at distance {verdict.distance:.6g} of the pool, and no picks can be nearer than "
        f"{verdict.lower_bound:.6g} (gap {verdict.gap:.3%})"
    )


def price_raised(name: str) -> Changes:
    prices = best(name).prices.copy()
    prices[np.argmax(CASES[name].pool.masses)] += 0.5 * np.ptp(CASES[name].pool.distances(np.arange(9)))
    assert CASES[name].bound(prices) < best(name).lower_bound
    return {"prices": prices}


def pick_replaced(name: str) -> Changes:
    picks = best(name).picks.copy()
    picks[-1] = np.setdiff1d(CASES[name].pool.candidates, picks)[-1]
    return {"picks": picks}


def share_moved(name: str) -> Changes:
    shares = best(name).masses.copy()
    dear = np.argmax(shares)
    shares[dear] -= 0.01
    shares[dear - 1] += 0.01
    return {"shares": shares}


def scaled(field: str, factor: float) -> Callable[[str], Changes]:
    return lambda name: {field: getattr(best(name), field) * factor}


SEVERAL = [name for name in CASES if name != "one pick"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (scaled("lower_bound", 1 + 1e-6), "bound overstated"),
        (scaled("distance", 1 - 3e-6), "distance understated"),
        (scaled("distance", 1 + 3e-6), "distance overstated"),
        (price_raised, "bound overstated"),
        (pick_replaced, "picks changed"),
    ],
)
def test_tampering_is_named(folder: Path, name: str, change: Callable[[str], Changes], words: str) -> None:
    if name == "one pick" and change is scaled("lower_bound", 1):
        return
    put(folder, name, **change(name))
    verdict = check(folder, name)
    assert not verdict.valid
    assert any(words in problem for problem in verdict.problems), verdict.problems
    assert str(verdict).startswith("INVALID\n- ")


@pytest.mark.parametrize("name", SEVERAL)
def test_a_moved_share_is_named(folder: Path, name: str) -> None:
    put(folder, name, **share_moved(name))
    verdict = check(folder, name)
    assert [problem.split(":")[0] for problem in verdict.problems] == ["shares changed"]


def test_every_problem_is_named(folder: Path) -> None:
    selection = best("not whole")
    put(folder, "not whole", distance=selection.distance * 0.99, lower_bound=selection.lower_bound * 1.01)
    verdict = check(folder, "not whole")
    assert [problem.split(":")[0] for problem in verdict.problems] == [
        "distance understated, or picks changed",
        "bound overstated",
    ]
    assert verdict.distance == pytest.approx(selection.distance)
    assert verdict.lower_bound == pytest.approx(selection.lower_bound)


def permuted(points: np.ndarray) -> np.ndarray:
    return points[[1, 0, *range(2, len(points))]]


def one_number_changed(points: np.ndarray) -> np.ndarray:
    points = points.copy()
    points[4, 2] = np.nextafter(points[4, 2], np.inf)
    return points


@pytest.mark.parametrize("name", ["uniform", "free", "ranged", "masses", "already", "candidates", "duplicates"])
@pytest.mark.parametrize(
    "change", [permuted, one_number_changed, lambda points: points[:-1], lambda points: points.astype(np.float32)]
)
def test_another_pool_is_named(folder: Path, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    put(folder, name)
    points = change(CASES[name].points)
    verdict = verify(points, folder)
    expected = f"pool changed: these {len(points)} points are not those that the certificate was made for"
    assert verdict.problems == (expected,)
    assert not verdict.valid
    assert math.isnan(verdict.distance)
    assert math.isnan(verdict.lower_bound)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"metric": "euclidean"}, "metric"),
        ({"masses": np.arange(1, 11)}, "masses"),
        ({"candidates": np.arange(9)}, "candidates"),
        ({"candidates": None}, "candidates"),
    ],
)
def test_a_pool_of_ones_own_must_agree(folder: Path, change: Changes, word: str) -> None:
    problem = CASES["candidates"]
    put(folder, "candidates")
    settings = {"metric": "cosine", "candidates": problem.candidates} | change
    verdict = verify(Pool(problem.points, **settings), folder)
    assert verdict.problems == (f"{word} changed: the pool has others than the certificate",)


def not_a_pick(name: str) -> int:
    return int(np.setdiff1d(CASES[name].pool.candidates, best(name).picks)[0])


def test_what_stays_true_stays_valid(folder: Path) -> None:
    selection, uneven = best("candidates"), best("not whole")
    fewer = np.setdiff1d(CASES["candidates"].candidates, [not_a_pick("candidates")])
    for name, changes in [
        ("not whole", {"lower_bound": uneven.lower_bound / 2}),
        ("not whole", {"lower_bound": -math.inf}),
        ("not whole", {"prices": uneven.prices + 1}),  # uniform picks: a constant makes no difference
        ("not whole", {"prices": np.zeros(10), "lower_bound": 0.0}),
        ("not whole", {"prices": np.full(10, -3.0) * np.arange(10), "lower_bound": 0.0}),  # no cost is negative
        ("not whole", {"candidates": np.arange(10)[::-1]}),
        ("not whole", {"masses": np.full(10, 0.1)}),
        ("not whole", {"picks": uneven.picks[::-1]}),
        ("candidates", {"candidates": fewer}),
        ("candidates", {"candidates": fewer, "lower_bound": selection.lower_bound - 1e-3}),
        ("already", {"already": np.empty(0, np.int64), "lower_bound": 0.0}),
    ]:
        put(folder, name, **changes)
        assert check(folder, name).problems == (), (name, changes)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("uniform", {"picks": np.array([0, 1, 9])}, "picks changed: they must be different rows .* 0 to 8"),
        ("uniform", {"picks": np.array([0, 1, -1])}, "picks changed: they must be different rows"),
        ("uniform", {"picks": np.array([0, 1, 1])}, "picks changed: they must be different rows"),
        ("already", {"picks": np.array([0, 1, 2])}, "picks changed: row 7, picked earlier, is not among them"),
        ("already", {"already": np.array([7, 7])}, "already changed: they must be different rows"),
        ("candidates", {"candidates": np.array([0, 1, 12])}, "candidates changed: they must be different rows"),
        ("candidates", {"picks": np.array([0, 1, 2])}, "picks changed: row 0 is not a candidate"),
        ("candidates", {"candidates": np.array([0, 4, 6, 7])}, "picks changed: row . is not a candidate"),
        ("uniform", {"prices": np.full(9, np.nan)}, "prices changed: they must be finite"),
        ("uniform", {"prices": np.full(9, np.inf)}, "prices changed: they must be finite"),
        ("masses", {"masses": np.full(10, 0.2)}, "masses changed: they must be 0 or more and sum to 1"),
        ("masses", {"masses": np.array([-0.1, 0.2] + [0.1125] * 8)}, "masses changed: they must be 0 or more"),
        ("masses", {"masses": np.full(10, np.nan)}, "masses changed"),
        ("uniform", {"low": 0.4, "high": 0.4}, "mass range changed: 3 picks that carry 0.4 to 0.4 each can't"),
        ("uniform", {"low": 0.1, "high": 0.2}, "mass range changed: 3 picks that carry 0.1 to 0.2 each can't"),
        ("free", {"low": -0.1}, "mass range changed"),
        ("free", {"high": math.nan}, "mass range changed"),
        ("uniform", {"shares": np.array([0.3, 0.3, 0.4])}, "shares changed: each must be in 0.33"),
        ("free", {"shares": np.array([0.3, 0.3, 0.3])}, "shares changed: each must be in 0.0 to 1.0, and their sum 1"),
        ("free", {"shares": np.array([0.5, 0.5, np.nan])}, "shares changed"),
        ("uniform", {"lower_bound": 0.3}, "bound overstated: 0.3, above the distance 0.2"),
        ("uniform", {"lower_bound": math.nan}, "bound overstated: nan"),
        ("uniform", {"distance": math.inf}, "bound overstated"),
    ],
)
def test_what_cannot_be_is_named(folder: Path, name: str, changes: Changes, words: str) -> None:
    put(folder, name, **changes)
    verdict = check(folder, name)
    assert not verdict.valid
    with pytest.raises(ValueError, match=words):
        raise ValueError(" | ".join(verdict.problems))


@pytest.mark.parametrize("changes", [{"candidates": np.arange(10)}, {"candidates": np.empty(0, np.int64)}])
def test_more_candidates_need_another_proof(folder: Path, changes: Changes) -> None:
    put(folder, "candidates", **changes)
    wider = replace(CASES["candidates"], candidates=None)
    assert wider.bound(best("candidates").prices) < best("candidates").lower_bound
    assert [p.split(":")[0] for p in check(folder, "candidates").problems] == ["bound overstated"]


@pytest.mark.parametrize(
    ("name", "changes"), [("free", {"high": 0.5}), ("ranged", {"high": 0.9}), ("ranged", {"low": 0})]
)
def test_another_range_is_another_problem(folder: Path, name: str, changes: Changes) -> None:
    selection, problem = best(name), replace(CASES[name], **changes)
    changed = {field: float(value) for field, value in changes.items()}
    put(folder, name, **changed)
    cost = cheapest_plan(problem.pool.distances(selection.picks), problem.pool.masses, problem.low, problem.high)
    expected = cost == pytest.approx(selection.distance, rel=1e-6) and (
        problem.bound(selection.prices) >= selection.lower_bound
    )
    assert check(folder, name).valid == expected


@pytest.mark.parametrize("size", [1e12, 1e16, 1e200])
def test_prices_that_drown_the_distances_prove_nothing(folder: Path, size: float) -> None:
    put(folder, "not whole", prices=best("not whole").prices + size, lower_bound=0.01)
    verdict = check(folder, "not whole")
    assert [p.split(":")[0] for p in verdict.problems] == ["bound overstated"]
    assert verdict.lower_bound == 0


def rewrite_plan(folder: Path, **changes: np.ndarray) -> None:
    with np.load(folder / "plan.npz") as file:
        plan = dict(file)
    np.savez(folder / "plan.npz", **plan | changes)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("not whole", lambda s: {"flow_masses": s.flow_masses * 0.999}, "does not bring the masses"),
        ("not whole", lambda s: {"flow_rows": s.flow_rows[::-1]}, "it costs|does not bring the masses"),
        ("uniform", lambda s: {"flow_picks": (s.flow_picks + 1) % 3}, "it costs"),
        ("free", lambda s: {"flow_picks": (s.flow_picks + 1) % 3}, "does not bring the masses .* in their shares"),
        ("uniform", lambda s: {"flow_picks": s.flow_picks + 1}, "a point, a pick or a mass that can't be"),
        ("uniform", lambda s: {"flow_rows": s.flow_rows - 1}, "a point, a pick or a mass that can't be"),
        ("uniform", lambda s: {"flow_masses": s.flow_masses * np.nan}, "a point, a pick or a mass that can't be"),
        ("uniform", lambda s: {"rank": s.labels[1:]}, "not as long as they must be"),
        ("uniform", lambda s: {"flow_rows": s.flow_rows[1:]}, "not as long as they must be"),
        ("uniform", lambda s: {"pick": s.plan[::-1]}, "gives a point to a pick that does not serve most of it"),
        ("masses", lambda s: {"rank": (s.labels + 1) % 3, "pick": s.picks[(s.labels + 1) % 3]}, "gives a point to a"),
    ],
)
def test_a_changed_plan_is_named(folder: Path, name: str, changes: Callable[[Any], Changes], words: str) -> None:
    write_run(best(name), folder)
    rewrite_plan(folder, **changes(best(name)))
    verdict = check(folder, name)
    assert all(problem.startswith("plan changed: it") for problem in verdict.problems)
    with pytest.raises(ValueError, match=words):
        raise ValueError(" | ".join(verdict.problems))


def test_a_truncated_plan_is_refused(folder: Path) -> None:
    write_run(best("uniform"), folder)
    (folder / "plan.npz").write_bytes((folder / "plan.npz").read_bytes()[:300])
    with pytest.raises(HandfulError, match=r"plan\.npz is truncated"):
        check(folder, "uniform")


@pytest.mark.parametrize(("before", "after"), [("\r\n1,", "\r\n1,1"), ("index", "indices"), ("\r\n2,", "\r\n\0,")])
def test_a_changed_list_of_picks_is_named(folder: Path, before: str, after: str) -> None:
    write_run(best("already"), folder)
    text = (folder / "picks.csv").read_bytes().decode()
    (folder / "picks.csv").write_bytes(text.replace(before, after, 1).encode())
    expected = "picks changed: picks.csv does not list the new picks of the certificate"
    assert check(folder, "already").problems == (expected,)


def test_an_unproven_transport_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    costs, masses = random.random((8, 60)), np.full(60, 1 / 60)
    assert recheck.cost(costs, masses, 1 / 8, 1 / 8) < 0.3
    monkeypatch.setattr(recheck, "_ITERATIONS", 3)
    with pytest.raises(HandfulError, match="the cost of the picks can't be checked, as POT's emd found no optimum"):
        recheck.cost(costs, masses, 1 / 8, 1 / 8)


def test_blocks_change_nothing_and_tell_how_far_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "masses, ranged")
    told: list[float] = []
    whole = verify(CASES["masses, ranged"].points, folder, progress=told.append)
    assert told == [1.0]
    monkeypatch.setattr(recheck, "_CELLS", 30)
    told.clear()
    assert verify(CASES["masses, ranged"].points, folder, progress=told.append).lower_bound == pytest.approx(
        whole.lower_bound, rel=1e-14
    )
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_a_failure_in_a_pass_ends_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(fraction: float) -> None:
        raise KeyboardInterrupt

    put(folder, "uniform")
    with pytest.raises(KeyboardInterrupt):
        verify(CASES["uniform"].points, folder, progress=interrupt)


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


@given(st.data(), st.integers(2, 8), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_prices_prove_the_bound_of_the_formula(data: st.DataObject, n: int, equal: bool) -> None:
    numbers = st.lists(small, min_size=n, max_size=n)
    picks = data.draw(st.integers(1, n))
    costs = np.array([data.draw(numbers) for _ in range(n)], float)
    masses = None if equal else data.draw(numbers.filter(any))
    low, high = data.draw(st.sampled_from([0, 0.3, 1])) / picks, data.draw(st.sampled_from([1, 1.7, picks])) / picks
    already = data.draw(st.lists(st.integers(0, n - 1), max_size=picks, unique=True))
    prices = np.array(data.draw(numbers), float) * data.draw(st.sampled_from([-1.0, 0.7, 1.0]))
    pool = Pool(costs, "precomputed", masses=masses)
    problem = Problem(costs, picks, low, high, "precomputed", masses=pool.masses, already=already)
    bound, certain = recheck.lower_bound(
        pool, pool.masses, prices, picks, (low, high), np.array(already, np.int64), np.arange(n), lambda done: None
    )
    expected = max(0.0, problem.bound(prices))
    assert bound == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert certain == 0 or 0 < bound - certain < 1e-12
    assert certain <= expected


def test_the_margin_covers_rounding_and_stays_small() -> None:
    """Bounds at prices shifted by a constant are equal; what rounding does to them must lie within the margins."""
    random = np.random.default_rng(5)
    pool = Pool(random.normal(size=(3000, 5)), "cosine")
    prices = random.random(3000) + 0.4

    def at(shift: float) -> tuple[float, float]:
        nobody = np.empty(0, np.int64)
        return recheck.lower_bound(
            pool, pool.masses, prices + shift, 7, (1 / 7, 1 / 7), nobody, np.arange(0, 3000, 9), lambda done: None
        )

    bound, certain = at(0.0)
    reference = [knapsack(costs - prices, pool.masses, 1 / 7, 1 / 7) for costs in pool.distances(np.arange(0, 3000, 9))]
    assert bound == pytest.approx(prices.mean() + sum(sorted(reference)[:7]), rel=1e-12)
    assert 0 < bound - certain < 1e-11
    for shift in (1e3, 1e5, 1e7):
        moved, less = at(shift)
        assert less <= bound
        assert abs(moved - bound) <= moved - less
        assert moved - less < 1e-12 * shift * 3
