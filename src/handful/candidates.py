"""Candidate sets for pools too large to bound over all points: so many of them, drawn at random or near centres.

A bound over fewer candidates holds for picks out of these only, which the pool remembers and every result says.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from handful.blocks import Workers, slices, workers
from handful.clock import Clock
from handful.errors import HandfulError
from handful.pool import Pool

Indices = NDArray[np.int64]
Singles = NDArray[np.float32]

_WORDS = re.compile(r"(?:(?P<kind>sampled|clustered):)?(?P<count>\d+)")
_SCALES = (8, 32, 128, 512)  # numbers of clusters: whatever the budget, some are about as large as a pick's share
_TRAINING = 20  # points per cluster by which the centres are found
_ITERATIONS = 10
_ROWS = 8192  # points looked at together


def names_a_set(words: str) -> bool:
    """Whether this is ``N``, ``sampled:N`` or ``clustered:N``, and no file."""
    return _WORDS.fullmatch(words) is not None


def size_of(words: str | None, allowed: int) -> int:
    """How many candidates that leaves, of so many ``allowed`` ones."""
    parts = _WORDS.fullmatch(words or "")
    return min(int(parts["count"]), allowed) if parts else allowed


def restricted(pool: Pool, words: str, seed: int) -> Pool:
    """The pool with so many of its candidates left.

    ``sampled:N``, or just ``N``, draws them at random. ``clustered:N`` takes the points nearest to the centres of 8,
    32, 128 and 512 clusters (k-means on a sample), as many for each: good picks are central in some group of points,
    and few random ones are. Of points that are equal one is taken.
    """
    parts = _WORDS.fullmatch(words)
    if parts is None or not int(parts["count"]):
        raise HandfulError(f"candidates {words!r} is not understood: write sampled:20000, clustered:20000 or rows")
    count, random = int(parts["count"]), np.random.default_rng([seed, 6])
    if count >= len(pool.candidates):
        return pool
    if parts["kind"] != "clustered":
        rows = random.choice(pool.candidates, count, replace=False)
        return pool.among(rows, f"{count:,} candidates drawn at random")
    if pool.metric.name == "precomputed":
        raise HandfulError(f"candidates {words!r} needs coordinates, and a matrix of costs has none: write sampled:N")
    with workers(None, Clock(np.inf)) as crew:
        return pool.among(_clustered(pool, count, random, crew), f"{count:,} candidates near the centres of clusters")


def _clustered(pool: Pool, count: int, random: np.random.Generator, crew: Workers) -> Indices:
    allowed = pool.candidates
    scales = [clusters for clusters in _SCALES if clusters <= min(count // 4, len(allowed) // 4)] or [1]
    chosen = np.zeros(pool.n, bool)
    for done, clusters in enumerate(scales):
        labels, away = _assigned(pool, _centres(pool, clusters, random), crew)
        order = np.lexsort((allowed, away, labels))
        labels, away = labels[order], away[order]
        # The same cluster at the same distance: the same point.
        twin = np.append(False, (labels[1:] == labels[:-1]) & (away[1:] == away[:-1]))
        open_ones = ~twin & ~chosen[allowed[order]]
        labels, order = labels[open_ones], order[open_ones]
        rank = np.arange(len(labels)) - np.searchsorted(labels, labels)
        here = (count - int(chosen.sum())) // (len(scales) - done)
        chosen[allowed[order[np.argsort(rank, kind="stable")[:here]]]] = True
    # Where equal points were passed over too few may be left: any others will do.
    others = np.setdiff1d(allowed, np.flatnonzero(chosen), assume_unique=True)
    return np.append(np.flatnonzero(chosen), random.choice(others, count - int(chosen.sum()), replace=False))


def _centres(pool: Pool, clusters: int, random: np.random.Generator) -> Singles:
    """Centres of so many clusters of a sample of the points, drawn by mass (k-means; Lloyd 1982)."""
    rows = np.unique(random.choice(pool.n, _TRAINING * clusters, p=pool.masses))
    points = pool.coordinates(rows)
    centres = points[random.choice(len(rows), min(clusters, len(rows)), replace=False)]
    for _ in range(_ITERATIONS):
        labels = _nearest(points, centres)[0]
        member = csr_array((np.ones(len(rows), np.float32), (labels, np.arange(len(rows)))), (len(centres), len(rows)))
        counts = np.bincount(labels, minlength=len(centres))
        centres = np.where(counts[:, None] > 0, (member @ points) / np.maximum(counts, 1)[:, None], centres)
    return centres.astype(np.float32)


def _assigned(pool: Pool, centres: Singles, crew: Workers) -> tuple[Indices, Singles]:
    """For every candidate its nearest centre, and its squared distance from there."""

    def assigned(part: slice) -> tuple[Indices, Singles]:
        return _nearest(pool.coordinates(pool.candidates[part]), centres)

    found = crew.map(assigned, slices(len(pool.candidates), _ROWS))
    return np.concatenate([labels for labels, _ in found]), np.concatenate([away for _, away in found])


def _nearest(points: Singles, centres: Singles) -> tuple[Indices, Singles]:
    labels = (0.5 * np.square(centres).sum(axis=1) - points @ centres.T).argmin(axis=1)
    return labels, np.square(points - centres[labels]).sum(axis=1)
