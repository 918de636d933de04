"""What holds for every strategy."""

import re

import numpy as np
import pytest
from strategy_cases import QUICK, clustered, given_to, pick, probabilities

from handful import HandfulError, Pool, strategies

ALL = strategies.names()
WITHOUT_CHANCE = [name for name in ALL if not strategies.get(name).seeded]


@pytest.mark.parametrize("name", ALL)
def test_new_picks_of_the_candidates_in_number_and_repeatable(name: str) -> None:
    points = clustered(3)
    candidates = np.arange(5, 55)
    earlier = np.array([7, 30, 2])
    pool = Pool(points, candidates=candidates)
    needed = given_to(name, 3, 60, 3)
    first, again = (strategies.get(name)(pool, 6, already=earlier, seed=4, effort=QUICK, **needed) for _ in range(2))
    assert first.dtype == np.int64
    assert len(set(first.tolist())) == len(first) == 6
    assert set(first.tolist()) <= set(candidates.tolist()) - set(earlier.tolist())
    assert first.tolist() == again.tolist()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("budget", [1, 12])
def test_one_pick_and_all_of_them(name: str, budget: int) -> None:
    points = clustered(8, 12)
    picks = pick(name, points, budget, case=8)
    assert len(set(picks.tolist())) == budget
    if budget == 12:
        assert sorted(picks.tolist()) == list(range(12))


@pytest.mark.parametrize("name", ALL)
def test_copies_of_points(name: str) -> None:
    points = np.repeat(clustered(5, 4), 6, axis=0)
    for earlier in ((), (0, 1, 6)):
        picks = pick(name, points, 7, case=5, already=earlier)
        assert len(set(picks.tolist())) == 7
        assert not set(picks.tolist()) & set(earlier)


@pytest.mark.parametrize("name", ALL)
def test_a_pool_of_one_point(name: str) -> None:
    assert pick(name, np.array([[1.0, 2.0]]), 1).tolist() == [0]


@pytest.mark.parametrize("name", WITHOUT_CHANCE)
@pytest.mark.parametrize("already", [(), (11, 40)])
def test_a_shuffled_pool_gives_the_shuffled_picks(name: str, already: tuple[int, ...]) -> None:
    points, needed = clustered(6), given_to(name, 6, 60, len(already))
    order = np.random.default_rng(0).permutation(60)
    place = np.argsort(order)
    plain = strategies.get(name)(points, 4, already=already, seed=1, **needed)
    if needed:
        needed = needed | {"probabilities": needed["probabilities"][order]}
    shuffled = strategies.get(name)(points[order], 4, already=place[list(already)], seed=9, **needed)
    assert order[shuffled].tolist() == plain.tolist()


@pytest.mark.parametrize("name", ["random", "k-centers", "typiclust", "badge", "k-medoids"])
def test_another_seed_gives_other_picks(name: str) -> None:
    points = np.random.default_rng(1).normal(size=(60, 9))
    seen = {tuple(pick(name, points, 6, seed=seed).tolist()) for seed in range(6)}
    assert len(seen) > 1


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "rbf:2.0", "ball:3.0"])
@pytest.mark.parametrize("name", [name for name in ALL if "exact" not in name and "gbd" not in name])
def test_every_metric(name: str, metric: str) -> None:
    picks = pick(name, clustered(2, 30), 4, metric=metric, already=(3, 9))
    assert len(set(picks.tolist()) - {3, 9}) == 4


def test_costs_alone_do_for_those_that_need_no_coordinates() -> None:
    costs = np.abs(clustered(2, 30)[:, :1] - clustered(2, 30)[:, 0])
    able = set()
    for name in ALL:
        try:
            pick(name, costs, 3, metric="precomputed", case=2)
        except HandfulError as error:
            assert re.search("needs the coordinates of the points, but the pool is a matrix of costs", str(error))  # noqa: PT017
        else:
            able.add(name)
    assert able == {
        *("random", "k-centers", "k-medoids", "k-medoids-exact", "facility-location", "facility-location-exact"),
        *("wasserstein", "wasserstein-free", "wasserstein-range", "gbd", "gbd+eoc", "gbd+eoc+p"),
        *("least-confidence", "maximum-entropy", "uncertainty-wasserstein"),
    }


REFUSED = [
    ("k-centers", {"budget": 0}, "budget must be at least 1"),
    ("k-centers", {"budget": 61}, "61 new picks are asked for, but only 60 candidates are free"),
    ("k-centers", {"already": [99]}, "already names row 99"),
    ("k-centers", {"sigma": 1.0}, "k-centers has no option 'sigma'; its options are: none"),
    ("max-herding", {"sigma": -1.0}, "sigma must be a number above 0"),
    ("max-herding", {"width": 1}, "its options are: sigma, exact"),
    ("probcover", {"delta": 0.0}, "delta must be a number above 0"),
    ("probcover", {"purity": 1.5}, "purity must be between 0 and 1"),
    ("probcover", {"classes": 1}, "classes must be a whole number of 2 or more"),
    ("dcom", {"delta": float("nan")}, "delta must be a number above 0"),
    ("dcom", {"delta": 0.5, "most": 0.4}, "most must be a number no smaller than delta, 0.5; got 0.4"),
    ("least-confidence", {}, "least-confidence needs a model's class probabilities of all 60 points"),
    ("uncertainty-wasserstein", {}, "uncertainty-wasserstein needs a model's class probabilities"),
    ("badge", {}, "badge needs a model"),
    ("dcom", {"already": [1], "probabilities": probabilities(0)}, "dcom needs the labels of the earlier picks"),
    (
        "dcom",
        {"already": [1], "labels": [7], "probabilities": probabilities(0)},
        "as column numbers of probabilities, 0 to 3",
    ),
    ("badge", {"gradients": np.ones((3, 2))}, "gradients must be 60 rows of numbers"),
    ("badge", {"gradients": np.full((60, 2), np.nan)}, "row 0 of gradients holds NaN"),
    ("least-confidence", {"probabilities": probabilities(0, 5)}, "probabilities must be 60 rows of numbers"),
    ("least-confidence", {"probabilities": np.ones((60, 1))}, "of two classes or more"),
    ("least-confidence", {"probabilities": np.ones((60, 2))}, "the probabilities of row 0 must be 0 or more and sum"),
    ("uncertainty-herding", {"probabilities": probabilities(0), "measure": "doubt"}, "unknown measure of uncertainty"),
    ("k-centers", {"already": [1, 2], "labels": [0]}, "labels must be one for each of the 2 earlier picks"),
    ("wasserstein", {"picks_weight": "heavy"}, 'picks_weight must be "uniform", "free", "range"'),
    ("gbd", {"preset": "certified"}, "preset must be one of wass"),
]


@pytest.mark.parametrize(("name", "given", "sentence"), REFUSED, ids=[sentence for _, _, sentence in REFUSED])
def test_one_sentence_says_what_is_wrong(name: str, given: dict, sentence: str) -> None:
    budget = given.get("budget", 3)
    others = {key: value for key, value in given.items() if key != "budget"}
    with pytest.raises(HandfulError, match=re.escape(sentence)) as refused:
        strategies.get(name)(clustered(1), budget, **others)
    assert "\n" not in str(refused.value)


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(HandfulError, match=r"unknown strategy 'k-centres': choose one of random, k-centers"):
        strategies.get("k-centres")


def test_every_strategy_has_a_line_a_citation_and_a_page() -> None:
    from pathlib import Path

    pages = Path(__file__).parents[2] / "docs" / "strategies"
    for name in ALL:
        strategy = strategies.get(name)
        assert strategy.name == name
        assert 10 < len(strategy.line) < 100
        base = name.removesuffix("-exact").removesuffix("-free").removesuffix("-range").split("+")[0]
        page = (pages / f"{base}.md").read_text(encoding="utf-8")
        assert f"`{name}`" in page, f"{name} is not named on its page"
        if base != "random":
            year = re.search(r"\b(19|20)\d\d\b", strategies.get(base).__doc__ or "")
            assert year
            assert year.group() in page
