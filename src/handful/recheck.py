r"""The two figures of a certificate computed anew, by other means than the search: only the pool is shared with it.

The cost of picks comes from POT's network simplex. The lower bound comes from the prices, by passes over the
candidates: for every :math:`u`, and whatever threshold w is put in for a candidate,

.. math:: v_j(u) \ge l\,w^+ - h\,w^- - \sum_i a_i\,(w - D_{ij} + u_i)^+

by linear programming duality, with equality where w is the last term that the knapsack takes: the one at mass l
where that is positive, the one at mass h where that is negative, else 0. So a threshold that is a little off makes
the bound weaker, never false. Of many candidates a pass with rough thresholds finds out first which may count.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from handful.cases import Part
from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
Task = tuple[int, int]

_CELLS = 1_500_000  # of a block of distances; at most five arrays of this many 8-byte numbers are held per thread
_MANY = 1_000_000_000  # distances from which on a pass finds out which candidates' values count, to be computed exactly
_TALL, _WIDTH, _SAMPLE = (
    256,
    1024,
    1024,
)  # candidates and points of a block of that pass; points that thresholds are read off
_AMPLE = 4  # candidates per pick that are
_ITERATIONS = 100_000_000  # of the transport solver, far more than it takes
_UNIT = 2.0**-53  # round-off of a double


def cost(costs: Floats, masses: Floats, low: float, high: float) -> float:
    """Cost of serving all points (columns) by the picks (rows), each of which carries between ``low`` and ``high``.

    For a proper range every pick becomes two: one must carry ``low``, the other may carry ``high - low``. One more
    point, which costs nothing, fills what the second ones need not carry; it may not go to the first ones.
    """
    picks = len(costs)
    if low <= 0 and high >= 1:
        return float(costs.min(axis=0) @ masses)
    if math.isclose(low, high):
        return cost_with_shares(costs, masses, np.full(picks, 1 / picks))
    high = min(high, 1.0)
    must = np.hstack([costs, np.full((picks, 1), 2 * costs.max() + 1)])
    may = np.hstack([costs, np.zeros((picks, 1))])
    shares = np.repeat([low, high - low], picks)
    return cost_with_shares(np.vstack([must, may]), np.append(masses, max(0.0, high * picks - 1)), shares)


def cost_with_shares(costs: Floats, masses: Floats, shares: Floats) -> float:
    """Least cost at which the rows carry exactly ``shares``, believed only if POT's own prices prove it."""
    import ot

    shares = shares * (masses.sum() / shares.sum())
    rows, columns = shares > 0, masses > 0
    if not (rows.all() and columns.all()):
        shares, masses, costs = shares[rows], masses[columns], costs[np.ix_(rows, columns)]
    scale = float(costs.max()) or 1.0  # POT's tolerance is absolute
    costs = costs / scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what POT warns of is raised below
        plan, log = ot.emd(shares, masses, costs, numItermax=_ITERATIONS, log=True)
    found = float((plan * costs).sum())
    proven = float(shares @ log["u"] + masses @ (costs - log["u"][:, None]).min(axis=0))
    if log["warning"] is not None or not abs(found - proven) <= 1e-9 * found + 1e-12:
        reason = log["warning"] or f"its plan costs {found!r}, its prices prove {proven!r}"
        raise HandfulError(f"the cost of the picks can't be checked, as POT's emd found no optimum: {reason}")
    return found * scale


def lower_bound(
    pool: Pool, certificate: Certificate, parts: Sequence[Part], progress: Callable[[float], None]
) -> tuple[float, float]:
    """The bound that the prices prove for all of the parts, and what of it is certain after rounding.

    An error of e in every distance changes no plan's cost by more than e, as the pool's mass is 1: e is taken off
    once. The rest is taken off each v_j before the smallest are chosen, with u = 2^-53 and S_j the sum in v_j:

    - a sum of n products, in whatever order, is off by at most (n + 1) u times the sum of their magnitudes (Higham,
      *Accuracy and Stability of Numerical Algorithms*, section 3.1), here (n + 1) u S_j;
    - each D_ij - u_i, and its difference from w, is off by u times itself, together by 2 u (S_j + |w|); the products
      and the sum around S_j add 5 u |w|;
    - masses of sum 1 + d stand for ones scaled by 1 / (1 + d), which changes S_j by d S_j.

    No cost is negative, so 0 is a bound too.
    """
    masses, vectors, picks = certificate.point_masses, certificate.vectors, len(certificate.picks)
    low, high = min(certificate.low, 1 / picks), max(certificate.high, 1 / picks)
    excess = abs(math.fsum(masses) - 1)
    rounding = pool.rounding(np.float64)  # prepares the points, once, before the threads would
    step = max(1, _CELLS // pool.n)
    rows = [np.append(part.inside, part.others) for part in parts]
    swept = [len(rows[k]) * pool.n > _MANY and not part.limits for k, part in enumerate(parts)]
    tasks = [(k, start) for k in range(len(parts)) for start in range(0, len(rows[k]), _TALL if swept[k] else step)]
    sample = np.random.default_rng(0).choice(pool.n, _SAMPLE, p=masses / masses.sum())

    def exact(k: int, candidates: Indices) -> Floats:
        terms = np.asarray(pool.distances(candidates), np.float64)
        terms -= vectors[parts[k].vector]
        return _values(terms, masses, low, high)

    def values_of(task: Task) -> Floats:
        k, start = task
        if swept[k]:
            return _floors(pool, rows[k][start : start + _TALL], sample, vectors[parts[k].vector], masses, low, high)
        return exact(k, rows[k][start : start + step])

    results = zip(tasks, _on_threads(values_of, tasks, progress), strict=True)
    bounds, certain = [], []
    for k, found in groupby(results, lambda result: result[0][0]):
        part = parts[k]
        known = np.hstack([block for _, block in found])
        if swept[k]:
            counted = _may_count(known[0], part, picks)
            ones = [(k, int(position)) for position in counted]
            better = _on_threads(lambda one: exact(one[0], rows[one[0]][[one[1]]]), ones, lambda done: None)
            known[:, counted] = np.hstack(better)
        values, sums, thresholds = known
        errors = ((pool.n + 8) * _UNIT + excess) * sums + 8 * _UNIT * np.abs(thresholds)
        products = masses * vectors[part.vector]
        bounds.append(_total(products, values, part, picks))
        less = _total(products, values - errors, part, picks)
        less -= (2 * _UNIT + excess) * float(np.abs(products).sum()) + 4 * _UNIT * abs(less)
        certain.append(less - rounding)
    return max(0.0, min(bounds)), max(0.0, min(certain))


def _floors(
    pool: Pool, rows: Indices, sample: Indices, prices: Floats, masses: Floats, low: float, high: float
) -> Floats:
    """As `_values`, at thresholds as they are on a sample of the points: bounds below the values, in one pass."""
    few = np.asarray(pool.distances(rows, sample), np.float64) - prices[sample]
    thresholds = _values(few, np.full(len(sample), 1 / len(sample)), low, high)[2]
    sums = np.zeros(len(rows))
    for points, costs in pool.tiles(rows, _WIDTH, np.float64):
        costs -= prices[points]
        costs -= thresholds[:, None]
        sums -= np.minimum(costs, 0, out=costs) @ masses[points]
    values = low * np.maximum(thresholds, 0) + high * np.minimum(thresholds, 0) - sums
    return np.stack([values, sums, thresholds])


def _may_count(values: Floats, part: Part, picks: int) -> Indices:
    """Positions of those that are counted for sure, and of the others and some of least value, amply many."""
    inside = len(part.inside)
    least = [np.arange(inside), inside + np.argsort(values[inside:], kind="stable")[: _AMPLE * picks]]
    if part.some is not None:
        some = inside + np.flatnonzero(np.isin(part.others, part.some))
        least.append(some[np.argsort(values[some], kind="stable")[: _AMPLE * picks]])
    return np.unique(np.concatenate(least))


def _total(products: Floats, values: Floats, part: Part, picks: int) -> float:
    """The bound for a part: its products a_i u_i, all values inside, and the smallest that may be of the others."""
    inside = len(part.inside)
    free = picks - inside
    if part.limits:
        some = np.ones(len(part.others), bool) if part.some is None else np.isin(part.others, part.some)
        least = _least_sum(values[inside:], free, _counted(part), some)
        # Sums in plain order: each is off by at most picks u times their magnitudes.
        slack = 2 * picks**2 * _UNIT * float(np.abs(values).max(initial=0.0))
        return math.fsum([*products, *values[:inside], least - slack])
    others = np.sort(values[inside:])[:free]
    if part.some is not None:
        others[-1] = max(others[-1], values[inside:][np.isin(part.others, part.some)].min())
    return math.fsum([*products, *values[:inside], *others])


def _counted(part: Part) -> list[tuple[Mask, int, int]]:
    """The limits of a part for the others alone, the smaller regions first."""
    found = []
    for members, least, most in sorted(part.limits, key=lambda limit: len(limit[0])):
        inside = int(np.isin(part.inside, members).sum())
        found.append((np.isin(part.others, members), least - inside, most - inside))
    return found


def _least_sum(values: Floats, count: int, limits: list[tuple[Mask, int, int]], some: Mask) -> float:
    """The least sum of ``count`` values, one of them of ``some``, within the limits; infinite if there is none.

    For each region two tables of the least sum by the number of its members, of any and with one of ``some``, made from
    those of the regions in it.
    """
    tables: list[tuple[Mask, Floats, Floats]] = []
    for members, least, most in [*limits, (np.ones(len(values), bool), count, count)]:
        within = [entry for entry in tables if (entry[0] & members).any()]
        tables = [entry for entry in tables if not (entry[0] & members).any()]
        own = members.copy()
        for inner, _, _ in within:
            own &= ~inner
        of_any, with_some = _sums(values[own], count), _sums_with(values[own], count, some[own])
        for _, inner_any, inner_some in within:
            with_some = np.minimum(_joined(with_some, inner_any), _joined(of_any, inner_some))
            of_any = _joined(of_any, inner_any)
        for table in (of_any, with_some):
            table[: max(0, least)] = np.inf
            table[max(0, most + 1) :] = np.inf
        tables.append((members, of_any, with_some))
    _, of_any, with_some = tables[-1]
    return float((of_any if some.all() else with_some)[count])


def _sums(values: Floats, count: int) -> Floats:
    """Least sums of 0, 1, ... ``count`` of the values; infinite where there are not as many."""
    sums = np.append(0.0, np.cumsum(np.sort(values)[:count]))
    return np.append(sums, np.full(count + 1 - len(sums), np.inf))


def _sums_with(values: Floats, count: int, some: Mask) -> Floats:
    """The same, with one of ``some`` among them."""
    found = np.full(count + 1, np.inf)
    if count and some.any():
        cheapest = np.flatnonzero(some)[np.argmin(values[some])]
        found[1:] = values[cheapest] + _sums(np.delete(values, cheapest), count - 1)
    return found


def _joined(one: Floats, other: Floats) -> Floats:
    """Least sums over both."""
    return np.array([(one[: k + 1] + other[k::-1]).min() for k in range(len(one))])


def _values(terms: Floats, masses: Floats, low: float, high: float) -> Floats:
    """Three rows: values v_j of the candidates whose ``terms`` D_ij - u_i are given, the sums in them, thresholds."""
    if low == high:
        thresholds = _last_taken(terms, masses, low)
    else:
        thresholds = np.zeros(len(terms))
        if low > 0:
            thresholds = np.maximum(thresholds, _last_taken(terms, masses, low))
        if high < 1:
            thresholds = np.minimum(thresholds, _last_taken(terms, masses, high))
    terms -= thresholds[:, None]
    sums = -(np.minimum(terms, 0, out=terms) @ masses)
    values = low * np.maximum(thresholds, 0) + high * np.minimum(thresholds, 0) - sums
    return np.stack([values, sums, thresholds])


def _last_taken(terms: Floats, masses: Floats, mass: float) -> Floats:
    """In every row the term at which the cheapest ones reach ``mass``."""
    n = len(masses)
    if (masses == masses[0]).all():
        last = min(n, math.ceil(mass * n)) - 1
        return np.asarray(np.partition(terms, last, axis=1)[:, last])
    order = np.argsort(terms, axis=1)
    steps = np.minimum((np.cumsum(masses[order], axis=1) < mass).sum(axis=1), n - 1)
    rows = np.arange(len(terms))
    return np.asarray(terms[rows, order[rows, steps]])


def _on_threads(
    work: Callable[[Task], Floats], tasks: Sequence[Task], progress: Callable[[float], None]
) -> list[Floats]:
    results = []
    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as executor:
        futures = [executor.submit(work, task) for task in tasks]
        try:
            for done, future in enumerate(futures, 1):
                results.append(future.result())
                progress(done / len(tasks))
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return results
