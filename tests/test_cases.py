"""A proof in cases proves what is true, and no more, whatever is written into it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import cases, recheck
from handful.certificate import Certificate
from handful.engine import select
from handful.files.runs import write_run
from handful.verification import Verdict, verify
from small_selections import CASES, best, claim, in_cases


def check(folder: Path, name: str, **changes: Any) -> Verdict:
    """The verdict on the proof in cases of these picks, changed."""
    replace(Certificate.of(in_cases(name)), **changes).write(folder / "certificate.npz")
    return verify(CASES[name].points, folder)


@pytest.mark.parametrize("name", CASES)
def test_cases_prove_the_best_picks_best(tmp_path: Path, name: str) -> None:
    write_run(in_cases(name), tmp_path)
    verdict = verify(CASES[name].points, tmp_path)
    assert verdict.problems == ()
    assert verdict.lower_bound == pytest.approx(best(name).distance, rel=1e-11)


@pytest.mark.parametrize("name", ["uniform", "not whole", "masses", "ranged"])
def test_every_part_of_the_proof_is_needed(tmp_path: Path, name: str) -> None:
    """The root alone proves less; and one of the best picks left out, by prices that do not prove it, is noticed."""
    certificate, root = Certificate.of(in_cases(name)), np.array([[-1, -1, 0, 0]])
    unproven = np.array([[0, best(name).picks[0], 0]])
    for changes in (
        {"cases": root},
        {"discarded": certificate.discarded[:0], "cases": root},
        {"cases": certificate.cases * [1, 1, 1, 0]},
        {"cases": root, "discarded": np.vstack([certificate.discarded, unproven])},
    ):
        verdict = check(tmp_path, name, **changes)
        assert [problem.split(":")[0] for problem in verdict.problems] == ["bound overstated"], changes
        assert verdict.lower_bound < best(name).distance * (1 - 1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rounds", [1, 2])
def test_runs_of_the_engine_are_valid(tmp_path: Path, name: str, rounds: int) -> None:
    problem = CASES[name]
    weight, already = (problem.low, problem.high), problem.already
    run = select(
        problem.pool, problem.budget, picks_weight=weight, already=already, count_already=True, gap=0, rounds=rounds
    )
    write_run(run, tmp_path)
    verdict = verify(problem.points, tmp_path)
    assert verdict.problems == ()
    assert verdict.lower_bound <= best(name).distance <= verdict.distance * (1 + 1e-12)
    assert verdict.lower_bound == pytest.approx(run.lower_bound, rel=1e-3)


REGIONS = [[0, 1, 2, 3], [0, 1], [2, 3], [4, 5, 6], [5, 6]]  # any two nested or disjoint


@given(st.data(), st.sampled_from([name for name in CASES if name != "one pick"]))
@settings(max_examples=250, deadline=None)
def test_no_proof_proves_more_than_is_true(data: st.DataObject, name: str) -> None:
    """Whatever prices, halves and discarded candidates a proof has, it proves no more than the best distance."""
    problem, n = CASES[name], len(CASES[name].points)
    good = [best(name).prices, *Certificate.of(in_cases(name)).vectors]
    moved = data.draw(st.lists(st.tuples(st.sampled_from(good), st.integers(0, n - 1), st.floats(-1, 1)), max_size=3))
    vectors = np.array([*good, *(prices + size * np.eye(n)[i] for prices, i, size in moved)])
    vector, row = st.integers(0, len(vectors) - 1), st.integers(0, n - 1)
    halves = [(-1, -1, 0, data.draw(vector))]
    leaves = {0: np.setdiff1d(problem.pool.candidates, problem.already).tolist()}
    for _ in range(data.draw(st.integers(0, 4))):
        parent = data.draw(st.sampled_from(sorted(leaves)))
        branch = data.draw(st.sampled_from(leaves[parent] + [-2 - r for r in range(2 * len(REGIONS))]))
        rest = [row for row in leaves.pop(parent) if row != branch]
        for included in data.draw(st.permutations([0, 1])):
            leaves[len(halves)] = rest
            halves.append((parent, branch, included, data.draw(vector)))
    discarded = data.draw(st.lists(st.tuples(st.sampled_from(sorted(leaves)), row, vector), max_size=6))
    rows = [(r, row) for r in range(2 * len(REGIONS)) for row in REGIONS[r // 2] if row < n]
    most = [r % 2 for r in range(2 * len(REGIONS))]
    certificate = claim(problem, vectors, cases=halves, discarded=discarded, regions=rows, region_most=most)
    bound, certain = recheck.lower_bound(problem.pool, certificate, cases.parts(certificate), lambda done: None)
    assert certain <= best(name).distance
    assert bound <= best(name).distance + 1e-12


def appended(table: np.ndarray, *rows: list[int]) -> np.ndarray:
    return np.vstack([table, rows])


def overlapping(certificate: Certificate) -> dict[str, Any]:
    return {
        "cases": np.array([[-1, -1, 0, 0], [0, -2, 1, 0], [0, -2, 0, 0], [1, -3, 1, 0], [1, -3, 0, 0]]),
        "regions": np.array([[0, 1], [0, 2], [1, 2], [1, 3]]),
        "region_most": np.array([1, 1]),
        "discarded": certificate.discarded[:0],
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: {"cases": c.cases[:-1]}, "case .* must be split in two, by one candidate"),
        (lambda c: {"cases": appended(c.cases, *c.cases[1:3])}, "case 0 must be split in two, by one candidate"),
        (lambda c: {"cases": c.cases * [1, 1, 0, 1]}, "case 0 must be split in two"),
        (lambda c: {"cases": appended(c.cases[:1], [0, 1, 1, 0], [0, 2, 0, 0])}, "case 0 must be split in two"),
        (lambda c: {"cases": c.cases[1:]}, "case 0 must come from one before it, and the first from none"),
        (lambda c: {"cases": appended(c.cases, [9999, 1, 1, 0])}, "case .* must come from one before"),
        (lambda c: {"cases": appended(c.cases[:1], [-1, 1, 1, 0], [-1, 1, 0, 0])}, "case 1 must come from one before"),
        (lambda c: {"cases": appended(c.cases, [0, 1, 1, 9999])}, "but others are referred to"),
        (lambda c: {"discarded": np.array([[0, 1, -1]])}, "but others are referred to"),
        (lambda c: {"discarded": np.array([[9999, 1, 0]])}, "candidates are discarded in others"),
        (lambda c: {"discarded": np.array([[0, c.cases[1, 1], 0]])}, "which was not open there"),
        (lambda c: {"cases": c.cases * [1, -3, 1, 1]}, "split by regions beyond the 0 there are"),
        (lambda c: {"regions": np.array([[0, 1]])}, "others have members"),
        (lambda c: overlapping(c), "split by a region that overlaps with an earlier one"),
    ],
)
def test_a_proof_that_cannot_be_is_named(
    tmp_path: Path, change: Callable[[Certificate], dict[str, Any]], words: str
) -> None:
    verdict = check(tmp_path, "not whole", **change(Certificate.of(in_cases("not whole"))))
    (problem,) = verdict.problems
    assert re.search(f"proof changed: .*{words}", problem), problem
    assert verdict.lower_bound == 0
