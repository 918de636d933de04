"""What labels are worth, in a scikit-learn pipeline: a grid of budgets, cross-validated.

pip install handful
"""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from handful.integrations.scikit_learn import FitOnPicks

X, y = load_digits(return_X_y=True)
few = FitOnPicks(LogisticRegression(max_iter=500), gap=0.2, time_limit=10)
search = GridSearchCV(make_pipeline(MinMaxScaler(), few), {"fitonpicks__budget": [10, 20, 40]}, cv=2, refit=False)
search.fit(X, y)
for budget, accuracy in zip([10, 20, 40], search.cv_results_["mean_test_score"], strict=True):
    print(f"{budget} labels: accuracy {accuracy:.1%}")
