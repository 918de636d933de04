"""`handful rounds` and `handful spread`, as a person types them."""

import csv
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

CONFIG = """
[data]
name = "digits"
points = 120
[features]
source = "pca"
components = 6
[budget]
rounds = [5, 5]
[select]
strategies = ["random", "k-centers"]
[classifier]
kind = "probe"
"""


@pytest.fixture
def config(folder: Path) -> str:
    (folder / "small.toml").write_text(CONFIG)
    return "small.toml"


def test_a_run_and_its_table(run: Run, folder: Path, config: str) -> None:
    done = run("rounds", "run", config)
    assert done.exit_code == 0, done.output
    assert "random, seed 0, round 2: 5 labels, accuracy" in done.stderr
    assert (folder / "small" / "rounds.sqlite").is_file()
    again = run("rounds", "run", config)
    assert "round 2" not in again.stderr  # nothing was run again
    assert again.stdout.splitlines()[:6] == done.stdout.splitlines()[:6]
    shown = run("rounds", "show", "small", "--format", "md")
    assert shown.stdout.startswith("| strategy | seeds | 5 | 10 |\n| --- | ---: | ---: | ---: |\n")
    lines = list(csv.DictReader(run("rounds", "show", "small", "--format", "csv").stdout.splitlines()))
    assert [(line["strategy"], line["round"], line["budget"]) for line in lines] == [
        *(("k-centers", "1", "5"), ("k-centers", "2", "5")),
        *(("random", "1", "5"), ("random", "2", "5")),
    ]
    assert all(len(line["picks"].split()) == 5 and 0 <= float(line["accuracy"]) <= 1 for line in lines)


def test_changes_on_the_command_line(run: Run, folder: Path, config: str) -> None:
    done = run("rounds", "run", config, "-o", "there", "--set", "select.seeds=2", "--set", "select.strategies='random'")
    assert done.exit_code == 0, done.output
    lines = run("rounds", "show", "there", "--format", "csv").stdout.splitlines()
    assert len(lines) == 1 + 4


def test_a_person_is_asked(run: Run, folder: Path, config: str) -> None:
    words = ("--set", "oracle.kind='person'", "--set", "oracle.classes=['0','1','2','3','4','5','6','7','8','9']",
             "--set", "select.strategies='k-means'", "--set", "budget.rounds=[4]", "-o", "mine")  # fmt: skip
    asked = run("rounds", "run", config, *words)
    assert asked.exit_code == 0
    path = Path("mine") / "to-label-k-means-seed0-round1.csv"
    assert f"4 points wait for labels in {path}" in asked.stdout
    path.write_text("\n".join(line + ("1" if at else "") for at, line in enumerate(path.read_text().splitlines())))
    done = run("rounds", "run", config, *words)
    assert done.exit_code == 0, done.output
    assert "k-means" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rounds", "run", "gone.toml"), "gone.toml"),
        (("rounds", "run", "small.toml", "--set", "select.seeds"), "seeds must be"),
        (("rounds", "run", "small.toml", "--set", "select.start=random"), "no value of TOML"),
        (("rounds", "run", "small.toml", "--set", "seeds=3"), "names nothing"),
        (("rounds", "run", "small.toml", "--format", "xml"), "choose one of text, csv, md"),
        (("rounds", "show", "."), "holds no rounds.sqlite"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, config: str, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.fixture
def picked(run: Run) -> list[int]:
    assert run("select", "pool.npy", "-b", "6", "--rounds", "1", "-o", "run", "--no-picture").exit_code == 0
    with Path("run/picks.csv").open() as file:
        return [int(line["index"]) for line in csv.DictReader(file)]


def spread_table(path: str = "run/spread.csv") -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", ["graph", "nearest", "plan"])
def test_spread_writes_a_line_for_every_point(run: Run, picked: list[int], method: str) -> None:
    Path("labels.csv").write_text("index,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(60)))
    done = run("spread", "run", "--pool", "pool.npy", "--labels", "labels.csv", "--method", method)
    assert done.exit_code == 0, done.output
    assert f"6 labels of 2 classes, spread over 60 points by {method}" in done.stdout
    lines = spread_table()
    assert list(lines[0]) == ["index", "id", "label", "confidence", "share_a", "share_b"]
    assert [int(line["index"]) for line in lines] == list(range(60))
    for row in picked:
        assert (lines[row]["label"], float(lines[row]["confidence"])) == ("ab"[row % 2], 1.0)
    shares = np.array([[float(line["share_a"]), float(line["share_b"])] for line in lines])
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)


def test_spread_by_the_plan_alone(run: Run, picked: list[int]) -> None:
    Path("labels.txt").write_text("\n".join("aabbab"))
    done = run("spread", "run", "--labels", "labels.txt", "-o", "here.csv")
    assert done.exit_code == 0, done.output
    lines = spread_table("here.csv")
    with np.load("run/plan.npz") as plan:
        serving = plan["pick"]
    told = dict(zip(picked, "aabbab", strict=True))
    whole = [row for row in range(60) if lines[row]["confidence"] == "1.0"]
    assert len(whole) > 30
    assert all(lines[row]["label"] == told[serving[row]] for row in whole)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--labels", "few.csv"), "has no label for the pick"),
        (("--labels", "few.txt"), "2 labels for 6 points"),
        (("--labels", "few.txt", "--method", "graph"), "name their file with --pool"),
        (("--labels", "all.txt", "--pool", "other.npy"), "holds 9 points, but the run is of 60"),
        (("--labels", "all.txt", "-o", "nowhere/x.csv"), "there is no folder nowhere"),
        (("--labels", "all.txt", "--pool", "pool.npy", "--method", "magic"), "unknown method 'magic'"),
    ],
)
def test_labels_that_do_not_fit(run: Run, picked: list[int], words: tuple[str, ...], said: str) -> None:
    Path("few.csv").write_text(f"index,label\n{picked[0]},a\n")
    Path("few.txt").write_text("a\nb\n")
    Path("all.txt").write_text("\n".join("ababab"))
    np.save("other.npy", np.eye(9))
    done = run("spread", "run", *words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not Path("run/spread.csv").exists()
