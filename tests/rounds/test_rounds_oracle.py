"""A person who is asked: lists that are written, and answers that are read."""

import csv
from pathlib import Path

import numpy as np
import pytest
from rounds_cases import LABELS, POOL, select, setting

from handful import HandfulError
from handful.rounds import Person, Store, Waiting, run

ROWS = np.array([7, 3])


def fill(path: Path, answers: dict[int, str]) -> None:
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["index", "id", "label"])
        writer.writeheader()
        writer.writerows({**line, "label": answers.get(int(line["index"]), line["label"])} for line in lines)


def test_a_list_is_written_and_its_answers_read(tmp_path: Path) -> None:
    person = Person(tmp_path, ["cat", "dog"], ids=np.array([f"{i}.png" for i in range(10)]))
    path = tmp_path / "to-label-first.csv"
    with pytest.raises(Waiting, match=r"2 points wait for labels in .*to-label-first\.csv"):
        person.ask(ROWS, "first")
    assert path.read_text().splitlines() == ["index,id,label", "7,7.png,", "3,3.png,"]
    fill(path, {3: "dog"})
    with pytest.raises(Waiting, match="1 points wait"):
        person.ask(ROWS, "first")
    assert "3,3.png,dog" in path.read_text()  # what was answered stays
    fill(path, {7: " cat "})
    assert person.ask(ROWS, "first").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("index,id,label\n7,7,cat\n3,3,fish\n", "'fish', which is no class; classes are cat, dog"),
        ("index,id,label\n7,7,cat\n4,4,dog\n", "does not list the points"),
        ("index,id,label\n7,7,cat\n", "does not list the points"),
        ("index,id\n7,7\n3,3\n", "needs the columns index, id, label"),
        ("", "needs the columns"),
        ("index,id,label\nseven,7,cat\n3,3,dog\n", "an index that is no number"),
    ],
)
def test_lists_that_are_not_understood(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "to-label-first.csv").write_text(text)
    with pytest.raises(HandfulError, match=said):
        Person(tmp_path, ["cat", "dog"]).ask(ROWS, "first")


def test_answers_from_a_spreadsheet(tmp_path: Path) -> None:
    text = "\ufeffindex,id,label\r\n3,3,dog\r\n7,7,cat\r\n"  # sorted anew, with a byte order mark
    (tmp_path / "to-label-first.csv").write_text(text, encoding="utf-8", newline="")
    assert Person(tmp_path, ["cat", "dog"]).ask(ROWS, "first").tolist() == [0, 1]


def test_a_person_needs_words() -> None:
    with pytest.raises(HandfulError, match="two classes or more"):
        Person(Path(), ["cat"])


def test_a_person_who_answers_every_list_ends_with_the_table_of_a_label_file(tmp_path: Path) -> None:
    words = ["ash", "elm", "fir", "oak"]
    chosen, budgets = select("badge", seeds=(0,)), (5, 4, 3)
    asked = 0
    while True:
        store = Store(tmp_path / "rounds.sqlite")
        try:
            run(setting(Person(tmp_path, words)), chosen, budgets, store)
            break
        except Waiting as waiting:
            asked += waiting.count
            fill(waiting.path, {row: words[label] for row, label in enumerate(LABELS[POOL])})
        finally:
            found = [(one.picks.tolist(), one.accuracy) for one in store.rounds()]
            store.close()
    other = Store(tmp_path / "other.sqlite")
    run(setting(), chosen, budgets, other)
    assert asked == 12
    assert found == [(one.picks.tolist(), one.accuracy) for one in other.rounds()]
    other.close()
