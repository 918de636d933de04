import numpy as np
import pytest
from benders_cases import NONE, among, clustered, selections

import handful
from handful import benders
from handful.benders.evidence import evidence
from handful.benders.subproblem import by_kernel
from handful.clock import Clock
from handful.lifted import Shares


@pytest.mark.parametrize("seed", range(30))
def test_a_few_cuts_become_a_proof_of_the_optimum_by_cases(seed):
    pool, budget = clustered(seed)
    forced = np.array([4]) if seed % 3 == 0 else NONE
    shares = Shares(0.5 / budget, 1.5 / budget) if seed % 5 == 0 else None
    found = []
    for seconds in (0, 60):
        with among(pool, budget, forced, shares) as candidates:
            distances = selections(candidates)
            least = min(distances.values())
            some = [by_kernel(candidates, np.array(columns)).prices for columns in list(distances)[::7]]
            proof, bound = evidence(candidates, some, least, least * (1 - 1e-7), Clock(seconds))
        found.append(bound)
        assert bound <= least
    assert found[0] <= found[1] + 1e-12
    assert found[1] >= least * (1 - 2e-7) - 1e-12
    assert len(proof.parents) == len(proof.closing)


@pytest.mark.parametrize("seed", range(10))
def test_a_proof_that_was_not_finished_is_valid(seed, tmp_path):
    pool, budget = clustered(seed, "cosine")
    run = benders.solve(pool, budget, already=[2] if seed % 2 else [], preset="wass", iterations=1, threads=1)
    run.save(tmp_path / "run")
    verdict = handful.verify(pool, tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound == pytest.approx(run.lower_bound, rel=1e-6, abs=1e-9)


def test_many_candidates_left_have_one_case(tmp_path):
    points = np.random.default_rng(0).normal(size=(450, 6))
    run = benders.solve(points, 4, preset="wass", iterations=1, threads=1)
    assert len(run.proof.parents) == 1
    run.save(tmp_path / "run")
    assert handful.verify(points, tmp_path / "run").valid
