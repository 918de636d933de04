"""Picks of a strategy as a selection: exact distance, and a bound that the verifier confirms."""

from pathlib import Path

import numpy as np
import pytest
from strategy_cases import QUICK, clustered

from handful import Pool, strategies, verify
from handful.recheck import cost
from handful.strategies import Task
from handful.strategies import judge as judging


@pytest.mark.parametrize("weight", ["uniform", "free", (0.05, 0.5)])
def test_distance_and_bound_are_verified_from_scratch(tmp_path: Path, weight: str | tuple[float, float]) -> None:
    points = clustered(1)
    task = Task.of(points, 5, already=[3], effort=QUICK)
    found = judging.judged(strategies.get("k-centers"), task, weight)
    costs = task.pool.distances(found.picks)
    assert found.distance == pytest.approx(cost(costs, task.pool.masses, found.low, found.high), rel=1e-8)
    assert 0 < found.lower_bound <= found.distance
    found.save(tmp_path / "run")
    verdict = verify(points, tmp_path / "run")
    assert verdict.valid, str(verdict)
    assert found.picks.tolist() == [3, *strategies.get("k-centers")(points, 5, already=[3]).tolist()]


def test_large_pools_have_no_bound_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_CHEAP", 10)
    points = clustered(1)
    found = judging.judged(strategies.get("random"), Task.of(points, 5, effort=QUICK), "uniform")
    assert found.lower_bound == 0
    assert str(found).endswith(", no lower bound was sought")
    assert not found.certified
    found.save(tmp_path / "run")
    assert verify(points, tmp_path / "run").valid


def test_the_engine_s_own_selection_is_kept_where_it_is_of_this_distance() -> None:
    task = Task.of(Pool(clustered(1)), 5, effort=QUICK)
    own = judging.judged(strategies.get("wasserstein"), task, "uniform")
    assert not isinstance(own, judging.Judged)
    other = judging.judged(strategies.get("wasserstein"), task, "free")
    assert isinstance(other, judging.Judged)
    assert np.isin(own.indices, other.indices).all()
