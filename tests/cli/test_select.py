"""`handful select`, end to end: what it prints, what it writes, and which words change what."""

import csv
import json
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from command_line import Run, Shell, names

FILES = ["certificate.npz", "picks.csv", "plan.npz", "summary.json"]
PLAIN = ("-o", "run", "--no-picture")


def listed(folder: Path) -> list[dict[str, str]]:
    with (folder / "picks.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("program", [None, "handful"])
def test_a_run_writes_its_folder_and_prints_only_the_result(shell: Shell, folder: Path, program: str | None) -> None:
    words = ("select", "pool.npy", "-b", "5", "-o", "run", "--gap", "5%")
    script = Path(sysconfig.get_path("scripts")) / "handful"
    done = shell(*words) if program is None else shell(*words, program=(str(script),))
    assert (done.returncode, done.stderr) == (0, "")
    assert names(folder / "run") == sorted([*FILES, "picture.png"])
    assert names(folder) == ["pool.npy", "run"]
    assert not {"\x1b", "\r", "\x08"} & set(done.stdout)
    picks = listed(folder / "run")
    for pick in picks:
        assert [pick["rank"], pick["index"]] in [line.split()[:2] for line in done.stdout.splitlines()]
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert f"{summary['sentence']}." in done.stdout.splitlines()
    assert summary["gap"] <= 0.05
    assert "Written to run: picks.csv, plan.npz, certificate.npz, summary.json, picture.png." in done.stdout


def test_json_is_one_document_with_summary_and_picks(shell: Shell, folder: Path) -> None:
    done = shell("select", "pool.npy", "-b", "4", "--gap", "0", "--json", "-o", "run", "--no-picture")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert document == summary | {"picks": document["picks"]}
    assert document["status"] == "optimal"
    assert [str(pick["index"]) for pick in document["picks"]] == [row["index"] for row in listed(folder / "run")]
    assert sum(pick["stands_for"] for pick in document["picks"]) == 60
    assert names(folder / "run") == FILES


def test_without_a_folder_nothing_is_written_and_all_picks_are_printed(run: Run, folder: Path) -> None:
    done = run("select", "pool.npy", "-b", 30, "--rounds", 1)
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[3:33]] == [str(rank) for rank in range(1, 31)]
    assert names(folder) == ["pool.npy"]


def test_with_a_folder_the_table_is_cut(run: Run) -> None:
    done = run("select", "pool.npy", "-b", 30, "--rounds", 1, *PLAIN)
    assert "and 10 more in run/picks.csv" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[3:23]] == [str(rank) for rank in range(1, 21)]


def test_rounds_and_seed_make_a_run_repeatable(run: Run) -> None:
    def picks(*more: object) -> list[dict[str, object]]:
        done = run("select", "pool.npy", "-b", 5, "--gap", 0, "--json", "--rounds", 2, *more)
        return json.loads(done.stdout)["picks"]

    assert picks("--seed", 3, "--threads", 1) == picks("--seed", 3, "--threads", 2)


def test_ids_are_shown_and_written_and_understood(run: Run, folder: Path) -> None:
    points = np.load("pool.npy")
    ids = [f"naïve [b]{row}[/b]" for row in range(60)]  # brackets are no markup
    lines = [f"{name},{','.join(map(repr, row.tolist()))}" for name, row in zip(ids, points, strict=True)]
    (folder / "pool.csv").write_text("name,a,b,c,d\n" + "\n".join(lines), encoding="utf-8")
    (folder / "out.txt").write_text("\n".join(ids[:30]), encoding="utf-8")
    done = run("select", "pool.csv", "--id", "name", "-b", 3, "--rounds", 1, "--exclude", "out.txt", *PLAIN)
    assert done.exit_code == 0
    for row in listed(folder / "run"):
        assert int(row["index"]) >= 30
        assert row["id"] == ids[int(row["index"])]
        assert row["id"] in done.stdout


def test_candidates_and_excluded_points_bound_the_choice(run: Run, folder: Path) -> None:
    np.save("may.npy", np.arange(0, 60, 3))
    (folder / "not.txt").write_text("0\n3\n6\n")
    words = ("select", "pool.npy", "-b", 17, "--rounds", 1, "--json", "--candidates", "may.npy", "--exclude", "not.txt")
    picks = json.loads(run(*words).stdout)["picks"]
    assert sorted(pick["index"] for pick in picks) == list(range(9, 60, 3))


@pytest.mark.parametrize("words", ["sampled:20", "20", "clustered:20"])
def test_drawn_candidates_are_not_excluded_ones_and_the_result_says_so(run: Run, folder: Path, words: str) -> None:
    np.save("not.npy", np.arange(30))
    command = ("select", "pool.npy", "-b", 3, "--rounds", 1, "--candidates", words, "--exclude", "not.npy")
    done = run(*command, *PLAIN)
    assert done.exit_code == 0
    which = "20 candidates near the centres of clusters" if "clus" in words else "20 candidates drawn at random"
    said = f"Picks and bound are out of {which}: nothing is proven of the other 40 of the 60 points."
    assert said in done.stdout.splitlines()
    assert f"for any picks out of {which} (gap" in done.stdout
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert (summary["candidates"], summary["restriction"]) == (20, said)
    assert all(int(row["index"]) >= 30 for row in listed(folder / "run"))
    checked = run("verify", "pool.npy", "run")
    assert checked.exit_code == 0
    assert "no picks out of the 20 candidates can be nearer" in checked.stdout


@pytest.mark.parametrize(("word", "new"), [("--already-extra", 4), ("--already-counts", 2), (None, 4)])
def test_earlier_picks_count_or_come_on_top(run: Run, folder: Path, word: str | None, new: int) -> None:
    (folder / "before.csv").write_text("rank,index\n1,7\n2,11\n")
    more = [] if word is None else [word]
    words = ("select", "pool.npy", "-b", 4, "--rounds", 1, "--json", "--already", "before.csv", *more)
    document = json.loads(run(*words).stdout)
    assert (document["budget"], document["already"]) == (new, 2)
    assert not {7, 11} & {pick["index"] for pick in document["picks"]}


def test_picks_of_a_run_go_into_the_next(run: Run, folder: Path) -> None:
    assert run("select", "pool.npy", "-b", 3, "--rounds", 1, *PLAIN).exit_code == 0
    first = {row["index"] for row in listed(folder / "run")}
    done = run("select", "pool.npy", "-b", 3, "--rounds", 1, "--json", "--already", "run/picks.csv")
    assert not first & {str(pick["index"]) for pick in json.loads(done.stdout)["picks"]}


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [([], 0.25, 0.25), (["--picks-weight", "free"], 0, 1), (["--picks-weight", "0.5x:40%"], 0.125, 0.4)],
)
def test_weights_of_picks_are_kept(run: Run, words: list[str], low: float, high: float) -> None:
    document = json.loads(run("select", "pool.npy", "-b", 4, "--rounds", 2, "--json", *words).stdout)
    assert document["picks_weight"] == {"low": low, "high": high}
    assert all(low - 1e-9 <= pick["mass"] <= high + 1e-9 for pick in document["picks"])


@pytest.mark.parametrize("source", ["w", "heavy.csv"])
def test_masses_come_from_a_column_or_a_file(run: Run, folder: Path, source: str) -> None:
    points, masses = np.load("pool.npy"), np.full(60, 1e-9)
    masses[17] = 1
    np.savez("pool.npz", points=points, w=masses)
    (folder / "heavy.csv").write_text("\n".join(map(str, masses)))
    document = json.loads(run("select", "pool.npz", "-b", 1, "--json", "--mass", source).stdout)
    assert [pick["index"] for pick in document["picks"]] == [17]


def test_force_replaces_a_run_and_nothing_else(run: Run, folder: Path) -> None:
    words = ("select", "pool.npy", "--rounds", 1, "-o", "run")
    assert run(*words, "-b", 3).exit_code == 0
    assert (folder / "run" / "picture.png").exists()
    assert run(*words, "-b", 4, "--force", "--no-picture").exit_code == 0
    assert len(listed(folder / "run")) == 4
    assert names(folder / "run") == FILES


def test_metrics_and_the_array_of_an_archive_are_chosen(run: Run) -> None:
    points = np.load("pool.npy")
    costs = np.abs(points[:, None] - points).sum(axis=2)
    np.savez("pool.npz", other=points[:5], costs=costs)
    words = ("-b", 3, "--gap", 0, "--json")
    direct = json.loads(run("select", "pool.npy", "--metric", "manhattan", *words).stdout)
    given = json.loads(run("select", "pool.npz", "--array", "costs", "--metric", "precomputed", *words).stdout)
    assert direct["status"] == given["status"] == "optimal"
    assert direct["distance"] == pytest.approx(given["distance"], rel=1e-6)


def test_a_run_goes_on_from_its_checkpoint(run: Run, folder: Path) -> None:
    words = ["select", "pool.npy", "-b", "4", "--gap", "0", "--rounds", "1", "--json", "--checkpoint", "run.npz"]
    first, second = (json.loads(run(*words).stdout) for _ in range(2))
    assert second["trace"][0]["phase"] == "going on"
    assert second["lower_bound"] >= first["lower_bound"] * (1 - 1e-9)
    assert second["distance"] <= first["distance"] * (1 + 1e-9)
    other = run("select", "pool.npy", "-b", "5", "--checkpoint", "run.npz")
    assert other.exit_code == 2
    assert "checkpoint run.npz is of a run with another number of picks" in other.stderr
