"""Bad input through the real entry point: one sentence, exit status 2, and nothing left behind."""

import errno
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from command_line import Run, Shell, names

POINTS = np.random.default_rng(5).normal(size=(20, 3))
COSTS = np.abs(POINTS[:, :1] - POINTS[:, 0])
BAD_FILES = {
    "words.npy": np.array([["a", "b"], ["c", "d"]]),
    "flat.npy": np.arange(5.0),
    "cube.npy": np.zeros((2, 3, 4)),
    "empty.npy": np.zeros((0, 4)),
    "nan.npy": np.where(np.arange(20)[:, None] % 9 == 4, np.nan, POINTS),
    "inf.npy": np.where(np.arange(20)[:, None] == 7, -np.inf, POINTS),
    "zero.npy": np.where(np.arange(20)[:, None] == 7, 0.0, POINTS),
    "negative.npy": np.where(np.arange(20)[:, None] == 3, -COSTS, COSTS),
    "few.npy": np.ones(19),
    "minus.npy": np.where(np.arange(20) == 2, -1.0, 1.0),
    "nothing.npy": np.zeros(20),
    "gone.npy": np.array([3, 99]),
    "three.npy": np.arange(3),
    "all.npy": np.arange(20),
}
BAD_TEXTS = {
    "pool.xlsx": "1,2\n",
    "twice.csv": "id,x,y\na,1,2\nb,2,3\na,3,4\n",
    "named.csv": "id,x,y\na,1,2\nb,2,3\nc,3,4\n",
    "gone.txt": "a\nzebra\n",
    "double.txt": "3\n5\n3\n",
    "blank.txt": "\n",
    "half.txt": "1.5\n",
}


@pytest.fixture
def bad(folder: Path) -> Path:
    np.save("pool.npy", POINTS)
    for name, array in BAD_FILES.items():
        np.save(name, array)
    for name, text in BAD_TEXTS.items():
        Path(name).write_text(text)
    Path("cut.npy").write_bytes(Path("pool.npy").read_bytes()[:-40])
    Path("cut.npz").write_bytes(b"PK\x03\x04 and no more")
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    return folder


# What is written after `handful select`, and what the sentence must say.
REFUSED = [
    ("missing.npy", r"missing\.npy does not exist"),
    ("pool.xlsx", r"pool\.xlsx has the unknown extension '\.xlsx'; .* \.npy \.npz \.parquet \.csv"),
    (".", r"\. is a folder"),
    ("cut.npy", r"cut\.npy is truncated"),
    ("cut.npz", r"cut\.npz can't be read as \.npz"),
    ("cut.parquet", r"cut\.parquet can't be read as \.parquet"),
    ("words.npy", r"words\.npy is not numeric"),
    ("flat.npy", r"flat\.npy has the shape \(5,\)"),
    ("cube.npy", r"cube\.npy has the shape \(2, 3, 4\); .* reshape it to \(2, 12\)"),
    ("empty.npy", r"empty\.npy is empty"),
    ("nan.npy", r"nan\.npy: rows 4, 13 \(counted from 0\) hold NaN or infinity"),
    ("inf.npy --metric euclidean", r"inf\.npy: row 7 \(counted from 0\) holds NaN or infinity"),
    ("zero.npy", r"zero\.npy: row 7 \(counted from 0\) holds only zeros, .* another metric"),
    ("pool.npy --metric precomputed", r"pool\.npy: .* must be square; got shape \(20, 3\)"),
    ("negative.npy --metric precomputed", r"negative\.npy: row 3 \(counted from 0\) holds negative costs"),
    ("twice.csv", r"twice\.csv: the id 'a' stands in rows 0 and 2"),
    ("named.csv --id name", r"named\.csv has no column 'name' for --id"),
    ("pool.npy --array x", r"pool\.npy is not a \.npz file, so --array 'x'"),
    ("pool.npy -b 0", r"--budget 0 picks nothing"),
    ("pool.npy -b -5", r"--budget -5 picks nothing"),
    ("pool.npy -b 21", r"21 new picks are asked for, but only 20 candidates are free: lower the budget"),
    ("pool.npy -b 4 --candidates three.npy", r"4 new picks are asked for, but only 3 candidates are free"),
    ("pool.npy -b 2 --already three.npy --already-counts", r"3 earlier picks but the budget .* 2: raise the budget"),
    ("pool.npy --already gone.npy", r"gone\.npy names row 99, and pool\.npy has only the rows 0 to 19"),
    ("pool.npy --already double.txt", r"double\.txt names the point 3 twice"),
    ("pool.npy --already half.txt", r"half\.txt: line 1 holds '1\.5'; .* row number"),
    ("pool.npy --already none.txt", r"none\.txt does not exist"),
    ("named.csv --exclude gone.txt", r"gone\.txt names 1 of 2 points by ids that named\.csv doesn't have: 'zebra'"),
    ("pool.npy --candidates sampled:0", r"--candidates: candidates 'sampled:0' is not understood: write sampled:20000"),
    ("pool.npy --candidates blank.txt", r"--candidates blank\.txt names no points"),
    ("pool.npy --exclude all.npy", r"--exclude all\.npy leaves no candidates"),
    ("pool.npy --mass minus.npy", r"pool\.npy with --mass minus\.npy: the mass of row 2 is -1\.0"),
    ("pool.npy --mass nothing.npy", r"pool\.npy with --mass nothing\.npy: the masses sum to 0"),
    ("pool.npy --mass few.npy", r"few\.npy holds 19 masses and pool\.npy 20 points"),
    ("named.csv --mass weight", r"named\.csv has no column 'weight' for --mass"),
    ("pool.npy --metric chebyshev", r"--metric: unknown metric 'chebyshev': choose one of cosine"),
    ("pool.npy --metric rbf", r"--metric: metric rbf needs a positive number after a colon"),
    ("pool.npy --metric ball:-1", r"--metric: metric ball needs a positive number"),
    ("pool.npy --picks-weight heavy", r"--picks-weight heavy is not understood; write uniform, free"),
    ("pool.npy --picks-weight 0.3:0.4", r"--picks-weight 0\.3:0\.4: 4 picks of mass 0\.3 to 0\.4 carry 1\.2 to 1\.6"),
    ("pool.npy --picks-weight 0:0.2", r"--picks-weight 0:0\.2: 4 picks of mass 0 to 0\.2 carry 0 to 0\.8 in all"),
    ("pool.npy --picks-weight 0.5:0.1", r"--picks-weight 0\.5:0\.1: a mass range must have 0 <= low <= high"),
    ("pool.npy --gap 5", r"--gap 5 is no share"),
    ("pool.npy --time-limit soon", r"--time-limit soon is no length of time"),
    ("pool.npy --memory lots", r"--memory lots is no size of memory"),
    ("pool.npy --memory 1MB", r"need at least \d+ MB, but the limit is 1 MB: .*--memory"),
    ("pool.npy -o pool.npy", r"pool\.npy is a file; give the output the name of a folder"),
    ("pool.npy -o .", r"\. is the folder you are in"),
    ("pool.npy -o pool.npy/run", r"pool\.npy/run can't be made: .* is a file"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[words for words, _ in REFUSED])
def test_one_sentence_and_nothing_left(bad: Path, run: Run, words: str, sentence: str) -> None:
    before = names(bad)
    budget = [] if "-b " in words else ["-b", "4"]
    output = [] if "-o " in words else ["-o", "new/run"]
    done = run("select", *words.split(), *budget, *output)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(rf"error: .*{sentence}.*\.\n", done.stderr)
    assert names(bad) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("select pool.npy", "Missing option '--budget' / '-b'"),
        ("select -b 4", "Missing argument 'POOL'"),
        ("select pool.npy -b four", "Invalid value for '--budget' / '-b'"),
        ("select pool.npy -b 4 --threads 0", "Invalid value for '--threads'"),
        ("select pool.npy -b 4 --rounds 0", "Invalid value for '--rounds'"),
        ("select pool.npy -b 4 --seed -1", "Invalid value for '--seed'"),
        ("select pool.npy -b 4 --metrik cosine", "No such option: --metrik"),
        ("choose pool.npy", "No such command 'choose'"),
    ],
)
def test_words_that_are_no_command_name_the_option(run: Run, words: str, said: str) -> None:
    done = run(*words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in re.sub(r"[│\s]+", " ", done.stderr)


def test_the_same_as_a_process(shell: Shell, bad: Path) -> None:
    before = names(bad)
    done = shell("select", "nan.npy", "-b", "4", "-o", "run", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: nan.npy: rows 4, 13 (counted from 0) hold NaN or infinity: repair or drop them.\n"
    assert names(bad) == before


def test_an_earlier_run_stays_as_it_was(run: Run, folder: Path) -> None:
    assert run("select", "pool.npy", "-b", 3, "--rounds", 1, "-o", "run", "--no-picture").exit_code == 0
    before = {name: (folder / "run" / name).read_bytes() for name in names(folder / "run")}
    done = run("select", "pool.npy", "-b", 4, "-o", "run")
    assert done.exit_code == 2
    assert done.stderr == "error: run exists and holds an earlier run; use --force to replace it, or another folder.\n"
    done = run("select", "pool.npy", "-b", 4, "--force", "-o", "run", "--metric", "nonsense")
    assert done.exit_code == 2
    assert {name: (folder / "run" / name).read_bytes() for name in names(folder / "run")} == before


def test_a_folder_of_other_things_is_never_replaced(run: Run, folder: Path) -> None:
    (folder / "photos").mkdir()
    (folder / "photos" / "cat.jpg").write_bytes(b"meow")
    done = run("select", "pool.npy", "-b", 4, "--force", "-o", "photos")
    assert done.exit_code == 2
    assert "photos holds 'cat.jpg', which is no file of a run, so it is never replaced" in done.stderr
    assert (folder / "photos" / "cat.jpg").read_bytes() == b"meow"


def test_a_full_disk_leaves_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("handful.files.runs.write_json", full)
    done = run("select", "pool.npy", "-b", 3, "--rounds", 1, "-o", "run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: run can't be written: the disk is full; make room or choose another place.\n"
    assert names(folder) == ["pool.npy"]


def test_a_disk_full_for_the_picture_keeps_the_run(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("handful.picture.draw", full)
    done = run("select", "pool.npy", "-b", 3, "--rounds", 1, "-o", "run")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: run/picture.png can't be written (No space left on device)")
    assert names(folder) == ["pool.npy", "run"]
    assert names(folder / "run") == ["certificate.npz", "picks.csv", "plan.npz", "summary.json"]


def test_a_picture_needs_matplotlib_and_a_folder(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("select", "pool.npy", "-b", 3, "--picture")
    assert (done.exit_code, done.stderr) == (2, "error: --picture needs a folder to go to; name one with -o DIR.\n")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = run("select", "pool.npy", "-b", 3, "--rounds", 1, "-o", "run", "--picture")
    assert done.exit_code == 2
    assert done.stderr == "error: --picture needs matplotlib; install it with pip install 'handful[plot]'.\n"
    done = run("select", "pool.npy", "-b", 3, "--rounds", 1, "-o", "run")
    assert done.exit_code == 0
    assert "picture.png" not in done.stdout
    assert "picture.png" not in names(folder / "run")


def test_too_little_memory_is_one_sentence(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("handful.engine"), "select", none_left)
    done = run("select", "pool.npy", "-b", 3, "-o", "run")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: the memory of this machine is used up; set --memory lower")
    assert names(folder) == ["pool.npy"]
