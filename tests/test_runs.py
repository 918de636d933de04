"""The folder of a run holds what the selection says, for people and programs, and its files must agree."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import handful
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.files.runs import save, write_run
from handful.verification import verify
from small_selections import CASES, best


def picks_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "picks.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", CASES)
def test_picks_say_what_each_new_pick_stands_for(tmp_path: Path, name: str) -> None:
    selection, problem = best(name), CASES[name]
    save(selection, tmp_path / "run", force=False)
    rows, new = picks_of(tmp_path / "run"), slice(len(selection.already), None)
    assert list(rows[0]) == ["rank", "index", "id", "mass", "stands_for", "mean_distance"]
    assert [row["rank"] for row in rows] == [str(1 + k) for k in range(len(selection.indices))]
    assert [int(row["index"]) for row in rows] == selection.indices.tolist()
    assert [row["id"] for row in rows] == [row["index"] for row in rows]
    assert [float(row["mass"]) for row in rows] == selection.masses[new].tolist()
    assert [int(row["stands_for"]) for row in rows] == [(selection.plan == pick).sum() for pick in selection.indices]
    costs = problem.pool.distances(selection.picks)
    flow = np.zeros_like(costs)
    flow[selection.flow_picks, selection.flow_rows] = selection.flow_masses
    expected = ((flow * costs).sum(axis=1) / flow.sum(axis=1))[new]
    np.testing.assert_allclose([float(row["mean_distance"]) for row in rows], expected, rtol=1e-12, atol=1e-12)


def test_a_pick_that_serves_nobody_has_no_mean_distance(tmp_path: Path) -> None:
    selection = best("free")
    onto_the_first = replace(
        selection,
        masses=np.array([1.0, 0.0, 0.0]),
        plan=np.full(10, selection.indices[0]),
        flow_rows=np.arange(10),
        flow_picks=np.zeros(10, np.int64),
        flow_masses=np.full(10, 0.1),
    )
    write_run(onto_the_first, tmp_path)
    first, second, _ = picks_of(tmp_path)
    assert (first["stands_for"], float(first["mass"])) == ("10", 1.0)
    costs = CASES["free"].pool.distances(selection.indices[:1])
    assert float(first["mean_distance"]) == pytest.approx(costs.mean(), rel=1e-12)
    assert (second["stands_for"], second["mass"], second["mean_distance"]) == ("0", "0.0", "")


def test_ids_are_those_of_the_points(tmp_path: Path) -> None:
    selection = best("already")
    ids = np.array([f"image {k}, left" for k in range(10)])
    selection.save(tmp_path / "run", ids=ids)
    assert [row["id"] for row in picks_of(tmp_path / "run")] == [f"image {k}, left" for k in selection.indices]
    with pytest.raises(HandfulError, match="9 ids were given for 10 points"):
        save(selection, tmp_path / "other", force=False, ids=ids[:9])
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["not whole", "already"])
def test_the_plan_is_the_whole_plan(tmp_path: Path, name: str) -> None:
    selection = best(name)
    write_run(selection, tmp_path)
    with np.load(tmp_path / "plan.npz", allow_pickle=False) as file:
        plan = dict(file)
    assert set(plan) == {"pick", "rank", "flow_rows", "flow_picks", "flow_masses"}
    np.testing.assert_array_equal(plan["pick"], selection.plan)
    np.testing.assert_array_equal(selection.picks[plan["rank"]], selection.plan)
    served = np.bincount(plan["flow_rows"], plan["flow_masses"])
    np.testing.assert_allclose(served, selection.pool.masses, rtol=1e-12)
    carried = np.bincount(plan["flow_picks"], plan["flow_masses"])
    np.testing.assert_allclose(carried, np.full(3, 1 / 3), rtol=1e-12)


def test_the_summary_is_complete_and_takes_more(tmp_path: Path) -> None:
    selection = best("already")
    save(selection, tmp_path / "run", force=False, extra_summary={"pool": "pool.npy", "seed": np.int64(3)})
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary == {
        "version": handful.__version__,
        "n": 10,
        "dimension": 4,
        "metric": "cosine",
        "budget": 2,
        "already": 1,
        "candidates": 10,
        "restriction": "",
        "picks_weight": {"low": 1 / 3, "high": 1 / 3},
        "distance": selection.distance,
        "lower_bound": selection.lower_bound,
        "gap": selection.gap,
        "certified": True,
        "status": "gap",
        "sentence": str(selection),
        "seconds": 1.5,
        "trace": [
            {"elapsed": 0.5, "distance": 2 * selection.distance, "lower_bound": 0.0, "phase": "search", "gap": 1.0},
            {
                "elapsed": 1.5,
                "distance": selection.distance,
                "lower_bound": selection.lower_bound,
                "phase": "bound",
                "gap": selection.gap,
            },
        ],
        "pool": "pool.npy",
        "seed": 3,
    }


def test_a_run_is_replaced_as_a_whole_and_only_by_force(tmp_path: Path) -> None:
    best("uniform").save(tmp_path / "run")
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "certificate.npz",
        "picks.csv",
        "plan.npz",
        "summary.json",
    ]
    with pytest.raises(HandfulError, match="--force"):
        best("free").save(tmp_path / "run")
    assert Certificate.read(tmp_path / "run" / "certificate.npz").high == 1 / 3
    best("free").save(tmp_path / "run", force=True)
    assert Certificate.read(tmp_path / "run" / "certificate.npz").high == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["picks_weight"] == {"low": 0, "high": 1}


def rewrite_plan(folder: Path, **changes: np.ndarray) -> None:
    with np.load(folder / "plan.npz") as file:
        plan = dict(file)
    np.savez(folder / "plan.npz", **plan | changes)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("not whole", lambda s: {"flow_masses": s.flow_masses * 0.999}, "does not bring the masses"),
        ("not whole", lambda s: {"flow_rows": s.flow_rows[::-1]}, "it costs|does not bring the masses"),
        ("uniform", lambda s: {"flow_rows": s.picks[s.flow_picks]}, "does not bring the masses of the points"),
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
def test_a_changed_plan_is_named(
    tmp_path: Path, name: str, changes: Callable[[Any], dict[str, np.ndarray]], words: str
) -> None:
    write_run(best(name), tmp_path)
    rewrite_plan(tmp_path, **changes(best(name)))
    verdict = verify(CASES[name].points, tmp_path)
    assert all(problem.startswith("plan changed: it") for problem in verdict.problems)
    assert re.search(words, " | ".join(verdict.problems))


def test_a_truncated_plan_is_refused(tmp_path: Path) -> None:
    write_run(best("uniform"), tmp_path)
    (tmp_path / "plan.npz").write_bytes((tmp_path / "plan.npz").read_bytes()[:300])
    with pytest.raises(HandfulError, match=r"plan\.npz is truncated"):
        verify(CASES["uniform"].points, tmp_path)


@pytest.mark.parametrize(
    ("before", "after"), [("\r\n1,", "\r\n1,1"), ("index", "indices"), ("\r\n", '\r\n"' + 200_000 * "1")]
)
def test_a_changed_list_of_picks_is_named(tmp_path: Path, before: str, after: str) -> None:
    write_run(best("already"), tmp_path)
    text = (tmp_path / "picks.csv").read_bytes().decode()
    (tmp_path / "picks.csv").write_bytes(text.replace(before, after, 1).encode())
    expected = "picks changed: picks.csv does not list the new picks of the certificate"
    assert verify(CASES["already"].points, tmp_path).problems == (expected,)


def test_swapped_picks_are_named(tmp_path: Path) -> None:
    selection = best("uniform")
    write_run(selection, tmp_path)
    replace(Certificate.of(selection), picks=selection.picks[[1, 0, 2]]).write(tmp_path / "certificate.npz")
    named = [problem.split(":")[0] for problem in verify(CASES["uniform"].points, tmp_path).problems]
    assert named[0] == "picks changed"
    assert set(named[1:]) == {"plan changed"}
