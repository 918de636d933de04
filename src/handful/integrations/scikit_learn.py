"""A scikit-learn estimator that learns from few labels: those of the samples that the selector picks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.estimators import WassersteinSelector
from handful.problem import PicksWeight


def _where_inner_has(method: str) -> Callable[[Callable[..., Any]], Any]:
    """Give the decorated method to those only whose inner estimator has one of that name."""

    def has(outer: FitOnPicks) -> bool:
        getattr(getattr(outer, "estimator_", outer.estimator), method)  # its own AttributeError says what is missing
        return True

    return available_if(has)


class FitOnPicks(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an estimator on ``budget`` of the samples only, picked without a look at their labels.

    At the end of a pipeline it answers, by cross-validation or a grid of budgets, what so many labels are worth.

    Parameters
    ----------
    estimator
        A classifier or regressor.
    budget : int, default=8
        How many samples to pick; only their labels are used.
    metric, picks_weight, gap, time_limit, random_state, threads
        As for `WassersteinSelector`.

    Attributes
    ----------
    estimator_
        The fitted estimator.
    selector_ : WassersteinSelector
        The picks (``selector_.selected_indices_``), and how good they are (``selector_.gap_``).
    n_features_in_ : int
    """

    def __init__(
        self,
        estimator: Any,
        budget: int = 8,
        *,
        metric: str = "cosine",
        picks_weight: PicksWeight = "uniform",
        gap: float = 0.01,
        time_limit: float = 600.0,
        random_state: int | np.random.RandomState | None = 0,
        threads: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.budget = budget
        self.metric = metric
        self.picks_weight = picks_weight
        self.gap = gap
        self.time_limit = time_limit
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Pick, then fit on the picks; the labels of all other samples are not looked at."""
        samples, labels = validate_data(self, X, y, dtype=(np.float64, np.float32), multi_output=True)
        options = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        self.selector_ = WassersteinSelector(**options).fit(samples)
        picks = self.selector_.selected_indices_
        self.estimator_ = clone(self.estimator).fit(samples[picks], labels[picks])
        return self

    @_where_inner_has("predict")
    def predict(self, X: ArrayLike) -> Any:
        """Labels of the samples."""
        return self._ask("predict", X)

    @_where_inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Any:
        """Probabilities of the classes among the picks."""
        return self._ask("predict_proba", X)

    @_where_inner_has("decision_function")
    def decision_function(self, X: ArrayLike) -> Any:
        """Confidence for the classes among the picks."""
        return self._ask("decision_function", X)

    @_where_inner_has("score")
    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The estimator's own score."""
        check_is_fitted(self)
        return float(self.estimator_.score(validate_data(self, X, reset=False), y))

    @property
    def classes_(self) -> Any:
        """The classes among the picks."""
        return self.estimator_.classes_

    def _ask(self, method: str, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(validate_data(self, X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags
