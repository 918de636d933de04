import numpy as np
import pytest
from sklearn.datasets import load_digits

from handful import benders
from handful.benders.partition import parts_of
from handful.errors import HandfulError
from handful.pool import Pool
from handful.problem import Problem
from handful.transport import transport

DIGITS = load_digits().data[:150]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_parts_share_points_and_picks_evenly(count):
    problem = Problem.of(Pool(DIGITS), 20, "uniform", [4, 9, 77], count_already=False)
    parts = parts_of(problem, count, seed=0)
    assert np.array_equal(np.sort(np.concatenate([part.rows for part in parts])), np.arange(150))
    assert sum(part.budget for part in parts) == 23
    assert sorted(np.concatenate([part.forced for part in parts])) == [4, 9, 77]
    for part in parts:
        assert set(part.forced) <= set(part.rows)
        assert abs(len(part.rows) - 150 * part.budget / 23) <= 1


def test_joined_picks_are_evaluated_on_the_whole_pool_and_have_no_bound():
    pool = Pool(DIGITS)
    options = {"already": [4], "parts": 3, "time_limit": 60, "threads": 1}
    joined = benders.solve(pool, 9, **options)
    assert joined.already.tolist() == [4]
    assert len(set(joined.picks.tolist())) == 10
    exact = transport(pool.distances(joined.picks), pool.masses, 0.1, 0.1).distance
    assert joined.distance == pytest.approx(exact, rel=1e-12)
    assert not joined.valid_bound
    assert joined.lower_bound == 0
    assert "no certificate" in str(joined)
    whole = benders.solve(pool, 9, already=[4], time_limit=10, threads=1)
    assert whole.distance <= joined.distance <= 1.5 * whole.distance
    apart = benders.solve(pool, 9, processes=2, **options)
    assert apart.indices.tolist() == joined.indices.tolist()


def test_parts_that_can_not_be_are_refused():
    with pytest.raises(HandfulError, match=r"part . of 3 has . free candidates and . earlier picks for"):
        benders.solve(DIGITS, 6, candidates=np.arange(6), parts=3)
    with pytest.raises(HandfulError, match="start can't be given picks where the pool is cut into parts"):
        benders.solve(DIGITS, 2, start=[0, 1], parts=2)
    with pytest.raises(HandfulError, match="picks_weight can't be a range"):
        benders.solve(DIGITS, 2, picks_weight=(0.4, 0.6), parts=2)
