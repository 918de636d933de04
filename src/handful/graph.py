"""The sparse graph of near neighbours of a pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from handful.blocks import slices, workers
from handful.clock import Clock
from handful.errors import HandfulError
from handful.pool import Pool

Floats = NDArray[np.floating]
Indices = NDArray[np.int64]

_BLOCK = 16_000_000  # bytes of costs that a thread holds; their order takes twice as much


def neighbours(pool: Pool, count: int, *, threads: int | None = None) -> tuple[Indices, NDArray[np.float32]]:
    """The ``count`` cheapest candidates of every point but itself, and what they cost: exact, nearest first.

    All costs are computed, in blocks: memory is 48 MB for each thread, and 12 bytes for each point and neighbour.
    """
    if not 0 < count < pool.n:
        raise HandfulError(f"a point of {pool.n} has 1 to {pool.n - 1} neighbours; got {count}")
    near = np.empty((pool.n, count), np.int64)
    costs = np.empty((pool.n, count), np.float32)

    def find(rows: slice) -> None:
        block = pool.distances(np.arange(rows.start, rows.stop), dtype=np.float32)
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = np.inf
        some = np.argpartition(block, count - 1, axis=1)[:, :count]
        some.sort(axis=1)  # so that of equal costs the first point comes first
        held = np.take_along_axis(block, some, axis=1)
        order = np.argsort(held, axis=1, kind="stable")
        near[rows] = np.take_along_axis(some, order, axis=1)
        costs[rows] = np.take_along_axis(held, order, axis=1)

    with workers(threads, Clock(np.inf)) as crew:
        crew.map(find, slices(pool.n, max(1, _BLOCK // (4 * pool.n))))
    return near, costs


def affinities(near: Indices, costs: Floats) -> csr_array:
    r"""How alike near points are: :math:`w_{ij} = \exp(-d_{ij} / \sqrt{s_i s_j})`, s the cost of the last neighbour.

    The mean of both directions, so that the graph is symmetric. The scale of each point is its own, so that sparse and
    dense parts of the pool are treated alike (Zelnik-Manor & Perona 2004, *Self-tuning spectral clustering*, NeurIPS).
    """
    n, count = near.shape
    scale = np.sqrt(np.maximum(costs[:, -1].astype(np.float64), np.finfo(np.float64).tiny))
    weights = np.exp(-costs / (scale[:, None] * scale[near]))
    rows = np.repeat(np.arange(n), count)
    graph = coo_array((weights.ravel() / 2, (rows, near.ravel())), shape=(n, n)).tocsr()
    return csr_array(graph + graph.T)
