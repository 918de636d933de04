"""What the proof in a certificate has to show: the parts into which it divides all selections.

Every selection is in some part: it holds the earlier picks and is in the first case; in a case it either holds one of
the candidates discarded there, or none of them, and is then in one of the two cases into which this one was split, by a
candidate that is in or out; and so on, down to a case that was not split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.certificate import Certificate
from handful.errors import HandfulError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """The selections that hold all of ``inside``, for the rest some of ``others``, and any of ``some``, if given.

    ``some`` is a part of ``others``; ``vector`` says which prices prove the bound for these selections.
    """

    vector: int
    inside: Indices
    others: Indices
    some: Indices | None = None


def parts(certificate: Certificate) -> list[Part]:
    """All parts that hold a selection; a HandfulError says why the certificate has no sound proof."""
    _check(certificate)
    discarded = _discarded(certificate)
    split = set(certificate.cases[:, 0].tolist())
    found: list[Part] = []
    states: list[tuple[Indices, Indices]] = []
    for case, (parent, branch, included, vector) in enumerate(certificate.cases.tolist()):
        if case == 0:
            inside, others = certificate.already, np.setdiff1d(certificate.allowed, certificate.already)
        else:
            inside, others = states[parent]
            if branch not in others:
                raise HandfulError(f"case {case} comes from one split by {branch}, which was not open there")
            inside = np.append(inside, branch) if included else inside
            others = others[others != branch]
        free = len(certificate.picks) - len(inside)
        for proof, candidates in discarded.get(case, []):
            some = np.intersect1d(candidates, others)
            if 0 < free <= len(others) and len(some):
                found.append(Part(proof, inside, others, some))
            others = np.setdiff1d(others, some)
        states.append((inside, others))
        if case not in split and 0 <= free <= len(others):
            found.append(Part(vector, inside, others if free else others[:0]))
    return found


def _check(certificate: Certificate) -> None:
    cases, discarded, vectors = certificate.cases, certificate.discarded, 1 + len(certificate.further_prices)
    numbers = np.concatenate([cases[:, 3], discarded[:, 2]])
    if ((numbers < 0) | (numbers >= vectors)).any():
        raise HandfulError(f"there are vectors 0 to {vectors - 1} of prices, but others are referred to")
    if ((discarded[:, 0] < 0) | (discarded[:, 0] >= len(cases))).any():
        raise HandfulError(f"there are cases 0 to {len(cases) - 1}, but candidates are discarded in others")
    halves: dict[int, list[tuple[int, int]]] = {}
    for case, (parent, branch, included, _) in enumerate(cases.tolist()):
        if parent >= case or (parent < 0) != (case == 0):
            raise HandfulError(f"case {case} must come from one before it, and the first from none")
        halves.setdefault(parent, []).append((included, branch))
    for parent, pair in halves.items():
        if parent >= 0 and sorted(pair) != [(0, pair[0][1]), (1, pair[0][1])]:
            raise HandfulError(f"case {parent} must be split in two, by one candidate that is out or in")


def _discarded(certificate: Certificate) -> dict[int, list[tuple[int, Indices]]]:
    """For each case the candidates discarded together, in their order, with their vector of prices."""
    rows = certificate.discarded
    by_case: dict[int, list[tuple[int, Indices]]] = {}
    if len(rows):
        changes = (rows[1:, [0, 2]] != rows[:-1, [0, 2]]).any(axis=1)
        for group in np.split(rows, np.flatnonzero(changes) + 1):
            by_case.setdefault(int(group[0, 0]), []).append((int(group[0, 2]), group[:, 1]))
    return by_case
