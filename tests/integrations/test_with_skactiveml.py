"""The query strategy of scikit-activeml: the best picks there are, and what the library expects of a strategy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from integration_cases import cost, least, pool

skactiveml = pytest.importorskip("skactiveml")

from sklearn.datasets import load_iris  # noqa: E402

from handful.integrations.skactiveml import WassersteinQuery  # noqa: E402

OPTIONS: dict[str, Any] = {"gap": 0.0, "threads": 1, "random_state": 0}


def labels(n: int, known: list[int]) -> Any:
    y = np.full(n, np.nan)
    y[known] = 1
    return y


@pytest.mark.parametrize("seed", [1, 2])
def test_queries_are_the_best_there_are_given_the_labels(seed: int) -> None:
    x, random = pool(seed), np.random.default_rng(seed)
    known = random.permutation(12)[: seed % 3].tolist()
    unlabelled = np.setdiff1d(np.arange(12), known)
    strategy = WassersteinQuery(**OPTIONS)
    picks = strategy.query(x, labels(12, known), batch_size=3)
    assert not {*picks} & {*known}
    assert cost(x, [*known, *picks]) == pytest.approx(least(x, known, unlabelled, 3), rel=1e-7)
    assert strategy.selection_.gap <= 1e-6
    some = unlabelled[::2]
    picks = WassersteinQuery(metric="euclidean", **OPTIONS).query(x, labels(12, known), candidates=some, batch_size=2)
    assert {*picks} <= {*some}
    best = least(x, known, some, 2, metric="euclidean")
    assert cost(x, [*known, *picks], "euclidean") == pytest.approx(best, rel=1e-7)


def test_utilities_name_the_pick_of_each_turn() -> None:
    x = pool(5)
    picks, utilities = WassersteinQuery(**OPTIONS).query(x, labels(12, [0, 7]), batch_size=4, return_utilities=True)
    assert utilities.shape == (4, 12)
    assert (np.nanargmax(utilities, axis=1) == picks).all()
    assert np.isnan(utilities[:, [0, 7]]).all()
    assert [int(np.isnan(row).sum()) for row in utilities] == [2, 3, 4, 5]


def test_rows_that_are_labelled_or_elsewhere_are_no_candidates() -> None:
    x = pool(6)
    with pytest.raises(ValueError, match="must not contain labeled"):
        WassersteinQuery(**OPTIONS).query(x, labels(12, [3]), candidates=[3, 4])
    with pytest.raises(skactiveml.exceptions.MappingError):
        WassersteinQuery(**OPTIONS).query(x, labels(12, [3]), candidates=x[:2])


def test_a_loop_of_the_library_learns() -> None:
    from skactiveml.classifier import ParzenWindowClassifier

    x, truth = load_iris(return_X_y=True)
    y = np.full(150, np.nan)
    strategy = WassersteinQuery(metric="euclidean", gap=0.5, threads=1, random_state=1)
    for _ in range(2):
        picks = strategy.query(x, y, batch_size=5)
        assert np.isnan(y[picks]).all()
        y[picks] = truth[picks]
    model = ParzenWindowClassifier(classes=[0, 1, 2]).fit(x, y)
    assert (~np.isnan(y)).sum() == 10
    assert model.score(x, truth) > 0.85


# Up to 0.5, scikit-activeml was shipped with the tests that a strategy of its own must pass; they hold of 1.0 too:
# pip install --no-deps --target DIR scikit-activeml==0.5.2, and HANDFUL_SKACTIVEML_TESTS=DIR.
if "HANDFUL_SKACTIVEML_TESTS" in os.environ:
    skactiveml.__path__.append(os.path.join(os.environ["HANDFUL_SKACTIVEML_TESTS"], "skactiveml"))


def test_all_that_the_library_asks_of_a_strategy() -> None:
    template = pytest.importorskip("skactiveml.tests.template_query_strategy")
    import unittest

    class Asked(template.TemplateSingleAnnotatorPoolQueryStrategy, unittest.TestCase):  # type: ignore[misc, name-defined]
        def setUp(self) -> None:
            y = labels(12, [0, 4])
            y[4] = 0
            super().setUp(
                qs_class=WassersteinQuery,
                init_default_params={"threads": 1, "gap": 0.5},
                query_default_params_clf={"X": pool(7), "y": y},
            )

        def test_init_param_metric(self) -> None:
            self._test_param("init", "metric", [("hamming", ValueError), (3, Exception), ("manhattan", None)])

        def test_init_param_picks_weight(self) -> None:
            self._test_param("init", "picks_weight", [("heavy", ValueError), ((0.5, 0.4), ValueError), ("free", None)])

        def test_init_param_gap(self) -> None:
            self._test_param("init", "gap", [(0.5, None), (0.0, None)])

        def test_init_param_time_limit(self) -> None:
            self._test_param("init", "time_limit", [(10.0, None)])

        def test_init_param_threads(self) -> None:
            self._test_param("init", "threads", [(2, None)])

        def test_query(self) -> None:
            picks = self.qs_class(**self.init_default_params).query(**self.query_default_params_clf)
            assert picks.shape == (1,)

    done = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Asked).run(done)
    assert done.testsRun > 20
    assert not done.failures, done.failures[0][1]
    assert not done.errors, done.errors[0][1]
