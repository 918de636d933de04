"""A comparison that runs: what it measures, in which order, and how it goes on."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pytest
from sklearn.linear_model import LogisticRegression

from handful import HandfulError, Pool, strategies
from handful.compare import Cell, Contest, cells_of, run
from handful.compare.measures import closeness, effective_classes
from handful.compare.peak import peak_memory
from handful.files.results import ResultsFile
from handful.strategies import Effort

RANDOM = np.random.default_rng(0)
CENTRES = 3 * RANDOM.normal(size=(4, 6))
LABELS = RANDOM.integers(0, 4, 80)
POINTS = CENTRES[LABELS] + RANDOM.normal(size=(80, 6))
WORDS = np.array(["ash", "elm", "fir", "oak"])[LABELS]


def contest(**changes: Any) -> Contest:
    given: dict[str, Any] = {
        "points": POINTS[:50],
        "metric": "cosine",
        "budgets": (4, 9),
        "names": ("random", "facility-location", "badge", "least-confidence"),
        "seeds": 2,
        "labels": WORDS[:50],
        "test": POINTS[50:],
        "test_labels": WORDS[50:],
        "effort": Effort(time_limit=10, gap=0, rounds=2, threads=1),
    }
    return Contest(**(given | changes))


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return run(contest())


def test_every_strategy_runs_as_often_as_chance_asks_for(cells: list[Cell]) -> None:
    keys = [(cell.strategy, cell.budget, cell.seed) for cell in cells]
    assert keys == [
        *itertools.product(["random"], [4], [0, 1]),
        ("facility-location", 4, 0),
        *itertools.product(["badge"], [4], [0, 1]),
        *itertools.product(["least-confidence"], [4], [0, 1]),
        ("wasserstein", 4, 0),  # for its bound
        *itertools.product(["random"], [9], [0, 1]),
        ("facility-location", 9, 0),
        *itertools.product(["badge"], [9], [0, 1]),
        *itertools.product(["least-confidence"], [9], [0, 1]),
        ("wasserstein", 9, 0),
    ]


def test_measures_are_what_they_are_called(cells: list[Cell]) -> None:
    x = POINTS[:50] / np.linalg.norm(POINTS[:50], axis=1, keepdims=True)
    for cell in cells:
        picks = list(cell.picks)
        assert len(set(picks)) == cell.budget
        costs = 1 - x @ x[picks].T
        even = np.full(cell.budget, 1 / cell.budget)
        assert cell.distance == pytest.approx(ot.emd2(np.full(50, 1 / 50), even, costs), rel=1e-7)
        assert cell.radius == pytest.approx(costs.min(axis=1).max())
        assert cell.mean_distance == pytest.approx(costs.min(axis=1).mean())
        _, counts = np.unique(WORDS[picks], return_counts=True)
        assert cell.classes == pytest.approx(np.exp(-sum(c / len(picks) * np.log(c / len(picks)) for c in counts)))
        if len(counts) > 1:
            probe = LogisticRegression(C=100, max_iter=1000).fit(x[picks], WORDS[picks])
            unit = POINTS[50:] / np.linalg.norm(POINTS[50:], axis=1, keepdims=True)
            assert cell.accuracy == pytest.approx(probe.score(unit, WORDS[50:]))


def test_only_the_certificate_bounds_and_no_picks_are_below(cells: list[Cell]) -> None:
    for budget in (4, 9):
        own = [cell for cell in cells if cell.budget == budget]
        bounds = {cell.strategy for cell in own if cell.lower_bound is not None}
        assert bounds == {"wasserstein"}
        bound = max(cell.lower_bound or 0 for cell in own)
        assert 0 < bound <= min(cell.distance for cell in own) * (1 + 1e-9)


def test_strategies_with_a_model_pick_in_rounds_the_first_at_random(cells: list[Cell]) -> None:
    by_key = {cell.key: cell for cell in cells}
    for seed in (0, 1):
        start = by_key["badge", 4, seed, (4,)]
        assert start.picks == by_key["random", 4, seed, (4,)].picks
        after = by_key["badge", 9, seed, (4, 9)]
        assert after.picks[:4] == start.picks
        x = POINTS[:50] / np.linalg.norm(POINTS[:50], axis=1, keepdims=True)
        seen = list(start.picks)
        model = LogisticRegression(C=100, max_iter=1000).fit(x[seen], WORDS[seen])
        expected = strategies.get("badge")(
            POINTS[:50], 5, already=seen, probabilities=model.predict_proba(x), seed=seed
        )
        assert after.picks[4:] == tuple(expected.tolist())


def test_a_second_run_goes_on_and_comes_to_the_same(cells: list[Cell], tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    file = ResultsFile(tmp_path / "results.jsonl", contest().identity)

    def five(cell: Cell) -> None:
        file.add(cell.record())
        if len(file.records) == 5:
            raise Killed

    with pytest.raises(Killed):
        run(contest(), finished=five)
    with (tmp_path / "results.jsonl").open("a") as torn:
        torn.write('{"strategy": "badge", "bud')  # killed while it wrote
    again = ResultsFile(tmp_path / "results.jsonl", contest().identity)
    assert len(again.records) == 5
    started: list[Any] = []
    done = [Cell.of(record) for record in again.records]
    ended = run(contest(), done, started=lambda *news: started.append(news), finished=lambda c: again.add(c.record()))
    assert len(started) == len(cells) - 5
    assert started[0][1:] == (5, len(cells))
    assert [cell.picks for cell in ended] == [cell.picks for cell in cells]
    assert len(ResultsFile(tmp_path / "results.jsonl", contest().identity).records) == len(cells)
    assert run(contest(), [Cell.of(record) for record in again.records], started=pytest.fail) == ended


def test_more_budgets_keep_what_is_there(cells: list[Cell]) -> None:
    wider = contest(budgets=(4, 9, 12))
    missing = set(cells_of(wider)) - {cell.key for cell in cells}
    assert {budget for _, budget, _, _ in missing} == {12}
    other = contest(budgets=(5, 9))  # the rounds of those with a model were others
    kept = {key[0] for key in cells_of(other) if key in {cell.key for cell in cells}}
    assert kept == {"random", "facility-location", "wasserstein"}


def test_results_of_another_pool_are_not_gone_on_from(tmp_path: Path) -> None:
    ResultsFile(tmp_path / "results.jsonl", contest().identity)
    for changes, word in (({"metric": "euclidean"}, "metric"), ({"labels": WORDS[30:]}, "labels")):
        with pytest.raises(HandfulError, match=f"another comparison: {word} was"):
            ResultsFile(tmp_path / "results.jsonl", contest(**changes).identity)
    (tmp_path / "results.jsonl").write_text("not json\n")
    with pytest.raises(HandfulError, match="line 1 is no result"):
        ResultsFile(tmp_path / "results.jsonl", contest().identity)
    (tmp_path / "results.jsonl").write_text('{"comp')
    assert ResultsFile(tmp_path / "results.jsonl", contest().identity).records == []


def test_a_run_cut_off_by_hand_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from handful.strategies.common import engine

    plain = engine.select
    monkeypatch.setattr(engine, "select", lambda *a, **k: replace(plain(*a, **k), status="interrupted"))
    kept: list[Cell] = []
    with pytest.raises(KeyboardInterrupt):
        run(contest(names=("wasserstein",)), finished=kept.append)
    assert kept == []


BAD = [
    ({"budgets": ()}, "budgets must be"),
    ({"budgets": (9, 4)}, "budgets must be"),
    ({"seeds": 0}, "seeds must be"),
    ({"names": ("nothing",)}, "unknown strategy 'nothing'"),
    ({"labels": None, "test": None, "test_labels": None}, "badge needs a model, which needs labels"),
    ({"test_labels": None}, "must be given together"),
    ({"labels": None, "names": ("random",)}, "give the labels of the pool too"),
    ({"labels": WORDS[:49]}, "there are 49 labels for 50 points"),
    ({"test_labels": WORDS[:3]}, "there are 3 test labels for 30 points"),
    ({"test": POINTS[50:, :4]}, r"test points have the shape \(30, 4\)"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_contests_are_refused_in_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HandfulError, match=sentence):
        contest(**changes)


def test_one_class_only_is_learned_as_that() -> None:
    same = np.where(np.arange(50) == 49, "oak", "ash")
    cells = run(contest(labels=same, names=("random", "least-confidence"), seeds=1))
    for cell in cells:
        assert cell.classes is not None
        assert cell.accuracy is not None
        if set(same[list(cell.picks)]) == {"ash"}:
            assert cell.classes == 1.0
            assert cell.accuracy == pytest.approx(np.mean(WORDS[50:] == "ash"))


def test_effective_classes() -> None:
    assert effective_classes(np.array(list("abcd"))) == pytest.approx(4)
    assert effective_classes(np.array(list("aaaa"))) == pytest.approx(1)
    assert 1 < effective_classes(np.array(list("aaab"))) < 2


def test_closeness_counts_masses() -> None:
    pool = Pool(np.array([[0.0], [1.0], [5.0]]), "euclidean", masses=[0.5, 0.25, 0.25])
    near = closeness(pool, np.array([0, 2]))
    assert (near.radius, near.mean_distance) == (1.0, 0.25)
    assert near.distance == pytest.approx(0.25 * 4)  # the point at 1 goes to the pick at 5, so that both carry half


def test_peak_memory_sees_what_was_given_back() -> None:
    with peak_memory() as small:
        pass
    with peak_memory() as large:
        block = np.ones(40_000_000)
        del block
    if small.bytes is None or large.bytes is None:
        pytest.skip("this system does not say")
    assert 300_000_000 < large.bytes - small.bytes < 400_000_000
