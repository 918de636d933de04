"""A query strategy for modAL: a function of a learner and the unlabelled samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.integrations.common import chosen, dense
from handful.problem import PicksWeight


def wasserstein_sampling(
    learner: Any,
    X: Any,
    n_instances: int = 1,
    *,
    metric: str = "cosine",
    picks_weight: PicksWeight = "uniform",
    gap: float = 0.01,
    time_limit: float = 60.0,
    seed: int = 0,
    threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Query the samples whose Wasserstein distance to ``X`` and all that was learned from is least.

    Give it as ``ActiveLearner(query_strategy=wasserstein_sampling)``, with options by `functools.partial`, or to a
    committee. Learners that query ``on_transformed`` samples have them transformed first.

    Parameters
    ----------
    learner
        A learner of modAL; what it was taught (its ``X_training``, if any) counts as picked.
    X
        The unlabelled samples, a row each.
    n_instances : int
        How many to query.
    metric, picks_weight, gap, time_limit, seed, threads
        As for `handful.select`, but a row of zeros, which has no cosine, is at cost 1 from all rows that do.

    Returns
    -------
    The rows of ``X`` to label next, in order, and the share of all samples that each stands for.
    """
    known = _known(learner)
    if learner.on_transformed:
        X = learner.transform_without_estimating(X)
        known = None if known is None else learner.transform_without_estimating(known)
    unknown = dense(X)
    points = unknown if known is None else np.concatenate([dense(known), unknown])
    first = len(points) - len(unknown)
    selection = chosen(
        points,
        int(n_instances),
        already=np.arange(first),
        candidates=np.arange(first, len(points)),
        metric=metric,
        picks_weight=picks_weight,
        gap=gap,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
    )
    return selection.indices - first, selection.masses[first:]


def _known(learner: Any) -> Any:
    """What a learner was taught; the members of a committee were taught the same, or it is that of the first."""
    members = getattr(learner, "learner_list", [learner])
    return members[0].X_training
