"""The verifier confirms what is true and names what is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import recheck
from handful.certificate import Certificate
from handful.files.runs import write_run
from handful.pool import Pool
from handful.verification import Verdict, verify
from small_selections import CASES, best

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
    few, n = len(selection.pool.candidates), selection.pool.n
    among, rest = (
        ("", "")
        if few == n
        else (
            f" out of the {few} candidates",
            f"; nothing is proven of the other {n - few} points",
        )
    )
    assert str(verdict) == (
        f"VALID: the picks are at distance {verdict.distance:.6g} of the pool, and no picks{among} can be nearer than "
        f"{verdict.lower_bound:.6g} (gap {verdict.gap:.3%}){rest}"
    )


def price_raised(name: str) -> Changes:
    prices = best(name).prices.copy()
    prices[np.argmax(CASES[name].pool.masses)] += 0.5 * np.ptp(CASES[name].pool.distances(np.arange(9)))
    assert CASES[name].bound(prices) < best(name).lower_bound
    return {"prices": prices}


def pick_replaced(name: str) -> Changes:
    pool, picks = CASES[name].pool, best(name).picks.copy()
    others = np.setdiff1d(pool.candidates, picks)
    picks[-1] = others[np.argmax(pool.distances(others) @ pool.masses)]
    return {"picks": picks}


def share_moved(name: str) -> Changes:
    shares = best(name).masses.copy()
    dear = np.argmax(shares)
    shares[dear] -= 0.01
    shares[dear - 1] += 0.01
    return {"shares": shares}


def scaled(field: str, factor: float) -> Callable[[str], Changes]:
    return lambda name: {field: getattr(best(name), field) * factor}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (scaled("lower_bound", 1 + 1e-6), "bound overstated"),
        (scaled("distance", 1 - 3e-6), "distance understated"),
        (scaled("distance", 1 + 3e-6), "distance overstated"),
        (pick_replaced, "picks changed"),
    ],
)
def test_tampering_is_named(folder: Path, name: str, change: Callable[[str], Changes], words: str) -> None:
    put(folder, name, **change(name))
    verdict = check(folder, name)
    assert not verdict.valid
    assert any(words in problem for problem in verdict.problems), verdict.problems
    assert str(verdict).startswith("INVALID\n- ")


@pytest.mark.parametrize("name", [name for name in CASES if name != "one pick"])  # where neither changes anything
@pytest.mark.parametrize(("change", "words"), [(price_raised, "bound overstated"), (share_moved, "shares changed")])
def test_tampering_with_several_picks_is_named(
    folder: Path, name: str, change: Callable[[str], Changes], words: str
) -> None:
    put(folder, name, **change(name))
    assert [problem.split(":")[0] for problem in check(folder, name).problems] == [words]


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
        ("ranged", {"low": 0.3}),  # the best shares are 0.36, 0.34 and 0.3
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
        ("uniform", {"lower_bound": math.nan}, "distance or bound changed: 0.2.* and nan are no such figures"),
        ("uniform", {"distance": math.inf}, "distance or bound changed: inf"),
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
    ("changes", "word"), [({"high": 0.9}, "distance"), ({"low": 0.31}, "shares"), ({"high": 0.34}, "shares")]
)
def test_another_range_is_another_problem(folder: Path, changes: Changes, word: str) -> None:
    """A wider range, if it helps, brings the picks nearer; a narrower one does not fit their shares."""
    put(folder, "ranged", **changes)
    assert check(folder, "ranged").problems[0].startswith(word)


def test_a_bound_above_the_distance_is_named(folder: Path) -> None:
    selection = best("one pick")
    put(folder, "one pick", distance=selection.distance * (1 - 5e-7))
    (problem,) = check(folder, "one pick").problems
    assert problem.startswith(f"bound overstated: {selection.lower_bound!r} is stated, above the distance 0.63")


@pytest.mark.parametrize("size", [1e12, 1e16, 1e200])
def test_prices_that_drown_the_distances_prove_little(folder: Path, size: float) -> None:
    put(folder, "not whole", prices=best("not whole").prices + size)
    verdict = check(folder, "not whole")
    assert [p.split(":")[0] for p in verdict.problems] == ["bound overstated"]
    assert verdict.lower_bound < best("not whole").lower_bound * (1 - 1e-6)


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
