"""Active learning with small-text: rounds of 10 digits each, queried by Wasserstein distance.

The digits, written as words, stand for texts, and their pixels for embeddings of these.

pip install handful small-text
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from small_text import PoolBasedActiveLearner, SklearnClassifierFactory, SklearnDataset

from handful.integrations.small_text import WassersteinStrategy

embeddings, truth = load_digits(return_X_y=True)
texts = [" ".join(f"p{at}" for at in np.flatnonzero(row > 8)) for row in embeddings]
dataset = SklearnDataset(TfidfVectorizer().fit_transform(texts), truth)
strategy = WassersteinStrategy(gap=0.1, time_limit=10)
learner = PoolBasedActiveLearner(SklearnClassifierFactory(LogisticRegression(max_iter=500), 10), strategy, dataset)

start = np.arange(10)  # small-text begins with some labels: these happen to be one of each class
learner.initialize_data(start, truth[start])
for _ in range(3):
    picks = learner.query(num_samples=10, representation=embeddings)
    learner.update(truth[picks])  # here somebody labels them
    accuracy, gap = np.mean(learner.classifier.predict(dataset) == truth), strategy.selection_.gap
    print(f"{len(learner.indices_labeled)} labels: accuracy {accuracy:.1%}, picks within {gap:.1%} of best")
