"""Closing the gap: branch and bound over the candidates that are left, with prices raised again in every case.

A case is split by how many picks come from a region, where the relaxed problem picks a fraction in one
(`handful.regions`); otherwise by the candidate whose share in the relaxed problem is nearest to one half. Each half
starts from the prices of the whole, and a few steps of the bundle raise its bound; the cases of least bound are split
next, a few at a time. Every now and then the tree *plunges*: it splits the half with the candidate in, then that one's
half, down to where nothing is left to split, which leads to good picks.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handful.bound import Evaluation, Field
from handful.bundle import Bundle, ascend
from handful.pool import Pool
from handful.proof import NONE, ROOT, Proof
from handful.regions import Regions
from handful.transport import point_prices, transport
from handful.waiting import Cases

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CLOSED = 1e-7  # a case whose bound is this near to the distance, relative to it, is closed
_PLUNGE = 50  # splits from one plunge to the next
_UNKNOWN = -2  # in place of the candidate to split by, where it is still to be found
_SEEDS = 30  # selections that a case hands down to its halves
_TOGETHER = 4  # cases split at the same time; a fixed number, so that results don't depend on the number of threads


@dataclass(order=True)
class _Case:
    """A case, to be split by the candidate ``branch`` or, if given, by the ``region``."""

    bound: float
    number: int
    part: Field = field(compare=False)
    start: _Start = field(compare=False)
    branch: int = field(compare=False)
    region: tuple[int, int] | None = field(compare=False)
    done: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class _Start:
    """What the halves of a case start from: its prices and bound, and the selections that the relaxed problem mixes."""

    prices: Floats
    bound: float
    selections: Indices | None = None


@dataclass
class _Half:
    """One half of a case: its number in the proof, the candidates in it, and what it starts from."""

    number: int
    part: Field
    start: _Start


@dataclass
class _Raised:
    """What raising the bound of a half came to: the candidate to split it by is NONE where it needs no split."""

    value: float
    best: Evaluation
    branch: int
    with_each: Floats
    region: tuple[int, int] | None = None
    selections: Indices | None = None


class Tree(Cases[_Case]):
    """Cases still to be split, by their bounds; those of the proof, if it has some.

    Parameters
    ----------
    field : Field
        The candidates left, with their distances kept.
    bundle : Bundle
        At the best prices of the root.
    bound : float
        What they prove.
    distance : float
        That of the best picks known.
    limit : int
        Vectors of prices that the proof may hold.
    """

    def __init__(self, field: Field, bundle: Bundle, bound: float, proof: Proof, distance: float, limit: int) -> None:
        super().__init__(proof, limit)
        self._workers = field.workers
        self._splits = 0
        self._deeper: _Case | None = None
        support = bundle.support()
        everyone = np.sort(field.candidates)
        parts = np.array([support.get(candidate, 0.0) for candidate in everyone.tolist()])
        if proof.regions:
            members = [some for some, _ in proof.regions]
            self._regions = Regions(members, np.ones(len(members)))
        else:
            assert isinstance(field.pool, Pool)
            self._regions = Regions.among(field.pool, everyone, parts)
        if len(proof.parents) == 1:
            root = _Half(ROOT, field, _Start(bundle.prices, bound, bundle.selections(_SEEDS)))
            self._enter(root, self._raise(root, distance), distance)
        else:
            self._resume(field, bound, distance)

    def split(self, distance: float) -> list[Indices]:
        """Split a few cases; returns the picks that their halves suggest."""
        cases = self._next()
        halves: list[_Half] = []
        for case in cases:
            if case.bound >= distance * (1 - CLOSED):
                self._closed = min(self._closed, case.bound)
            else:
                halves += self._halves(case)
        raised = self._workers.map(lambda half: self._raise(half, distance), halves)
        # Only now, so that the cases still count if the clock stops the work before their halves are done.
        for case in cases:
            case.done = True
        entered = [self._enter(half, result, distance) for half, result in zip(halves, raised, strict=True)]
        while self._cases and self._cases[0].done:
            heapq.heappop(self._cases)
        plunging = self._deeper is not None or self._splits % _PLUNGE < len(cases)
        self._deeper = entered[0] if plunging and entered else None
        self._splits += len(cases)
        return [result.best.chosen for result in raised]

    def _resume(self, field: Field, bound: float, distance: float) -> None:
        """Go on from the cases of the proof that were not split."""
        proof, split = self._proof, set(self._proof.parents)
        halves = []
        open_ones = field.candidates[field.open]
        for case, held in enumerate(proof.held()):
            left = field.open[~np.isin(open_ones, [*held.inside, *held.outside])]
            forced = np.append(field.forced, field.open[np.isin(open_ones, held.inside)])
            if case not in split:
                start = _Start(proof.prices[proof.closing[case]], bound)
                halves += self._half(case, field, forced, left, start, held.rules)
        for half, known in zip(halves, self._workers.map(_known, halves), strict=True):
            self._enter(half, known, distance)

    def _next(self) -> list[_Case]:
        """The cases to be split: the one that the tree plunges into, and those of least bound."""
        chosen = [self._deeper] if self._deeper else []
        waiting = (case for case in heapq.nsmallest(2 * _TOGETHER, self._cases) if not case.done)
        for case in waiting:
            if len(chosen) < _TOGETHER and case not in chosen:
                chosen.append(case)
        return chosen

    def _halves(self, case: _Case) -> list[_Half]:
        whole = case.part
        if case.branch == _UNKNOWN:
            return [_Half(case.number, whole, case.start)]
        if case.region is not None:
            region, most = case.region
            members = self._regions.members[region]
            more, fewer = self._proof.split_by_region(case.number, members, most)
            sides = [(more, (members, most + 1, len(members))), (fewer, (members, 0, most))]
            return [
                half
                for number, rule in sides
                for half in self._half(number, whole, whole.forced, whole.open, case.start, [rule])
            ]
        split = whole.candidates[whole.open] == case.branch
        rest = whole.open[~split]
        inside, outside = self._proof.split(case.number, case.branch)
        return [
            half
            for number, forced in ((inside, np.append(whole.forced, whole.open[split])), (outside, whole.forced))
            for half in self._half(number, whole, forced, rest, case.start, [])
        ]

    def _half(
        self,
        number: int,
        whole: Field,
        forced: Indices,
        rest: Indices,
        start: _Start,
        rules: list[tuple[Indices, int, int]],
    ) -> list[_Half]:
        """The half of these candidates under these rules and those of the whole; none if it holds no selection."""
        missing = whole.budget - len(forced)
        if not 0 <= missing <= len(rest):
            return []
        part = whole.narrowed(forced, rest if missing else rest[:0], self._workers.alone())
        for members, least, most in rules:
            part = part.ruled(members, least, most)
        return [_Half(number, part, start)] if part.possible else []

    def _enter(self, half: _Half, raised: _Raised, distance: float) -> _Case | None:
        """Note a half in the proof; it is returned, and waits to be split, if it may hold better picks."""
        self._proof.close(half.number, raised.best.prices)
        value = max(half.start.bound, raised.value)
        if raised.branch == NONE or value >= distance * (1 - CLOSED):
            self._closed = min(self._closed, value)
            return None
        part = half.part
        alive = raised.with_each <= distance
        self._proof.discard(half.number, part.candidates[part.open[~alive]], raised.best.prices)
        if alive.sum() < part.budget - len(part.forced):
            return None
        left = part.narrowed(part.forced, part.open[alive])
        open_ones = left.candidates[left.open]
        kept = raised.branch == _UNKNOWN or raised.branch in open_ones
        branch = raised.branch if kept else int(open_ones[0])
        start = _Start(raised.best.prices, value, raised.selections)
        case = _Case(value, half.number, left, start, branch, raised.region)
        heapq.heappush(self._cases, case)
        return case

    def _raise(self, half: _Half, distance: float) -> _Raised:
        """Raise the bound of a half by a few steps, and find what to split it by."""
        part, start, region, selections = half.part, half.start, None, None
        if part.budget - len(part.forced) == len(part.open):
            best, branch = _single(part), NONE
        else:
            best, bundle = ascend(part, start.prices, distance, distance * (1 + CLOSED), start.selections)
            support, selections = bundle.support(), bundle.selections(_SEEDS)
            region = self._regions.split(support)
            open_ones = part.candidates[part.open].tolist()
            branch = min(open_ones, key=lambda candidate: abs(support.get(candidate, 0.0) - 0.5))
        value, with_each = part.prove(best)
        return _Raised(value, best, branch, with_each, region, selections)


def _known(half: _Half) -> _Raised:
    """What the prices that a half starts from prove."""
    part = half.part
    best = part.evaluate(half.start.prices)
    single = part.budget - len(part.forced) == len(part.open)
    value, with_each = part.prove(best)
    return _Raised(value, best, NONE if single else _UNKNOWN, with_each)


def _single(part: Field) -> Evaluation:
    """The evaluation of a case with one selection: the prices of its optimal plan prove its very distance."""
    pool, shares = part.pool, part.shares
    costs = pool.distances(part.candidates)
    plan = transport(costs, pool.masses, shares.low, shares.high)
    return part.evaluate(point_prices(costs, plan.pick_prices))
