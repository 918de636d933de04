"""What only a process of its own shows: terminals, Ctrl-C, readers that leave, and how fast it starts."""

import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import PYTHON, Run, Shell, names

from handful.cli.progress import LiveLine

ENDLESS = ("select", "digits.npy", "-b", "40", "--gap", "0")
HEAVY = ("numpy", "numba", "scipy", "sklearn", "pyarrow", "matplotlib", "ot", "highspy")


@pytest.fixture
def digits(folder: Path) -> Path:
    """A pool that takes longer than any test to be solved to the end."""
    from sklearn.datasets import load_digits

    np.save("digits.npy", load_digits().data)
    return folder


def on_a_terminal(*words: str, interrupt_at: str = "\0", stdout: str | None = None) -> tuple[int, str]:
    """Run on a terminal, with Ctrl-C typed once these words appear; returns exit status and all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        if stdout is not None:
            os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT), 1)
        os.execve(PYTHON[0], [*PYTHON, *words], {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"})
    shown = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if interrupt_at.encode() in shown:
            os.write(terminal, b"\x03")
            interrupt_at = "\0"
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def plain(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def test_a_terminal_shows_a_live_line_that_ticks(digits: Path) -> None:
    status, shown = on_a_terminal(*ENDLESS, "--time-limit", "8s")
    assert status == 0
    words = plain(shown)
    assert re.search(r"Picking 40 of 1,797 points.* of memory.*\.\r\n", words)
    assert "Until the picks are proven optimal or 0:08 has passed; Ctrl-C ends it with the best picks so" in words
    seen = re.findall(r"(\d+:\d\d)  distance \d\.\d+  at least \d\.\d+  gap \d+\.\d\d%  \w", words)
    assert len(set(seen)) > 1
    assert shown.index("\x1b[2K") > shown.index("0:00")  # the line is erased and written again
    assert "40 picks of 1,797 points: distance" in words


def test_a_terminal_is_told_how_long_what_will_take(folder: Path) -> None:
    np.save("many.npy", np.random.default_rng(0).normal(size=(3200, 3)) + 1)
    status, shown = on_a_terminal("select", "many.npy", "-b", "3", "--time-limit", "4s", "--candidates", "sampled:500")
    assert status == 0
    words = plain(shown)
    assert "Picking 3 of 3,200 points, 500 of them candidates" in words
    assert re.search(r"Good picks after about \d+ s.*a pass over all 500 candidates takes \d+ s", words)
    assert "Picks and bound are out of 500 candidates drawn at random" in words


def test_quiet_shows_no_live_line_on_a_terminal(folder: Path) -> None:
    status, shown = on_a_terminal("select", "pool.npy", "-b", "3", "--rounds", "1", "--quiet")
    assert status == 0
    assert "Picking" not in shown
    assert "\x1b[2K" not in shown
    assert "3 picks of 60 points" in plain(shown)


def test_compiling_is_said_while_it_lasts() -> None:
    from numba import njit
    from numba.core import event

    from handful.compilation import noticing

    line, seen = LiveLine("reading"), []
    noticed = noticing(lambda: line.compiling(1), lambda: line.compiling(-1))

    class Watch(event.Listener):
        def on_start(self, event: object) -> None:
            seen.append(str(line.__rich__()))

        def on_end(self, event: object) -> None:
            pass

    with noticed, event.install_listener("numba:run_pass", Watch()):
        njit(lambda x: x + 1)(1.0)
    assert seen
    assert all(text.endswith("compiling the kernels, once per installation …") for text in seen)
    assert str(line.__rich__()).endswith("reading …")


def test_ctrl_c_on_a_terminal_gives_the_best_so_far(digits: Path) -> None:
    status, shown = on_a_terminal(*ENDLESS, "-o", "run", interrupt_at="gap ")
    assert status == 130
    assert "interrupted: the best picks so far, with their valid bound" in plain(shown)
    assert "Traceback" not in shown
    assert names(digits / "run") == ["certificate.npz", "picks.csv", "picture.png", "plan.npz", "summary.json"]


def test_an_interrupted_run_prints_json_and_writes_a_valid_certificate(digits: Path, run: Run) -> None:
    words = (*ENDLESS, "--json", "-o", "run", "--no-picture")
    status, shown = on_a_terminal(*words, interrupt_at="gap ", stdout="result.json")
    assert status == 130
    assert "{" not in plain(shown)
    document = json.loads((digits / "result.json").read_text())
    assert document["status"] == "interrupted"
    assert 0 < document["lower_bound"] < document["distance"]
    checked = run("verify", "digits.npy", "run")
    assert (checked.exit_code, checked.stdout[:6]) == (0, "VALID:")


def test_ctrl_c_before_there_are_picks_is_no_traceback(folder: Path) -> None:
    os.mkfifo("pool.csv")  # reading it waits for ever
    words = [*PYTHON, "select", "pool.csv", "-b", "3", "-o", "run"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open("pool.csv", "w"):  # opens once the process reads
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "error: interrupted before the work was done.\n"
    assert names(folder) == ["pool.csv", "pool.npy"]


def test_a_reader_that_leaves_is_no_error(folder: Path) -> None:
    process = subprocess.Popen(
        [*PYTHON, "select", "pool.npy", "-b", "3", "--rounds", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


@pytest.mark.parametrize("words", [["--help"], ["select", "--help"], ["--version"]])
def test_help_is_there_at_once(words: list[str]) -> None:
    code = f"import sys; sys.argv = ['handful', *{words}]\nfrom handful.cli import main\ntry: main()\n"
    code += f"finally: print([name for name in {HEAVY} if name in sys.modules])"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.splitlines()[-1] == "[]"
    # Time at work, not by the clock: other processes may keep the machine busy.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_help_has_examples_and_the_version_is_that_of_the_package(shell: Shell) -> None:
    from handful import __version__

    assert "handful select embeddings.npy -b 40 -o run" in shell("--help").stdout
    assert "handful select pool.npy -b 40 --already run/picks.csv -o next" in shell("select", "--help").stdout
    assert "handful verify pool.npy run" in shell("verify", "--help").stdout
    assert shell("--version").stdout == f"handful {__version__}\n"
