"""Passes on threads, and what no executor may do."""

import subprocess
import sys

import numpy as np
import pytest
from executor_cases import METRICS, SHARES, check_passes, pool_of

import handful
from handful import HandfulError
from handful.blocks import Passes, workers
from handful.bound import Field
from handful.clock import Clock
from handful.forecast import Holding, forecast
from handful.rows import Rows
from handful.sample import Sample
from handful.shelf import Shelf


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_give_what_the_formula_says(metric: str, dtype: type) -> None:
    with workers(2, Clock(np.inf)) as crew:
        for weighted, dimension in ((False, 12), (True, 3)):
            pool = pool_of(metric, 300, dimension, weighted)
            for base in (pool, Sample(pool, np.arange(0, 300, 2))):
                for shares in SHARES:
                    check_passes(Rows(base, shares, 14, dtype), base, shares, dtype, crew)


def test_a_shelf_keeps_what_is_wanted_and_what_there_is_room_for() -> None:
    random = np.random.default_rng(0)
    shelf, where = Shelf(30, 6), {}
    for _ in range(200):
        wanted = random.choice(30, random.integers(1, 9), replace=False)
        others = random.choice(30, random.integers(0, 30), replace=False)
        before = dict(where)
        new, places = shelf.clear(wanted, others)
        shelf.put(new, places)
        where = {k: int(shelf.places(np.array([k]))[0]) for k in range(30) if shelf.places(np.array([k]))[0] >= 0}
        assert sorted(set(where.values())) == sorted(where.values())
        assert set(where.values()) <= set(range(6))
        assert set(where) <= {*wanted.tolist(), *others.tolist()}
        assert len(set(where) & set(wanted.tolist())) == min(6, len(wanted))
        assert all(where[k] == before[k] for k in set(where) & set(before))
        # Nothing makes way without need.
        staying = set(before) & {*wanted.tolist(), *others.tolist()}
        assert len(where) == min(6, len(staying | set(wanted.tolist())))


def test_neither_torch_nor_ray_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, numpy, handful\n"
        "handful.select(numpy.random.default_rng(0).normal(size=(30, 3)), 2, rounds=1, threads=1)\n"
        "print([name for name in ('torch', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(("word", "package"), [({"ray": "local"}, "ray"), ({"device": "cuda"}, "torch")])
def test_a_missing_package_is_named(word: dict[str, str], package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.executors.find_spec", lambda name: None)
    with pytest.raises(HandfulError, match=rf"needs the package {package}: pip install 'handful\[{package}\]'"):
        handful.select(np.eye(5), 2, **word)


def test_two_executors_are_one_too_many() -> None:
    with pytest.raises(HandfulError, match="give one"):
        handful.select(np.eye(5), 2, ray="local", device="cuda")


def test_the_forecast_counts_what_others_hold() -> None:
    shape = (100_000, 64)

    def plan(memory: int | None = None, holding: Holding | None = None) -> tuple[int, int, int, int]:
        found = forecast(shape, 4, "cosine", 20, shape[0], memory, holding)
        return found.active, found.room, found.bytes, found.limit

    actors = Holding("by 4 Ray actors", fixed=1_000_000_000, copies=5)
    beside = 1_000_000_000 + 5 * 100_000 * 64 * 4
    active, room, total, limit = plan()
    assert plan(holding=actors) == (active, room, total + beside, limit + beside)  # the same run, in more memory
    assert plan(6_000_000_000, actors)[1] < plan(6_000_000_000)[1]
    assert "kept by 4 Ray actors; at most" in forecast(shape, 4, "cosine", 20, shape[0], None, actors).sentence
    with pytest.raises(HandfulError, match=r"the limit is 1\.0 GB"):
        plan(1_000_000_000, actors)

    card = Holding("on the GPU", room=40_000_000_000, fixed=0)
    active_there, room_there, here, _ = plan(holding=card)
    assert active_there == active
    assert room_there > 5 * room
    assert here < total - 4 * 100_000 * active + 1
    assert plan(4_000_000_000, card)[:2] == (active, room)  # with a limit asked for, the run is that of threads
    sentence = forecast(shape, 4, "cosine", 20, shape[0], None, card).sentence
    assert "the distances of 3,000 candidates kept on the GPU in 1.2 GB; at most" in sentence
    with pytest.raises(HandfulError, match="for distances on the GPU, but there is room for"):
        plan(holding=Holding("on the GPU", room=170_000_000))


def test_small_passes_are_made_here_whoever_was_asked_for() -> None:
    class Nobody:
        """An executor that is asked for nothing."""

        holding = Holding("nowhere")

        def passes(self, *_: object) -> Passes:
            raise AssertionError

    points = np.random.default_rng(0).normal(size=(40, 3))
    with workers(1, Clock(np.inf), Nobody()) as crew:
        pool = handful.Pool(points)
        Field(pool, SHARES[0], 7, np.empty(0, np.int64), pool.candidates, crew, room=40, dtype=np.float64)
        wide = handful.Pool(np.random.default_rng(0).normal(size=(3_200, 3)))
        with pytest.raises(AssertionError):
            Field(wide, SHARES[0], 7, np.empty(0, np.int64), wide.candidates, crew, room=40, dtype=np.float64)


def test_the_command_line_refuses_what_it_can_not_do() -> None:
    from handful.cli.select import _elsewhere

    assert _elsewhere(None, None, False) == {}
    assert _elsewhere("auto", None, True) == {"ray": "auto"}
    with pytest.raises(HandfulError, match="leave out --method and --strategy"):
        _elsewhere(None, "cuda", False)
    with pytest.raises(HandfulError, match="--ray local and --device cuda exclude each other"):
        _elsewhere("local", "cuda", True)
