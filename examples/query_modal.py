"""Active learning with modAL: rounds of 10 digits each, queried by Wasserstein distance.

pip install handful modAL-python
"""

from functools import partial

import numpy as np
from modAL.models import ActiveLearner
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from handful.integrations.modal import wasserstein_sampling

X, truth = load_digits(return_X_y=True)
left = np.arange(len(X))  # not labelled yet
learner = ActiveLearner(
    LogisticRegression(max_iter=500), query_strategy=partial(wasserstein_sampling, gap=0.1, time_limit=10)
)

for _ in range(3):
    picks, digits = learner.query(X[left], n_instances=10)
    learner.teach(digits, truth[left][picks])  # here somebody labels them
    left = np.delete(left, picks)
    print(f"{len(X) - len(left)} labels: accuracy {learner.score(X, truth):.1%}")
