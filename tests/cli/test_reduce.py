"""`handful reduce`, end to end."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run, Shell, names

from handful import reduce_scenarios


@pytest.fixture
def table(folder: Path) -> np.ndarray:
    """40 scenarios of 6 values, with names and weights, in days.csv."""
    random = np.random.default_rng(2)
    values, weights = random.normal(size=(40, 6)), random.integers(1, 4, 40)
    with (folder / "days.csv").open("w") as file:
        file.write("day,weight,a,b,c,d,e,f\n")
        for number, row in enumerate(values):
            file.write(f"d{number},{weights[number]},{','.join(map(repr, map(float, row)))}\n")
    return np.column_stack([weights, values])


WORDS = ("reduce", "days.csv", "--id", "day", "--mass", "weight")


def test_a_reduction_is_written_shown_and_verified(shell: Shell, folder: Path, table: np.ndarray) -> None:
    done = shell(*WORDS, "-k", "4", "--gap", "0", "-o", "few")
    assert (done.returncode, done.stderr) == (0, "")
    assert names(folder / "few") == [
        "certificate.npz", "picks.csv", "plan.npz", "scenarios.csv", "scenarios.json", "summary.json",
    ]  # fmt: skip
    expected = reduce_scenarios(table[:, 1:], 4, table[:, 0], gap=0, threads=1)
    with (folder / "few" / "scenarios.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["index"]) for row in rows] == expected.indices.tolist()
    assert [row["id"] for row in rows] == [f"d{row}" for row in expected.indices]
    assert [float(row["probability"]) for row in rows] == pytest.approx(expected.probabilities.tolist())
    assert sum(int(row["stands_for"]) for row in rows) == 40
    assert np.array([[float(row[name]) for name in "abcdef"] for row in rows]) == pytest.approx(
        expected.representatives
    )
    listing = json.loads((folder / "few" / "scenarios.json").read_text())
    assert listing["all_scenario_names"] == ["Scenario1", "Scenario2", "Scenario3", "Scenario4"]
    assert list(listing["probabilities"].values()) == pytest.approx(expected.probabilities.tolist())
    assert listing["ids"]["Scenario2"] == f"d{expected.indices[1]}"
    assert listing["distance"] == pytest.approx(expected.distance)
    assert f"{listing['sentence']}." in done.stdout
    assert shell("verify", "days.csv", "few", "--id", "day", "--mass", "weight").returncode == 0
    assert shell(*WORDS, "-k", "3", "-o", "few").returncode == 2
    assert shell(*WORDS, "-k", "3", "-o", "few", "--force", "--method", "backward").returncode == 0
    assert names(folder / "few") == ["scenarios.csv", "scenarios.json"]


def test_json_is_the_listing(run: Run, table: np.ndarray) -> None:
    done = run(*WORDS, "-k", "3", "--method", "forward", "--order", "2", "--json")
    expected = reduce_scenarios(table[:, 1:], 3, table[:, 0], p=2, method="forward")
    listing = json.loads(done.stdout)
    assert list(listing["rows"].values()) == expected.indices.tolist()
    assert (listing["p"], listing["lower_bound"]) == (2, None)
    assert listing["distance"] == pytest.approx(expected.distance)


def test_values_without_names_are_numbered(run: Run, folder: Path) -> None:
    assert run("reduce", "pool.npy", "-k", "3", "--method", "forward", "-o", "few").exit_code == 0
    header = (folder / "few" / "scenarios.csv").read_text().splitlines()[0]
    assert header == "rank,index,id,probability,stands_for,x1,x2,x3,x4"


def test_rows_may_be_paths(run: Run, table: np.ndarray) -> None:
    done = run(*WORDS, "-k", "3", "--periods", "3", "--period-weights", "1,0.5,0", "--gap", "0", "--json")
    paths = table[:, 1:].reshape(40, 3, 2)
    expected = reduce_scenarios(paths, 3, table[:, 0], period_weights=[1, 0.5, 0], gap=0, threads=1)
    assert json.loads(done.stdout)["distance"] == pytest.approx(expected.distance)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-k", "0"), "--keep 0 keeps nothing"),
        (("-k", "41"), "only 40 candidates are free"),
        (("-k", "3", "--periods", "4"), "--periods 4 does not divide the 6 values"),
        (("-k", "3", "--periods", "3", "--period-weights", "1,b"), "no list of numbers"),
        (("-k", "3", "--periods", "3", "--period-weights", "1,2"), "must be 3 numbers"),
        (("-k", "3", "--order", "3"), "p must be 1 or 2"),
        (("-k", "3", "--weights", "best"), '"optimal" or "uniform"'),
        (("-k", "3", "--method", "magic"), "certified, forward, backward"),
    ],
)
def test_what_cannot_be_ends_with_one_sentence(
    run: Run, folder: Path, table: np.ndarray, words: tuple[str, ...], sentence: str
) -> None:
    done = run(*WORDS, *words, "-o", "few")
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())
    assert not (folder / "few").exists()
