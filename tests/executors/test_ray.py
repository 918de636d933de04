"""Passes by actors on a real Ray cluster of two workers on this machine, one of which gets killed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from executor_cases import assert_valid, check_passes, points, pool_of  # noqa: E402

import handful  # noqa: E402
from handful import HandfulError, Pool, Progress  # noqa: E402
from handful.blocks import workers  # noqa: E402
from handful.blocks_ray import RayExecutor, _connect, cluster, shape  # noqa: E402
from handful.clock import Clock, Stopped  # noqa: E402
from handful.cluster import Actors, Task  # noqa: E402
from handful.lifted import Shares  # noqa: E402
from handful.rows import Rows  # noqa: E402
from handful.sample import Sample  # noqa: E402


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pools are not worth the way, but here they take it."""
    monkeypatch.setattr("handful.bound.AWAY", 0)


@pytest.fixture(scope="module")
def executor() -> Iterator[RayExecutor]:
    """Two actors of one thread each."""
    with cluster("local", 2) as found:
        assert (found.count, found.threads) == (2, 1)
        yield found
    assert not ray.is_initialized()


def process_of(executor: RayExecutor, number: int) -> int:
    """The process id of an actor."""
    state = ray.get(executor.actors.handles[number].__ray_call__.remote(lambda self: os.getpid()))
    return int(state)


def test_passes_give_what_the_formula_says_and_what_threads_give(executor: RayExecutor) -> None:
    with workers(1, Clock(np.inf)) as crew:
        for metric, weighted, dtype in (("cosine", True, np.float32), ("manhattan", False, np.float64)):
            pool = pool_of(metric, 300, 5, weighted)
            executor._points.clear()
            for base in (pool, Sample(pool, np.arange(0, 300, 2))):
                shares = Shares(0.05, 0.3)
                passes = executor.passes(base, shares, 14, dtype)
                check_passes(passes, base, shares, dtype, crew)
                rows = Rows(base, shares, 14, dtype)
                some, kept = np.arange(0, 90, 2), np.arange(10, 60, 5)
                prices = np.asarray(base.distances(some)).mean(axis=0) * 0.4
                guess = np.zeros(len(some)), np.full(len(some), np.inf)
                for both in (passes, rows):
                    both.keep(kept, some, crew)
                found, thresholds = passes.values(some, prices, *guess, crew)
                mine, at = rows.values(some, prices, *guess, crew)
                assert (found == mine).all()
                assert (thresholds == at).all()
                assert (passes.floors(some, prices, crew)[0] == rows.floors(some, prices, crew)[0]).all()
                assert (passes.taken(some, prices, at, crew) == rows.taken(some, prices, at, crew)).all()


def test_a_worker_killed_in_mid_pass_costs_only_its_blocks(
    executor: RayExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(points(6_000, 8))
    executor._points.clear()
    shares = Shares(0.1, 0.1)
    passes = executor.passes(pool, shares, 300, np.float32)
    rows = Rows(pool, shares, 300, np.float32)
    some, kept = np.arange(4_000), np.arange(0, 3_000, 10)
    prices = np.full(pool.n, 0.4)
    guess = np.zeros(len(some)), np.full(len(some), np.inf)
    lost: list[int] = []
    handed: list[int] = []
    original, hand_out = Actors._replace, Actors._hand_out

    def replace(self: Actors, number: int, error: Any) -> list[int]:
        tasks = original(self, number, error)
        lost.extend(tasks)
        return tasks

    def count(self: Actors, tasks: Any, waiting: Any) -> None:
        before = len(waiting)
        hand_out(self, tasks, waiting)
        handed.append(before - len(waiting))
        if sum(handed) > 3 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    monkeypatch.setattr(Actors, "_replace", replace)
    monkeypatch.setattr(Actors, "_hand_out", count)
    victims: list[int] = []
    with workers(1, Clock(np.inf)) as crew:
        for both in (passes, rows):
            both.keep(kept, some, crew)
        owned = passes.owned(0)
        assert abs(len(owned) - len(passes.owned(1))) <= 256
        before = executor.actors.handles
        victims.append(process_of(executor, 0))
        handed.clear()
        floors, _ = passes.floors(some, prices, crew)
        tasks = -(-len(some) // 256)
        assert 1 <= len(lost) <= 2  # what it was at, and what it had next
        assert sum(handed) == tasks + len(lost)  # nothing else was done twice
        assert (floors == rows.floors(some, prices, crew)[0]).all()
        assert executor.actors.handles[0] is not before[0]
        assert executor.actors.handles[1] is before[1]
        # The one in its place has its rows, and is asked for them.
        assert (passes.owned(0) == owned).all()
        found, _ = passes.values(some, prices, *guess, crew)
        mine, at = rows.values(some, prices, *guess, crew)
        np.testing.assert_allclose(found, mine, rtol=0, atol=1e-6 * np.abs(mine).max())
        np.testing.assert_allclose(passes.taken(kept[:5], prices, at[kept[:5]], crew).sum(), 0.5, rtol=1e-9)


def test_a_worker_that_dies_again_and_again_ends_the_run(executor: RayExecutor) -> None:
    class Mortal:
        """An actor that does what it is told."""

        def ready(self) -> None:
            """Nothing."""

        def die(self) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        def fail(self) -> None:
            raise ZeroDivisionError

    kind = ray.remote(num_cpus=0)(Mortal)
    actors = Actors(1, kind.remote, lambda number, handle: [handle.ready.remote()])
    with pytest.raises(HandfulError, match="died 4 times in a row"):
        actors.run([Task("die", ())], Clock(np.inf))
    actors = Actors(1, kind.remote, lambda number, handle: [handle.ready.remote()])
    with pytest.raises(ZeroDivisionError):
        actors.run([Task("fail", ())], Clock(np.inf))
    with pytest.raises(Stopped):
        actors.run([Task("ready", ())], Clock(0))
    assert actors.run([Task("ready", ())] * 3, Clock(np.inf)) == [None] * 3
    actors.end()


def test_a_run_is_that_of_threads_though_a_worker_dies(
    executor: RayExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The whole of `select`, on the cluster that is there; its actors wait for nobody's CPUs."""
    killed: list[int] = []
    opened: list[RayExecutor] = []

    def kill(entry: Progress) -> None:
        if not killed and entry.phase == "searching":
            killed.append(process_of(opened[0], 1))
            os.kill(killed[0], signal.SIGKILL)

    start = RayExecutor._start

    def starting(self: RayExecutor) -> Any:
        opened[:] = [self]
        return start(self)

    monkeypatch.setattr(RayExecutor, "_start", starting)
    executor.actors.end()
    common: dict[str, Any] = {"rounds": 1, "gap": 0.02, "seed": 3, "threads": 2}
    one = handful.select(points(400, 6), 6, **common)
    other = handful.select(points(400, 6), 6, ray="local", progress=kill, **common)
    assert len(killed) == 1
    assert one.indices.tolist() == other.indices.tolist()
    assert abs(one.lower_bound - other.lower_bound) <= 1e-6 * one.lower_bound
    assert_valid(other, tmp_path)


def test_a_running_cluster_is_joined_by_its_address(executor: RayExecutor, tmp_path: Path) -> None:
    np.save(tmp_path / "pool.npy", points(60, 4))
    words = ["select", "pool.npy", "-b", "3", "--rounds", "1", "--ray", ray.get_runtime_context().gcs_address]
    # The two CPUs of the cluster are taken by this module's actors.
    executor.actors.end()
    done = subprocess.run(
        [sys.executable, "-m", "handful", *words], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "3 picks of 60 points" in done.stdout
    assert "Ray" not in done.stdout


def test_an_address_where_no_cluster_is_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"  # bound, but nobody listens
        with pytest.raises(HandfulError, match=rf"no Ray cluster answers at '{address}'"):
            _connect(address, None)
    with pytest.raises(HandfulError, match="no Ray cluster answers at 'nowhere'"):
        _connect("nowhere", None)


@pytest.mark.parametrize(
    ("cpus", "threads", "expected"),
    [
        ([2], None, (2, 1)),
        ([1], None, (1, 1)),
        ([16], None, (2, 8)),
        ([16] * 16, None, (32, 8)),
        ([4, 16], None, (5, 4)),
        ([16, 16], 4, (2, 2)),
    ],
)
def test_actors_fill_the_machines(cpus: list[int], threads: int | None, expected: tuple[int, int]) -> None:
    assert shape(cpus, threads) == expected
