import numpy as np
import ot
import pytest
from benders_cases import among, clustered, selections

from handful.benders.sinkhorn import entropic
from handful.benders.subproblem import by_emd, by_kernel, by_sinkhorn
from handful.errors import HandfulError


@pytest.mark.parametrize("solve", [by_kernel, by_emd])
@pytest.mark.parametrize("seed", range(8))
def test_the_distance_is_exact_and_the_prices_prove_it(solve, seed):
    pool, budget = clustered(seed)
    with among(pool, budget) as candidates:
        for columns, distance in list(selections(candidates).items())[::9]:
            solved = solve(candidates, np.array(columns))
            assert solved.distance == pytest.approx(distance, rel=1e-9, abs=1e-12)
            costs = pool.distances(solved.picks)
            spent = costs[solved.served_by, solved.rows] @ solved.mass
            assert spent == pytest.approx(distance, rel=1e-9, abs=1e-12)
            dual = pool.masses @ solved.prices + (costs - solved.prices).min(axis=1).sum() / budget
            assert dual == pytest.approx(distance, rel=1e-9, abs=1e-12)


def test_an_early_end_of_emd_is_no_distance(monkeypatch):
    def stopped(a, b, costs, **_):
        plan = np.outer(a, b)
        return plan, {"cost": (plan * costs).sum(), "v": np.zeros(len(b)), "warning": "numItermax reached"}

    monkeypatch.setattr(ot, "emd", stopped)
    pool, budget = clustered(0)
    with among(pool, budget) as candidates, pytest.raises(HandfulError, match="did not reach an optimal plan"):
        by_emd(candidates, np.arange(budget))


@pytest.mark.parametrize("seed", range(6))
def test_the_entropic_plan_is_feasible_and_nears_the_exact_distance(seed):
    pool, budget = clustered(seed)
    with among(pool, budget) as candidates:
        columns = np.arange(budget)
        exact = by_kernel(candidates, columns).distance
        distances = [by_sinkhorn(candidates, columns, temperature).distance for temperature in (0.5, 0.1, 0.02)]
        assert min(distances) >= exact - 1e-12
        assert distances[2] <= exact * 1.05
        assert distances == sorted(distances, reverse=True)
        plan = entropic(pool.distances(candidates.picks(columns)), pool.masses, 0.1).plan
        assert plan.sum(axis=0) == pytest.approx(pool.masses, abs=1e-12)
        assert plan.sum(axis=1) == pytest.approx(np.full(budget, 1 / budget), abs=1e-12)
        assert (plan >= 0).all()


def test_the_entropic_plan_is_that_of_pot():
    pool, budget = clustered(3)
    costs = pool.distances(np.arange(budget))
    found = entropic(costs, pool.masses, 0.3)
    pot = ot.sinkhorn(np.full(budget, 1 / budget), pool.masses, costs, found.temperature, stopThr=1e-12)
    assert found.plan == pytest.approx(pot, abs=1e-6)
