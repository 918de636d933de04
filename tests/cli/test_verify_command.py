"""`handful verify`: its words and exit statuses. What it checks is tested with the verifier itself."""

from pathlib import Path

import numpy as np
import pytest
from command_line import Run, Shell


@pytest.fixture
def written(run: Run, folder: Path) -> Path:
    np.savez("pool.npz", ids=np.arange(100, 160), points=np.load("pool.npy"), w=np.linspace(0, 1, 60))
    assert run("select", "pool.npy", "-b", 4, "-o", "run", "--no-picture").exit_code == 0
    return folder


def test_a_true_certificate_is_valid(shell: Shell, written: Path) -> None:
    done = shell("verify", "pool.npy", "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("VALID")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("what", ["pool", "picks", "bound"])
def test_what_was_changed_is_named_with_status_1(run: Run, written: Path, what: str) -> None:
    claim = dict(np.load("run/certificate.npz"))
    if what == "pool":
        np.save("pool.npy", np.load("pool.npy") + 1)
    elif what == "picks":
        claim["picks"][0] = next(row for row in range(60) if row not in claim["picks"])
    else:
        claim["lower_bound"] = claim["distance"]
    np.savez("run/certificate.npz", **claim)
    done = run("verify", "pool.npy", "run")
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.startswith("INVALID")
    assert what in done.stdout


@pytest.mark.parametrize("words", [["pool.npz", "--array", "points"], ["pool.npz", "--id", "ids"]])
def test_the_pool_is_read_with_the_words_of_select(run: Run, written: Path, words: list[str]) -> None:
    done = run("verify", words[0], "run", *words[1:])
    assert (done.exit_code, done.stdout[:5]) == (0, "VALID")


def test_masses_are_those_of_the_run(run: Run, written: Path) -> None:
    assert run("select", "pool.npz", "-b", 4, "-o", "heavy", "--mass", "w", "--no-picture").exit_code == 0
    assert run("verify", "pool.npz", "heavy", "--mass", "w").exit_code == 0
    assert run("verify", "pool.npz", "heavy").exit_code == 0  # the certificate holds them
    np.savez("pool.npz", points=np.load("pool.npy"), w=np.linspace(1, 0, 60))
    done = run("verify", "pool.npz", "heavy", "--mass", "w")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "masses changed" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["missing.npy", "run"], "missing.npy does not exist"),
        (["pool.npy", "nowhere"], "nowhere/certificate.npz is missing"),
        (["pool.npy", "cut"], "cut/certificate.npz is truncated"),
        (["pool.npz", "run", "--mass", "v"], "pool.npz has no array 'v' for --mass"),
    ],
)
def test_bad_input_is_one_sentence_with_status_2(run: Run, written: Path, words: list[str], sentence: str) -> None:
    (written / "cut").mkdir()
    (written / "cut" / "certificate.npz").write_bytes((written / "run" / "certificate.npz").read_bytes()[:300])
    done = run("verify", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {sentence}")
    assert done.stderr.count("\n") == 1
