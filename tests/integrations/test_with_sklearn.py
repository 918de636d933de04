"""The estimator that learns from the picks alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from handful import WassersteinSelector
from handful.integrations.scikit_learn import FitOnPicks

OPTIONS: dict[str, Any] = {"metric": "euclidean", "threads": 1}


@parametrize_with_checks([FitOnPicks(LogisticRegression(C=10), budget=5, gap=0.5, **OPTIONS)])
def test_all_that_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_only_the_labels_of_the_picks_are_looked_at() -> None:
    x, y = load_iris(return_X_y=True)
    x, y = x[::3], y[::3]
    model = FitOnPicks(LogisticRegression(max_iter=500), budget=10, gap=0.5, **OPTIONS).fit(x, y)
    picks = WassersteinSelector(10, gap=0.5, **OPTIONS).fit(x).selected_indices_
    assert (model.selector_.selected_indices_ == picks).all()
    alone = LogisticRegression(max_iter=500).fit(x[picks], y[picks])
    assert (model.predict_proba(x) == alone.predict_proba(x)).all()
    assert model.score(x, y) == alone.score(x, y) > 0.8
    assert model.classes_.tolist() == [0, 1, 2]
    others = np.setdiff1d(np.arange(50), picks)
    wrong = y.copy()
    wrong[others] = np.random.default_rng(0).integers(0, 3, len(others))
    assert (clone(model).fit(x, wrong).predict(x) == model.predict(x)).all()


def test_a_grid_of_budgets_in_a_pipeline_says_what_labels_are_worth() -> None:
    x, y = load_digits(return_X_y=True)
    x, y = x[:300], y[:300]
    pipeline = make_pipeline(
        StandardScaler(),
        FitOnPicks(LogisticRegression(max_iter=300), gap=0.5, time_limit=5.0, metric="cosine", threads=1),
    )
    budgets = [10, 40]
    search = GridSearchCV(pipeline, {"fitonpicks__budget": budgets}, cv=2).fit(x, y)
    few, many = search.cv_results_["mean_test_score"]
    assert search.best_params_ == {"fitonpicks__budget": 40}
    assert many > few + 0.03
    everything = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)), x, y, cv=2).mean()
    assert many < everything


def test_what_the_inner_estimator_lacks_is_lacking() -> None:
    model = FitOnPicks(Ridge(), budget=4, **OPTIONS)
    assert hasattr(model, "predict")
    assert not hasattr(model, "predict_proba")
    assert not hasattr(FitOnPicks(KMeans()), "decision_function")
    with pytest.raises(ValueError, match="n_samples=3 but budget=4"):
        model.fit(np.eye(3), np.arange(3.0))


def test_handful_itself_imports_none_of_these_libraries() -> None:
    rooms = "handful, handful.cli.app, handful.estimators, handful.handoff, handful.integrations"
    names = ("skactiveml", "modAL", "small_text", "datasets", "fiftyone", "label_studio_sdk", "torch")
    program = f"import sys, {rooms}\nprint([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
