"""A plan that proves its own cost, and a check that finds out by a pass which values count: beside POT and sorting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import handful
from handful import Pool, recheck, verification
from handful.certificate import Certificate
from handful.plan_proof import least_cost
from handful.transport import transport
from oracles import emd_cost

RANGES = [(1 / 8, 1 / 8), (0.05, 0.3), (0.0, 1.0), (0.0, 0.14), (0.12, 0.2)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_an_optimal_plan_proves_what_pot_finds(low: float, high: float) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        costs, masses = random.random((8, 150)), random.random(150)
        masses /= masses.sum()
        plan = transport(costs, masses, low, high)
        proven = least_cost(costs, masses, low, high, plan.rows, plan.columns, plan.mass)
        assert proven == pytest.approx(emd_cost(costs, masses, low, high), rel=1e-9)


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_any_other_plan_proves_no_more_than_the_least_cost(low: float, high: float) -> None:
    random = np.random.default_rng(1)
    weaker = 0
    for _ in range(20):
        costs, masses = random.random((8, 60)), np.full(60, 1 / 60)
        least = emd_cost(costs, masses, low, high)
        picks = random.permutation(np.arange(60) % 8)
        proven = least_cost(costs, masses, low, high, np.arange(60), picks, masses)
        assert proven <= least * (1 + 1e-12)
        weaker += proven < 0.99 * least
    assert weaker > 10


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools of any size are checked as those of a million points are."""
    monkeypatch.setattr(recheck, "_MANY", 0)
    monkeypatch.setattr(verification, "_LARGE", 0)


def saved(tmp_path: Path, **options: Any) -> Any:
    points = np.random.default_rng(2).normal(size=(300, 6)) + 1
    found = handful.select(points, 7, threads=1, rounds=1, **options)
    found.save(tmp_path / "run")
    return points


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "euclidean", "picks_weight": (0.05, 0.3)},
        {"metric": "manhattan", "picks_weight": "free"},
        {"masses": np.arange(300) % 5, "already": [3]},
    ],
)
def test_the_check_of_large_pools_proves_the_same(
    tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = saved(tmp_path, **options)
    swept = handful.verify(points, tmp_path / "run")
    assert swept.problems == ()
    monkeypatch.undo()
    sorted_out = handful.verify(points, tmp_path / "run")
    assert swept.distance == pytest.approx(sorted_out.distance, rel=1e-9)
    assert swept.lower_bound == pytest.approx(sorted_out.lower_bound, rel=1e-9)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("distance", lambda x: 0.99 * x, "distance understated"),
        ("distance", lambda x: 1.01 * x, "distance overstated"),
        ("lower_bound", lambda x: 1.001 * x, "bound overstated"),
        ("prices", lambda x: 0.9 * x, "bound overstated"),
        ("picks", lambda x: np.append(np.setdiff1d(np.arange(9), x)[:1], x[1:]), "picks changed"),
        ("shares", lambda x: x[::-1] + np.linspace(-0.01, 0.01, 7), "shares changed"),
    ],
)
def test_the_check_of_large_pools_finds_changes(tmp_path: Path, name: str, change: Any, problem: str) -> None:
    points = saved(tmp_path)
    file = tmp_path / "run" / "certificate.npz"
    arrays = dict(np.load(file))
    arrays[name] = np.asarray(change(arrays[name]))
    np.savez(file, **arrays)
    verdict = handful.verify(points, tmp_path / "run")
    assert not verdict.valid
    assert any(problem in found for found in verdict.problems), verdict.problems


@pytest.mark.usefixtures("large")
def test_a_plan_that_is_not_the_best_is_found_out(tmp_path: Path) -> None:
    points = saved(tmp_path)
    file = tmp_path / "run" / "plan.npz"
    arrays = dict(np.load(file))
    rows = np.flatnonzero(arrays["rank"] != arrays["rank"][0])[:1]
    for swapped in ("rank", "pick", "flow_picks"):
        arrays[swapped][[0, rows[0]]] = arrays[swapped][[rows[0], 0]]
    np.savez(file, **arrays)
    assert not handful.verify(points, tmp_path / "run").valid


def test_values_of_a_pass_are_bounds_and_those_that_count_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the sample of the pass: thresholds that are off make floors, never values too large."""
    random = np.random.default_rng(3)
    pool = Pool(random.normal(size=(500, 6)), "euclidean")
    prices, masses = random.random(500), pool.masses
    for low, high in RANGES:
        sample = random.choice(500, 40)
        floors, sums, _ = recheck._floors(pool, np.arange(500), sample, prices, masses, low, high)
        exact = recheck._values(np.asarray(pool.distances(np.arange(500)), float) - prices, masses, low, high)[0]
        assert (floors <= exact + 1e-12).all()
        assert (sums >= 0).all()
        assert (floors < exact - 1e-6).any() or low == 0


def test_a_certificate_without_its_plan_is_checked_by_pot(tmp_path: Path, large: None) -> None:
    points = saved(tmp_path)
    (tmp_path / "run" / "plan.npz").unlink()
    assert handful.verify(points, tmp_path / "run").valid
    assert Certificate.read(tmp_path / "run" / "certificate.npz").distance > 0
