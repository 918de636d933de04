"""The table: means, deviations, marks, against SciPy and published examples."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from handful.compare import Cell, table
from handful.compare.table import holm


def cell(strategy: str, seed: int, distance: float, **others: float | None) -> Cell:
    figures = {"radius": 1.0, "mean_distance": 1.0, "seconds": 1.0, "peak": None} | others
    return Cell(strategy=strategy, budget=3, seed=seed, rounds=(3,), picks=(0, 1, 2), distance=distance, **figures)  # type: ignore[arg-type]


def test_holm_as_in_his_example() -> None:
    # Of 0.01, 0.04, 0.03, 0.005 at 5 %, compared with 0.05/4, /3, /2, /1 in ascending order: two fall.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == [True, False, False, True]
    assert holm(np.array([0.2, 0.9])).tolist() == [False, False]
    assert holm(np.array([0.001, 0.001])).tolist() == [True, True]
    assert holm(np.zeros(0)).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_marks_are_those_of_paired_tests(seed: int) -> None:
    random = np.random.default_rng(seed)
    shared = random.normal(size=6)
    values = {name: 5 + shift + shared + 0.3 * random.normal(size=6) for name, shift in
              (("random", 0.0), ("k-means", 0.3), ("k-medoids", 0.6), ("badge", 2.0))}  # fmt: skip
    cells = [cell(name, seed, value) for name, own in values.items() for seed, value in enumerate(own)]
    found = {row.strategy: row.figures["distance"] for row in table(cells, 3).rows}
    best = min(values, key=lambda name: values[name].mean())
    others = [name for name in values if name != best]
    chances = {name: ttest_rel(values[name], values[best]).pvalue for name in others}
    worse, left = set(), sorted(others, key=chances.__getitem__)
    while left and chances[left[0]] <= 0.05 / len(left):
        worse.add(left.pop(0))
    for name, own in values.items():
        assert found[name].mean == pytest.approx(own.mean())
        assert found[name].deviation == pytest.approx(own.std(ddof=1))
        assert found[name].mark == ("best" if name == best else "" if name in worse else "not worse")


def test_more_is_better_for_accuracy_and_rows_are_sorted_by_distance() -> None:
    cells = [
        cell(name, seed, distance + 0.001 * seed, accuracy=accuracy, classes=2.0)
        for name, distance, accuracy in (("random", 0.5, 0.9), ("k-means", 0.3, 0.4))
        for seed in range(3)
    ]
    found = table(cells, 3)
    assert [row.strategy for row in found.rows] == ["k-means", "random"]
    assert [row.figures["accuracy"].mark for row in found.rows] == ["", "best"]
    assert found.rows[0].figures["distance"].mark == "best"
    assert [measure.name for measure in found.measures] == [
        *("distance", "radius", "mean distance", "classes", "accuracy", "seconds"),  # memory was not measured
    ]


def test_rules_without_chance_are_compared_for_certain_and_single_runs_with_chance_are_not() -> None:
    cells = [cell("facility-location", 0, 0.5), cell("max-herding", 0, 0.51), cell("wasserstein", 0, 0.6)]
    marks = {row.strategy: row.figures["distance"].mark for row in table(cells, 3).rows}
    assert marks == {"facility-location": "best", "max-herding": "", "wasserstein": ""}
    tied = [cell("facility-location", 0, 0.5), cell("max-herding", 0, 0.5)]
    assert {row.figures["distance"].mark for row in table(tied, 3).rows} == {"best", "not worse"}


def test_gaps_are_taken_from_the_best_bound() -> None:
    cells = [
        cell("wasserstein", 0, 0.5, lower_bound=0.4),
        cell("wasserstein", 1, 0.5, lower_bound=0.45),
        cell("random", 0, 0.9),
    ]
    found = table(cells, 3)
    assert found.lower_bound == 0.45
    assert {row.strategy: row.gap for row in found.rows} == {
        "wasserstein": pytest.approx(0.1),
        "random": pytest.approx(0.5),
    }
