import os
import signal
import threading
import time

import numpy as np
import pytest
from benders_cases import among, clustered, selections
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.datasets import load_digits

import handful
from handful import benders
from handful.benders import close_gap
from handful.benders.candidates import Candidates
from handful.benders.subproblem import by_kernel
from handful.blocks import workers
from handful.clock import Clock
from handful.engine import select
from handful.errors import HandfulError
from handful.lifted import Shares
from handful.pool import Pool
from handful.transport import transport

DIGITS = load_digits().data
# The full MILP of the strong formulation, solved to optimality by HiGHS on the first 120 digits.
OPTIMA_120 = {5: 0.1373297150127208, 10: 0.08261911866252795}


@pytest.fixture(params=["highs", "cbc"])
def solver(request):
    if request.param == "cbc":
        pytest.importorskip("mip")
    return request.param


def optimum(pool, budget, forced=(), shares=None):
    with among(pool, budget, np.array(forced, np.int64), shares) as candidates:
        return min(selections(candidates).values())


@pytest.mark.parametrize("preset", ["certified", "wass"])
@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_it_ends_at_the_optimum_with_a_proof(seed, preset, solver, tmp_path):
    pool, budget = clustered(seed, "euclidean" if seed % 3 else "cosine")
    already = [3] if seed % 4 == 0 else []
    found = benders.solve(
        pool, budget, already=already, count_already=True, preset=preset, solver=solver, tolerance=0.0, threads=1
    )
    best = optimum(pool, budget, already)
    assert found.status == "optimal"
    assert found.distance == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert found.master_bound == pytest.approx(best, rel=2e-6, abs=1e-9)
    assert found.master_bound <= best + 1e-9
    assert found.lower_bound <= best + 1e-12
    assert found.gap <= 1e-6
    assert found.valid_bound
    found.save(tmp_path / "run")
    verdict = handful.verify(pool, tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound == pytest.approx(best, rel=2e-6, abs=1e-9)
    assert found.already.tolist() == already
    assert len(found.indices) == budget - len(already)


@pytest.mark.parametrize("weight", ["free", (0.1, 0.6)])
@pytest.mark.parametrize("seed", range(1, 9))
def test_it_ends_at_the_optimum_with_other_weights_and_candidates(seed, weight, tmp_path):
    pool, budget = clustered(seed, "sqeuclidean")
    few = Pool(pool.points, "sqeuclidean", masses=pool.masses, candidates=np.arange(0, pool.n, 2)[: budget + 2])
    budget = min(budget, len(few.candidates) - 1)
    shares = Shares(0.0, 1.0) if weight == "free" else Shares(*weight)
    found = benders.solve(few, budget, picks_weight=weight, threads=1)
    assert found.distance == pytest.approx(optimum(few, budget, (), shares), rel=1e-6, abs=1e-12)
    assert found.status == "optimal"
    assert set(found.indices) <= set(few.candidates)
    assert found.gap <= 1e-6
    found.save(tmp_path / "run")
    assert handful.verify(few, tmp_path / "run").valid


@pytest.mark.parametrize(("already", "budget"), [((), 7), ((0, 1, 2), 3)])
def test_there_may_be_only_one_selection(already, budget):
    pool = Pool(np.random.default_rng(0).normal(size=(7, 2)), "euclidean")
    found = benders.solve(pool, budget, already=already, count_already=True, threads=1)
    assert found.status == "optimal"
    assert found.master_bound == pytest.approx(found.distance)
    assert sorted(found.picks) == list(already or range(7))


@pytest.mark.parametrize("budget", [5, 10])
def test_120_digits_are_solved_like_the_full_milp(budget, tmp_path):
    found = benders.solve(DIGITS[:120], budget, time_limit=120, threads=1)
    assert found.status == "optimal"
    assert found.distance == pytest.approx(OPTIMA_120[budget], rel=1e-9)
    found.save(tmp_path / "run")
    verdict = handful.verify(DIGITS[:120], tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound == pytest.approx(OPTIMA_120[budget], rel=2e-6)


def whole_milp(pool, budget):
    """The strong formulation with every share of every point, by SciPy."""
    n = pool.n
    costs = pool.distances(np.arange(n)).T.ravel()
    point, pick = np.divmod(np.arange(n * n), n)
    served = sparse.csr_array((np.ones(n * n), (point, np.arange(n * n))))
    carried = sparse.csr_array((np.ones(n * n), (pick, np.arange(n * n))))
    nothing = sparse.csr_array((n, n))
    one = sparse.csr_array(np.ones((1, n)))
    at_most = sparse.csr_array((pool.masses[point], (np.arange(n * n), pick)))
    constraints = [
        LinearConstraint(sparse.hstack([served, nothing]), pool.masses, pool.masses),
        LinearConstraint(sparse.hstack([carried, sparse.eye_array(n) / -budget]), 0, 0),
        LinearConstraint(sparse.hstack([sparse.eye_array(n * n), -at_most]), -np.inf, 0),
        LinearConstraint(sparse.hstack([sparse.csr_array((1, n * n)), one]), budget, budget),
    ]
    kinds = np.concatenate([np.zeros(n * n), np.ones(n)])
    weights = np.concatenate([costs, np.zeros(n)])
    found = milp(weights, integrality=kinds, bounds=Bounds(0, 1), constraints=constraints, options={"mip_rel_gap": 0})
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize(("points", "budget"), [(25, 3), (40, 5)])
def test_the_decomposition_the_engine_and_the_whole_milp_agree(points, budget, solver):
    pool = Pool(DIGITS[100 : 100 + points])
    found = benders.solve(pool, budget, solver=solver, threads=1)
    assert found.status == "optimal"
    assert found.distance == pytest.approx(whole_milp(pool, budget), rel=1e-7)
    assert found.distance == pytest.approx(select(pool, budget, gap=0.0, threads=1).distance, rel=1e-9)


@pytest.mark.parametrize("preset", ["wass+eoc", "wass+eoc+p"])
def test_printed_presets_carry_no_certificate_and_say_so(preset, tmp_path):
    seen = []
    found = benders.solve(DIGITS[:60], 4, preset=preset, time_limit=20, threads=1, iterations=6, progress=seen.append)
    assert not found.valid_bound
    assert found.master_gap is None
    assert found.lower_bound == 0
    assert not found.prices.any()
    assert "no certificate" in str(found)
    assert "bounds nothing" in found.claim
    assert seen
    assert all(line.lower_bound == 0 and "no certificate" in line.phase for line in seen)


def test_a_printed_cut_can_report_more_than_the_optimum():
    line = Pool(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]), "euclidean")
    found = benders.solve(line, 3, cuts=("benders", "lower-bound-printed"), threads=1)
    assert found.master_bound > 0.5 + 0.1
    assert not found.valid_bound
    certified = benders.solve(line, 3, threads=1)
    assert certified.distance == pytest.approx(0.5)
    assert certified.master_bound == pytest.approx(0.5)


def test_pruning_alone_takes_the_bound_away():
    found = benders.solve(DIGITS[:16], 3, preset="wass", pruning=(0.6, 0.99), time_limit=30, threads=1, tolerance=0.0)
    assert not found.valid_bound
    assert found.status == "converged"
    assert found.distance >= optimum(Pool(DIGITS[:16]), 3) - 1e-12


def test_sinkhorn_with_lifted_cuts_keeps_a_valid_bound():
    pool, budget = clustered(6)
    best = optimum(pool, budget)
    found = benders.solve(pool, budget, transport="sinkhorn", regularisation=0.1, threads=1, time_limit=20)
    assert found.valid_bound
    assert max(found.lower_bound, found.master_bound) <= best + 1e-9 <= found.distance + 2e-9
    gradient = benders.solve(pool, budget, transport="sinkhorn", cuts=("sinkhorn-printed",), threads=1, time_limit=20)
    assert not gradient.valid_bound


def test_emd_is_the_papers_transport():
    pool, budget = clustered(3)
    found = benders.solve(pool, budget, preset="wass", transport="emd", tolerance=0.0, threads=1)
    assert found.distance == pytest.approx(optimum(pool, budget), rel=1e-6)


@pytest.mark.parametrize("start", ["k-medoids", "k-centers", [5, 1, 30]])
def test_it_starts_where_it_is_told(start):
    pool = Pool(DIGITS[:60])
    found = benders.solve(pool, 3, preset="wass", start=start, iterations=1, threads=1)
    first = found.history[1]
    if isinstance(start, list):
        costs = pool.distances(start)
        assert first.incumbent <= transport(costs, pool.masses, 1 / 3, 1 / 3).distance
    assert found.iterations == 1
    assert found.status == "iterations"
    assert found.distance < 0.5


def test_the_bounds_of_the_trace_never_go_back():
    found = benders.solve(DIGITS[:150], 5, time_limit=60, threads=1)
    bounds = [line.master_bound for line in found.history]
    incumbents = [line.incumbent for line in found.history]
    assert bounds == sorted(bounds)
    assert incumbents == sorted(incumbents, reverse=True)
    assert [line.iteration for line in found.history if line.iteration] == list(range(1, found.iterations + 1))
    assert all(line.master_seconds >= 0 and line.cuts > 0 for line in found.history)
    assert found.status == "optimal"


def test_the_time_limit_is_kept_and_the_bound_is_valid():
    began = time.monotonic()
    found = benders.solve(DIGITS[:600], 20, time_limit=4, threads=1)
    assert time.monotonic() - began < 8
    assert found.status == "time"
    assert 0 < found.lower_bound < found.distance
    assert 0 < found.master_bound < found.distance


def test_a_run_that_ends_at_once_has_its_start_in_the_trace():
    found = benders.solve(DIGITS[:60], 3, time_limit=1e-6, threads=1)
    assert (found.status, found.iterations, len(found.history)) == ("time", 0, 1)
    assert found.history[0].incumbent == pytest.approx(found.distance)


def test_ctrl_c_returns_the_best_so_far():
    began = time.monotonic()
    threading.Timer(2.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    found = benders.solve(DIGITS[:600], 20, time_limit=60, threads=1)
    assert time.monotonic() - began < 15
    assert found.status == "interrupted"
    assert found.master_bound < found.distance


def test_close_gap_closes_what_is_left():
    pool = Pool(DIGITS[:120])
    shares = Shares(0.2, 0.2)
    start = np.array([0, 1, 2, 3, 4])
    with workers(1, Clock(60)) as crew:
        none = np.empty(0, np.int64)
        among_all = Candidates(pool, shares, 5, none, pool.candidates, crew, keep=True)
        solved = by_kernel(among_all, start)
        closed = close_gap(pool, shares, 5, none, pool.candidates, start, [solved.prices], crew)
        fewer = close_gap(pool, shares, 5, none, closed.picks, closed.picks, [solved.prices], crew)
    assert closed.met
    assert closed.distance == pytest.approx(OPTIMA_120[5], rel=1e-9)
    assert closed.lower_bound == pytest.approx(closed.distance, rel=1e-6)
    assert closed.prices.shape[1] == pool.n
    assert fewer.met
    assert sorted(fewer.picks) == sorted(closed.picks)


def test_close_gap_returns_what_it_has_when_time_is_over():
    pool = Pool(DIGITS[:300])
    shares, start = Shares(0.1, 0.1), np.arange(10)
    with workers(1, Clock(0.5)) as crew:
        closed = close_gap(pool, shares, 10, np.empty(0, np.int64), pool.candidates, start, [np.zeros(pool.n)], crew)
    assert not closed.met
    assert closed.lower_bound < closed.distance


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"preset": "best"}, "unknown preset 'best': choose one of wass, wass.eoc, wass.eoc.p, certified"),
        ({"cuts": ("lower-bound",)}, "cuts must hold at least one of benders, lifted, dual, sinkhorn-printed"),
        ({"cuts": ("benders", "eoc")}, "unknown cut 'eoc': choose among benders, lifted"),
        ({"cuts": ("benders", "triangle")}, "the triangle cut needs a metric, which cosine is not"),
        ({"cuts": ("sinkhorn-printed",)}, "the cut sinkhorn-printed needs transport='sinkhorn'"),
        ({"solver": "gurobi"}, "unknown solver 'gurobi'"),
        ({"transport": "simplex"}, "unknown transport 'simplex': choose one of exact, emd, sinkhorn"),
        ({"transport": "emd", "picks_weight": "free"}, "transport 'emd' knows uniform picks only"),
        ({"regularisation": 0.0}, "regularisation must be above 0; got 0"),
        ({"start": "random"}, "unknown start 'random': choose one of k-medoids, k-centers"),
        ({"start": [1, 2]}, "start has 2 new picks, but 3 are asked for"),
        ({"start": [1, 2, 99]}, "start names row 99"),
        ({"candidates": [0, 1, 2, 3], "start": [1, 2, 7]}, "start names row 7, which is not a candidate"),
        ({"pruning": (0.5, 2)}, r"pruning must be two parts between 0 and 1, as in \(0.6, 0.99\); got \(0.5, 2\)"),
        ({"pruning": 0.5}, "pruning must be two numbers"),
        ({"tolerance": -1.0}, "tolerance must be at least 0; got -1"),
        ({"gap": float("nan")}, "gap must be a finite number; got nan"),
        ({"time_limit": 0}, "time_limit must be above 0; got 0"),
        ({"solve_limit": "long"}, "solve_limit must be a finite number; got 'long'"),
        ({"solve_gap": 1.0}, "solve_gap must be at least 0 and below 1; got 1"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1; got 0"),
        ({"parts": 1.5}, "parts must be a whole number of at least 1; got 1.5"),
        ({"processes": 0}, "processes must be a whole number of at least 1; got 0"),
        ({"parts": 4}, "parts must be at most the number of new picks, 3; got 4"),
        ({"checkpoint": "nowhere/at/all"}, "checkpoint nowhere/at/all: the folder nowhere/at does not exist"),
    ],
)
def test_a_bad_option_gets_one_sentence(options, says):
    with pytest.raises(HandfulError, match=says):
        benders.solve(DIGITS[:20], 3, **options)
