"""Configurations: what they say, what they may not say, and whole runs of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rounds_cases import digits

from handful import HandfulError
from handful.rounds import Config, Select, Store, Table, paper_schedule, perform, rows, table
from handful.rounds.store import FILE, Round

BASE: dict[str, Any] = {"data": {"name": "digits"}, "budget": {"rounds": [5]}}


@pytest.mark.parametrize(
    ("step", "total", "expected"),
    [(20, 180, [10, 10, *[20] * 8]), (2, 2, [1, 1]), (50, 100, [25, 25, 50])],
)
def test_the_papers_schedule(step: int, total: int, expected: list[int]) -> None:
    assert list(paper_schedule(step, total)) == expected
    assert sum(paper_schedule(step, total)) == total
    assert Config.of(BASE | {"budget": {"step": step, "total": total}}).budget.schedule == tuple(expected)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": None}, r"has no \[data\]"),
        ({"dta": {}}, r"unknown part \[dta\]"),
        ({"data": {"folder": "."}}, "needs 'name'"),
        ({"data": {"name": "digits", "points": "many"}}, "points must be int | None; got 'many'"),
        ({"budget": {}}, "needs either rounds"),
        ({"budget": {"rounds": [5], "step": 2, "total": 4}}, "needs either rounds"),
        ({"budget": {"rounds": [5, 0]}}, "whole numbers of 1 or more"),
        ({"budget": {"step": 5, "total": 20}}, "step must be an even number"),
        ({"features": {"source": "magic"}}, "features.source must be one of"),
        ({"features": {"source": "file"}}, "needs features.file"),
        ({"features": {"source": "last-classifier"}, "classifier": {"kind": "probe"}}, "need one with layers"),
        ({"features": {"source": "f-dal"}}, r"a table \[source\]"),
        ({"select": {"strategies": ["magic"]}}, "unknown strategy 'magic'"),
        ({"select": {"strategies": []}}, "at least one strategy"),
        ({"select": {"parts": 0}}, "parts must be 1 or more"),
        ({"select": {"part": 2}}, "has no 'part'; it may have strategies"),
        ({"classifier": {"spread": "butter"}}, "classifier.spread must be one of"),
        ({"classifier": {"kind": True}}, "kind must be str"),
        ({"oracle": {"kind": "person"}, "select": {"seeds": 2}}, "for one strategy and one seed"),
    ],
)
def test_what_can_not_be_run(changes: dict[str, Any], said: str) -> None:
    table = {name: value for name, value in (BASE | changes).items() if value is not None}
    with pytest.raises(HandfulError, match=said):
        Config.of(table)


def test_a_file_with_changes(tmp_path: Path) -> None:
    path = tmp_path / "it.toml"
    path.write_text(
        '[data]\nname = "office31"\nfolder = "photos"\ndomain = "dslr"\n[budget]\nrounds = [5]\n'
        '[select]\nseeds = 3\nstrategies = "random, badge"\n'
    )
    found = Config.read(path, {"select.seeds": [4], "features.source": "pca"})
    assert found.data.folder == str(tmp_path / "photos")  # relative to the file
    assert found.data.options == {"domain": "dslr"}
    assert found.select == Select(("random", "badge"), (4,))
    assert Config.read(path, {"data.folder": "here"}).data.folder == "here"
    assert Config.read(path).select.seeds == (0, 1, 2)
    with pytest.raises(HandfulError, match="'seeds' names nothing"):
        Config.read(path, {"seeds": 1})
    path.write_text("[data\n")
    with pytest.raises(HandfulError, match="is not TOML"):
        Config.read(path)


def accuracies(folder: Path) -> list[tuple[Any, ...]]:
    store = Store(folder / FILE)
    found = [(one.strategy, one.seed, one.round, one.picks.tolist(), one.accuracy) for one in store.rounds()]
    store.close()
    return found


def test_two_runs_of_one_configuration_are_the_same(tmp_path: Path) -> None:
    perform(digits(), tmp_path / "one")
    perform(digits(), tmp_path / "two")
    assert accuracies(tmp_path / "one") == accuracies(tmp_path / "two")
    assert len(accuracies(tmp_path / "one")) == 8


def test_more_of_a_configuration_adds_to_it(tmp_path: Path) -> None:
    perform(digits(select={"seeds": 1}), tmp_path)
    before = accuracies(tmp_path)
    found = perform(digits(budget={"rounds": [6, 6, 3]}), tmp_path)
    assert set(map(str, before)) <= set(map(str, accuracies(tmp_path)))
    assert found.labels == (6, 12, 15)
    with pytest.raises(HandfulError, match=r"features\.components was 8 and is 9"):
        perform(digits(features={"components": 9}), tmp_path)


def test_features_of_a_file(tmp_path: Path) -> None:
    from handful import datasets

    data = datasets.load("digits")
    assert data.test is not None
    flat = [points.reshape(len(points), -1).astype(np.float32) / 255 for points in (data.pool, data.test)]
    np.savez(tmp_path / "it.npz", train=flat[0], test=flat[1])
    perform(digits(features={"source": "pixels"}), tmp_path / "pixels")
    perform(digits(features={"source": "file", "file": str(tmp_path / "it.npz")}), tmp_path / "file")
    assert accuracies(tmp_path / "pixels") == accuracies(tmp_path / "file")
    np.savez(tmp_path / "it.npz", train=flat[0][:50], test=flat[1])
    with pytest.raises(HandfulError, match="holds 50 points, too few for digits"):
        perform(digits(features={"source": "file", "file": str(tmp_path / "it.npz")}), tmp_path / "few")


def test_a_divided_pool_uses_the_rest_as_its_test_set(tmp_path: Path) -> None:
    changes = {"data": {"name": "digits", "pool_share": 0.1, "points": None}}
    perform(digits(**changes, select={"strategies": ["random"], "seeds": 1}), tmp_path)
    picks = [row for *_, chosen, _ in accuracies(tmp_path) for row in chosen]
    assert max(picks) < 144


def test_classes_of_a_person_are_those_of_the_data(tmp_path: Path) -> None:
    asked = {"oracle": {"kind": "person", "classes": ["one", "two"]}, "select": {"strategies": ["random"], "seeds": 1}}
    with pytest.raises(HandfulError, match=r"oracle\.classes are one, two, and those of digits 0, 1"):
        perform(digits(**asked), tmp_path)


def finished(strategy: str, seed: int, number: int, accuracy: float, ending: str | None = None) -> Round:
    return Round(strategy, seed, number, 10, np.arange(10), ending, 1.0, np.zeros(10, np.int64), accuracy, 1.0, True)


def test_the_table_by_hand() -> None:
    found: Table = table(
        [
            finished("b", 0, 0, 0.5), finished("b", 1, 0, 0.7), finished("b", 0, 1, 0.8), finished("b", 1, 1, 0.8),
            finished("a", 0, 0, 0.9, "time"), finished("a", 1, 0, 0.5), finished("a", 0, 1, 0.9),
        ]
    )  # fmt: skip
    assert found.labels == (10, 20)
    first = found.entries["a", 10]
    assert (first.mean, first.runs, first.best, first.clocked) == (pytest.approx(0.7), 2, True, True)
    assert first.deviation == pytest.approx(0.4 / np.sqrt(2))
    assert not found.entries["a", 20].best  # of one seed only
    assert found.entries["b", 20].best
    assert rows(found) == [
        ["strategy", "seeds", "10", "20"],
        ["a", "2", "70.0 ± 28.3 * †", "90.0 (1)"],
        ["b", "2", "60.0 ± 14.1", "80.0 ± 0.0 *"],
    ]
