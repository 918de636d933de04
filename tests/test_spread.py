"""Labels that are spread from the picks: against the definition, and against scikit-learn's LabelSpreading."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.semi_supervised import LabelSpreading

from handful import HandfulError, Pool, select
from handful.graph import affinities, neighbours
from handful.spread import neighbour_graph, spread

METRICS = ["cosine", "euclidean", "sqeuclidean", "manhattan", "rbf:4"]


def blobs(seed: int, n: int = 60, classes: int = 3) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, n)
    return random.normal(size=(classes, 4))[labels] * 2 + random.normal(size=(n, 4)), labels


def dense_affinities(pool: Pool, count: int) -> np.ndarray[Any, Any]:
    """Point by point, as the definition says."""
    costs = pool.distances(np.arange(pool.n)).astype(np.float64)
    np.fill_diagonal(costs, np.inf)
    order = np.argsort(costs, axis=1, kind="stable")[:, :count]
    scale = np.array([costs[i, order[i, -1]] for i in range(pool.n)])
    directed = np.zeros((pool.n, pool.n))
    for i in range(pool.n):
        for j in order[i]:
            directed[i, j] = np.exp(-costs[i, j] / np.sqrt(scale[i] * scale[j]))
    return (directed + directed.T) / 2


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(METRICS), st.integers(1, 12), st.sampled_from([1, 2]))
def test_neighbours_and_affinities(seed: int, metric: str, count: int, threads: int) -> None:
    pool = Pool(blobs(seed, 40)[0], metric)
    near, costs = neighbours(pool, count, threads=threads)
    everything = pool.distances(np.arange(40))
    np.fill_diagonal(everything, np.inf)
    np.testing.assert_allclose(costs, np.sort(everything, axis=1)[:, :count], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(everything, near, axis=1), costs, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(affinities(near, costs).toarray(), dense_affinities(pool, count), rtol=2e-3, atol=1e-5)


def test_neighbours_in_many_blocks_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(blobs(3, 70)[0])
    near, costs = neighbours(pool, 5)
    monkeypatch.setattr("handful.graph._BLOCK", 4 * 70 * 9)
    again = neighbours(pool, 5, threads=2)
    np.testing.assert_array_equal(near, again[0])
    np.testing.assert_allclose(costs, again[1], rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.3, 0.9, 0.99]))
def test_the_graph_solves_its_equation(seed: int, budget: int, alpha: float) -> None:
    points, labels = blobs(seed)
    pool, picks = Pool(points), np.random.default_rng(seed).choice(60, budget, replace=False)
    found = spread(pool, picks, labels[picks], alpha=alpha, count=6)
    alike = neighbour_graph(pool, 6).toarray()
    degree = alike.sum(axis=1)
    right = (labels[picks][:, None] == found.classes) * 1.0
    y = np.zeros((60, len(found.classes)))
    y[picks] = right
    exact = np.linalg.solve(np.eye(60) - alpha * alike / np.sqrt(np.outer(degree, degree)), y)
    total = exact.sum(axis=1, keepdims=True)
    clear = total[:, 0] > 1e-3 * total.max()
    clear[picks] = False
    np.testing.assert_allclose(found.shares[clear], (exact[clear] / total[clear]), atol=2e-3)
    np.testing.assert_array_equal(found.shares[picks], right)
    assert (found.confidence[picks] == 1).all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()


@pytest.mark.parametrize("alpha", [0.2, 0.8, 0.95])
def test_the_graph_is_scikit_learns_label_spreading(alpha: float) -> None:
    points, labels = blobs(7, 120)
    pool, picks = Pool(points, "euclidean"), np.random.default_rng(1).choice(120, 9, replace=False)
    known = np.full(120, -1)
    known[picks] = labels[picks]
    graph = neighbour_graph(pool, 8)
    theirs = LabelSpreading(kernel=lambda *_: graph.toarray(), alpha=alpha, max_iter=5000, tol=1e-12)
    theirs.fit(points, known)
    found = spread(pool, picks, labels[picks], alpha=alpha, graph=graph)
    others = np.setdiff1d(np.arange(120), picks)
    np.testing.assert_allclose(found.shares[others], theirs.label_distributions_[others], atol=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(METRICS))
def test_the_nearest_pick(seed: int, budget: int, metric: str) -> None:
    points, labels = blobs(seed)
    pool, picks = Pool(points, metric), np.random.default_rng(seed).choice(60, budget, replace=False)
    words = np.array(["ash", "elm", "oak"])[labels]
    found = spread(pool, picks, words[picks], method="nearest")
    costs = pool.distances(picks)
    for i in range(60):
        row = {word: min(costs[k, i] for k in range(budget) if words[picks[k]] == word) for word in found.classes}
        best = min(row, key=lambda word: row[word])
        rest = [cost for word, cost in row.items() if word != best]
        if i not in picks:
            assert found.labels[i] == best
            assert found.confidence[i] == pytest.approx(1 - row[best] / min(rest) if rest else 1)


@pytest.mark.parametrize("picks_weight", ["uniform", "free"])
def test_the_plan(picks_weight: str) -> None:
    points, labels = blobs(11, 50)
    chosen = select(points, 7, picks_weight=picks_weight, already=[4], rounds=2, gap=0.0)
    found = chosen.spread(labels[chosen.picks], method="plan")
    masses = np.zeros((50, len(found.classes)))
    for row, position, mass in zip(chosen.flow_rows, chosen.flow_picks, chosen.flow_masses, strict=True):
        masses[row, np.searchsorted(found.classes, labels[chosen.picks[position]])] += mass
    others = np.setdiff1d(np.arange(50), chosen.picks)
    np.testing.assert_allclose(found.shares[others], 50 * masses[others], atol=1e-9)
    np.testing.assert_array_equal(found.labels[chosen.picks], labels[chosen.picks])


def test_a_selection_spreads_its_own_labels() -> None:
    points, labels = blobs(5, 80)
    chosen = select(points, 6, already=[1, 2], rounds=1)
    found = chosen.spread(labels[chosen.picks], count=7)
    again = spread(chosen.pool, chosen.picks, labels[chosen.picks], count=7)
    np.testing.assert_array_equal(found.shares, again.shares)
    with pytest.raises(HandfulError, match="one for each of 8 picks"):
        chosen.spread(labels[chosen.indices])


def test_parts_without_a_pick_are_a_guess() -> None:
    near = np.random.default_rng(0).normal(size=(12, 2))
    pool = Pool(np.concatenate([near, near + 1000]), "euclidean")
    found = spread(pool, [0, 1], [5, 3], count=3)
    assert (found.confidence[12:] == 0).all()
    np.testing.assert_array_equal(found.shares[12:].max(axis=1), 1)
    assert (found.confidence[2:12] >= 0).all()


def test_points_that_weigh_nothing_have_the_label_of_their_pick() -> None:
    points, labels = blobs(2, 30)
    masses = np.where(np.arange(30) < 20, 1.0, 0.0)
    chosen = select(Pool(points, masses=masses), 4, rounds=1)
    found = chosen.spread(labels[chosen.picks], method="plan")
    light = np.setdiff1d(np.arange(20, 30), chosen.picks)
    np.testing.assert_array_equal(found.labels[light], labels[chosen.plan[light]])
    assert (found.confidence[light] == 0).all()


def test_copies_of_a_pick_have_its_label() -> None:
    points = np.repeat(np.eye(3), 5, axis=0)
    found = spread(Pool(points), [0, 5, 10], ["a", "b", "c"], count=4)
    assert found.labels.tolist() == list("aaaaabbbbbccccc")


def test_one_class_is_certain() -> None:
    points, _ = blobs(1, 20)
    for method in ("graph", "nearest"):
        found = spread(Pool(points), [3, 4], ["a", "a"], method=method)
        assert (found.labels == "a").all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": [0]}, "one for each of 2 picks"),
        ({"picks": [], "labels": []}, "of one at least"),
        ({"picks": [0, 99]}, "names row 99"),
        ({"method": "magic"}, "choose one of graph, nearest, plan"),
        ({"method": "plan"}, "needs the plan of a selection"),
        ({"alpha": 1.0}, "alpha must be between 0 and 1"),
        ({"count": 0}, "1 to 19 neighbours"),
    ],
)
def test_what_can_not_be_spread(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(HandfulError, match=said):
        spread(**{"pool": Pool(blobs(1, 20)[0]), "picks": [0, 1], "labels": [0, 1], **changes})
