"""The query strategy of modAL: the best picks there are, and learners and committees that use it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from integration_cases import cost, least, pool, require_modal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from handful.errors import HandfulError
from handful.integrations.modal import wasserstein_sampling

pytestmark = pytest.mark.filterwarnings("ignore")

EXACT = partial(wasserstein_sampling, gap=0.0, threads=1)


@pytest.mark.parametrize("seed", [0, 1])
def test_queries_are_the_best_there_are_given_what_was_taught(seed: int) -> None:
    models = require_modal()
    x = pool(seed)
    taught = np.arange(2)
    learner = models.ActiveLearner(LogisticRegression(), EXACT, X_training=x[taught], y_training=np.array([0, 1]))
    picks, rows = learner.query(x[2:], n_instances=3)
    assert (rows == x[2:][picks]).all()
    assert cost(x, [*taught, *(picks + 2)]) == pytest.approx(least(x, taught, range(2, 12), 3), rel=1e-7)
    fresh = models.ActiveLearner(LogisticRegression(), EXACT)
    picks, _, shares = fresh.query(x, n_instances=2, return_metrics=True)  # two, which modAL must not take apart
    assert picks.shape == (2,)
    assert cost(x, picks) == pytest.approx(least(x, [], range(12), 2), rel=1e-7)
    assert shares.tolist() == pytest.approx([0.5, 0.5])


def test_learners_query_what_they_transform() -> None:
    models = require_modal()
    x = pool(3)
    wide = np.column_stack([x, 100 * np.ones((12, 1))])
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows[:, :3]), LogisticRegression())
    start = {"X_training": wide[:2], "y_training": np.array([0, 1])}
    learner = models.ActiveLearner(pipeline, EXACT, on_transformed=True, **start)
    picks, _ = learner.query(wide[2:], n_instances=3)
    assert cost(x, [0, 1, *(picks + 2)]) == pytest.approx(least(x, [0, 1], range(2, 12), 3), rel=1e-7)


def test_a_committee_learns() -> None:
    models = require_modal()
    x, y = load_iris(return_X_y=True)
    strategy = partial(wasserstein_sampling, metric="euclidean", gap=0.5, threads=1)
    learners = [
        models.ActiveLearner(RandomForestClassifier(20, random_state=seed), X_training=x[:1], y_training=y[:1])
        for seed in range(2)
    ]
    committee = models.Committee(learners, strategy)
    left = np.arange(1, 150)
    for _ in range(2):
        picks, rows = committee.query(x[left], n_instances=5)
        assert (rows == x[left][picks]).all()
        committee.teach(rows, y[left][picks])
        left = np.delete(left, picks)
    assert len(learners[0].X_training) == 11
    assert committee.score(x, y) > 0.85


def test_sparse_samples_are_refused_in_one_sentence() -> None:
    class Learner:
        X_training = None
        on_transformed = False

    with pytest.raises(HandfulError, match=r"a sparse matrix of shape \(12, 3\); give embeddings, or reduce it first"):
        wasserstein_sampling(Learner(), csr_array(pool(1)), 2)
