"""Rounds: in which order, what is asked, what is known when, and going on after a kill."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rounds_cases import LABELS, POINTS, POOL, TEST, Killed, Watched, select, setting
from sklearn.linear_model import LogisticRegression

from handful import HandfulError, strategies
from handful.rounds import Examples, Fixed, LastClassifier, Round, Spreading, Store, Waiting, run

BUDGETS = (4, 4, 8)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "rounds.sqlite")
    yield made
    made.close()


def essence(found: Round) -> tuple[Any, ...]:
    """All but what a clock says."""
    labels = None if found.labels is None else tuple(found.labels.tolist())
    return found.strategy, found.seed, found.round, tuple(found.picks.tolist()), labels, found.accuracy, found.finished


def test_every_round_adds_to_the_ones_before(store: Store) -> None:
    run(setting(), select(), BUDGETS, store)
    found = store.rounds()
    assert len(found) == 3 * 2 * 3
    for name in ("random", "badge", "k-means"):
        for seed in (0, 1):
            own = store.rounds(name, seed)
            picks = np.concatenate([one.picks for one in own])
            assert [one.budget for one in own] == [4, 4, 8] == [len(one.picks) for one in own]
            assert len(np.unique(picks)) == 16
            for one in own:
                np.testing.assert_array_equal(one.labels, LABELS[POOL][one.picks])
                assert one.finished


def test_accuracy_is_of_a_probe_on_all_labels_so_far(store: Store) -> None:
    run(setting(), select("random"), BUDGETS, store)
    unit = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    for seed in (0, 1):
        picks = np.empty(0, np.int64)
        for one in store.rounds("random", seed):
            picks = np.append(picks, one.picks)
            if len(np.unique(LABELS[picks])) > 1:
                probe = LogisticRegression(C=100, max_iter=1000).fit(unit[picks], LABELS[picks])
                assert one.accuracy == pytest.approx(probe.score(unit[TEST], LABELS[TEST]))


def test_strategies_with_a_model_get_that_of_the_round_before(store: Store) -> None:
    run(setting(), select("least-confidence", seeds=(3,)), (6, 5), store)
    first, second = store.rounds()
    unit = POINTS[POOL] / np.linalg.norm(POINTS[POOL], axis=1, keepdims=True)
    probe = LogisticRegression(C=100, max_iter=1000).fit(unit[first.picks], LABELS[first.picks])
    sure = probe.predict_proba(unit).max(axis=1)
    sure[first.picks] = np.inf
    assert sorted(second.picks) == sorted(np.argsort(sure)[:5])


def test_no_label_is_read_before_it_was_asked_for(store: Store) -> None:
    oracle = Watched(LABELS[POOL])
    run(setting(oracle), select(seeds=(0,)), BUDGETS, store)
    assert oracle.asked == [one.picks.tolist() for name in ("random", "badge", "k-means")
                            for one in store.rounds(name, 0)]  # fmt: skip


def test_labels_that_were_not_asked_for_change_nothing(store: Store, tmp_path: Path) -> None:
    run(setting(Watched(LABELS[POOL])), select(), BUDGETS, store)
    for name, seed in (("badge", 0), ("k-means", 1)):
        chosen = np.concatenate([one.picks for one in store.rounds(name, seed)])
        wrong = (LABELS[POOL] + 1) % 4
        wrong[chosen] = LABELS[POOL][chosen]
        other = Store(tmp_path / f"{name}.sqlite")
        run(setting(Watched(wrong)), select(name, seeds=(seed,)), BUDGETS, other)
        assert list(map(essence, other.rounds())) == list(map(essence, store.rounds(name, seed)))
        other.close()


@pytest.mark.parametrize("moment", range(0, 18, 5))
def test_a_killed_run_goes_on_to_the_same_table(store: Store, tmp_path: Path, moment: int) -> None:
    run(setting(), select(), BUDGETS, store)
    path = tmp_path / "killed.sqlite"
    broken = Store(path)
    with pytest.raises(Killed):
        run(setting(Watched(LABELS[POOL], die_at=moment)), select(), BUDGETS, broken)
    broken.close()
    again = Store(path)
    oracle = Watched(LABELS[POOL])
    run(setting(oracle), select(), BUDGETS, again)
    assert len(oracle.asked) == 18 - moment  # nothing was asked twice
    assert list(map(essence, again.rounds())) == list(map(essence, store.rounds()))
    again.close()


@pytest.mark.parametrize("what", ["selecting", "asking", "learning", "done"])
def test_a_run_killed_between_two_steps(store: Store, tmp_path: Path, what: str) -> None:
    run(setting(), select("badge"), BUDGETS, store)
    path, seen = tmp_path / "killed.sqlite", []
    while True:
        again = Store(path)

        def tell(found: Round, now: str) -> None:
            key = (found.seed, found.round, now)
            if now == what and key not in seen:
                seen.append(key)
                raise Killed

        try:
            run(setting(), select("badge"), BUDGETS, again, tell)
            break
        except Killed:
            again.close()
    assert len(seen) == 6
    assert list(map(essence, again.rounds())) == list(map(essence, store.rounds()))
    again.close()


def test_more_seeds_strategies_and_rounds_add_to_what_is_there(store: Store, tmp_path: Path) -> None:
    run(setting(), select("random", seeds=(0,)), BUDGETS[:2], store)
    before = list(map(essence, store.rounds()))
    run(setting(), select("random", "badge"), BUDGETS, store)
    assert list(map(essence, store.rounds("random", 0)))[:2] == before
    whole = Store(tmp_path / "whole.sqlite")
    run(setting(), select("badge", "random"), BUDGETS, whole)
    assert list(map(essence, whole.rounds())) == list(map(essence, store.rounds()))
    whole.close()


def test_seeds_differ(store: Store) -> None:
    run(setting(), select("random", seeds=(0, 1, 2)), (5, 5), store)
    found = [tuple(one.picks.tolist()) for one in store.rounds()]
    assert len(set(found)) == 6


def test_a_common_start(store: Store) -> None:
    run(setting(), select("random", "badge", seeds=(0,), start="k-centers"), BUDGETS, store)
    first = [store.rounds(name, 0)[0].picks.tolist() for name in ("random", "badge")]
    assert first[0] == first[1]
    assert store.rounds("random", 0)[1].picks.tolist() != store.rounds("badge", 0)[1].picks.tolist()


@pytest.mark.parametrize(("parts", "budgets"), [(2, (4, 6)), (3, (7, 2)), (4, (2, 4))])
def test_parts_share_the_budget(store: Store, parts: int, budgets: tuple[int, ...]) -> None:
    run(setting(), select("wasserstein", "badge", seeds=(0,), parts=parts), budgets, store)
    for name in ("wasserstein", "badge"):
        picks = [one.picks for one in store.rounds(name, 0)]
        assert [len(some) for some in picks] == list(budgets)
        assert len(np.unique(np.concatenate(picks))) == sum(budgets)


def test_one_part_is_picked_as_if_it_were_the_pool() -> None:
    from handful import Pool
    from handful.rounds.pick import Question, _parts, pick
    from handful.strategies import Effort

    question = Question(Pool(POINTS[POOL]), 6, np.array([3, 9]), np.array([0, 1]), None, 5, Effort(rounds=1))
    parts = _parts(question, 3)
    rows = np.concatenate([rows for rows, _ in parts])
    assert sorted(rows) == list(range(80))
    for some, part in parts:
        np.testing.assert_array_equal(some[part.already], np.intersect1d(some, [3, 9]))
        assert part.labels.tolist() == [0 if row == 3 else 1 for row in some[part.already]]
    found = pick("k-medoids", question, parts=3).picks
    own = [
        some[strategies.get("k-medoids")(POINTS[some], part.budget, already=part.already, seed=5)]
        for some, part in parts
    ]
    np.testing.assert_array_equal(found, np.concatenate(own))


def test_features_of_the_last_classifier(store: Store) -> None:
    """A learner whose layer shows what it learned from; the strategy must see just that in the next round."""
    seen: list[np.ndarray[Any, Any]] = []

    class Layered:
        def learn(self, examples: Examples, seed: int) -> Any:
            class Learned:
                def probabilities(self) -> Any:
                    return np.full((80, 4), 0.25)

                def features(self) -> Any:
                    table = np.abs(POINTS[POOL][:, :3]).astype(np.float32) * len(examples.rows)
                    table[5] = 0  # as a ReLU may leave it
                    return table

                def accuracy(self) -> float:
                    return 0.5

            return Learned()

    class Noting(LastClassifier):
        def points(self, last: Any) -> Any:
            seen.append(super().points(last))
            return seen[-1]

    source = Noting(POINTS[POOL])
    run(setting(features=source, learner=Layered()), select("k-centers", seeds=(0,)), (3, 4), store)
    np.testing.assert_array_equal(seen[0], POINTS[POOL])
    np.testing.assert_allclose(seen[1][6:], np.abs(POINTS[POOL][6:, :3]) * 3, rtol=1e-6)
    assert seen[1].any(axis=1).all()
    first = store.rounds()[0]
    expected = strategies.get("k-centers")(seen[1], 4, already=first.picks)
    np.testing.assert_array_equal(store.rounds()[1].picks, expected)


@pytest.mark.parametrize("method", ["graph", "nearest", "plan"])
def test_spread_labels_are_what_is_learned_from(store: Store, method: str) -> None:
    given: list[Examples] = []

    class Noting:
        def learn(self, examples: Examples, seed: int) -> Any:
            given.append(examples)
            return setting().learner.learn(examples, seed)

    run(setting(learner=Noting(), spreading=Spreading(method)), select("random", seeds=(0,)), (6, 6), store)
    picks = np.concatenate([one.picks for one in store.rounds()])
    last = given[-1]
    assert len(last.rows) > 40
    assert last.weights is not None
    at = np.searchsorted(last.rows, picks)
    np.testing.assert_array_equal(last.rows[at], picks)
    np.testing.assert_array_equal(last.classes[at], LABELS[POOL][picks])
    np.testing.assert_array_equal(last.weights[at], 1)
    assert ((last.weights > 0) & (last.weights <= 1)).all()


def test_the_graph_of_features_that_stay_is_made_once(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    from handful import spreading

    calls: list[Any] = []
    real = spreading.neighbour_graph
    monkeypatch.setattr(spreading, "neighbour_graph", lambda pool: calls.append(pool) or real(pool))
    run(setting(spreading=Spreading("graph")), select("random", seeds=(0, 1)), (6, 6), store)
    assert len(calls) == 1


def test_one_waits_while_the_others_go_on(store: Store) -> None:
    class Slow(Watched):
        def ask(self, rows: Any, what: str) -> Any:
            if what.startswith("random-seed0-round2"):
                raise Waiting(Path("list.csv"), len(rows))
            return super().ask(rows, what)

    with pytest.raises(Waiting):
        run(setting(Slow(LABELS[POOL])), select("random", "badge", seeds=(0,)), BUDGETS, store)
    assert [one.finished for one in store.rounds("random", 0)] == [True, False]
    assert all(one.finished for one in store.rounds("badge", 0))
    assert len(store.rounds("badge", 0)) == 3


def test_a_round_interrupted_by_hand_is_no_result(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from handful.strategies import Outcome
    from handful.strategies.common.strategy import Strategy

    def cut(self: Strategy, task: Any, **_: Any) -> Outcome:
        from handful import select as engine

        chosen = replace(engine(task.pool, 4, rounds=1), status="interrupted")
        return Outcome.of(chosen)

    monkeypatch.setattr(Strategy, "run", cut)
    with pytest.raises(KeyboardInterrupt):
        run(setting(), select("wasserstein", seeds=(0,)), BUDGETS, store)
    assert store.rounds() == []


def test_fixed_features_are_one_pool() -> None:
    made = setting(features=Fixed(POINTS[POOL]))
    assert made.pool is made.pool


def test_a_start_that_needs_a_model() -> None:
    with pytest.raises(HandfulError, match="needs a model"):
        select("random", start="badge")
