"""Re-checks the certificate of a run from scratch, sharing nothing with the search but the pool."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful import cases, recheck
from handful.certificate import Certificate, read_arrays
from handful.errors import HandfulError
from handful.plan_proof import least_cost
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_RELATIVE = 1e-6  # how far a stated figure may be off
_LARGE = 20_000_000  # distances of points to picks from which on the plan proves itself, with no solver's help
_FLOW = ("flow_rows", "flow_picks", "flow_masses")
_MASS = 1e-9  # how far masses may be off, all together


@dataclass(frozen=True)
class Verdict:
    """What a re-check found.

    Attributes
    ----------
    valid : bool
    problems : tuple of str
        What is wrong, in words.
    distance, lower_bound, gap : float
        Computed anew, the bound less all that rounding may have added to it; NaN where it couldn't be. The bound is 0
        where none is stated.
    candidates, points : int
        Out of how many points the bound holds for picks, and how many there are.
    """

    valid: bool
    problems: tuple[str, ...]
    distance: float
    lower_bound: float
    gap: float
    candidates: int = 0
    points: int = 0

    def __str__(self) -> str:
        if not self.valid:
            return "\n".join(["INVALID", *(f"- {problem}" for problem in self.problems)])
        start = f"VALID: the picks are at distance {self.distance:.6g} of the pool"
        if self.lower_bound <= 0 < self.distance:
            return f"{start}; no certificate: nothing is stated of how near any picks could be"
        among = f" out of the {self.candidates:,} candidates" if self.candidates < self.points else ""
        claim = f"{start}, and no picks{among} can be nearer than {self.lower_bound:.6g} (gap {self.gap:.3%})"
        return f"{claim}; nothing is proven of the other {self.points - self.candidates:,} points" if among else claim


def verify(
    points: ArrayLike | Pool, run: str | PathLike[str], *, progress: Callable[[float], None] | None = None
) -> Verdict:
    """Check the certificate in the folder of a run against the points it was made for.

    Parameters
    ----------
    points : array or Pool
        With an array, metric, masses and candidates are those of the certificate; a Pool must have the same.
    run : path
        The folder. Its ``plan.npz`` and ``picks.csv`` are checked too if they are there.
    progress : callable, optional
        Called with the fraction of the work that is done.
    """
    folder = Path(run)
    certificate = Certificate.read(folder / "certificate.npz")
    pool = points if isinstance(points, Pool) else Pool(points, certificate.metric)
    problems = list(_differences(certificate, pool, isinstance(points, Pool)) or _contradictions(certificate))
    if problems:
        return Verdict(False, tuple(problems), math.nan, math.nan, math.nan)
    tolerance = _RELATIVE * certificate.distance + pool.rounding(np.float64)
    costs = np.asarray(pool.distances(certificate.picks), np.float64)
    plan = _plan(folder / "plan.npz")
    if plan is not None and costs.size > _LARGE and _possible(plan, *costs.shape):
        masses, low, high = certificate.point_masses, certificate.low, certificate.high
        distance = least_cost(costs, masses, low, high, *(plan[name] for name in _FLOW))
        problems += _stated_otherwise(certificate, distance, tolerance)
    else:
        distance = recheck.cost(costs, certificate.point_masses, certificate.low, certificate.high)
        problems += _costs_otherwise(certificate, costs, distance, tolerance)
    problems += _lists_otherwise(folder / "picks.csv", certificate)
    problems += [] if plan is None else _plans_otherwise(plan, certificate, costs, tolerance)
    proven, doubts = _proven(certificate, pool, progress or (lambda fraction: None))
    problems += doubts
    gap = (distance - proven) / distance if distance > proven else 0.0
    return Verdict(not problems, tuple(problems), distance, proven, gap, len(certificate.allowed), pool.n)


def _proven(certificate: Certificate, pool: Pool, progress: Callable[[float], None]) -> tuple[float, list[str]]:
    """The lower bound that is certain, and what is wrong with the stated one."""
    try:
        parts = cases.parts(certificate)
    except HandfulError as error:
        return 0.0, [f"proof changed: {error}"]
    bound, certain = recheck.lower_bound(pool, certificate, parts, progress)
    # The stated bound has its own margin for rounding, so it need not stay below ours; but ours must be small.
    stated = certificate.lower_bound
    bound = min(bound, certain + _RELATIVE * abs(stated) + pool.rounding(np.float64))
    if stated > bound:
        return certain, [f"bound overstated: {stated!r} is stated, the prices prove {bound!r}"]
    if stated > certificate.distance:
        return certain, [f"bound overstated: {stated!r} is stated, above the distance {certificate.distance!r}"]
    return (certain if stated > 0 else 0.0), []


def _differences(certificate: Certificate, pool: Pool, whole: bool) -> list[str]:
    """In what the pool isn't the one that the certificate speaks of; ``whole`` if it is more than its points."""
    if pool.n != len(certificate.prices) or pool.fingerprint != certificate.fingerprint:
        return [f"pool changed: these {pool.n} points are not those that the certificate was made for"]
    if not whole:
        return []
    same = {
        "metric": str(pool.metric) == certificate.metric,
        "masses": np.allclose(pool.masses, certificate.point_masses, rtol=_MASS, atol=0),
        "candidates": np.array_equal(pool.candidates, np.sort(certificate.allowed)),
    }
    return [f"{what} changed: the pool has others than the certificate" for what in same if not same[what]]


def _contradictions(certificate: Certificate) -> Iterator[str]:
    """What can't be, whatever the distances are. The questions are asked so that NaN fails them."""
    n, budget = len(certificate.prices), len(certificate.picks)
    low, high, shares, masses = certificate.low, certificate.high, certificate.shares, certificate.point_masses
    for name in ("picks", "already", "candidates"):
        rows = getattr(certificate, name)
        if not _within(rows, n) or len(np.unique(rows)) < len(rows):
            yield f"{name} changed: they must be different rows of the pool, from 0 to {n - 1}"
    for row in np.setdiff1d(certificate.already, certificate.picks)[:1]:
        yield f"picks changed: row {row}, picked earlier, is not among them"
    for row in np.setdiff1d(certificate.picks, np.union1d(certificate.already, certificate.allowed))[:1]:
        yield f"picks changed: row {row} is not a candidate"
    if not np.isfinite(certificate.vectors).all():
        yield "prices changed: they must be finite"
    if not (masses >= 0).all() or not abs(math.fsum(masses) - 1) <= _MASS:
        yield "masses changed: they must be 0 or more and sum to 1"
    if not (0 <= low <= high and low * budget <= 1 + _MASS and high * budget >= 1 - _MASS):
        yield f"mass range changed: {budget} picks that carry {low!r} to {high!r} each can't carry 1 together"
    if not ((shares >= low - _MASS) & (shares <= high + _MASS)).all() or not abs(math.fsum(shares) - 1) <= _MASS:
        yield f"shares changed: each must be in {low!r} to {high!r}, and their sum 1"
    if not math.isfinite(certificate.distance) or math.isnan(certificate.lower_bound):
        yield f"distance or bound changed: {certificate.distance!r} and {certificate.lower_bound!r} are no such figures"


def _costs_otherwise(certificate: Certificate, costs: Floats, distance: float, tolerance: float) -> Iterator[str]:
    """Whether the picks cost what is stated, both as they cost least and with the shares stated."""
    stated, otherwise = certificate.distance, _stated_otherwise(certificate, distance, tolerance)
    yield from otherwise
    if not otherwise and certificate.low < certificate.high:
        shared = recheck.cost_with_shares(costs, certificate.point_masses, certificate.shares)
        if shared > stated + tolerance:
            yield f"shares changed: with them the picks are at {shared!r}, not {stated!r}"


def _stated_otherwise(certificate: Certificate, distance: float, tolerance: float) -> list[str]:
    """Whether the picks are at another distance than is stated."""
    stated = certificate.distance
    if abs(stated - distance) <= tolerance:
        return []
    how = "understated" if stated < distance else "overstated"
    return [f"distance {how}, or picks changed: {stated!r} is stated, the picks are at {distance!r}"]


def _lists_otherwise(path: Path, certificate: Certificate) -> Iterator[str]:
    """Whether ``picks.csv``, if it is there, lists the new picks."""
    if path.exists():
        listed = []
        with path.open(encoding="utf-8", errors="replace", newline="") as file, suppress(csv.Error):
            listed = [row.get("index") for row in csv.DictReader(file)]
        if listed != [str(pick) for pick in certificate.picks[~np.isin(certificate.picks, certificate.already)]]:
            yield f"picks changed: {path.name} does not list the new picks of the certificate"


def _plan(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays of ``plan.npz``, if it is there."""
    kinds = dict.fromkeys(["pick", "rank", "flow_rows", "flow_picks"], "Indices") | {"flow_masses": "Floats"}
    return read_arrays(path, kinds) if path.exists() else None


def _possible(plan: dict[str, NDArray[Any]], picks: int, n: int) -> bool:
    """Whether the entries of a plan are of one length, and name points and picks that there are."""
    rows, ranks, masses = (plan[name] for name in _FLOW)
    return len(rows) == len(ranks) == len(masses) and _within(rows, n) and _within(ranks, picks)


def _plans_otherwise(
    plan: dict[str, NDArray[Any]], certificate: Certificate, costs: Floats, tolerance: float
) -> Iterator[str]:
    """Whether it is a plan with the shares and the distance stated."""
    rows, ranks, masses, rank = plan["flow_rows"], plan["flow_picks"], plan["flow_masses"], plan["rank"]
    picks, n = costs.shape
    if not len(rows) == len(ranks) == len(masses) or not len(plan["pick"]) == len(rank) == n:
        yield "plan changed: its arrays are not as long as they must be"
    elif not (_possible(plan, picks, n) and _within(rank, picks) and (masses >= 0).all()):
        yield "plan changed: it holds a point, a pick or a mass that can't be"
    else:
        flow = np.bincount(ranks * n + rows, masses, minlength=picks * n).reshape(picks, n)
        unserved = np.abs(flow.sum(axis=0) - certificate.point_masses).sum()
        if not max(unserved, np.abs(flow.sum(axis=1) - certificate.shares).sum()) <= _MASS:
            yield "plan changed: it does not bring the masses of the points to the picks in their shares"
        cost = float((flow * costs).sum())
        if not abs(cost - certificate.distance) <= tolerance:
            yield f"plan changed: it costs {cost!r}, not {certificate.distance!r}"
        most = flow[rank, np.arange(n)] >= flow.max(axis=0) - _MASS / n
        if not most.all() or not np.array_equal(plan["pick"], certificate.picks[rank]):
            yield "plan changed: it gives a point to a pick that does not serve most of it"


def _within(rows: Indices, n: int) -> bool:
    return bool(((rows >= 0) & (rows < n)).all())
