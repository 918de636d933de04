"""What a run will take, said before it starts; and what is asked for, checked before that."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import handful
from handful import HandfulError, Pool
from handful.forecast import default_limit, forecast, size
from handful.problem import mass_range

GB = 1_000_000_000


def plan(points: int, dimension: int = 128, picks: int = 40, memory: int | None = 4 * GB, **other: Any) -> Any:
    return forecast(
        (points, dimension), 4, other.get("metric", "cosine"), picks, other.get("candidates", points), memory
    )


def test_small_pools_keep_all_distances() -> None:
    for points in (10, 1797, 10_000):
        found = plan(points)
        assert found.active == found.room == points
        assert "all distances kept" in found.sentence
        assert found.fixed + 4 * points * points <= found.bytes <= found.limit == 4 * GB
        assert found.bytes + 8 * points * found.vectors <= found.limit


def test_large_pools_keep_some_and_stay_within_the_limit() -> None:
    for points, memory in [(50_000, 4 * GB), (60_000, 2 * GB), (1_000_000, 64 * GB)]:
        found = plan(points, memory=memory)
        assert 4 * 40 <= found.active <= found.room < points
        assert found.fixed + 4 * points * found.active <= found.bytes <= memory
        assert found.fixed + 4 * points * found.room + 8 * points * found.vectors <= memory
        assert f"the distances of {found.active:,} candidates kept; at most {size(memory)}" in found.sentence


def test_more_of_anything_takes_more() -> None:
    base = plan(50_000).bytes
    assert plan(80_000).bytes > base
    assert plan(50_000, dimension=1024).bytes > base
    assert plan(50_000, picks=400).bytes > base
    assert plan(50_000, candidates=100).bytes < base
    square = plan(5_000, dimension=5_000, metric="precomputed")
    assert square.bytes < plan(5_000, dimension=5_000).bytes  # nothing is prepared of a matrix of costs
    assert plan(50_000, memory=16 * GB).room > plan(50_000).room


def test_the_refusal_says_what_would_do() -> None:
    with pytest.raises(HandfulError) as raised:
        plan(1_000_000, memory=2 * GB)
    found = re.fullmatch(
        r"1,000,000 points of 128 numbers and 40 picks need at least ([\d.]+) GB, but the limit is 2.0 GB: "
        r"raise it with --memory, or give fewer points \(a random sample of the pool will do\)",
        str(raised.value),
    )
    assert found
    needed = float(found[1]) * GB
    assert plan(1_000_000, memory=int(needed + GB / 10)).bytes <= needed + GB / 10
    with pytest.raises(HandfulError):
        plan(1_000_000, memory=int(needed - GB / 10))


def test_the_default_is_4_gb_or_three_quarters_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def machine(pages: int) -> None:
        monkeypatch.setattr("os.sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else pages)

    machine(24 * GB // 4096)
    assert default_limit() == 4 * GB
    machine(2 * GB // 4096)
    assert default_limit() == pytest.approx(1.5 * GB, rel=1e-5)
    assert plan(1000, memory=None).limit == default_limit()

    def unknown(name: str) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr("os.sysconf", unknown)
    assert 0 < default_limit() <= 4 * GB


def test_sizes_are_written_for_people() -> None:
    assert [size(count) for count in (3, 999_999_999, GB, 1_234_000_000)] == ["1 MB", "999 MB", "1.0 GB", "1.2 GB"]


POOL = np.random.default_rng(0).normal(size=(6, 2))
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"budget": 0}, "budget must be at least 1; got 0"),
    ({"budget": -3}, "budget must be at least 1; got -3"),
    ({"budget": 2.0}, "budget must be a whole number; got 2.0"),
    ({"budget": True}, "budget must be a whole number; got True"),
    ({"budget": "3"}, "budget must be a whole number; got '3'"),
    ({"budget": 7}, "7 new picks are asked for, but only 6 candidates are free: lower the budget"),
    ({"budget": 5, "already": [0, 1]}, "5 new picks are asked for, but only 4 candidates are free"),
    ({"budget": 3, "candidates": [1, 2]}, "3 new picks are asked for, but only 2 candidates are free"),
    ({"budget": 2, "candidates": [1, 2], "already": [1]}, "2 new picks .* only 1 candidates are free"),
    ({"already": [0, 1, 2], "count_already": True}, "there are 3 earlier picks but the budget that counts them is 2"),
    ({"already": [6]}, "already names row 6, but the pool has rows 0 to 5"),
    ({"already": [1, 1]}, "already names row 1 more than once"),
    ({"already": [0.5]}, "already must be a list of row numbers"),
    ({"picks_weight": "equal"}, 'picks_weight must be "uniform", "free" or a range'),
    ({"picks_weight": 0.5}, 'picks_weight must be "uniform", "free" or'),
    ({"picks_weight": (0.1, 0.2, 0.3)}, 'picks_weight must be "uniform", "free" or'),
    ({"picks_weight": (0.6, 0.3)}, "a mass range must have 0 <= low <= high; got 0.6 to 0.3"),
    ({"picks_weight": (-0.1, 1)}, "a mass range must have 0 <= low <= high; got -0.1 to 1"),
    ({"picks_weight": (float("nan"), 1)}, "a mass range must have 0 <= low <= high; got nan to 1"),
    ({"picks_weight": (0.6, 0.9)}, "2 picks of mass 0.6 to 0.9 carry 1.2 to 1.8 in all, but the pool's mass is 1"),
    ({"picks_weight": (0, 0.4)}, "2 picks of mass 0 to 0.4 carry 0 to 0.8 in all"),
    ({"masses": np.zeros(6)}, "the masses sum to 0"),
    ({"metric": "x"}, "unknown metric 'x'"),
    ({"pool": Pool(POOL), "masses": np.ones(6)}, "give masses and candidates to the Pool itself, not beside it"),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_cannot_be_asked_for_is_refused_in_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HandfulError) as raised:
        handful.select(**({"pool": POOL, "budget": 2} | given))
    assert re.search(sentence, str(raised.value)), str(raised.value)


def test_ranges_that_just_fit_do() -> None:
    assert (mass_range((0.1, 1 / 3), 3).low, mass_range((1 / 3, 5.0), 3).high) == (0.1, 1.0)
    assert mass_range("uniform", 7).uniform
    assert not mass_range("free", 7).uniform
    tight = handful.select(POOL, 3, picks_weight=(1 / 3, 1 / 3), gap=0, threads=1)
    assert tight.distance == handful.select(POOL, 3, gap=0, threads=1).distance
