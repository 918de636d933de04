"""`handful select --method benders`, end to end."""

import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from command_line import PYTHON, Run, Shell, names
from test_terminal import on_a_terminal, plain

FILES = ["certificate.npz", "picks.csv", "plan.npz", "summary.json", "trace.csv", "trace.parquet"]
WORDS = ("select", "pool.npy", "--method", "benders")
NO_PICTURE = ("-o", "run", "--no-picture")


def summary(folder: str = "run") -> dict[str, object]:
    return json.loads((Path(folder) / "summary.json").read_text())


@pytest.fixture
def digits(folder: Path) -> Path:
    """A pool that printed cuts never finish with."""
    from sklearn.datasets import load_digits

    np.save("digits.npy", load_digits().data)
    return folder


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_a_run_ends_where_the_engine_does_with_a_certificate(shell: Shell, run: Run, folder: Path, solver: str) -> None:
    done = shell(*WORDS, "-b", "3", "--gap", "0", "--solver", solver, "-o", "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert names(folder / "run") == sorted([*FILES, "picture.png", "bounds.png"])
    assert f"{summary()['sentence']}." in done.stdout.splitlines()
    written = "picks.csv, plan.npz, certificate.npz, summary.json, trace.csv, trace.parquet, picture.png, bounds.png"
    assert f"Written to run: {written}." in done.stdout
    assert (summary()["status"], summary()["certified"], summary()["method"]) == ("optimal", True, "benders")
    engine = json.loads(run("select", "pool.npy", "-b", "3", "--gap", "0", "--json").stdout)
    assert summary()["distance"] == pytest.approx(engine["distance"], rel=1e-9)
    assert summary()["master_bound"] == pytest.approx(engine["distance"], rel=2e-6)
    checked = run("verify", "pool.npy", "run")
    assert checked.exit_code == 0
    assert re.match(r"VALID: .* no picks can be nearer than 0\.\d+", checked.stdout)


def test_the_trace_of_every_iteration_is_written(run: Run, folder: Path) -> None:
    assert run(*WORDS, "-b", 4, "--preset", "wass", "--rounds", 3, *NO_PICTURE).exit_code == 0
    assert names(folder / "run") == FILES
    with (folder / "run" / "trace.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["iteration"] for line in lines] == ["0", "1", "2", "3"]
    table = pyarrow.parquet.read_table(folder / "run" / "trace.parquet").to_pydict()
    assert [float(line["incumbent"]) for line in lines] == table["incumbent"]
    assert summary()["distance"] == pytest.approx(table["incumbent"][-1])
    assert summary()["iterations"] == 3


@pytest.mark.parametrize("words", [("--preset", "wass+eoc"), ("--preset", "wass", "--pruning", "0.6:0.99")])
def test_without_valid_cuts_everything_says_that_there_is_no_certificate(run: Run, words: tuple[str, ...]) -> None:
    done = run(*WORDS, "-b", 4, *words, "--rounds", 4, *NO_PICTURE)
    assert done.exit_code == 0
    assert re.search(
        r"distance 0\.\d+, no certificate: .* bounds nothing; all rounds asked for are done\.", done.stdout
    )
    assert "at least" not in done.stdout
    document = json.loads(run(*WORDS, "-b", 4, *words, "--rounds", 4, "--json").stdout)
    for said in (document, summary()):
        assert "no certificate" in said["sentence"]
        assert (said["certified"], said["lower_bound"], said["gap"], said["master_bound"]) == (False, 0, 1, None)
        assert all(line["lower_bound"] == 0 and "no certificate" in line["phase"] for line in said["trace"][:-1])
    with np.load("run/certificate.npz") as claim:
        assert (claim["lower_bound"], claim["claim"].item()[:14]) == (0, "no certificate")
    checked = run("verify", "pool.npy", "run")
    assert checked.exit_code == 0
    assert re.match(r"VALID: the picks are at distance .* no certificate: nothing is stated", checked.stdout)


def test_every_word_reaches_the_decomposition(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from handful import benders

    seen: dict[str, object] = {}

    def noting(pool: object, budget: int, **given: object) -> object:
        seen.update(given)
        return solve(pool, budget, **given)  # type: ignore[arg-type]

    solve = benders.solve
    monkeypatch.setattr(benders, "solve", noting)
    words = (
        *("--cuts", "lifted, lower-bound", "--solver", "highs", "--transport", "sinkhorn", "--regularisation", 0.1),
        *("--start", "k-centers", "--master-time", "30s", "--master-gap", "5%", "--tolerance", 0.002),
        *("--pruning", "0.5:0.9", "--parts", 2, "--processes", 1, "--checkpoint", "here", "--rounds", 2, "--seed", 7),
    )
    assert run(*WORDS, "-b", 6, *words, "--gap", "3%", "--time-limit", "1m").exit_code == 0
    expected = {
        "cuts": ("lifted", "lower-bound"),
        "transport": "sinkhorn",
        "regularisation": 0.1,
        "start": "k-centers",
        "solve_limit": 30,
        "solve_gap": 0.05,
        "tolerance": 0.002,
        "pruning": (0.5, 0.9),
        "parts": 2,
        "processes": 1,
        "checkpoint": Path("here"),
        "iterations": 2,
        "seed": 7,
        "gap": 0.03,
        "time_limit": 60,
    }
    assert {name: seen[name] for name in expected} == expected
    assert {"here.1", "here.2"} <= set(names(folder))


def test_parts_are_joined_without_a_certificate(run: Run, folder: Path) -> None:
    done = run(*WORDS, "-b", 6, "--parts", 3, "--processes", 2, *NO_PICTURE)
    assert done.exit_code == 0
    assert "no certificate: its parts were solved apart" in done.stdout
    assert names(folder / "run") == FILES[:4]
    assert summary()["budget"] == 6


def test_it_starts_from_the_points_of_a_file_beside_earlier_picks(run: Run, folder: Path) -> None:
    ids = [f"p{row}" for row in range(60)]
    points = np.load("pool.npy")
    lines = [",".join([name, *map(repr, map(float, row))]) for name, row in zip(ids, points, strict=True)]
    (folder / "pool.csv").write_text("\n".join(["id,a,b,c,d", *lines]))
    (folder / "start.txt").write_text("p3\np5\n")
    (folder / "before.txt").write_text("p9\n")
    words = ("--method", "benders", "--already", "before.txt", "--start", "start.txt", "--rounds", 1, "--json")
    found = json.loads(run("select", "pool.csv", "-b", 2, *words).stdout)
    assert (found["budget"], found["already"]) == (2, 1)
    import handful
    from handful.transport import transport

    pool = handful.Pool(points)
    first = transport(pool.distances([9, 3, 5]), pool.masses, 1 / 3, 1 / 3).distance
    assert found["distance"] <= first
    assert found["trace"][0]["distance"] <= first


def test_a_plot_without_matplotlib_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "matplotlib" else find(name, *more)
    )
    done = run(*WORDS, "-b", 3, "--rounds", 1, "-o", "run")
    assert done.exit_code == 0
    assert done.stderr == "bounds.png not drawn: install matplotlib with pip install 'handful[plot]'.\n"
    assert names(Path("run")) == FILES
    assert run(*WORDS, "-b", 3, "--rounds", 1, "-o", "run", "--force", "--quiet").stderr == ""


def test_a_killed_run_goes_on_from_its_checkpoint(shell: Shell, digits: Path) -> None:
    np.save("few.npy", np.load("digits.npy")[:200])
    words = ("select", "few.npy", "-b", "4", "--method", "benders", "--preset", "wass+eoc+p", "--json")
    started = subprocess.Popen([*PYTHON, *words, "--checkpoint", "kept"], stdout=subprocess.DEVNULL)
    sizes: set[int] = set()
    deadline = time.monotonic() + 60
    while len(sizes) < 5 and time.monotonic() < deadline:
        sizes.update([Path("kept").stat().st_size] if Path("kept").exists() else [])
    started.kill()
    started.wait()
    assert len(sizes) == 5
    resumed = json.loads(shell(*words, "--checkpoint", "kept", "--rounds", "12").stdout)
    whole = json.loads(shell(*words, "--rounds", "12").stdout)
    assert resumed["iterations"] == whole["iterations"] == 12
    assert resumed["distance"] == pytest.approx(whole["distance"], rel=1e-12)
    assert [pick["index"] for pick in resumed["picks"]] == [pick["index"] for pick in whole["picks"]]
    other = shell(*words, "--checkpoint", "kept", "--seed", "1")
    assert other.returncode == 2
    assert other.stderr.startswith("error: checkpoint kept belongs to a run with another seed (0, now 1)")


def test_a_terminal_shows_iterations_and_ctrl_c_keeps_the_best(digits: Path) -> None:
    words = ("select", "digits.npy", "-b", "40", "--method", "benders", "--preset", "wass+eoc", "-o", "run")
    status, shown = on_a_terminal(*words, "--no-picture", interrupt_at="iteration 2")
    assert status == 130
    words = plain(shown)
    assert re.search(r"\d:\d\d  distance 0\.\d+  iteration \d+, no certificate …", words)
    assert "bounds nothing; interrupted: the best picks so far." in words
    assert "Traceback" not in shown
    assert summary()["status"] == "interrupted"


def test_ctrl_c_ends_all_processes_with_picks(digits: Path) -> None:
    words = ("select", "digits.npy", "-b", "40", "--method", "benders", "--parts", "3", "--processes", "2")
    process = subprocess.Popen(
        [*PYTHON, *words, "--json", "--gap", "0", "--checkpoint", "kept"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not all(Path(f"kept.{part}").exists() for part in (1, 2)) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")
    found = json.loads(stdout)
    assert (found["status"], len(found["picks"])) == ("interrupted", 40)


REFUSED = [
    ("--method simplex", r"--method simplex is not known; write engine or benders"),
    ("--solver cbc", r"--solver is a word of the decomposition; write --method benders with it"),
    ("--master-gap 1%", r"--master-gap is a word of the decomposition"),
    (
        "--method benders --preset best",
        r"unknown preset 'best': choose one of wass, wass\+eoc, wass\+eoc\+p, certified",
    ),
    ("--method benders --solver gurobi", r"unknown solver 'gurobi': choose one of highs, cbc"),
    ("--method benders --transport simplex", r"unknown transport 'simplex': choose one of exact, emd, sinkhorn"),
    ("--method benders --cuts eoc", r"unknown cut 'eoc': choose among benders, lifted"),
    ("--method benders --cuts lower-bound", r"cuts must hold at least one of benders, lifted"),
    ("--method benders --cuts lifted,triangle", r"the triangle cut needs a metric, which cosine is not"),
    ("--method benders --cuts sinkhorn-printed", r"sinkhorn-printed needs transport='sinkhorn'"),
    ("--method benders --transport emd --picks-weight free", r"transport 'emd' knows uniform picks only"),
    ("--method benders --regularisation 0", r"regularisation must be above 0; got 0"),
    ("--method benders --start random", r"--start random is not known; write k-medoids, k-centers or a file"),
    ("--method benders --start none.txt", r"none\.txt does not exist"),
    ("--method benders --start two.txt", r"start has 2 new picks, but 4 are asked for"),
    ("--method benders --start two.txt --parts 2", r"start can't be given picks where the pool is cut into parts"),
    ("--method benders --master-time soon", r"--master-time soon is no length of time"),
    ("--method benders --master-gap 3", r"--master-gap 3 is no share"),
    ("--method benders --tolerance -1", r"tolerance must be at least 0; got -1"),
    ("--method benders --tolerance nan", r"tolerance must be a finite number"),
    ("--method benders --pruning lots", r"--pruning lots is not understood; write two shares, as 0\.6:0\.99"),
    ("--method benders --pruning 0.6:2", r"pruning must be two parts between 0 and 1"),
    ("--method benders --parts 5", r"parts must be at most the number of new picks, 4; got 5"),
    ("--method benders --checkpoint no/where", r"checkpoint no/where: the folder no does not exist"),
    ("--method benders --checkpoint pool.npy", r"pool\.npy is not a checkpoint of ours"),
    ("--method benders --checkpoint .", r"\.: Is a directory"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[words for words, _ in REFUSED])
def test_a_bad_word_gets_one_sentence_and_nothing_is_left(run: Run, folder: Path, words: str, sentence: str) -> None:
    (folder / "two.txt").write_text("0\n1\n")
    before = names(folder)
    done = run("select", "pool.npy", "-b", 4, *words.split(), "-o", "run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(rf"error: .*{sentence}.*\.\n", done.stderr)
    assert names(folder) == before


@pytest.mark.parametrize("word", ["--parts", "--processes"])
def test_a_number_that_can_not_be_names_the_option(run: Run, word: str) -> None:
    done = run(*WORDS, "-b", 4, word, 0)
    assert done.exit_code == 2
    assert f"Invalid value for '{word}'" in re.sub(r"[│\s]+", " ", done.stderr)
