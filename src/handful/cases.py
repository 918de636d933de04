"""What the proof in a certificate has to show: the parts into which it divides all selections.

Every selection is in some part: it holds the earlier picks and is in the first case; in a case it either holds one of
the candidates discarded there, or none of them, and is then in one of the two cases into which this one was split, by a
candidate that is in or out, or by how many are picked of a region; and so on, down to a case that was not split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.certificate import Certificate
from handful.errors import HandfulError

Indices = NDArray[np.int64]


Limit = tuple[Indices, int, int]


@dataclass(frozen=True, eq=False)
class Part:
    """The selections that hold all of ``inside``, for the rest some of ``others``, and any of ``some``, if given.

    ``some`` is a part of ``others``. A limit (members, least, most) says how many are picked among the members; those
    of two limits are nested or disjoint. ``vector`` says which prices prove the bound for these selections.
    """

    vector: int
    inside: Indices
    others: Indices
    some: Indices | None = None
    limits: tuple[Limit, ...] = ()


def parts(certificate: Certificate) -> list[Part]:
    """All parts that hold a selection; a HandfulError says why the certificate has no sound proof."""
    _check(certificate)
    discarded = _discarded(certificate)
    split = set(certificate.cases[:, 0].tolist())
    found: list[Part] = []
    states: list[tuple[Indices, Indices, tuple[Limit, ...]]] = []
    regions = [certificate.regions[certificate.regions[:, 0] == r, 1] for r in range(len(certificate.region_most))]
    for case, (parent, branch, included, vector) in enumerate(certificate.cases.tolist()):
        if case == 0:
            inside, others = certificate.already, np.setdiff1d(certificate.allowed, certificate.already)
            limits: tuple[Limit, ...] = ()
        elif branch < -1:
            inside, others, limits = states[parent]
            members, most = regions[-2 - branch], int(certificate.region_most[-2 - branch])
            limit = (members, most + 1, len(members)) if included else (members, 0, most)
            if any(not _nested(members, known) for known, _, _ in limits):
                raise HandfulError(f"case {case} comes from one split by a region that overlaps with an earlier one")
            limits = (*limits, limit)
        else:
            inside, others, limits = states[parent]
            if branch not in others:
                raise HandfulError(f"case {case} comes from one split by {branch}, which was not open there")
            inside = np.append(inside, branch) if included else inside
            others = others[others != branch]
        free = len(certificate.picks) - len(inside)
        for proof, candidates in discarded.get(case, []):
            some = np.intersect1d(candidates, others)
            if 0 < free <= len(others) and len(some):
                found.append(Part(proof, inside, others, some, limits))
            others = np.setdiff1d(others, some)
        states.append((inside, others, limits))
        if case not in split and 0 <= free <= len(others):
            found.append(Part(vector, inside, others if free else others[:0], None, limits))
    return found


def _nested(one: Indices, other: Indices) -> bool:
    """Whether one of two regions holds the other, or they have nothing in common."""
    return len(np.intersect1d(one, other)) in (0, len(one), len(other))


def _check(certificate: Certificate) -> None:
    cases, discarded, vectors = certificate.cases, certificate.discarded, 1 + len(certificate.further_prices)
    numbers = np.concatenate([cases[:, 3], discarded[:, 2]])
    if ((numbers < 0) | (numbers >= vectors)).any():
        raise HandfulError(f"there are vectors 0 to {vectors - 1} of prices, but others are referred to")
    if ((discarded[:, 0] < 0) | (discarded[:, 0] >= len(cases))).any():
        raise HandfulError(f"there are cases 0 to {len(cases) - 1}, but candidates are discarded in others")
    if len(certificate.regions) and not set(certificate.regions[:, 0]) <= set(range(len(certificate.region_most))):
        raise HandfulError(f"there are regions 0 to {len(certificate.region_most) - 1}, but others have members")
    if len(np.unique(certificate.regions, axis=0)) < len(certificate.regions):
        raise HandfulError("a candidate is listed twice in a region")
    if (cases[:, 1] < -1 - len(certificate.region_most)).any():
        raise HandfulError(f"cases are split by regions beyond the {len(certificate.region_most)} there are")
    halves: dict[int, list[tuple[int, int]]] = {}
    for case, (parent, branch, included, _) in enumerate(cases.tolist()):
        if parent >= case or (parent < 0) != (case == 0):
            raise HandfulError(f"case {case} must come from one before it, and the first from none")
        halves.setdefault(parent, []).append((included, branch))
    for parent, pair in halves.items():
        if parent >= 0 and sorted(pair) != [(0, pair[0][1]), (1, pair[0][1])]:
            raise HandfulError(
                f"case {parent} must be split in two, by one candidate that is out or in, or by one region"
            )


def _discarded(certificate: Certificate) -> dict[int, list[tuple[int, Indices]]]:
    """For each case the candidates discarded together, in their order, with their vector of prices."""
    rows = certificate.discarded
    by_case: dict[int, list[tuple[int, Indices]]] = {}
    if len(rows):
        changes = (rows[1:, [0, 2]] != rows[:-1, [0, 2]]).any(axis=1)
        for group in np.split(rows, np.flatnonzero(changes) + 1):
            by_case.setdefault(int(group[0, 0]), []).append((int(group[0, 2]), group[:, 1]))
    return by_case
