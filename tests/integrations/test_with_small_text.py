"""The query strategy of small-text: the best picks there are, and a learner that uses it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from integration_cases import cost, least, pool
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from handful.errors import HandfulError

pytestmark = pytest.mark.filterwarnings("ignore")


def strategy(**options: Any) -> Any:
    pytest.importorskip("small_text")
    from handful.integrations.small_text import WassersteinStrategy

    return WassersteinStrategy(threads=1, **options)


@pytest.mark.parametrize("seed", [0, 1])
def test_queries_are_the_best_there_are_given_the_labels(seed: int) -> None:
    query = strategy(gap=0.0)
    x, random = pool(seed), np.random.default_rng(seed)
    order = random.permutation(12)
    known, ignored, free = order[:2], order[2:4], order[4:]
    picks = query.query(None, x, free, known, np.array([0, 1]), n=3)
    assert {*picks} <= {*free}
    assert not {*picks} & {*ignored}
    assert cost(x, [*known, *picks]) == pytest.approx(least(x, known, free, 3), rel=1e-7)
    assert query.selection_.gap <= 1e-6


def learner(dataset: Any, query: Any) -> Any:
    from small_text import PoolBasedActiveLearner, SklearnClassifierFactory

    return PoolBasedActiveLearner(SklearnClassifierFactory(LogisticRegression(max_iter=500), 3), query, dataset)


def test_a_learner_of_the_library_learns_from_embeddings() -> None:
    query = strategy(metric="euclidean", gap=0.5)
    from small_text import SklearnDataset
    from small_text.query_strategies.exceptions import PoolExhaustedException

    x, y = load_iris(return_X_y=True)
    words = TfidfVectorizer().fit_transform([f"flower {row % 9} of many {row % 5}" for row in range(150)])
    for dataset, more in ((SklearnDataset(x, y), {}), (SklearnDataset(words, y), {"representation": x})):
        active = learner(dataset, query)
        start = np.array([0, 60, 120])
        active.initialize_data(start, y[start])
        taken = {*start.tolist()}
        for _ in range(2):
            picks = active.query(num_samples=5, **more)
            assert not {*picks.tolist()} & taken
            taken |= {*picks.tolist()}
            active.update(y[picks])
        assert sorted(active.indices_labeled) == sorted(taken)
    plain = LogisticRegression(max_iter=500).fit(x[list(taken)], y[list(taken)])
    assert plain.score(x, y) > 0.8
    with pytest.raises(PoolExhaustedException):
        active.query(num_samples=140, **more)
    with pytest.raises(HandfulError, match=r"a sparse matrix of shape \(150, 3\); give embeddings"):
        active.query(num_samples=5)


def test_texts_without_embeddings_are_refused() -> None:
    query = strategy()
    from small_text import TextDataset

    dataset = TextDataset.from_arrays(["a", "b", "c"], np.array([0, 1, 0]), target_labels=np.array([0, 1]))
    with pytest.raises(HandfulError, match=r"TextDataset holds no embeddings; give them to learner\.query"):
        query.query(None, dataset, np.arange(3), np.array([], int), np.array([], int), n=1)


def test_it_names_its_options() -> None:
    assert str(strategy(metric="euclidean")).startswith(
        "WassersteinStrategy(metric='euclidean', picks_weight='uniform'"
    )
