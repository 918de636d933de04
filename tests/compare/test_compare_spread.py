"""Labels that are spread before probes learn: for all strategies alike, and kept apart from those that are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from handful import HandfulError, Pool
from handful.compare import Cell, Contest, run
from handful.files.results import ResultsFile
from handful.spread import spread
from handful.strategies import Effort

RANDOM = np.random.default_rng(1)
LABELS = RANDOM.integers(0, 3, 90)
POINTS = (2 * RANDOM.normal(size=(3, 5)))[LABELS] + RANDOM.normal(size=(90, 5))


def contest(**changes: Any) -> Contest:
    given: dict[str, Any] = {
        "points": POINTS[:60],
        "metric": "cosine",
        "budgets": (6, 9),
        "names": ("random", "k-centers", "badge"),
        "seeds": 2,
        "labels": LABELS[:60],
        "test": POINTS[60:],
        "test_labels": LABELS[60:],
        "effort": Effort(time_limit=10, gap=0, rounds=1, threads=1),
    }
    return Contest(**(given | changes))


def by_key(cells: list[Cell]) -> dict[Any, Cell]:
    return {cell.key: cell for cell in cells}


@pytest.mark.parametrize("method", ["graph", "nearest"])
def test_every_probe_learns_from_the_spread_pool(method: str) -> None:
    plain, found = by_key(run(contest())), by_key(run(contest(spread=method)))
    unit = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    for key, cell in found.items():
        if key[0] != "badge" or key[1] == 6:  # the picks of others do not hang on the probe
            assert cell.picks == plain[key].picks
        picks = list(cell.picks)
        soft = spread(Pool(POINTS[:60]), picks, LABELS[picks], method=method)
        rows = np.flatnonzero(soft.confidence > 0)
        probe = LogisticRegression(C=1, max_iter=1000)
        probe.fit(unit[rows], soft.labels[rows], soft.confidence[rows])
        assert cell.accuracy == pytest.approx(probe.score(unit[60:], LABELS[60:]))


def test_results_with_and_without_do_not_mix(tmp_path: Path) -> None:
    for number, (first, second) in enumerate([("none", "graph"), ("graph", "none"), ("graph", "plan")]):
        path = tmp_path / str(number)
        ResultsFile(path, contest(spread=first).identity)
        with pytest.raises(HandfulError, match="spread was"):
            ResultsFile(path, contest(spread=second).identity)


def test_what_can_not_be_spread() -> None:
    with pytest.raises(HandfulError, match="spread must be one of none, graph, nearest, plan"):
        contest(spread="butter")
    with pytest.raises(HandfulError, match="give the labels of the pool"):
        contest(spread="graph", names=("random",), labels=None, test=None, test_labels=None)
