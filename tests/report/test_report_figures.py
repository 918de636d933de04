"""What a report says, against the same figures recomputed point by point."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from report_cases import CASES, least_cost

from handful import HandfulError, Pool
from handful.files import read_pool
from handful.files.columns import read_values
from handful.files.finished import read_run
from handful.files.table import Table
from handful.report import coverage as curves
from handful.report import facts, pool_of
from handful.report.coverage import coverage
from handful.report.gather import standings
from handful.report.layout import layout

EVERY = pytest.mark.parametrize("name", CASES)


@EVERY
def test_each_pick_stands_for_what_the_plan_gives_it(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    run = case.write(tmp_path / "run")
    found = standings(run, pool_of(run, case.table()))
    flow = np.zeros((len(case.picks), case.n))
    for row, pick, mass in zip(run.flow_rows, run.flow_picks, run.flow_masses, strict=True):
        flow[pick, row] += mass
    assert [pick.row for pick in found.picks] == list(case.picks)
    assert [pick.mass for pick in found.picks] == pytest.approx(flow.sum(axis=1))
    ranks: list[int | None] = [None] * case.earlier
    assert [pick.rank for pick in found.picks] == ranks + list(range(1, len(case.picks) - case.earlier + 1))
    total = 0.0
    for at, pick in enumerate(found.picks):
        owned = {row for row in range(case.n) if run.labels[row] == at}
        members = sorted(owned | set(np.flatnonzero(flow[at]).tolist()))
        away = sorted((case.costs[at, row], row) for row in members if row != pick.row)
        assert pick.stands_for == len(owned)
        assert pick.nearest_distances == pytest.approx([cost for cost, _ in away[:8]])
        assert pick.farthest_distances == pytest.approx([cost for cost, _ in away[::-1][:8]])
        assert set(pick.nearest) | set(pick.farthest) <= {row for _, row in away}
        assert pick.nearest_distances == pytest.approx([case.costs[at, row] for row in pick.nearest])
        assert pick.farthest_distances == pytest.approx([case.costs[at, row] for row in pick.farthest])
        total += pick.mass * (pick.mean_distance or 0.0)
    assert total == pytest.approx(run.certificate.distance)
    assert found.distances == pytest.approx(case.costs[run.labels, np.arange(case.n)])


@EVERY
def test_points_that_are_shared_are_told_with_their_parts(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    run = case.write(tmp_path / "run")
    rest: dict[int, float] = dict.fromkeys(range(case.n), 1.0)
    for row, pick, part in standings(run, pool_of(run, case.table())).shared:
        assert pick != run.labels[row]
        assert part > 0
        rest[row] -= part
    for row in np.flatnonzero(case.masses):
        own = run.flow_masses[(run.flow_rows == row) & (run.flow_picks == run.labels[row])].sum()
        assert rest[int(row)] == pytest.approx(own / case.masses[row])


@EVERY
@pytest.mark.parametrize("order", [1, 2])
def test_the_curve_holds_the_distances_of_the_first_picks(name: str, order: int, tmp_path: Path) -> None:
    case = CASES[name]
    run = case.write(tmp_path / "run")
    found = coverage(pool_of(run, case.table()), run.certificate, order)
    new = len(case.picks) - case.earlier
    assert found.counts.tolist() == list(range(1, new + 1))
    assert found.points == case.n
    for count, distance in zip(found.counts, found.distances, strict=True):
        first = case.earlier + int(count)
        scale = len(case.picks) / first
        wanted = least_cost(case.costs[:first], case.masses, case.low * scale, min(1.0, case.high * scale))
        assert distance == pytest.approx(wanted ** (1 / order), rel=1e-5)


def test_a_long_curve_is_of_a_sample_and_ends_at_the_distance_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = replace(CASES["free"], n=900, picks=tuple(range(0, 900, 9)))
    run = case.write(tmp_path / "run")
    whole = coverage(pool_of(run, case.table()), run.certificate)
    monkeypatch.setattr(curves, "_WORK", 1)
    sampled = coverage(pool_of(run, case.table()), run.certificate)
    assert len(whole.counts) <= 60
    assert whole.counts[-1] == 100
    assert (np.diff(whole.counts) > 0).all()
    assert sampled.points == 500
    assert sampled.distances == pytest.approx(whole.distances, rel=0.1)
    assert sampled.distances[-1] == whole.distances[-1] == run.certificate.distance


def test_a_curve_bends_where_groups_are_covered() -> None:
    counts = np.arange(1, 21)
    bent = np.where(counts <= 6, 1.0 - 0.15 * (counts - 1), 0.25 - 0.001 * (counts - 6))
    straight = 1.0 - 0.03 * counts
    assert curves._bend(counts, bent) == 6
    assert curves._bend(counts, straight) is None
    assert curves._bend(counts[:4], bent[:4]) is None
    assert curves._bend(counts, np.ones(20)) is None
    words = curves.Coverage(counts, bent, 100, 6).advice
    assert "after about 6: up to there each lowered the distance by 15.00% of where it began" in words
    assert "from there on by 0.10%" in words


def test_the_forecast_is_that_of_a_power_law() -> None:
    counts = np.arange(1, 41)
    words = curves.Coverage(counts, counts**-0.5, 100, None).advice
    assert "no clear bend" in words
    assert "another 29%" in words  # 1 - 2 ** -0.5
    assert "too few picks" in curves.Coverage(counts[:3], counts[:3] ** -0.5, 100, None).advice


def test_what_the_bounds_mean() -> None:
    say = facts.meaning
    assert say(20, 0, 0.5, 0.45, certified=True) == (
        "These 20 picks are at distance 0.5 from the pool. It is proven that no other 20 picks can be nearer than "
        "0.45, so that any better choice would be nearer by at most 10.00%."
    )
    assert say(20, 0, 0.5, 0.5, certified=True).endswith("no other 20 picks can be nearer: that is proven.")
    assert "no other 20 picks out of the 99 candidates can" in say(20, 0, 0.5, 0.4, certified=True, candidates=99)
    assert "no certificate" in say(20, 3, 0.5, 0.0, certified=False)
    assert "and the 3 labelled earlier" in say(20, 3, 0.5, 0.0, certified=False)
    assert "Nothing is proven yet" in say(20, 0, 0.5, 0.0, certified=True)
    assert "This 1 pick is at distance 0.5" in say(1, 0, 0.5, 0.4, certified=True)


def test_another_pool_is_refused(tmp_path: Path) -> None:
    case = CASES["uniform"]
    run = case.write(tmp_path / "run")
    with pytest.raises(HandfulError, match=r"60 points that are not those of the run in .*; give these by --pool"):
        pool_of(run, Table(Path("other.npy"), case.points + 1, None, {}))


@pytest.mark.parametrize("name", ["certificate.npz", "plan.npz"])
def test_a_folder_without_its_files_is_refused(name: str, tmp_path: Path) -> None:
    CASES["uniform"].write(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    with pytest.raises(HandfulError, match=f"{name} is missing"):
        read_run(tmp_path / "run")


def test_a_plan_of_another_run_is_refused(tmp_path: Path) -> None:
    CASES["uniform"].write(tmp_path / "run")
    CASES["not whole"].write(tmp_path / "other")
    (tmp_path / "other" / "plan.npz").replace(tmp_path / "run" / "plan.npz")
    with pytest.raises(HandfulError, match="is no plan of the 6 picks of 60 points"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("name", ["pca", "tsne"])
def test_neighbours_stay_together_on_the_map(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.report.layout._MOST_TSNE", 70)
    random = np.random.default_rng(0)
    group = np.arange(150) % 3
    points = 20 * np.eye(3, 6)[group] + random.normal(size=(150, 6))
    laid = layout(Pool(points, "euclidean"), np.array([0, 1, 2]), np.arange(150), name)
    apart = np.linalg.norm(laid.places[:, None] - laid.places, axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1)[:, :10]
    assert (group[nearest] == group[:, None]).mean() > 0.99


@pytest.mark.parametrize(
    "pool",
    [
        Pool(np.ones((30, 3)), "euclidean"),
        Pool(np.arange(1.0, 31)[:, None], "euclidean"),
        Pool(np.abs(np.arange(30)[:, None] - np.arange(30)), "precomputed"),
        Pool(1e200 * np.random.default_rng(1).normal(size=(30, 3)), "cosine"),
        Pool(np.random.default_rng(1).normal(size=(3, 3))),
    ],
    ids=["all the same", "one dimension", "precomputed", "huge", "three points"],
)
def test_any_pool_has_a_map(pool: Pool) -> None:
    for name in ("pca", "tsne"):
        places = layout(pool, np.array([0, 2]), np.arange(pool.n), name).places
        assert places.shape == (pool.n, 2)
        assert np.isfinite(places).all()


NAMED = Table(Path("pool.npy"), np.zeros((3, 2)), np.array(["a", "b", "c"]), {})
PLAIN = Table(Path("pool.npy"), np.zeros((3, 2)), None, {"weight": np.array([0.5, 1.0, 2.0])})


@pytest.mark.parametrize(
    ("table", "content", "source", "values"),
    [
        (PLAIN, "index,label\n2,x\n0,y\n", "v.csv:label", ["y", None, "x"]),
        (PLAIN, "index,label\n2,x\n0,y\n", "v.csv", ["y", None, "x"]),
        (PLAIN, "label\n7\n8\n9\n", "v.csv", [7, 8, 9]),
        (PLAIN, "1.5\n2.5\n3\n", "v.csv", [1.5, 2.5, 3.0]),
        (NAMED, "id,label,score\nc,x,1\nb,,2\na,z,\n", "v.csv:label", ["z", None, "x"]),
        (NAMED, "id,label,score\nc,x,1\nb,,2\na,z,\n", "v.csv:score", [None, 2, 1]),
        (PLAIN, "one\ntwo words\nthree\n", "v.txt", ["one", "two words", "three"]),
        (PLAIN, "", "weight", [0.5, 1.0, 2.0]),
    ],
)
def test_values_find_their_points(
    table: Table, content: str, source: str, values: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(source.partition(":")[0]).write_text(content, encoding="utf-8")
    assert list(read_values(source, table, "--colour").values) == values


def test_texts_and_labels_may_stand_beside_the_points_of_a_parquet(tmp_path: Path) -> None:
    columns = {
        "v": [[0.0, 1], [2, 3], [4, 5]], "id": ["a", "b", "c"], "text": ["one", None, "three"], "label": [7, 8, 7]
    }  # fmt: skip
    parquet.write_table(pa.table(columns), tmp_path / "pool.parquet")
    table = read_pool(tmp_path / "pool.parquet")
    assert table.points.tolist() == columns["v"]
    for name in ("text", "label"):
        assert list(read_values(name, table, "--text").values) == columns[name]
    parquet.write_table(pa.table({"id": ["c", "a"], "x": [1, 2]}), tmp_path / "other.parquet")
    assert list(read_values(f"{tmp_path}/other.parquet:x", table, "--text").values) == [2, None, 1]


@pytest.mark.parametrize(
    ("source", "content", "words"),
    [
        ("v.csv:other", "index,label\n2,x\n", "no column 'other' for --colour; it has 'index', 'label'"),
        ("v.csv", "a,b\n2,x\n", "say which by --colour"),
        ("v.csv", "label\n2\n", "1 values for --colour and the pool 3 points"),
        ("v.csv", "index,label\n7,x\n", "of the point '7', which the pool hasn't"),
        ("v.csv", "index,label\n7\n", "line 2 has 1 cell"),
        ("nothing", None, "neither a column of pool.npy .*'weight'.* nor a file"),
        ("v.xls", "", "unknown extension"),
        ("gone.csv", None, "does not exist"),
    ],
)
def test_values_that_are_not_there_are_refused(
    source: str, content: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(source.partition(":")[0]).write_text(content, encoding="utf-8")
    with pytest.raises(HandfulError, match=words):
        read_values(source, PLAIN, "--colour")
