"""Passes by torch, here on the processor: the same code that runs on a card."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from executor_cases import METRICS, SHARES, assert_same, assert_valid, check_passes, points, pool_of  # noqa: E402

import handful  # noqa: E402
from handful import HandfulError, Pool  # noqa: E402
from handful.blocks import workers  # noqa: E402
from handful.blocks_torch import TorchExecutor, TorchPasses  # noqa: E402
from handful.clock import Clock, Stopped  # noqa: E402
from handful.costs_torch import Costs, exact_products  # noqa: E402
from handful.forecast import forecast  # noqa: E402
from handful.lifted import Shares  # noqa: E402
from handful.sample import Sample  # noqa: E402


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pools are not worth the way, but here they take it."""
    monkeypatch.setattr("handful.bound.AWAY", 0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_give_what_the_formula_says(metric: str, dtype: type) -> None:
    executor = TorchExecutor("cpu-torch")
    with workers(1, Clock(np.inf)) as crew:
        for weighted, dimension in ((False, 12), (True, 3)):
            pool = pool_of(metric, 300, dimension, weighted)
            executor = TorchExecutor("cpu-torch")
            for base in (pool, Sample(pool, np.arange(0, 300, 2))):
                for shares in SHARES:
                    check_passes(executor.passes(base, shares, 14, dtype), base, shares, dtype, crew)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_points_are_cut_into_blocks_and_only_some_terms_are_sorted(weighted: bool) -> None:
    """More points than the sample, and so many costs that no block holds them all."""
    pool = pool_of("cosine", 3_000, 6, weighted)
    costs = Costs(pool.prepared(np.float32), torch.float32, torch.device("cpu"))
    for shares in SHARES:
        passes = TorchPasses(costs, pool.masses, shares.low, shares.high, 14, torch.device("cpu"), 1e-6, 12_000)
        with workers(1, Clock(np.inf)) as crew:
            check_passes(passes, pool, shares, np.float32, crew)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "sqeuclidean", "rbf:0.5", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_costs_are_within_the_rounding_that_the_certificate_allows_for(metric: str, dtype: type) -> None:
    """Close pairs far from the origin, where squared distances from a product lose all their digits."""
    given = points(200, 12) + 30
    given[1::2] = given[::2] * (1 + 1e-6)
    pool = Pool(given, metric)
    exact = pool.distances(np.arange(200))
    costs = Costs(pool.prepared(dtype), torch.float64 if dtype is np.float64 else torch.float32, torch.device("cpu"))
    with exact_products():
        for rough in (False, True):
            found = costs.between(torch.arange(200), slice(None), rough).numpy().astype(np.float64)
            assert np.abs(found - exact).max() <= pool.rounding(dtype) + pool.rounding(np.float64)
        assert (costs.between(torch.arange(200), slice(None)).diagonal() == 0).all()


def little(pool: Pool, picks: int, kept: int) -> int:
    """Bytes for a run that may keep the distances of so many candidates."""
    ample = forecast(pool.points.shape, 8, pool.metric.name, picks, pool.n, 4_000_000_000)
    return ample.fixed + 4 * pool.n * kept


@pytest.mark.parametrize(
    "more",
    [
        {"picks_weight": "uniform", "already": [3, 8]},
        {"picks_weight": (0.05, 0.3), "metric": "euclidean", "masses": 1 + np.arange(400) % 7},
        {"picks_weight": "free", "metric": "sqeuclidean"},
    ],
)
def test_picks_and_bounds_are_those_of_threads(more: dict[str, Any], tmp_path: Path) -> None:
    common: dict[str, Any] = {"rounds": 1, "gap": 0.001, "seed": 3, "threads": 1} | more
    one = handful.select(points(400, 6), 6, **common)
    other = handful.select(points(400, 6), 6, device="cpu-torch", **common)
    assert_same(one, other)
    assert_valid(other, tmp_path)


def test_picks_and_bounds_are_those_of_threads_short_of_memory(tmp_path: Path) -> None:
    """Few distances kept, in single precision: sweeps over all, and a bound that rounding can't overstate."""
    pool = Pool(points(1_200, 10, repeated=False))
    executor = TorchExecutor("cpu-torch")
    beside = executor.holding.fixed + executor.holding.copies * pool.n * 10 * 4
    memory = little(pool, 6, 100)
    common: dict[str, Any] = {"rounds": 1, "gap": 0, "threads": 1}
    one = handful.select(pool, 6, memory=memory, **common)
    other = handful.select(pool, 6, memory=memory + beside, device="cpu-torch", **common)
    assert_same(one, other)
    assert_valid(other, tmp_path)


def test_single_precision_is_not_shortened_and_what_a_program_asked_for_comes_back() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with exact_products():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_the_clock_stops_a_pass() -> None:
    pool = pool_of("cosine", 300, 5, False)
    passes = TorchExecutor("cpu-torch").passes(pool, Shares(0.1, 0.1), 10, np.float32)
    some = np.arange(20)
    with workers(1, Clock(0)) as crew:
        for work in (
            lambda: passes.keep(some, some, crew),
            lambda: passes.floors(some, np.zeros(300), crew),
            lambda: passes.values(some, np.zeros(300), np.zeros(20), np.zeros(20), crew),
        ):
            with pytest.raises(Stopped):
                work()
    assert not passes.kept(some).any()


@pytest.mark.parametrize(("name", "why"), [("gpu", "not known"), ("cuda:x", "not known"), ("cuda:99", "finds")])
def test_a_device_that_is_not_there_is_refused(name: str, why: str) -> None:
    with pytest.raises(HandfulError, match=why):
        handful.select(points(30, 3), 2, device=name)


def test_the_passes_need_nothing_but_numpy_and_torch() -> None:
    """A machine with a card often has little else."""
    code = (
        "import sys\n"
        "for name in ('numba', 'scipy', 'sklearn', 'ot', 'highspy', 'pyarrow', 'threadpoolctl', 'typer', 'ray'):\n"
        "    sys.modules[name] = None\n"
        "import numpy, handful.blocks_torch\n"
        "print('fine')"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(handful.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout == "fine\n", done.stderr
