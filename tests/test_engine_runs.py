"""How runs go: the same whatever the threads, stopped at any moment, short of memory; and valid every time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import handful
from handful import HandfulError, Pool, Progress, Selection
from handful.forecast import forecast
from handful.lifted import Shares
from oracles import emd_cost, lifted_values, lower_bound

Floats = NDArray[np.float64]


def points(n: int = 400, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.normal(size=(12, 6))[random.integers(12, size=n)] + 0.5 * random.normal(size=(n, 6))


def assert_same(one: Selection, other: Selection) -> None:
    assert one.indices.tolist() == other.indices.tolist()
    assert (one.distance, one.lower_bound, one.status) == (other.distance, other.lower_bound, other.status)
    assert (one.prices == other.prices).all()
    assert [(entry.distance, entry.lower_bound) for entry in one.trace] == [
        (entry.distance, entry.lower_bound) for entry in other.trace
    ]


def assert_valid(selection: Selection, tmp_path: Path) -> None:
    """The certificate holds for the verifier, and the last trace entry is the result."""
    selection.save(tmp_path / "run", force=True)
    verdict = handful.verify(selection.pool, tmp_path / "run")
    assert verdict.problems == ()
    assert verdict.lower_bound <= selection.distance


def little_memory(pool: Pool, picks: int, kept: int) -> int:
    """Bytes for a run that may keep the distances of so many candidates only."""

    def plan(memory: int | None) -> Any:
        shape = (pool.n, pool.dimension)
        return forecast(shape, pool.points.itemsize, pool.metric.name, picks, len(pool.candidates), memory)

    ample = plan(4_000_000_000)
    memory = ample.fixed + 4 * pool.n * kept
    assert f"the distances of {kept:,} candidates kept" in plan(memory).sentence
    return int(memory)


@pytest.mark.parametrize(
    ("ends", "more"),
    [
        ({"rounds": 3, "gap": 0}, {}),
        ({"gap": 0.02}, {"metric": "euclidean"}),
        ({"rounds": 2, "gap": 0}, {"picks_weight": (0.05, 0.3), "metric": "manhattan"}),
        ({"gap": 0.01}, {"picks_weight": "free", "masses": np.arange(400) % 7}),
    ],
)
def test_the_number_of_threads_changes_nothing(ends: dict[str, Any], more: dict[str, Any]) -> None:
    runs = [handful.select(points(), 7, seed=5, threads=threads, **ends, **more) for threads in (1, 2, 3)]
    assert runs[0].status in ("iterations", "gap", "optimal")
    for other in runs[1:]:
        assert_same(runs[0], other)


def test_the_number_of_threads_changes_nothing_short_of_memory() -> None:
    pool = Pool(points(1000), "euclidean")
    memory = little_memory(pool, 6, 90)
    one, two = (handful.select(pool, 6, rounds=2, gap=0, threads=threads, memory=memory) for threads in (1, 2))
    assert_same(one, two)


def test_seeds_lead_to_other_runs_with_compatible_bounds() -> None:
    runs = [handful.select(points(), 7, seed=seed, rounds=1, gap=0, threads=1) for seed in range(4)]
    assert len({run.distance for run in runs}) + len({run.lower_bound for run in runs}) > 2
    assert max(run.lower_bound for run in runs) <= min(run.distance for run in runs)


@pytest.mark.parametrize("limit", [0.0, 0.01, 0.04, 0.1, 0.3])
@pytest.mark.parametrize("weight", ["uniform", "free"])
def test_time_may_end_at_any_moment(tmp_path: Path, limit: float, weight: str) -> None:
    pool = Pool(points(1200), masses=np.random.default_rng(1).random(1200))
    stopped = handful.select(pool, 9, picks_weight=weight, time_limit=limit, gap=0, threads=1, already=[5])
    assert stopped.status == "time" or (limit > 0.1 and stopped.status == "optimal")
    assert len(set(stopped.picks.tolist())) == 10
    assert stopped.picks[0] == 5
    assert 0 <= stopped.lower_bound <= stopped.distance
    low, high = (0.1, 0.1) if weight == "uniform" else (0.0, 1.0)
    assert stopped.distance == pytest.approx(emd_cost(pool.distances(stopped.picks), pool.masses, low, high), rel=1e-9)
    assert_valid(stopped, tmp_path)
    better = handful.select(pool, 9, picks_weight=weight, rounds=3, gap=0, threads=1, already=[5])
    assert stopped.lower_bound <= better.distance
    assert better.lower_bound <= stopped.distance


@pytest.mark.parametrize("after", [1, 2, 5])
def test_an_interrupt_ends_a_run_with_what_there_is(tmp_path: Path, after: int) -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[Progress] = []

    def progress(entry: Progress) -> None:
        seen.append(entry)
        if len(seen) == after:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = handful.select(points(), 9, gap=0, threads=2, progress=progress)
    assert stopped.status == "interrupted"
    assert "interrupted: the best picks so far" in str(stopped)
    assert stopped.trace[:-1] == tuple(seen)
    assert signal.getsignal(signal.SIGINT) is before
    assert_valid(stopped, tmp_path)
    better = handful.select(points(), 9, rounds=4, gap=0, threads=2)
    assert stopped.lower_bound <= better.distance
    assert better.lower_bound <= stopped.distance


def test_a_second_interrupt_is_one() -> None:
    def progress(entry: Progress) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        handful.select(points(), 9, gap=0, progress=progress)
    assert signal.getsignal(signal.SIGINT) is before


SCRIPT = """
import numpy as np, handful
points = np.random.default_rng(0).normal(size=(1500, 12))
said = []
def progress(entry):
    said or print("working", flush=True)
    said.append(entry)
stopped = handful.select(points, 30, gap=0, progress=progress)
print(stopped.status, len(set(stopped.indices.tolist())), 0 < stopped.lower_bound <= stopped.distance)
stopped.save("run")
print(handful.verify(points, "run").valid)
"""


def test_an_interrupt_from_outside(tmp_path: Path) -> None:
    """A process of its own, its work under way, gets Ctrl-C."""
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out in ("interrupted 30 True\nTrue\n", "interrupted 30 False\nTrue\n")  # before the first bound, it is 0


def test_a_run_in_another_thread_is_the_same() -> None:
    """Where no signal can be caught, as in a server."""
    found: list[Selection] = []
    thread = threading.Thread(target=lambda: found.append(handful.select(points(), 5, rounds=1, threads=1)))
    thread.start()
    thread.join()
    assert_same(found[0], handful.select(points(), 5, rounds=1, threads=1))


def test_an_error_in_the_progress_callback_comes_out() -> None:
    def progress(entry: Progress) -> None:
        raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        handful.select(points(), 5, progress=progress)


@pytest.mark.parametrize(
    ("metric", "weight"),
    [("cosine", "uniform"), ("euclidean", "free"), ("sqeuclidean", (0.05, 0.4)), ("rbf:2", "uniform")],
)
def test_short_of_memory_bounds_are_valid(tmp_path: Path, metric: str, weight: Any) -> None:
    """The distances of 60 of 1,200 candidates are kept, the others computed again in every pass."""
    random = np.random.default_rng(3)
    masses = random.random(1200) if weight == "uniform" else None
    pool = Pool(points(1200, seed=3), metric, masses=masses)
    memory = little_memory(pool, 5, 60)
    little = handful.select(pool, 5, picks_weight=weight, rounds=3, gap=0, threads=1, memory=memory)
    ample = handful.select(pool, 5, picks_weight=weight, rounds=2, gap=0, threads=1)
    least = min(little.distance, ample.distance)
    assert max(little.lower_bound, ample.lower_bound) <= least
    assert little.lower_bound >= 0.9 * ample.lower_bound
    assert little.distance <= 1.03 * least
    assert_valid(little, tmp_path)
    # What the root's prices prove for all selections, by sorting, holds too; with the whole proof it is the bound.
    shares = Shares(little.low, little.high)
    values = [
        lifted_values(pool.distances(part), little.prices, pool.masses, shares.low, shares.high)
        for part in np.array_split(np.arange(1200), 10)
    ]
    root = lower_bound(np.concatenate(values), little.prices, pool.masses, np.arange(0), np.arange(1200), 5)
    assert root <= least * (1 + 1e-12)
    if len(little.proof.parents) == 1 and not little.proof.discarded:
        assert little.lower_bound <= root + 1e-12
    for other in (random.choice(1200, 5, replace=False) for _ in range(5)):
        assert little.lower_bound <= emd_cost(pool.distances(other), pool.masses, shares.low, shares.high)


def test_too_little_memory_is_refused_before_any_work() -> None:
    with pytest.raises(HandfulError, match=r"400 points of 6 numbers and 5 picks need at least \d+ MB, but the limit"):
        handful.select(points(), 5, memory=10_000_000)
