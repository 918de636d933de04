"""scikit-learn estimators: `WassersteinSelector`, and `KMedoids`, its free-weight case under the name people know."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.engine import select
from handful.errors import HandfulError
from handful.pool import Pool
from handful.problem import PicksWeight
from handful.selection import Selection, relative_gap

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


class _Selecting(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: a metric, when to stop, and the way from samples to a selection."""

    metric: str
    gap: float
    time_limit: float
    random_state: int | np.random.RandomState | None
    threads: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    def _samples(self, X: ArrayLike, *, reset: bool) -> Floats:
        costs = self.metric == "precomputed"
        points: Floats = validate_data(self, X, reset=reset, dtype=(np.float64, np.float32), ensure_non_negative=costs)
        return points

    def _select(self, points: Floats, option: str, picks_weight: PicksWeight, weights: Floats | None) -> Selection:
        """Pick as many samples as the parameter called ``option`` says, none of weight 0."""
        weighty = np.arange(len(points)) if weights is None else np.flatnonzero(weights)
        count = getattr(self, option)
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise HandfulError(f"{option} must be a whole number of at least 1; got {count!r}")
        if count > len(weighty):
            positive = "" if weights is None else " of positive weight"
            raise HandfulError(
                f"n_samples={len(weighty)}{positive} but {option}={count}: lower {option} or give more samples"
            )
        random = self.random_state
        seed = random if isinstance(random, int | np.integer) else check_random_state(random).randint(2**31 - 1)
        return select(
            with_directions(points, self.metric),
            int(count),
            metric=self.metric,
            picks_weight=picks_weight,
            masses=weights,
            candidates=weighty,
            gap=self.gap,
            time_limit=self.time_limit,
            seed=int(seed),
            threads=self.threads,
        )


class WassersteinSelector(_Selecting):
    """Pick the samples whose Wasserstein distance to all samples is least, with proof: `handful.select` as estimator.

    Parameters
    ----------
    budget : int, default=8
        How many samples to pick.
    metric : str, default="cosine"
        As for `handful.select`, but a row of zeros, which has no cosine, is at cost 1 from all rows that do; with
        ``"precomputed"``, ``X[i, j]`` is the cost of sample i served by sample j.
    picks_weight : "uniform", "free" or (low, high), default="uniform"
        Mass that a pick carries: all the same, whatever is best (k-medoids), or between low and high.
    gap : float, default=0.01
        Stop when the distance is proven to be within this share of the optimum.
    time_limit : float, default=600.0
        Seconds after which the best picks so far are taken; ``gap_`` says how good they are.
    random_state : int, RandomState or None, default=0
    threads : int or None, default=None
        None means all cores.

    Attributes
    ----------
    selected_indices_ : array of shape (budget,)
        The picks, in an order in which every prefix is a good smaller selection.
    labels_ : array of shape (n_samples,)
        For every sample, the position in ``selected_indices_`` of the pick that serves it (most of it, if shared).
    distance_, lower_bound_ : float
        Wasserstein distance of the picks, and a proven lower bound on that of the best possible picks.
    gap_ : float
        ``(distance_ - lower_bound_) / distance_``.
    selection_ : Selection
        The whole result, to be saved and verified.
    n_features_in_ : int

    Examples
    --------
    >>> from handful import WassersteinSelector
    >>> X = [[1, 0], [5, 1], [9, 0], [0, 2], [1, 8], [0, 5]]
    >>> selector = WassersteinSelector(budget=2, gap=0).fit(X)
    >>> sorted(selector.selected_indices_.tolist()), selector.gap_ <= 1e-6
    ([0, 3], True)
    """

    def __init__(
        self,
        budget: int = 8,
        *,
        metric: str = "cosine",
        picks_weight: PicksWeight = "uniform",
        gap: float = 0.01,
        time_limit: float = 600.0,
        random_state: int | np.random.RandomState | None = 0,
        threads: int | None = None,
    ) -> None:
        self.budget = budget
        self.metric = metric
        self.picks_weight = picks_weight
        self.gap = gap
        self.time_limit = time_limit
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Pick; ``sample_weight`` is the mass of each sample, and samples of weight 0 count as left out."""
        points = self._samples(X, reset=True)
        weights = _checked_weights(sample_weight, len(points))
        self.selection_ = self._select(points, "budget", self.picks_weight, weights)
        self.selected_indices_ = self.selection_.indices
        self.labels_ = self.selection_.labels
        self.distance_ = self.selection_.distance
        self.lower_bound_ = self.selection_.lower_bound
        self.gap_ = self.selection_.gap
        return self


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, _Selecting):  # type: ignore[misc]
    """k-medoids with proof: the samples that the others are nearest to, and how far from optimal they can be.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str, default="euclidean"
        As for `handful.select`; with ``"precomputed"``, ``X[i, j]`` is the cost of sample i served by sample j.
    gap, time_limit, random_state, threads
        As for `WassersteinSelector`.

    Attributes
    ----------
    medoid_indices_ : array of shape (n_clusters,)
    cluster_centers_ : array of shape (n_clusters, n_features), or None for precomputed costs
        The medoids themselves.
    labels_ : array of shape (n_samples,)
        For every sample, the position of its nearest medoid.
    inertia_, lower_bound_ : float
        Sum of the distances of samples to their nearest medoid (times ``sample_weight``), and a proven lower bound on
        that of the best possible medoids.
    gap_ : float
        ``(inertia_ - lower_bound_) / inertia_``.
    selection_ : Selection
        The whole result, to be saved and verified; its distance is ``inertia_`` over the sum of the weights.
    n_features_in_ : int

    Examples
    --------
    >>> from handful import KMedoids
    >>> model = KMedoids(n_clusters=2, gap=0).fit([[0], [1], [3], [20], [21], [25]])
    >>> sorted(model.medoid_indices_.tolist()), model.inertia_, model.gap_ <= 1e-6
    ([1, 4], 8.0, True)
    >>> model.transform([[2], [22]]).min(axis=1)
    array([1., 1.])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "euclidean",
        gap: float = 0.01,
        time_limit: float = 600.0,
        random_state: int | np.random.RandomState | None = 0,
        threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.gap = gap
        self.time_limit = time_limit
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find medoids; a sample counts ``sample_weight`` times, and one of weight 0 as left out."""
        points = self._samples(X, reset=True)
        weights = _checked_weights(sample_weight, len(points))
        self.selection_ = self._select(points, "n_clusters", "free", weights)
        self.medoid_indices_ = self.selection_.indices
        self.cluster_centers_ = None if self.metric == "precomputed" else points[self.medoid_indices_]
        costs = self._costs(points)
        self.labels_ = costs.argmin(axis=0)
        nearest = costs.min(axis=0)
        self.inertia_ = float(nearest.sum() if weights is None else weights @ nearest)
        total = len(points) if weights is None else float(weights.sum())
        # The product and the scaling of masses to sum to 1 are rounded: a few units in the last place keep it a bound.
        self.lower_bound_ = min(self.selection_.lower_bound * total * (1 - 8 * np.finfo(float).eps), self.inertia_)
        self.gap_ = relative_gap(self.inertia_, self.lower_bound_)
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Position of the nearest medoid for every sample; precomputed: a row per sample, a column per fitted one."""
        check_is_fitted(self)
        return self._costs(self._samples(X, reset=False)).argmin(axis=0)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Distances of the samples (rows) to the medoids (columns)."""
        check_is_fitted(self)
        return np.ascontiguousarray(self._costs(self._samples(X, reset=False)).T)

    def _costs(self, points: Floats) -> NDArray[np.float64]:
        if self.cluster_centers_ is None:
            return np.ascontiguousarray(points[:, self.medoid_indices_].T, np.float64)
        both = Pool(with_directions(np.concatenate([points, self.cluster_centers_]), self.metric), self.metric)
        costs = both.distances(np.arange(len(points), both.n), slice(len(points)))
        return np.asarray(costs, np.float64)

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)


def with_directions(points: Floats, metric: str) -> Floats:
    """Under cosine, give rows of zeros a direction that no other row has: cost 1 to all others, as in scikit-learn."""
    zeros = ~points.any(axis=1)
    if metric != "cosine" or not zeros.any():
        return points
    return np.column_stack([points, zeros.astype(points.dtype)])


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n,):
        raise HandfulError(f"sample_weight must be {n} numbers, one per sample; got shape {weights.shape}")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise HandfulError(f"sample_weight[{bad[0]}] is {weights[bad[0]]}: weights must be finite and 0 or more")
    if not weights.any():
        raise HandfulError("sample_weight is zero everywhere: at least one sample must weigh something")
    return weights
