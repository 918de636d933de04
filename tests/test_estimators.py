"""The estimators: what scikit-learn expects, what people know, and the best medoids there are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import handful
from handful import HandfulError, KMedoids, WassersteinSelector

Floats = NDArray[np.float64]


@parametrize_with_checks(
    [
        WassersteinSelector(budget=3, threads=1),
        WassersteinSelector(budget=2, metric="euclidean", picks_weight="free", threads=1),
        KMedoids(n_clusters=3, threads=1),
        KMedoids(n_clusters=2, metric="cosine", threads=1),
    ]
)
def test_all_that_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def points(seed: int, n: int = 14) -> Floats:
    random = np.random.default_rng(seed)
    return random.normal(size=(3, 2))[random.integers(3, size=n)] + 0.4 * random.normal(size=(n, 2))


def best_inertia(costs: Floats, k: int, weights: Floats) -> float:
    """Of all medoids; ``costs[i, j]`` is that of point i served by j."""
    sets = itertools.combinations(np.flatnonzero(weights).tolist(), k)
    return min(float(weights @ costs[:, list(medoids)].min(axis=1)) for medoids in sets)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"])
def test_medoids_are_the_best_there_are(metric: str) -> None:
    names = {"manhattan": "cityblock"}
    for seed in range(4):
        x = points(seed)
        costs = np.random.default_rng(seed).random((14, 14)) if metric == "precomputed" else None
        given = x if costs is None else costs
        costs = cdist(x, x, names.get(metric, metric)) if costs is None else costs
        weights = np.ones(14) if seed < 2 else np.random.default_rng(seed).integers(0, 4, 14).astype(float)
        for k in (1, 2, 3):
            model = KMedoids(k, metric=metric, gap=0, threads=1).fit(given, sample_weight=weights)
            best = best_inertia(costs, k, weights)
            assert model.inertia_ == pytest.approx(best, rel=1e-9, abs=1e-12)
            assert model.lower_bound_ <= best * (1 + 1e-12)
            assert model.gap_ == pytest.approx((model.inertia_ - model.lower_bound_) / model.inertia_, abs=1e-12)
            assert model.gap_ <= 1e-6
            nearest = costs[:, model.medoid_indices_]
            assert (nearest[np.arange(14), model.labels_] <= nearest.min(axis=1) + 1e-12).all()
            assert model.inertia_ == pytest.approx(weights @ nearest.min(axis=1), rel=1e-12)


def test_what_a_clustering_promises() -> None:
    x = load_iris().data
    model = KMedoids(4, random_state=1, threads=1).fit(x)
    assert model.medoid_indices_.shape == (4,)
    assert (model.cluster_centers_ == x[model.medoid_indices_]).all()
    assert model.n_features_in_ == 4
    others = x + 0.05
    distances = cdist(others, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(others), distances, rtol=1e-9)
    assert (model.predict(others) == distances.argmin(axis=1)).all()
    assert (model.predict(x) == model.labels_).all()
    assert (model.labels_[model.medoid_indices_] == np.arange(4)).all()
    again = KMedoids(4, random_state=1, threads=1)
    assert (again.fit_predict(x) == model.labels_).all()
    np.testing.assert_allclose(clone(again).fit_transform(x), model.transform(x))
    assert model.get_feature_names_out().tolist() == ["kmedoids0", "kmedoids1", "kmedoids2", "kmedoids3"]
    # Its inertia is no worse than of medoids drawn at random, and its bound no better than any.
    random = np.random.default_rng(0)
    for _ in range(20):
        drawn = cdist(x, x[random.choice(150, 4, replace=False)]).min(axis=1).sum()
        assert model.lower_bound_ <= model.inertia_ <= drawn
    with pytest.raises(NotFittedError):
        KMedoids().predict(x)


def test_precomputed_costs_predict_by_the_columns_of_the_medoids() -> None:
    x = points(7, 30)
    plain = KMedoids(3, gap=0, threads=1).fit(x)
    given = KMedoids(3, metric="precomputed", gap=0, threads=1).fit(pairwise_distances(x))
    assert sorted(given.medoid_indices_.tolist()) == sorted(plain.medoid_indices_.tolist())
    assert given.cluster_centers_ is None
    assert given.inertia_ == pytest.approx(plain.inertia_, rel=1e-9)
    others = points(8, 10)
    costs = cdist(others, x)
    assert (given.predict(costs) == costs[:, given.medoid_indices_].argmin(axis=1)).all()
    np.testing.assert_allclose(given.transform(costs), costs[:, given.medoid_indices_])


@pytest.mark.parametrize("weight", ["uniform", "free", (0.1, 0.6)])
def test_a_selector_selects_what_select_does(weight: Any) -> None:
    x = points(9, 40)
    masses = np.random.default_rng(9).random(40)
    options: dict[str, Any] = {"metric": "euclidean", "picks_weight": weight, "threads": 1, "gap": 0.05}
    selector = WassersteinSelector(3, random_state=3, **options).fit(x, sample_weight=masses)
    selection = handful.select(x, 3, masses=masses, seed=3, **options)
    assert (selector.selected_indices_ == selection.indices).all()
    assert selector.distance_ == selection.distance
    assert selector.lower_bound_ == selection.lower_bound
    assert selector.gap_ == selection.gap <= 0.05
    assert (selector.selected_indices_[selector.labels_] == selection.plan).all()
    if weight == "uniform":
        counts = np.bincount(selector.labels_, masses / masses.sum(), minlength=3)
        assert np.abs(counts - 1 / 3).max() < 0.1


def test_a_sample_of_weight_zero_counts_as_left_out() -> None:
    x = points(10, 20)
    weights = np.ones(20)
    weights[[3, 8, 11]] = 0
    kept = np.flatnonzero(weights)
    for model in (WassersteinSelector(3, gap=0, threads=1), KMedoids(3, gap=0, threads=1)):
        some, whole = clone(model).fit(x[kept]), clone(model).fit(x, sample_weight=weights)
        attribute = "medoid_indices_" if isinstance(model, KMedoids) else "selected_indices_"
        assert sorted(kept[getattr(some, attribute)]) == sorted(getattr(whole, attribute))
        measure = "inertia_" if isinstance(model, KMedoids) else "distance_"
        assert getattr(some, measure) == pytest.approx(getattr(whole, measure), rel=1e-9)


def test_rows_of_zeros_are_at_cost_one_under_cosine() -> None:
    """As in scikit-learn; `select` itself refuses them."""
    x = np.vstack([points(11, 9) + 3, np.zeros((2, 2))])
    model = KMedoids(2, metric="cosine", gap=0, threads=1).fit(x)
    costs = pairwise_distances(x, metric="cosine")
    costs[9:, 9:] = 0
    assert model.inertia_ == pytest.approx(best_inertia(costs, 2, np.ones(11)), rel=1e-9)


def test_it_fits_in_a_pipeline_and_a_random_state_may_be_an_object() -> None:
    x = load_iris().data
    pipeline = make_pipeline(StandardScaler(), KMedoids(3, threads=1, random_state=np.random.RandomState(4)))
    assert pipeline.fit(x).transform(x).shape == (150, 3)
    models = [
        WassersteinSelector(3, metric="euclidean", gap=0.1, random_state=np.random.RandomState(4), threads=1)
        for _ in range(2)
    ]
    for model in models:
        model.fit(points(9, 40))
    assert (models[0].selected_indices_ == models[1].selected_indices_).all()


@pytest.mark.parametrize(
    ("model", "weights", "sentence"),
    [
        (KMedoids(0), None, "n_clusters must be a whole number of at least 1; got 0"),
        (KMedoids(2.5), None, "n_clusters must be a whole number of at least 1; got 2.5"),
        (KMedoids(True), None, "n_clusters must be a whole number of at least 1; got True"),
        (WassersteinSelector(21), None, "n_samples=20 but budget=21: lower budget or give more samples"),
        (WassersteinSelector(6), np.arange(20) < 5, "n_samples=5 of positive weight but budget=6"),
        (KMedoids(2), np.ones(3), r"sample_weight must be 20 numbers, one per sample; got shape \(3,\)"),
        (KMedoids(2), -np.ones(20), r"sample_weight\[0\] is -1.0: weights must be finite and 0 or more"),
        (KMedoids(2), np.full(20, np.nan), r"sample_weight\[0\] is nan"),
        (KMedoids(2), np.zeros(20), "sample_weight is zero everywhere"),
        (KMedoids(2, metric="hamming"), None, "unknown metric 'hamming'"),
        (WassersteinSelector(2, picks_weight="heavy"), None, 'picks_weight must be "uniform", "free" or a range'),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(model: Any, weights: Any, sentence: str) -> None:
    with pytest.raises(HandfulError, match=sentence):
        model.fit(points(12, 20), sample_weight=weights)
