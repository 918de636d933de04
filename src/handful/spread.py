r"""What labels are worth beyond their own points: a soft label and a confidence for every point of the pool.

Three ways: the label of the nearest pick; the labels of the picks that serve a point in the optimal plan; and label
spreading (Zhou, Bousquet, Lal, Weston & Schölkopf 2004, *Learning with local and global consistency*, NeurIPS) on the
sparse graph of near neighbours,

.. math:: F = (1 - \alpha)\,(I - \alpha S)^{-1} Y, \qquad S = \Delta^{-1/2} W \Delta^{-1/2}

with Y the labels of the picks, W how alike near points are, and Δ the sums of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array

from handful.errors import HandfulError
from handful.graph import affinities, neighbours
from handful.pool import Pool, checked_indices

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flow = tuple[Indices, Indices, Floats]
Soft = tuple[Floats, Floats]

METHODS: Final = ("graph", "nearest", "plan")
# Of 5 to 50 neighbours and alpha of 0.5 to 0.99; see docs/spread.md for what they reach.
NEIGHBOURS: Final = 10
ALPHA: Final = 0.9
_PRECISION = 1e-6  # of the linear system, relative to its right side
_STEPS = 1000
_PICKS = 64  # picks whose costs are held at a time


@dataclass(frozen=True)
class Spread:
    """Soft labels of all points.

    Attributes
    ----------
    classes : array
        The labels that were given, each once, in order.
    shares : array of shape (n, classes)
        How much of each class a point is; rows sum to 1, and those of the picks are their labels.
    confidence : array of shape (n,)
        From 0, nothing is known, to 1, as for the picks.
    """

    classes: NDArray[Any]
    shares: Floats
    confidence: Floats

    @property
    def labels(self) -> NDArray[Any]:
        """The likeliest class of every point."""
        return np.asarray(self.classes[self.codes])

    @property
    def codes(self) -> Indices:
        """Its place in `classes`."""
        return self.shares.argmax(axis=1)


def spread(
    pool: Pool,
    picks: ArrayLike,
    labels: ArrayLike,
    *,
    method: str = "graph",
    count: int = NEIGHBOURS,
    alpha: float = ALPHA,
    plan: tuple[Flow, Indices] | None = None,
    graph: csr_array | None = None,
    threads: int | None = None,
) -> Spread:
    """Give every point of the pool a soft label and a confidence, from the labels of a few.

    Parameters
    ----------
    pool : Pool
    picks : array of int
        The labelled points.
    labels : array, one per pick
        Numbers or words.
    method : "graph", "nearest" or "plan"
    count : int
        Neighbours of a point in the graph.
    alpha : float
        How far labels travel in the graph, between 0 and 1.
    plan : (flow, ranks), optional
        See `by_plan`; needed by its method.
    graph : sparse array, optional
        Of `neighbour_graph`, where many sets of picks are spread on one pool.
    """
    rows = checked_indices(picks, pool.n, "picks")
    given = np.asarray(labels)
    if not len(rows) or given.shape != rows.shape:
        raise HandfulError(f"labels must be one for each of {len(rows)} picks, of one at least; got {given.shape}")
    classes, codes = np.unique(given, return_inverse=True)
    if method == "graph":
        if not 0 < alpha < 1:
            raise HandfulError(f"alpha must be between 0 and 1; got {alpha!r}")
        alike = neighbour_graph(pool, count, threads=threads) if graph is None else graph
        shares, confidence = _by_graph(pool, alike, rows, codes, len(classes), alpha)
    elif method == "nearest":
        shares, confidence = _by_nearest(pool, rows, codes, len(classes))
    elif method == "plan":
        if plan is None:
            raise HandfulError("the method plan needs the plan of a selection: call its spread")
        return by_plan(pool.n, *plan, rows, given)
    else:
        raise HandfulError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    return _fixed(classes, shares, confidence, rows, codes)


def by_plan(n: int, flow: Flow, ranks: Indices, picks: Indices, labels: ArrayLike) -> Spread:
    """Every point has the labels of the picks that serve it, as much as each does.

    Parameters
    ----------
    n : int
        Points of the pool.
    flow : (points, positions in picks, masses)
        The positive entries of the plan, as a `Selection` holds it.
    ranks : array of int
        For every point the position of its pick, which counts where it weighs nothing and none serves it.
    picks, labels : arrays
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    points, positions, masses = flow
    shares = np.zeros((n, len(classes)))
    np.add.at(shares, (points, codes[positions]), masses)
    totals = shares.sum(axis=1)
    served = totals > 0
    shares[~served, codes[ranks[~served]]] = 1
    shares /= np.where(served, totals, 1)[:, None]
    return _fixed(classes, shares, np.where(served, _certainty(shares), 0.0), picks, codes)


def _fixed(classes: NDArray[Any], shares: Floats, confidence: Floats, rows: Indices, codes: Indices) -> Spread:
    """With the picks as they were labelled."""
    shares[rows] = np.eye(len(classes))[codes]
    confidence[rows] = 1
    return Spread(classes, shares, confidence)


def neighbour_graph(pool: Pool, count: int = NEIGHBOURS, *, threads: int | None = None) -> csr_array:
    """The graph that labels spread on; it depends on the pool only."""
    return affinities(*neighbours(pool, min(count, pool.n - 1), threads=threads))


def _by_graph(pool: Pool, alike: csr_array, rows: Indices, codes: Indices, classes: int, alpha: float) -> Soft:
    scale = diags_array(1 / np.sqrt(np.maximum(alike.sum(axis=1), np.finfo(np.float64).tiny)))
    step = alpha * (scale @ alike @ scale).tocsr()
    start = np.zeros((pool.n, classes))
    start[rows, codes] = 1
    found = np.maximum(_solved(step, start), 0)
    reached = found.sum(axis=1) > _PRECISION * found.sum(axis=1).max()
    shares, confidence = np.empty((pool.n, classes)), np.zeros(pool.n)
    if not reached.all():  # parts of the graph without a pick: a guess, of no confidence
        shares = _by_nearest(pool, rows, codes, classes)[0]
    shares[reached] = found[reached] / found[reached].sum(axis=1, keepdims=True)
    confidence[reached] = _certainty(shares[reached])
    return shares, confidence


def _solved(step: csr_array, right: Floats) -> Floats:
    """``(I - step)^-1 right``, all columns at once, by conjugate gradients: the matrix is symmetric and definite."""
    found, rest = np.zeros_like(right), right.copy()
    way, size = rest.copy(), (rest * rest).sum(axis=0)
    goal = _PRECISION**2 * size
    for _ in range(_STEPS):
        if (size <= goal).all():
            return found
        ahead = way - step @ way
        length = size / np.maximum((way * ahead).sum(axis=0), np.finfo(np.float64).tiny)
        found += length * way
        rest -= length * ahead
        size, before = (rest * rest).sum(axis=0), size
        way = rest + way * (size / np.maximum(before, np.finfo(np.float64).tiny))
    return found


def _by_nearest(pool: Pool, rows: Indices, codes: Indices, classes: int) -> Soft:
    """The label of the nearest pick; the confidence is how much nearer it is than any of another class."""
    costs = np.full((classes, pool.n), np.inf)
    for start in range(0, len(rows), _PICKS):
        part = slice(start, start + _PICKS)
        for code, row in zip(codes[part], pool.distances(rows[part]), strict=True):
            np.minimum(costs[code], row, out=costs[code])
    shares = np.eye(classes)[costs.argmin(axis=0)]
    if classes == 1:
        return shares, np.ones(pool.n)
    first, second = np.partition(costs, 1, axis=0)[:2]
    return shares, 1 - np.divide(first, second, out=np.ones(pool.n), where=second > 0)


def _certainty(shares: Floats) -> Floats:
    """1 less the entropy of the shares, relative to the most it can be."""
    classes = shares.shape[1]
    if classes == 1:
        return np.ones(len(shares))
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    return np.clip(1 - entropy / np.log(classes), 0, 1)
