"""Published optima of small OR-Library instances (Beasley 1985; Osman & Christofides 1994), as numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse.csgraph import floyd_warshall

import handful

FOLDER = Path(__file__).parent / "published"


def graph(name: str, n: int) -> NDArray[np.float64]:
    costs = np.full((n, n), np.inf)
    for i, j, cost in np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", dtype=int):
        costs[i - 1, j - 1] = costs[j - 1, i - 1] = cost
    np.fill_diagonal(costs, 0)
    return np.asarray(floyd_warshall(costs))


@pytest.mark.parametrize(("name", "p", "optimum"), [("pmed1", 5, 5819), ("pmed5", 33, 1355)])
def test_p_median_instances_are_solved_with_proof(name: str, p: int, optimum: int, tmp_path: Path) -> None:
    costs = graph(name, 100)
    run = handful.select(costs, p, metric="precomputed", picks_weight="free", gap=0, time_limit=60, threads=1)
    assert run.status == "optimal"
    assert run.distance * 100 == pytest.approx(optimum, rel=1e-9)
    assert run.lower_bound * 100 > optimum - 0.5
    run.save(tmp_path / "run")
    verdict = handful.verify(costs, tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound * 100 > optimum - 0.5


def test_k_medoids_finds_the_published_optimum() -> None:
    model = handful.KMedoids(5, metric="precomputed", gap=0, time_limit=60, threads=1).fit(graph("pmed1", 100))
    assert model.inertia_ == pytest.approx(5819)
    assert model.gap_ <= 1e-6


def test_the_capacitated_instance_is_solved_with_whole_points() -> None:
    x, y, capacity, demand = np.loadtxt(FOLDER / "cpmp01.csv", delimiter=",").T
    distances = np.floor(np.hypot(x[:, None] - x, y[:, None] - y))
    total = demand.sum()
    pool = handful.Pool(distances / demand[:, None], "precomputed", masses=demand)
    run = handful.select_whole(pool, 5, picks_weight=(0.0, capacity[0] / total), time_limit=12, threads=1)
    assert run.distance * total == pytest.approx(713)
    assert run.lower_bound * total <= 713 + 1e-6
    medians = np.unique(run.plan)
    assert len(medians) == 5
    assert all(demand[run.plan == j].sum() <= capacity[0] for j in medians)
    assert distances[np.arange(50), run.plan].sum() == pytest.approx(713)
