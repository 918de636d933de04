"""Compiled kernel of the transport: successive shortest paths on the condensed graph of the picks.

Nodes ``0 .. B-1`` are the picks; node ``B``, the *reserve*, holds the mass that is not promised to any pick
(``1 - l B``), of which a pick may take up to ``h - l`` at cost 0. A positive entry of the plan is a *piece*: so many
units of one point at one pick. The arc a -> b costs what it costs to move the cheapest piece of a to b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from handful._nearest import nearest as cheapest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What `mover[a, b]` says in place of a piece: scan again, or pick a has nothing to give.
_STALE = -1
_NONE = -2


# The pieces are kept in two ways at once: a doubly linked list per pick, and a singly linked list per point.
# `link[0]` = next of the pick, `link[1]` = previous of the pick, `link[2]` = next of the point.


@njit(cache=True, nogil=True)
def _insert(piece: int, b: int, first: Ints, link: Ints, at: Ints) -> None:
    at[piece] = b
    link[0, piece] = first[b]
    link[1, piece] = -1
    if first[b] >= 0:
        link[1, first[b]] = piece
    first[b] = piece


@njit(cache=True, nogil=True)
def _remove(piece: int, b: int, first: Ints, link: Ints) -> None:
    after, before = link[0, piece], link[1, piece]
    if before >= 0:
        link[0, before] = after
    else:
        first[b] = after
    if after >= 0:
        link[1, after] = before


@njit(cache=True, nogil=True)
def _scan(costs: NDArray[np.floating[Any]], a: int, b: int, first: Ints, link: Ints, point: Ints) -> tuple[float, int]:
    """Cheapest piece to move from pick a to pick b, and its cost per unit."""
    least = np.inf
    which = _NONE
    piece = first[a]
    while piece >= 0:
        i = point[piece]
        cost = np.float64(costs[b, i]) - np.float64(costs[a, i])
        if cost < least:
            least = cost
            which = piece
        piece = link[0, piece]
    return least, which


@njit(cache=True, nogil=True)
def _scan_all(costs: NDArray[np.floating[Any]], nearest: Ints, masses: Ints) -> tuple[Floats, Ints]:
    """`_scan` for all pairs at once, before any point is shared: one pass over the costs, in their order."""
    picks, points = costs.shape
    arc = np.full((picks, picks), np.inf)
    mover = np.full((picks, picks), _NONE, np.int64)
    own = np.empty(points)
    for i in range(points):
        own[i] = costs[nearest[i], i]
    for b in range(picks):
        row = costs[b]
        for i in range(points):
            a = nearest[i]
            cost = float(row[i]) - own[i]
            if cost < arc[a, b] and masses[i] > 0 and a != b:
                arc[a, b] = cost
                mover[a, b] = i
    return arc, mover


@njit(cache=True, nogil=True)
def _shortest_paths(
    costs: NDArray[np.floating[Any]],
    prices: Floats,
    excess: Ints,
    extra: Ints,
    most_extra: int,
    arc: Floats,
    mover: Ints,
    first: Ints,
    link: Ints,
    point: Ints,
    parent: Ints,
    order: Ints,
) -> int:
    """Dijkstra from all nodes in excess; fills `parent` and `order`, moves the prices, returns the nodes reached."""
    picks = len(prices) - 1
    length = np.full(picks + 1, np.inf)
    settled = np.zeros(picks + 1, np.bool_)
    for b in range(picks + 1):
        parent[b] = -1
        if excess[b] > 0:
            length[b] = 0.0
    reached = 0
    far = 0.0
    while True:
        a = -1
        near = np.inf
        for b in range(picks + 1):
            if not settled[b] and length[b] < near:
                a = b
                near = length[b]
        if a < 0:
            break
        settled[a] = True
        order[reached] = a
        reached += 1
        far = near
        # The point by which the path comes to a: to move it on is no cheaper than straight from the pick before, and
        # would be limited by the little of it that a holds, again and again.
        before = parent[a]
        passing = point[mover[before, a]] if 0 <= before < picks and a < picks else -1
        for b in range(picks + 1):
            if settled[b]:
                continue
            if a == picks:
                cost = 0.0 if extra[b] > 0 else np.inf
            elif b == picks:
                cost = 0.0 if extra[a] < most_extra else np.inf
            else:
                if mover[a, b] == _STALE:
                    arc[a, b], mover[a, b] = _scan(costs, a, b, first, link, point)
                if mover[a, b] >= 0 and point[mover[a, b]] == passing:
                    continue
                cost = arc[a, b]
            there = near + max(0.0, cost + prices[a] - prices[b])
            if there < length[b]:
                length[b] = there
                parent[b] = a
    for b in range(picks + 1):
        prices[b] += min(far, length[b])
    return reached


@njit(cache=True, nogil=True)
def _amount(
    end: int, excess: Ints, extra: Ints, most_extra: int, mover: Ints, units: Ints, parent: Ints, used: Ints
) -> int:
    """Units that the tree path to node `end` can carry; 0 where an arc of it was already used or changed."""
    amount = -excess[end]
    b = end
    while parent[b] >= 0:
        a = parent[b]
        if used[b]:
            return 0
        if a == mover.shape[0]:
            amount = min(amount, extra[b])
        elif b == mover.shape[0]:
            amount = min(amount, most_extra - extra[a])
        elif mover[a, b] < 0:
            return 0
        else:
            amount = min(amount, units[mover[a, b]])
        b = a
    return min(amount, excess[b])


@njit(cache=True, nogil=True)
def _move(
    a: int,
    b: int,
    amount: int,
    pieces: int,
    costs: NDArray[np.floating[Any]],
    arc: Floats,
    mover: Ints,
    first: Ints,
    link: Ints,
    head: Ints,
    point: Ints,
    at: Ints,
    units: Ints,
) -> int:
    """Move units of the cheapest piece from pick a to pick b; returns the number of pieces in use."""
    piece = mover[a, b]
    i = point[piece]
    there = head[i]
    while there >= 0 and at[there] != b:
        there = link[2, there]
    whole = units[piece] == amount
    units[piece] -= amount
    if whole:
        _remove(piece, a, first, link)
        for c in range(mover.shape[0]):
            if mover[a, c] == piece:
                mover[a, c] = _STALE
    if there < 0:
        if whole:
            there = piece
        else:
            there = pieces
            pieces += 1
            point[there] = i
            link[2, there] = head[i]
            head[i] = there
        units[there] = 0
    elif whole:
        at[piece] = -1
    if units[there] == 0:
        _insert(there, b, first, link, at)
        for c in range(mover.shape[0]):
            cost = np.float64(costs[c, i]) - np.float64(costs[b, i])
            if c != b and mover[b, c] != _STALE and cost < arc[b, c]:
                arc[b, c] = cost
                mover[b, c] = there
    units[there] += amount
    return pieces


@njit(cache=True, nogil=True)
def solve(
    costs: NDArray[np.floating[Any]], masses: Ints, least: int, most: int, start: Floats
) -> tuple[Ints, Ints, Ints, Floats]:
    """Optimal plan as (points, picks, units) of its positive entries, and the prices of the picks."""
    picks, points = costs.shape
    size = points + 4 * picks + 16
    link = np.full((3, size), -1, np.int64)
    point = np.empty(size, np.int64)
    at = np.full(size, -1, np.int64)
    units = np.zeros(size, np.int64)
    first = np.full(picks, -1, np.int64)
    head = np.arange(points)
    excess = np.zeros(picks + 1, np.int64)
    if most > least:
        # Shifted so that no more picks ask to be full than there is mass for.
        full = (masses.sum() - least * picks) // (most - least)
        if full < picks:
            start = start - min(0.0, np.sort(start)[full])
    nearest = cheapest(costs, start)
    for i in range(points - 1, -1, -1):
        point[i] = i
        units[i] = masses[i]
        if masses[i] > 0:
            _insert(i, nearest[i], first, link, at)
            excess[nearest[i]] += masses[i]
    pieces = points

    prices = np.zeros(picks + 1)
    for b in range(picks):
        prices[b] = start[b]
    extra = np.zeros(picks, np.int64)
    excess[picks] = -(masses.sum() - least * picks)
    for b in range(picks):
        if prices[b] < 0:
            extra[b] = most - least
        elif prices[b] == 0:
            extra[b] = min(most - least, max(0, excess[b] - least))
        excess[b] -= least + extra[b]
        excess[picks] += extra[b]

    arc, mover = _scan_all(costs, nearest, masses)
    parent = np.empty(picks + 1, np.int64)
    order = np.empty(picks + 1, np.int64)
    used = np.empty(picks + 1, np.int64)
    while excess.max() > 0:
        reached = _shortest_paths(
            costs, prices, excess, extra, most - least, arc, mover, first, link, point, parent, order
        )
        # One tree serves as many nodes in deficit as have paths without a common arc.
        used[:] = 0
        for end in order[:reached]:
            amount = 0
            if excess[end] < 0:
                amount = _amount(end, excess, extra, most - least, mover, units, parent, used)
            if amount <= 0:
                continue
            if pieces + picks > size:
                size *= 2
                link = _grown(link, size)
                point = _grown(point.reshape(1, -1), size)[0]
                at = _grown(at.reshape(1, -1), size)[0]
                units = _grown(units.reshape(1, -1), size)[0]
            b = end
            excess[end] += amount
            while parent[b] >= 0:
                a = parent[b]
                used[b] = 1
                if a == picks:
                    extra[b] -= amount
                elif b == picks:
                    extra[a] += amount
                else:
                    pieces = _move(a, b, amount, pieces, costs, arc, mover, first, link, head, point, at, units)
                b = a
            excess[b] -= amount
    held = np.flatnonzero((units[:pieces] > 0) & (at[:pieces] >= 0))
    shift = prices[picks] if most > least else prices[:picks].mean()
    return point[held], at[held], units[held], prices[:picks] - shift


@njit(cache=True, nogil=True)
def _grown(array: Ints, size: int) -> Ints:
    larger = np.full((array.shape[0], size), -1, np.int64)
    # Assigning a slice would do, but compiles for seconds.
    for row in range(array.shape[0]):
        for column in range(array.shape[1]):
            larger[row, column] = array[row, column]
    return larger
