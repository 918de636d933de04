r"""The proof of a lower bound: a tree of cases, each closed by prices.

A *case* is a set of candidates that are in the selection and a set that are out. Prices prove a bound for a case: the
bound of `handful.bound` with the ones counted and the others left out. The tree splits a case in two by a candidate
that is in or out, so that every selection falls in some leaf; and before that a case may *discard* candidates, one by
one, by prices that prove a bound for the case with that candidate in. What is proven for all selections is the least of
these bounds. Most runs need one case only, the root, and one vector of prices.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

ROOT = 0
NONE = -1


def region_of(branch: int) -> int:
    """The number of the region that a negative branch stands for, and the other way round."""
    return -2 - branch


@dataclass(frozen=True)
class Held:
    """Candidates that are in all selections of a case, and in none; and how many are among some: least and most."""

    inside: list[int]
    outside: list[int]
    rules: list[tuple[Indices, int, int]]


@dataclass
class Proof:
    """Grows while the work goes on.

    Attributes
    ----------
    prices : list of arrays
        Vectors of prices, one number per point.
    parents, branches, included : lists
        For every case the case it comes from, what that was split by, and whether this is the half with the candidate
        in, or with more of the region. It is split by a candidate, or by the region numbered `region_of` (branch).
    regions : list of (candidates, number)
        A case is split by how many picks are among these candidates: at most the number, or more.
    closing : list of int
        For every case the vector of prices that proves its bound; it does not count where the case was split, or
        where it holds no selection at all.
    discarded : list of (case, candidate, vector of prices)
    """

    prices: list[Floats] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [NONE])
    branches: list[int] = field(default_factory=lambda: [NONE])
    included: list[bool] = field(default_factory=lambda: [False])
    closing: list[int] = field(default_factory=lambda: [NONE])
    discarded: list[tuple[int, int, int]] = field(default_factory=list)
    regions: list[tuple[Indices, int]] = field(default_factory=list)
    _discarding: set[int] = field(default_factory=set)  # vectors that must stay as they are

    @classmethod
    def nothing(cls, n: int) -> Proof:
        """Prices of 0 for n points: they prove that a distance is at least 0."""
        proof = cls()
        proof.close(ROOT, np.zeros(n))
        return proof

    def close(self, case: int, prices: Floats) -> None:
        """Let these prices prove the bound of the case, in place of those it had."""
        parent = self.parents[case]
        inherited = NONE if parent == NONE else self.closing[parent]
        if self.closing[case] == inherited or self.closing[case] in self._discarding:
            self.closing[case] = len(self.prices)
            self.prices.append(prices)
        else:
            self.prices[self.closing[case]] = prices

    def discard(self, case: int, candidates: Indices, prices: Floats) -> None:
        """Leave candidates out of a case: with one of them in, these prices prove enough."""
        if not len(candidates):
            return
        vector = self.closing[case]
        if vector == NONE or self.prices[vector] is not prices:
            vector = len(self.prices)
            self.prices.append(prices)
        self._discarding.add(vector)
        self.discarded += [(case, candidate, vector) for candidate in candidates.tolist()]

    def split(self, case: int, candidate: int) -> tuple[int, int]:
        """The two cases with the candidate in and out; until they are closed the prices of the whole serve them."""
        return self._halve(case, candidate)

    def split_by_region(self, case: int, members: Indices, most: int) -> tuple[int, int]:
        """The two cases with more than ``most`` picks among the members, and with no more than that."""
        self.regions.append((members, most))
        return self._halve(case, region_of(len(self.regions) - 1))

    def _halve(self, case: int, branch: int) -> tuple[int, int]:
        first = len(self.parents)
        self.parents += [case, case]
        self.branches += [branch, branch]
        self.included += [True, False]
        self.closing += [self.closing[case]] * 2
        return first, first + 1

    def held(self) -> list[Held]:
        """What is known of the selections in every case."""
        out: dict[int, list[int]] = {}
        for case, candidate, _ in self.discarded:
            out.setdefault(case, []).append(candidate)
        found = [Held([], out.get(ROOT, []), [])]
        for case in range(1, len(self.parents)):
            whole, branch, more = found[self.parents[case]], self.branches[case], self.included[case]
            inside, outside, rules = list(whole.inside), whole.outside + out.get(case, []), list(whole.rules)
            if branch < NONE:
                members, most = self.regions[region_of(branch)]
                rules.append((members, most + 1, len(members)) if more else (members, 0, most))
            else:
                (inside if more else outside).append(branch)
            found.append(Held(inside, outside, rules))
        return found

    @property
    def size(self) -> int:
        """Vectors of prices held."""
        return len(self.prices)
