r"""How many picks come from a region: rules by which a case is split in two.

Where a pool falls into clusters whose mass is no multiple of 1/B, the relaxed problem picks fractions in them,
:math:`\sum_{j \in R} \pi_j = 1.7`, and no single candidate settles that. "At most 1 of R" and "at least 2 of R" do. The
regions of a run are the branches of one tree (average linkage; Sokal & Michener 1958) over the candidates that the
relaxed problem picks, so that any two are nested or disjoint; the cheapest candidates under such rules are found
greedily, from the inner regions out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average

from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_LEAST = 1e-3  # share in the relaxed problem from which a candidate counts
_MOST = 400  # candidates in the tree
_FRACTION = 0.1  # distance of a region's picks from a whole number from which it is worth a split


@dataclass(frozen=True, eq=False)
class Rule:
    """Between ``least`` and ``most`` of the picks are among the ``members`` (a mask of what they are counted in)."""

    members: Mask
    least: int
    most: int

    def among(self, positions: Indices) -> Rule:
        """The same for some positions of what the members are counted in."""
        return Rule(self.members[positions], self.least, self.most)


def cheapest(values: Floats, count: int, rules: Sequence[Rule]) -> Indices | None:
    """Positions of the ``count`` least values under the rules, inner ones before outer ones; None if there are none.

    A rule's least members are in whatever else is; of the others only as many as it may hold stay in the choice. That
    is right as the least sum within a region is convex in the number of its members.
    """
    if not rules:
        return np.argsort(values, kind="stable")[:count] if count <= len(values) else None
    must, may = np.zeros(len(values), bool), np.ones(len(values), bool)
    for rule in [*rules, Rule(np.ones(len(values), bool), count, count)]:
        held = int((must & rule.members).sum())
        rest = np.flatnonzero(rule.members & may & ~must)
        needed, room = max(0, rule.least - held), rule.most - max(held, rule.least)
        if room < 0 or needed > len(rest):
            return None
        rest = rest[np.argsort(values[rest], kind="stable")]
        must[rest[:needed]] = True
        may[rest[needed + room :]] = False
    chosen = np.flatnonzero(must)
    return chosen[np.argsort(values[chosen], kind="stable")]


def replaced(values: Floats, chosen: Indices, rules: Sequence[Rule]) -> Floats:
    """For each position the largest of the cheapest values ``chosen`` whose place it may take under the rules.

    The selections that obey rules over nested or disjoint regions are the bases of a matroid. So the cheapest of those
    that hold a position comes from the cheapest of all by one exchange, and there is none if no exchange is possible
    (minus infinity).
    """
    held = [int(rule.members[chosen].sum()) for rule in rules]
    member = np.array([rule.members for rule in rules]).reshape(len(rules), len(values))
    kinds, kind = np.unique(member, axis=1, return_inverse=True)
    given = member[:, chosen]
    largest = np.full(kinds.shape[1], -np.inf)
    for k in range(len(largest)):
        after = np.array(held)[:, None] - given + kinds[:, k : k + 1]
        fits = np.ones(len(chosen), bool)
        for rule, count in zip(rules, after, strict=True):
            fits &= (rule.least <= count) & (count <= rule.most)
        largest[k] = values[chosen[fits]].max(initial=-np.inf)
    found = largest[kind.reshape(-1)]
    found[chosen] = values[chosen]
    return np.asarray(found)


class Regions:
    """The regions of a run; each is a set of candidates (rows of the pool)."""

    def __init__(self, members: Sequence[Indices], weights: Floats) -> None:
        self.members = list(members)
        self._weights = weights

    @classmethod
    def among(cls, pool: Pool, candidates: Indices, parts: Floats) -> Regions:
        """Regions of the candidates that are picked in ``parts`` by the relaxed problem, each with those around it."""
        picked = np.argsort(-parts, kind="stable")[:_MOST]
        picked = np.sort(candidates[picked[parts[picked] > _LEAST]])
        count = len(picked)
        if count < 3:
            return cls([], np.empty(0))
        between = pool.distances(picked, picked, dtype=np.float32)
        tree = average((between + between.T)[np.triu_indices(count, 1)])
        nearest = _nearest(pool, candidates, picked)
        leaves = [[k] for k in range(count)]
        heights, parents = np.zeros(2 * count - 1), np.zeros(2 * count - 1)
        for k, (left, right, height, _) in enumerate(tree.tolist()):
            leaves.append(leaves[int(left)] + leaves[int(right)])
            heights[count + k] = height
            parents[[int(left), int(right)]] = height
        inside = [candidates[np.isin(nearest, some)] for some in leaves[:-1]]
        # A region that stands far from the next one decides more.
        return cls(inside, (parents - heights)[:-1])

    def split(self, parts: dict[int, float]) -> tuple[int, int] | None:
        """The region that the relaxed problem picks a fraction in, and the whole number below that."""
        if not self.members:
            return None
        rows, shares = np.array(list(parts), np.int64), np.array(list(parts.values()))
        picked = np.array([shares[np.isin(rows, some)].sum() for some in self.members])
        fraction = np.minimum(picked - np.floor(picked), np.ceil(picked) - picked)
        best = int(np.argmax(np.where(fraction >= _FRACTION, fraction * self._weights, -1.0)))
        return (best, int(np.floor(picked[best]))) if fraction[best] >= _FRACTION else None


def _nearest(pool: Pool, candidates: Indices, picked: Indices) -> Indices:
    """For each candidate the position in ``picked`` of the nearest."""
    best = np.empty(len(candidates), np.int64)
    step = max(1, 4_000_000 // len(picked))
    for start in range(0, len(candidates), step):
        block = candidates[start : start + step]
        best[start : start + step] = np.argmin(pool.distances(picked, block, dtype=np.float32), axis=0)
    return best
