"""What is kept of a run, and what is refused."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from handful import HandfulError, __version__
from handful.rounds import Round, Store

IDENTITY = {"data": {"name": "digits"}, "features": {"metric": "cosine"}}


def one(strategy: str = "random", seed: int = 0, number: int = 0) -> Round:
    return Round(strategy, seed, number, 2, np.array([5, 7]), "gap", 1.5)


def test_a_round_comes_back_as_far_as_it_came(tmp_path: Path) -> None:
    store = Store(tmp_path / "it")
    store.picked(one())
    (found,) = store.rounds()
    assert (found.labels, found.accuracy, found.finished, found.ending) == (None, None, False, "gap")
    np.testing.assert_array_equal(found.picks, [5, 7])
    store.answered(Round("random", 0, 0, 2, found.picks, None, 0, labels=np.array([1, 0])))
    (found,) = store.rounds()
    np.testing.assert_array_equal(found.labels, [1, 0])
    assert not found.finished
    store.learned(Round("random", 0, 0, 2, found.picks, None, 0, accuracy=None, train_seconds=0.5))
    assert store.rounds()[0].finished
    store.close()


def test_versions_and_configuration_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "it")
    store.begin(IDENTITY, {"data": {"name": "digits"}, "more": [1, 2]}, (5, 5))
    store.begin(IDENTITY, {"data": {"name": "digits"}, "more": [1, 2]}, (5, 5, 10))
    assert store.fact("budgets") == [5, 5, 10]
    assert store.fact("config") == {"data": {"name": "digits"}, "more": [1, 2]}
    versions = [told for _, told in store.sessions]
    assert len(versions) == 2
    assert versions[0]["handful"] == __version__
    assert versions[0]["numpy"] == np.__version__
    store.close()
    with sqlite3.connect(tmp_path / "it") as file:  # anybody can read it
        assert file.execute("select count(*) from sessions").fetchone() == (2,)
    file.close()


def test_another_run_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "it")
    store.begin(IDENTITY, {}, (5, 5))
    with pytest.raises(HandfulError, match=r"features\.metric was 'cosine' and is 'euclidean'"):
        store.begin(IDENTITY | {"features": {"metric": "euclidean"}}, {}, (5, 5))
    with pytest.raises(HandfulError, match=r"rounds of \[5, 5\] labels, and \[5, 10\]"):
        store.begin(IDENTITY, {}, (5, 10))
    store.begin(IDENTITY, {}, (5,))  # fewer rounds than are there
    assert store.fact("budgets") == [5, 5]
    store.close()


def test_two_at_work_do_not_mix(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "it"), Store(tmp_path / "it")
    first.picked(one())
    with pytest.raises(HandfulError, match="does another process work on it"):
        second.picked(one())
    first.close()
    second.close()


def test_what_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "rounds.sqlite").write_bytes(b"something else, and long enough to be read as a header of a file" * 20)
    with pytest.raises(HandfulError, match="no file of rounds"):
        Store.open(tmp_path)
    with pytest.raises(HandfulError, match=r"holds no rounds\.sqlite"):
        Store.open(tmp_path / "nowhere")
