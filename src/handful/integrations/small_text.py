"""A query strategy for small-text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_text.query_strategies.strategies import QueryStrategy

from handful.errors import HandfulError
from handful.integrations.common import chosen
from handful.problem import PicksWeight
from handful.selection import Selection


class WassersteinStrategy(QueryStrategy):  # type: ignore[misc]
    """Query the texts whose Wasserstein distance to the whole dataset is least, given those labelled so far.

    Texts are compared by their embeddings: give them to ``learner.query(representation=embeddings)``, a row for each
    text of the dataset. A dataset whose ``x`` is a table of numbers needs none.

    Parameters
    ----------
    metric, picks_weight, gap, time_limit, seed, threads
        As for `handful.select`, but a row of zeros, which has no cosine, is at cost 1 from all rows that do.

    Attributes
    ----------
    selection_ : Selection or None
        The last query, with its lower bound and gap.
    """

    def __init__(
        self,
        metric: str = "cosine",
        picks_weight: PicksWeight = "uniform",
        gap: float = 0.01,
        time_limit: float = 60.0,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.options: dict[str, Any] = {"metric": metric, "picks_weight": picks_weight, "gap": gap}
        self.options |= {"time_limit": time_limit, "seed": seed, "threads": threads}
        self.selection_: Selection | None = None

    def query(
        self,
        clf: Any,
        dataset: Any,
        indices_unlabeled: NDArray[np.int64],
        indices_labeled: NDArray[np.int64],
        y: Any,
        n: int = 10,
    ) -> NDArray[np.int64]:
        """Return the indices of ``n`` texts to label next, in order."""
        self._validate_query_input(indices_unlabeled, n)
        points = dataset if isinstance(dataset, np.ndarray) else getattr(dataset, "x", None)
        if not hasattr(points, "shape"):
            raise HandfulError(
                f"{type(dataset).__name__} holds no embeddings; give them to learner.query(representation=embeddings)"
            )
        self.selection_ = chosen(points, n, already=indices_labeled, candidates=indices_unlabeled, **self.options)
        return self.selection_.indices

    def __str__(self) -> str:
        return f"WassersteinStrategy({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"
