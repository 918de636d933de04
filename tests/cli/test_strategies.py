"""`handful strategies`, `handful select --strategy` and `handful compare`, as people run them."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import PYTHON, Run, Shell, names

from handful import strategies


def test_all_are_listed_in_one_line_each(run: Run) -> None:
    done = run("strategies")
    assert done.exit_code == 0
    for name in strategies.names():
        strategy = strategies.get(name)
        line = rf"^ {re.escape(name)} +{re.escape(strategy.line)} +{re.escape(strategy.needs)} *$"
        assert re.search(line, done.stdout, re.MULTILINE)


def test_a_selection_by_a_strategy_is_written_and_verified(run: Run, folder: Path) -> None:
    done = run("select", "pool.npy", "-b", 5, "--strategy", "k-centers", "-o", "run", "--seed", 3)
    assert done.exit_code == 0, done.output
    assert "5 picks of 60 points by k-centers: distance" in done.stdout
    written = np.loadtxt(folder / "run" / "picks.csv", delimiter=",", skiprows=1)[:, 1].astype(int)
    assert written.tolist() == strategies.get("k-centers")(np.load("pool.npy"), 5, seed=3).tolist()
    assert names(folder / "run") == ["certificate.npz", "picks.csv", "picture.png", "plan.npz", "summary.json"]
    checked = run("verify", "pool.npy", "run")
    assert checked.exit_code == 0
    assert checked.stdout.startswith("VALID")


def test_a_model_s_probabilities_and_labels_of_earlier_picks(run: Run, folder: Path) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    np.save("p.npy", p)
    (folder / "labels.txt").write_text("0\n2\n")
    (folder / "before.txt").write_text("8\n9\n")
    words = ["--probabilities", "p.npy", "--already", "before.txt", "--labels", "labels.txt", "--json"]
    done = run("select", "pool.npy", "-b", 4, "--strategy", "dcom", *words)
    assert done.exit_code == 0, done.output
    picks = [pick["index"] for pick in json.loads(done.stdout)["picks"]]
    expected = strategies.get("dcom")(np.load("pool.npy"), 4, already=[8, 9], labels=[0, 2], probabilities=p)
    assert picks == expected.tolist()
    counted = run("select", "pool.npy", "-b", 4, "--strategy", "dcom", "--already-counts", *words)
    assert len(json.loads(counted.stdout)["picks"]) == 2


REFUSED = [
    ("select pool.npy -b 4 --strategy k-centres", r"--strategy: unknown strategy 'k-centres': choose one of random"),
    ("select pool.npy -b 4 --labels x.txt", r"--labels x\.txt means nothing without --strategy"),
    ("select pool.npy -b 4 --strategy badge", r"badge needs a model"),
    ("select pool.npy -b 4 --strategy badge --gradients none.npy", r"none\.npy does not exist"),
    ("compare pool.npy -b ten", r"--budgets ten is no list of whole numbers"),
    ("compare pool.npy -b 4,0", r"--budgets 4,0 is no list"),
    ("compare pool.npy -b 4,99", r"--budgets 4,99 asks for more picks than pool\.npy has points, 60"),
    ("compare pool.npy -b 4 --strategies random,nothing", r"--strategies: unknown strategy 'nothing'"),
    ("compare pool.npy -b 4 --strategies badge", r"badge needs a model, which needs labels"),
    ("compare pool.npy -b 4 --test pool.npy", r"--test and --test-labels belong together"),
    ("compare pool.npy -b 4 --metric chebyshev", r"--metric: unknown metric"),
    ("compare pool.npy -b 4 --labels none.npy", r"none\.npy does not exist"),
    ("compare none.npy -b 4", r"none\.npy does not exist"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[words for words, _ in REFUSED])
def test_one_sentence_and_nothing_left(run: Run, folder: Path, words: str, sentence: str) -> None:
    done = run(*words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(rf"error: .*{sentence}.*\.\n", done.stderr)
    assert names(folder) == ["pool.npy"]


def test_a_comparison_is_shown_kept_and_gone_on_with(run: Run, folder: Path) -> None:
    points = np.load("pool.npy")
    np.savez("data.npz", train=points[:40], y=np.arange(40) % 3, test=points[40:], z=np.arange(20) % 3)
    words = ["--array", "train", "--labels", "data.npz:y", "--test", "data.npz:test", "--test-labels", "data.npz:z"]
    words += ["--strategies", "random,facility-location,facility-location-exact,maximum-entropy", "--time-limit", "2s"]
    first = run("compare", "data.npz", "-b", "3,6", "--seeds", 2, *words, "-o", "c")
    assert first.exit_code == 0, first.output
    for budget in (3, 6):
        assert f"{budget} picks of data.npz; any picks are at distance" in first.stdout
        assert (folder / "c" / f"picture-{budget}.png").read_bytes().startswith(b"\x89PNG")
    ends = r"facility-location leaves a cost of .*: facility-location is at most [\d.]+% above the least possible"
    assert len(re.findall(ends, first.stdout)) == 2
    table = (folder / "c" / "table-6.txt").read_text()
    assert table in first.stdout
    row = re.search(r"maximum-entropy +2 +[\d.]+ ±[\d.]+", table)
    assert row
    assert "16/16 wasserstein, 6 picks, seed 0: distance" in first.stderr
    results = (folder / "c" / "results.jsonl").read_bytes()
    again = run("compare", "data.npz", "-b", "3,6", "--seeds", 2, *words, "-o", "c")
    assert again.stdout == first.stdout
    assert again.stderr == ""
    assert (folder / "c" / "results.jsonl").read_bytes() == results
    other = run("compare", "pool.npy", "-b", "3", "-o", "c")
    assert other.exit_code == 2
    assert "holds results of another comparison: pool was" in other.stderr


def test_ctrl_c_loses_only_the_run_at_work(folder: Path, shell: Shell) -> None:
    np.save("large.npy", np.random.default_rng(0).normal(size=(1500, 12)))
    words = ["compare", "large.npy", "-b", "30", "--strategies", "random,wasserstein", "--seeds", "3", "-o", "c"]
    words += ["--time-limit", "2m", "--gap", "0"]
    with subprocess.Popen([*PYTHON, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as work:
        assert work.stderr is not None
        while "3/6" not in work.stderr.readline():
            pass
        time.sleep(1)
        work.send_signal(signal.SIGINT)
        rest = work.stderr.read()
    assert work.returncode == 130
    assert rest == "error: interrupted before the work was done.\n"
    kept = (folder / "c" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line).get("strategy") for line in kept] == [None, "random", "random", "random"]
