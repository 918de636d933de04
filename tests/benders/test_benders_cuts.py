import numpy as np
import pytest
from benders_cases import NONE, among, clustered, selections

from handful.benders import FAMILIES
from handful.benders.corrected import check_metric, lifted_at
from handful.benders.cuts import make
from handful.benders.subproblem import by_kernel, by_sinkhorn
from handful.errors import HandfulError
from handful.lifted import Shares
from handful.pool import Pool

VALID = sorted(name for name, family in FAMILIES.items() if family.valid)

# Recorded: pools on which the printed cut, made at the selection of `made_at`, says more of the optimum than it costs.
LINE = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])


def excess(cut, distances):
    """How far the cut lies above the distance of the selections that it treats worst."""
    return max(cut.at(np.array(columns)) - distance for columns, distance in distances.items())


@pytest.mark.parametrize("seed", range(60))
def test_a_valid_family_never_lies_above_the_distance_of_any_selection(seed):
    pool, budget = clustered(seed)
    forced = np.array([2]) if seed % 3 == 0 else NONE
    shares = Shares(0.5 / budget, 1.5 / budget) if seed % 5 == 0 else None
    with among(pool, budget, forced, shares) as candidates:
        distances = selections(candidates)
        for columns in list(distances)[:: max(1, len(distances) // 4)]:
            solved = by_kernel(candidates, np.array(columns))
            for name in VALID:
                cut = make(name, candidates, solved)
                assert excess(cut, distances) <= 1e-9, (name, columns)
                implied = lifted_at(candidates, cut.prices)
                assert all(cut.at(np.array(s)) <= implied.at(np.array(s)) + 1e-9 for s in distances), name
            for name in ("benders", "dual", "lifted"):
                value = make(name, candidates, solved).at(np.array(columns))
                assert value == pytest.approx(distances[columns], abs=1e-9)


@pytest.mark.parametrize("seed", range(100, 150))
def test_the_lifted_cut_is_valid_at_any_prices_and_dominates_the_benders_cut(seed):
    pool, budget = clustered(seed, "cosine")
    random = np.random.default_rng(seed)
    with among(pool, budget, np.array([1]) if seed % 2 else NONE) as candidates:
        distances = selections(candidates)
        solved = by_kernel(candidates, np.array(min(distances, key=distances.get)))
        for prices in (solved.prices, random.normal(size=pool.n), np.zeros(pool.n)):
            assert excess(lifted_at(candidates, prices), distances) <= 1e-9
        weak, strong = make("benders", candidates, solved), make("lifted", candidates, solved)
        assert (strong.coefficients >= weak.coefficients - 1e-12).all()
        assert strong.constant >= weak.constant - 1e-12


@pytest.mark.parametrize(
    ("printed", "corrected"), [("lower-bound-printed", "lower-bound"), ("triangle-printed", "triangle")]
)
def test_the_printed_cut_cuts_off_an_optimum_and_the_corrected_one_does_not(printed, corrected):
    with among(Pool(LINE, "euclidean"), 3) as candidates:
        distances = selections(candidates)
        best = min(distances, key=distances.get)
        assert distances[best] == pytest.approx(0.5)
        solved = by_kernel(candidates, np.array(best))
        says = make(printed, candidates, solved).at(np.array(best))
        assert says == pytest.approx({"lower-bound-printed": 1.0, "triangle-printed": 9.5}[printed])
        assert make(corrected, candidates, solved).at(np.array(best)) <= distances[best] + 1e-12


def test_printed_cuts_cut_off_optima_on_many_random_pools():
    cut_off = {"lower-bound-printed": 0, "triangle-printed": 0}
    for seed in range(0, 400, 4):
        pool, budget = clustered(seed)
        with among(pool, budget) as candidates:
            distances = selections(candidates)
            best = np.array(min(distances, key=distances.get))
            solved = by_kernel(candidates, best)
            for name in cut_off:
                cut_off[name] += make(name, candidates, solved).at(best) > min(distances.values()) + 1e-9
    assert cut_off["lower-bound-printed"] >= 10
    assert cut_off["triangle-printed"] >= 50


def test_the_corrected_lower_bound_counts_duplicates_as_free():
    with among(Pool(np.array([[0.0], [0.0], [0.0], [4.0]]), "euclidean"), 2) as candidates:
        cut = make("lower-bound", candidates, by_kernel(candidates, np.array([0, 3])))
        assert cut.coefficients == pytest.approx([0, 0, 0, (1 / 2 - 1 / 4) * 4])


def test_the_gradient_cut_of_sinkhorn_is_invalid_and_its_repair_is_not():
    over = 0
    for seed in range(40):
        pool, budget = clustered(seed)
        with among(pool, budget) as candidates:
            distances = selections(candidates)
            for columns in list(distances)[:: max(1, len(distances) // 3)]:
                solved = by_sinkhorn(candidates, np.array(columns), 0.2)
                gradient = make("sinkhorn-printed", candidates, solved)
                over += excess(gradient, distances) > 1e-6
                for name in ("benders", "lifted", "triangle"):
                    repaired = make(name, candidates, solved)
                    assert excess(repaired, distances) <= 1e-9, name
                soft = make("benders", candidates, solved).coefficients
                assert (gradient.coefficients >= soft - 1e-9).all()
    assert over > 20


@pytest.mark.parametrize(
    ("pool", "says"),
    [
        (Pool(np.eye(3)), "which cosine is not"),
        (Pool(np.eye(3), "sqeuclidean"), "which sqeuclidean is not"),
        (Pool(np.array([[0.0, 1.0], [2.0, 0.0]]), "precomputed"), "is not symmetric"),
        (
            Pool(np.array([[0.0, 1, 9], [1, 0, 1], [9, 1, 0]]), "precomputed"),
            "from point 0 to 2 the way through 1 is shorter",
        ),
        (Pool(np.zeros((2001, 2001)), "precomputed"), "2,001 points is too large to check"),
    ],
)
def test_the_triangle_cut_refuses_a_cost_that_is_not_a_metric(pool, says):
    with pytest.raises(HandfulError, match=says):
        check_metric(pool)


def test_the_triangle_cut_takes_a_precomputed_metric():
    points = np.random.default_rng(0).normal(size=(30, 3))
    check_metric(Pool(np.linalg.norm(points[:, None] - points, axis=2), "precomputed"))
