"""What a run will take, before it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from handful.errors import HandfulError

_BASE = 450_000_000  # Python, the libraries and their compiled code
_ACTIVE = 1_500  # candidates whose distances to all points are kept, where not all are
_ALL = 200_000_000  # distances that are kept whole without asking how many candidates they belong to
_VECTORS = 100  # vectors of one number per point that bound and proof hold
_BLOCKS = 200_000_000  # blocks being computed, on all threads


@dataclass(frozen=True)
class Forecast:
    """What a run takes.

    ``bytes`` of memory while it raises the bound, of at most ``limit``; it keeps ``cells`` distances. A proof by cases
    may take up to ``spare`` bytes more.
    """

    bytes: int
    limit: int
    cells: int
    spare: int
    sentence: str


def forecast(
    shape: tuple[int, int], itemsize: int, metric: str, picks: int, candidates: int, memory: int | None = None
) -> Forecast:
    """Plan the memory of a run; raise where it does not fit ``memory`` bytes (default: `default_limit`)."""
    points, dimension = shape
    limit = memory if memory is not None else default_limit()
    coordinates = 0 if metric == "precomputed" else points * dimension * (8 + 4)
    stored = points * dimension * itemsize
    least = _BASE + _BLOCKS + stored + coordinates + 8 * points * (_VECTORS + 6 * picks)
    wanted = max(min(_ALL, points * candidates), points * min(_ACTIVE, candidates))
    cells = min(wanted, (limit - least) // 6)
    if cells < points * min(candidates, 4 * picks):
        needed = least + 6 * points * min(candidates, 4 * picks)
        raise HandfulError(
            f"{points:,} points of {dimension} numbers and {picks} picks need at least {size(needed)}, but the limit "
            f"is {size(limit)}: raise it with --memory, or give fewer points (a random sample of the pool will do)"
        )
    total = least + 4 * cells
    kept = "all distances" if cells >= points * candidates else f"the distances of {cells // points:,} candidates"
    return Forecast(
        total,
        limit,
        cells,
        limit - total,
        f"{picks} of {points:,} points, {candidates:,} of them candidates; "
        f"about {size(total)} of memory, {kept} kept; at most {size(limit)}",
    )


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
