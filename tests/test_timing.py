"""What is said of how long a run will take, before it starts. How true it is, benchmarks/million.py measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import handful
from handful import Pool, run, timing
from handful.ascent import Ascent
from handful.certificate import Certificate
from handful.clock import Stopped
from handful.forecast import forecast
from handful.problem import Problem
from handful.timing import Timing, spoken


def expected(**changes: Any) -> Timing:
    usual = {"picks": 30, "one_pass": 4000, "bound": 4500, "restricted": 200, "unrestricted": 4500}
    return Timing(**(usual | {"candidates": 1_000_000, "points": 1_000_000} | changes))


@pytest.mark.parametrize(
    ("found", "limit", "sentence"),
    [
        (
            expected(bound=95, one_pass=60, candidates=60_000, points=60_000),
            600,
            "Good picks after about 30 s, a first bound after about 95 s (a pass over all 60,000 points takes 60 s).",
        ),
        (
            expected(),
            600,
            "Good picks after about 30 s; no bound within 10 min, as a pass over all 1,000,000 points takes 67 min: "
            "for one give --time-limit 2h, or --candidates clustered:20000 for one over these after about 3 min.",
        ),
        (
            expected(bound=200, one_pass=80, candidates=20_000),
            600,
            "Good picks after about 30 s, a first bound after about 3 min (a pass over all 20,000 candidates takes "
            "80 s); a bound over all 1,000,000 points would take about 75 min (--time-limit 2h).",
        ),
        (
            expected(bound=200, one_pass=80, candidates=20_000),
            60,
            "Good picks after about 30 s; no bound within 60 s, as a pass over all 20,000 candidates takes 80 s: for "
            "one give --time-limit 5m.",
        ),
    ],
)
def test_the_sentence_says_what_comes_when_and_what_to_do(found: Timing, limit: float, sentence: str) -> None:
    assert found.sentence(limit) == sentence


def test_lengths_of_time_are_written_for_people() -> None:
    assert [spoken(s) for s in (0.1, 8.4, 119, 150, 7199, 9000)] == ["1 s", "8 s", "119 s", "2 min", "120 min", "2.5 h"]


@pytest.mark.parametrize(
    ("points", "candidates", "metric"), [(400, 400, "cosine"), (12_000, 700, "euclidean"), (12_000, 12_000, "cosine")]
)
def test_a_probe_knows_all_steps_and_changes_no_result(points: int, candidates: int, metric: str) -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(points, 3)), metric).among(np.arange(candidates), "")
    problem = Problem.of(pool, 3, "uniform", (), False)
    before = run.SAMPLE, np.random.default_rng(0).random()
    found = timing.timing(problem, threads=2)
    assert 0 < found.picks < found.bound
    assert 0 < found.one_pass <= found.bound - found.picks + 1e-9
    assert found.bound <= found.unrestricted * (1 + 1e-9)
    assert (found.candidates, found.points) == (candidates, points)
    assert before == (run.SAMPLE, np.random.default_rng(0).random())


def test_a_step_lasts_its_work_at_the_pace_of_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that got less of the processor than others for a while are not thought to take longer."""
    wall, work = [0.0], [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: wall[0])
    monkeypatch.setattr(timing.time, "process_time", lambda: work[0])

    def step(seconds: float, worked: float) -> float:
        def take() -> None:
            wall[0] += seconds
            work[0] += worked

        return pace.work(take)

    pace = timing._Pace()
    assert step(3, 1) == 1
    assert step(1, 1) == pytest.approx(1)
    assert pace.pace == pytest.approx(2)


def test_a_run_killed_in_its_first_pass_goes_on_from_the_prices_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.random.default_rng(0).normal(size=(1200, 6)) + 1
    plan = forecast((1200, 6), 8, "cosine", 5, 1200, None)
    options: dict[str, Any] = {"memory": plan.fixed + 4 * 1200 * 60, "checkpoint": tmp_path / "run.npz", "threads": 1}

    begin = Ascent.begin

    def killed(self: Ascent, prices: Any, distance: float) -> None:
        if self.field.pool.n == len(points):  # not a sample of them
            raise Stopped
        begin(self, prices, distance)

    monkeypatch.setattr(Ascent, "begin", killed)
    first = handful.select(points, 5, rounds=1, gap=0, **options)
    monkeypatch.setattr(Ascent, "begin", begin)
    kept = Certificate.read(tmp_path / "run.npz")
    assert first.lower_bound == kept.lower_bound == 0
    assert np.ptp(kept.prices) > 0
    monkeypatch.delattr(run, "rough_prices")
    second = handful.select(points, 5, rounds=1, gap=0, **options)
    assert second.status == "iterations"
    assert second.lower_bound > 0.5 * second.distance
    assert second.distance <= first.distance * (1 + 1e-9)
