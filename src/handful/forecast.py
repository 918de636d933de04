"""What a run will take, before it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from handful.errors import HandfulError

_BASE = 450_000_000  # Python, the libraries and their compiled code
_ACTIVE = 3_000  # candidates whose distances to all points are kept, where not all are
_ALL = 200_000_000  # distances that are kept whole without asking how many candidates they belong to
_VECTORS = 100  # vectors of one number per point that bound and proof hold
_BLOCKS = 200_000_000  # blocks being computed, on all threads


@dataclass(frozen=True)
class Holding:
    """Who keeps distances, if not this process.

    ``where`` says it in words. A card has ``room`` bytes of its own; without, the distances count as memory of the run.
    So do ``fixed`` bytes and ``copies`` of the points in single precision, beside what a run takes without.
    """

    where: str
    room: int | None = None
    fixed: int = 0
    copies: int = 0

    def space(self, left: int, points: int, asked: bool) -> int:
        """Bytes for distances, where a run has so many ``left`` of its own; a card is filled unless a limit was asked.

        ``points`` are the bytes of the points in single precision.
        """
        if self.room is None or left < 0:
            return left
        there = max(0, self.room - 6 * points)
        return min(left, there) if asked else there


@dataclass(frozen=True)
class Forecast:
    """What a run takes.

    ``fixed`` bytes of memory whatever is kept, and ``bytes``, of at most ``limit``, while it raises the bound with the
    distances of ``active`` candidates kept. When fewer than ``room`` are left it may keep those of all of them, and
    ``vectors`` more vectors of prices. ``exact`` says whether distances are kept in double precision.
    """

    fixed: int
    bytes: int
    limit: int
    active: int
    room: int
    vectors: int
    exact: bool
    sentence: str


def forecast(
    shape: tuple[int, int],
    itemsize: int,
    metric: str,
    picks: int,
    candidates: int,
    memory: int | None = None,
    holding: Holding | None = None,
) -> Forecast:
    """Plan the memory of a run; raise where it does not fit ``memory`` bytes.

    Default: `default_limit`, and what ``holding`` takes beside.
    """
    points, dimension = shape
    single = 0 if metric == "precomputed" else points * dimension * 4
    beside = 0 if holding is None else holding.fixed + holding.copies * single
    limit = memory if memory is not None else default_limit() + beside
    stored = points * dimension * itemsize
    least = _BASE + _BLOCKS + stored + 3 * single + 8 * points * (_VECTORS + 6 * picks) + beside
    space = limit - least if holding is None else holding.space(limit - least, single, memory is not None)
    exact = points * candidates <= _ALL // 2 and 8 * points * candidates <= space
    row = (8 if exact else 4) * points
    fitting = space // row
    few = min(candidates, 4 * picks)
    card = holding is not None and holding.room is not None
    if fitting < few and card and limit - least >= row * few:
        raise HandfulError(
            f"{points:,} points and {picks} picks need {size(row * few)} for distances{_where(holding)}, but there is "
            f"room for {size(space)}: free its memory, or give fewer points"
        )
    if fitting < few:
        raise HandfulError(
            f"{points:,} points of {dimension} numbers and {picks} picks need at least {size(least + row * few)}, but "
            f"the limit is {size(limit)}: raise it with --memory, or give fewer points (a random sample of the pool "
            "will do)"
        )
    active = min(candidates, fitting, max(_ACTIVE, 8 * picks, _ALL // points))
    room = min(candidates, max(active, fitting * 3 // 4))
    here = least if card else least + row * room
    total = least if card else least + row * active
    kept = "all distances" if active == candidates else f"the distances of {active:,} candidates"
    return Forecast(
        least,
        total,
        limit,
        active,
        room,
        max(0, (limit - here) // (8 * points)),
        exact,
        f"{picks} of {points:,} points, {candidates:,} of them candidates; "
        f"about {size(total)} of memory, {kept} kept{_where(holding)}"
        f"{f' in {size(row * active)}' if card else ''}; at most {size(limit)}",
    )


def _where(holding: Holding | None) -> str:
    return "" if holding is None else f" {holding.where}"


def default_limit() -> int:
    """4 GB, or three quarters of the machine's memory if that is less."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        machine = 8_000_000_000
    return min(4_000_000_000, machine * 3 // 4)


def size(count: int) -> str:
    """``1_234_000_000`` as ``1.2 GB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, count // 1_000_000)} MB"
