"""Tiny pools, and the distance of every selection of them by POT."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import ot
from numpy.typing import NDArray

from handful.benders.candidates import Candidates
from handful.blocks import workers
from handful.clock import Clock
from handful.lifted import Shares
from handful.pool import Pool
from handful.transport import transport

NONE = np.empty(0, np.int64)


def clustered(seed: int, metric: str = "euclidean") -> tuple[Pool, int]:
    """A pool of 7 to 10 points in clusters, some of them duplicates or with masses of their own, and a budget."""
    random = np.random.default_rng(seed)
    n, budget = int(random.integers(7, 11)), int(random.integers(2, 5))
    centres = 3 * random.normal(size=(3, 2))
    points = centres[random.integers(0, 3, n)] + random.normal(size=(n, 2)) * random.choice([0.1, 1.0])
    if seed % 4 == 1:
        points[-1] = points[0]
    return Pool(points, metric, masses=random.integers(1, 5, n) if seed % 4 == 2 else None), budget


def selections(candidates: Candidates) -> dict[tuple[int, ...], float]:
    """The exact distance of every selection, by the columns of its open candidates."""
    pool, shares = candidates.pool, candidates.shares
    found = {}
    for columns in itertools.combinations(range(len(candidates.open)), candidates.free):
        costs = pool.distances(candidates.picks(np.array(columns, np.int64)))
        if shares.uniform:
            found[columns] = float(ot.emd2(pool.masses, np.full(len(costs), 1 / len(costs)), costs.T.copy()))
        else:
            found[columns] = transport(costs, pool.masses, shares.low, shares.high).distance
    return found


@contextmanager
def among(
    pool: Pool, budget: int, forced: NDArray[np.int64] = NONE, shares: Shares | None = None
) -> Iterator[Candidates]:
    """The candidates of a pool."""
    with workers(1, Clock(np.inf)) as crew:
        each = shares or Shares(1 / budget, 1 / budget)
        yield Candidates(pool, each, budget, forced, pool.candidates, crew, keep=True)
