"""Active learning with scikit-activeml: rounds of 10 digits each, queried by Wasserstein distance.

pip install handful scikit-activeml
"""

import numpy as np
from skactiveml.classifier import SklearnClassifier
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from handful.integrations.skactiveml import WassersteinQuery

X, truth = load_digits(return_X_y=True)
y = np.full(len(X), np.nan)  # nothing is labelled yet
strategy = WassersteinQuery(gap=0.1, time_limit=10, random_state=0)
model = SklearnClassifier(LogisticRegression(max_iter=500), classes=range(10))

for _ in range(3):
    picks = strategy.query(X, y, batch_size=10)
    y[picks] = truth[picks]  # here somebody labels them
    accuracy = model.fit(X, y).score(X, truth)
    print(f"{np.isfinite(y).sum()} labels: accuracy {accuracy:.1%}, picks within {strategy.selection_.gap:.1%} of best")
