"""How good picks are, whatever strategy they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.pool import Pool
from handful.transport import transport

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Closeness:
    """How near the pool is to its picks: by exact transport to even picks, at worst, and on average."""

    distance: float
    radius: float
    mean_distance: float


def closeness(pool: Pool, picks: Indices) -> Closeness:
    """Measure it, in double precision."""
    costs = pool.distances(picks)
    share = 1 / len(picks)
    nearest = costs.min(axis=0)
    plan = transport(costs, pool.masses, share, share)
    return Closeness(plan.distance, float(nearest.max()), float(pool.masses @ nearest))


def effective_classes(labels: NDArray[Any]) -> float:
    r"""Effective number of classes among labels: :math:`\exp(-\sum_c q_c \log q_c)`, with q the share of each.

    As many as there are where all are equally frequent, and fewer otherwise (Hill 1973, *Diversity and evenness*,
    Ecology 54).
    """
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))
