"""Picks counted by region: the cheapest under rules, and pools that only such counts can close."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import handful
from handful.recheck import _least_sum
from handful.regions import Regions, Rule, cheapest, replaced

# Any two nested or disjoint, the smaller ones first.
FAMILY = [[0, 1], [4, 5], [0, 1, 2], [4, 5, 6], [0, 1, 2, 3]]


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_the_cheapest_under_rules_are_those_of_all_subsets(data: st.DataObject) -> None:
    """So are the sums that the check of a certificate makes, by other means."""
    n, count = 8, data.draw(st.integers(0, 8))
    values = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)), float)
    rules = []
    for members in FAMILY:
        if data.draw(st.booleans()):
            least = data.draw(st.integers(-1, len(members)))
            most = data.draw(st.integers(least, len(members) + 1))
            rules.append(Rule(np.isin(np.arange(n), members), least, most))
    allowed = [
        list(some)
        for some in combinations(range(n), count)
        if all(rule.least <= rule.members[list(some)].sum() <= rule.most for rule in rules)
    ]
    limits = [(rule.members, rule.least, rule.most) for rule in rules]
    everyone = np.ones(n, bool)
    found, least_sum = cheapest(values, count, rules), _least_sum(values, count, limits, everyone)
    some = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    with_some = [picks for picks in allowed if some[picks].any()]
    if count and not some.all():
        least = min((values[picks].sum() for picks in with_some), default=np.inf)
        assert _least_sum(values, count, limits, some) == least
    if not allowed:
        assert found is None
        assert least_sum == np.inf
        return
    expected = min(values[some].sum() for some in allowed)
    assert found is not None
    assert sorted(found.tolist()) in allowed
    assert values[found].sum() == least_sum == expected
    if not count:
        return
    with_each = expected - replaced(values, found, rules) + values
    for j in range(n):
        assert with_each[j] == min((values[picks].sum() for picks in allowed if j in picks), default=np.inf)


def test_regions_are_nested_or_disjoint_and_cover_what_is_near() -> None:
    random = np.random.default_rng(0)
    points = np.repeat(random.normal(size=(5, 3)) * 5, 20, axis=0) + random.normal(size=(100, 3))
    pool = handful.Pool(points, "euclidean")
    regions = Regions.among(pool, np.arange(100), random.random(100) * (random.random(100) < 0.5)).members
    for one, other in combinations(regions, 2):
        assert len(np.intersect1d(one, other)) in (0, len(one), len(other))
    clusters = [set(range(20 * k, 20 * k + 20)) for k in range(5)]
    assert sum(set(some.tolist()) in clusters for some in regions) >= 3


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_pool_in_clusters_of_uneven_mass_is_closed(metric: str, tmp_path: Path) -> None:
    """A third of the irises stand apart, which 5 equal picks can't share out: the relaxed problem does."""
    points = load_iris().data
    run = handful.select(points, 5, metric=metric, gap=0.01, time_limit=120)
    assert run.status in ("gap", "optimal")
    assert len(run.proof.regions) > 0
    run.save(tmp_path / "run")
    verdict = handful.verify(points, tmp_path / "run")
    assert verdict.problems == ()
    assert verdict.lower_bound == pytest.approx(run.lower_bound, rel=1e-6)
    unproven = min(run.proof.prices[0] @ np.full(150, 1 / 150), 0.9 * run.distance)
    assert run.lower_bound > unproven
