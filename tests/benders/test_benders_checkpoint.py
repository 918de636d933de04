import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from handful import benders
from handful.errors import HandfulError

DIGITS = load_digits().data[:200]
RUN = """
import sys
from sklearn.datasets import load_digits
from handful import benders
benders.solve(load_digits().data[:200], 4, checkpoint=sys.argv[1], preset=sys.argv[2], threads=1, time_limit=300,
              progress=lambda line: print(line.phase, flush=True))
"""


@pytest.mark.parametrize("preset", ["certified", "wass+eoc+p"])
def test_a_killed_run_goes_on_to_the_same_end(tmp_path, preset):
    path = tmp_path / "run.checkpoint"
    process = subprocess.Popen([sys.executable, "-c", RUN, path, preset], stdout=subprocess.PIPE, text=True)
    lines = [""]
    while not lines[-1].startswith("iteration 4"):
        lines.append(process.stdout.readline())
        assert lines[-1]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    options = {"preset": preset, "threads": 1, "iterations": None if preset == "certified" else 12}
    resumed = benders.solve(DIGITS, 4, checkpoint=path, time_limit=300, **options)
    whole = benders.solve(DIGITS, 4, time_limit=300, **options)
    assert [line.iteration for line in resumed.history if line.iteration] == list(range(1, resumed.iterations + 1))
    assert _values(resumed, 4) == _values(whole, 4)
    assert resumed.valid_bound == whole.valid_bound
    assert resumed.status == whole.status
    if preset == "certified":
        assert resumed.status == "optimal"
        assert resumed.distance == pytest.approx(whole.distance, rel=1e-9)
        assert sorted(resumed.indices) == sorted(whole.indices)


@pytest.fixture
def half_way(tmp_path):
    path = tmp_path / "half"
    first = benders.solve(DIGITS, 4, checkpoint=path, iterations=3, threads=1)
    assert first.status == "iterations"
    return path, first


def test_a_record_cut_short_is_dropped(half_way):
    path, first = half_way
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    resumed = benders.solve(DIGITS, 4, checkpoint=path, iterations=3, threads=1)
    assert _values(resumed, 2) == _values(first, 2)
    assert resumed.iterations == 3
    assert resumed.distance <= first.distance


def test_time_already_spent_counts(half_way):
    path, first = half_way
    began = time.monotonic()
    resumed = benders.solve(DIGITS, 4, checkpoint=path, time_limit=first.seconds / 2, threads=1)
    assert resumed.status == "time"
    assert time.monotonic() - began < 3
    assert resumed.distance == pytest.approx(first.distance)
    assert resumed.master_bound == pytest.approx(first.master_bound)
    assert resumed.iterations == 3


def test_resuming_restores_cuts_and_what_is_closed(half_way):
    path, first = half_way
    resumed = benders.solve(DIGITS, 4, checkpoint=path, iterations=3, threads=1)
    assert np.array_equal(resumed.cut_prices, first.cut_prices)
    assert resumed.history == first.history
    assert resumed.lower_bound == pytest.approx(first.lower_bound)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"budget": 5}, r"another budget \(4, now 5\)"),
        ({"preset": "wass"}, "another cuts"),
        ({"seed": 1}, r"another seed \(0, now 1\)"),
        ({"pool": DIGITS[:199]}, "another pool"),
        ({"already": [3]}, r"another budget \(4, now 5\)"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(half_way, change, says):
    path, _ = half_way
    options = {"pool": DIGITS, "budget": 4, **change}
    before = path.read_bytes()
    with pytest.raises(HandfulError, match=says):
        benders.solve(checkpoint=path, threads=1, **options)
    assert path.read_bytes() == before


def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("not yours\n")
    with pytest.raises(HandfulError, match="is not a checkpoint of ours"):
        benders.solve(DIGITS, 4, checkpoint=path, threads=1)
    assert path.read_text() == "not yours\n"


def _values(run, count):
    return [line.transport_value for line in run.history if line.iteration <= count]
