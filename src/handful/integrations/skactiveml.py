"""A query strategy for scikit-activeml."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.utils import MISSING_LABEL, labeled_indices

from handful.integrations.common import chosen
from handful.problem import PicksWeight


class WassersteinQuery(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Query the samples whose Wasserstein distance to all of ``X`` is least, given those labelled so far.

    Parameters
    ----------
    metric, picks_weight, gap, threads
        As for `handful.select`, but a row of zeros, which has no cosine, is at cost 1 from all rows that do.
    time_limit : float, default=60.0
        Seconds that a query may take.
    missing_label, random_state
        As for every strategy of scikit-activeml.

    Attributes
    ----------
    selection_ : Selection
        The last query, with its lower bound and gap.
    """

    def __init__(
        self,
        metric: str = "cosine",
        picks_weight: PicksWeight = "uniform",
        gap: float = 0.01,
        time_limit: float = 60.0,
        threads: int | None = None,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.metric = metric
        self.picks_weight = picks_weight
        self.gap = gap
        self.time_limit = time_limit
        self.threads = threads

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Return the rows of ``X`` to label next, in order; ``candidates`` must be rows of ``X`` too.

        Samples of a batch are picked together and none has a utility of its own: each row of the utilities is 1 at the
        pick of its turn and 0 at the other candidates.
        """
        samples, labels, rows, count, wanted = self._validate_data(X, y, candidates, batch_size, return_utilities)
        _, open_rows = self._transform_candidates(
            rows, samples, labels, enforce_mapping=True, allow_only_unlabeled=True
        )
        self.selection_ = chosen(
            samples,
            int(count),
            already=labeled_indices(labels, missing_label=self.missing_label),
            candidates=open_rows,
            metric=self.metric,
            picks_weight=self.picks_weight,
            gap=self.gap,
            time_limit=self.time_limit,
            seed=int(self.random_state_.randint(2**31 - 1)),
            threads=self.threads,
        )
        picks = self.selection_.indices
        return (picks, _turns(picks, open_rows, len(samples))) if wanted else picks


def _turns(picks: NDArray[np.int64], candidates: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    utilities = np.full((len(picks), n), np.nan)
    for turn, pick in enumerate(picks):
        utilities[turn, candidates] = 0.0
        utilities[turn, picks[:turn]] = np.nan
        utilities[turn, pick] = 1.0
    return utilities
