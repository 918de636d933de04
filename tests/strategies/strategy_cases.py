"""Pools for the tests of strategies, and slow code that does what each rule says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from handful import strategies
from handful.strategies import Effort

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

QUICK = Effort(time_limit=20, gap=0.0, rounds=3, threads=1)
CLASSES = 4


def clustered(seed: int, points: int = 60, dimension: int = 9) -> Floats:
    """Points around a few centres; more than eight coordinates, so that the blocked matrix product is used."""
    random = np.random.default_rng(seed)
    centres = 2 * random.normal(size=(5, dimension))
    return centres[random.integers(0, 5, points)] + random.normal(size=(points, dimension))


def probabilities(seed: int, points: int = 60) -> Floats:
    return np.random.default_rng([seed, 1]).dirichlet(np.full(CLASSES, 0.6), points)


def given_to(name: str, seed: int, points: int, already: int) -> dict[str, Any]:
    """What a strategy needs beside the pool."""
    if not strategies.get(name).needs:
        return {}
    more: dict[str, Any] = {}
    if name == "waal":
        pytest.importorskip("torch")
        more = {"steps": 5}
    return more | {
        "probabilities": probabilities(seed, points),
        "labels": np.random.default_rng([seed, 2]).integers(0, CLASSES, already),
    }


def pick(name: str, points: Floats, budget: int, *, seed: int = 0, case: int = 0, **given: Any) -> Indices:
    """Picks of a strategy that is given what it needs."""
    already = given.get("already", ())
    needed = given_to(name, case, len(points), len(already))
    return strategies.get(name)(points, budget, seed=seed, effort=QUICK, **(needed | given))


def unit(points: Floats) -> Floats:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def cosine_costs(points: Floats) -> Floats:
    x = unit(points)
    return 0.5 * np.square(x[:, None] - x).sum(axis=2)


def euclidean(points: Floats) -> Floats:
    return np.sqrt(np.square(points[:, None] - points).sum(axis=2))


def gaussian_costs(points: Floats, sigma: float) -> Floats:
    return 1 - np.exp(-np.square(points[:, None] - points).sum(axis=2) / (2 * sigma**2))


def cover_cost(costs: Floats, masses: Floats, picks: Any) -> float:
    """``sum_i a_i min_j c_ij``."""
    return float(masses @ costs[:, list(picks)].min(axis=1))


def assert_greedy(
    picks: Indices, costs: Floats, masses: Floats, candidates: Indices, already: tuple[int, ...] = ()
) -> None:
    """Every pick leaves as little as any candidate would: two points far from all others do so equally well."""
    chosen = list(already)
    for new in picks.tolist():
        left = [int(j) for j in candidates if j not in chosen]
        assert new in left
        least = min(cover_cost(costs, masses, [*chosen, j]) for j in left)
        assert cover_cost(costs, masses, [*chosen, new]) <= least + 1e-6 * costs.max()
        chosen.append(new)
