"""Finished labels: every way they come back, at the rows they belong to, and what is said of those that can't."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annotated import WRITERS, annotated, annotation, box, choice, write_csv, write_json, write_min

from handful.errors import HandfulError
from handful.files import Table, read_labelled
from handful.handoff import finished

POINTS = np.zeros((8, 2))
PLAIN = Table(Path("pool.npy"), POINTS, None, {})
NAMED = Table(Path("pool.csv"), POINTS, np.array([f"p{row}" for row in range(7, -1, -1)]), {})
NUMBERED = Table(Path("pool.npz"), POINTS, np.arange(80, 0, -10), {})


def tasks(table: Table, rows: list[int]) -> list[dict[str, Any]]:
    ids = np.arange(8) if table.ids is None else table.ids
    return [{"data": {"image": "a.png", "handful_index": row, "handful_id": str(ids[row])}} for row in rows]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("table", [PLAIN, NAMED, NUMBERED])
def test_labels_come_back_to_their_rows_whatever_the_order(tmp_path: Path, name: str, table: Table) -> None:
    rows = [6, 0, 3, 7]
    project = annotated(tasks(table, rows), [[annotation(choice(str(row % 2)))] for row in rows])
    found = read_labelled(WRITERS[name](tmp_path / name, project[::-1]), table)
    assert found.rows.tolist() == rows[::-1]
    assert found.labels is not None
    assert found.labels.tolist() == [1, 1, 0, 0]
    assert found.notes == ()


@pytest.mark.parametrize("name", WRITERS)
def test_the_most_frequent_label_counts_and_ties_are_left_out(tmp_path: Path, name: str) -> None:
    """Against a count written down anew, over random votes with skipped and empty annotations among them."""
    random = np.random.default_rng(3)
    for _ in range(40):
        rows = random.permutation(8)[:5].tolist()
        words: list[list[str]] = [
            random.choice(["cat", "dog", "", "skip"], random.integers(0, 5)).tolist() for _ in rows
        ]
        said = [
            [annotation(*([choice(w)] if w in ("cat", "dog") else []), skipped=w == "skip") for w in some]
            for some in words
        ]
        expected = {}
        for row, some in zip(rows, words, strict=True):
            cats, dogs = some.count("cat"), some.count("dog")
            if cats != dogs:
                expected[row] = "cat" if cats > dogs else "dog"
        if not any({"cat", "dog"} & {*some} for some in words):
            continue  # then nothing says that this is about single labels
        found = read_labelled(WRITERS[name](tmp_path / name, annotated(tasks(PLAIN, rows), said)), PLAIN)
        labels = [] if found.labels is None else found.labels.tolist()
        assert dict(zip(found.rows.tolist(), labels, strict=True)) == expected
        ties = sum(Counter(some)["cat"] == Counter(some)["dog"] > 0 for some in words)
        assert any("equally often" in note for note in found.notes) == (ties > 0)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    answers = [
        [annotation(choice("1"))],
        [annotation(choice("0")), annotation(choice("1"))],
        [annotation(skipped=True)],
        [annotation()],
        [],
        [annotation(choice("0")), annotation(choice("1")), annotation(choice("1"))],
    ]
    project = annotated(tasks(PLAIN, [0, 1, 2, 3, 4, 5]), answers)
    found = read_labelled(write_json(tmp_path / "l.json", project), PLAIN)
    assert found.rows.tolist() == [0, 5]
    assert found.labels is not None
    assert found.labels.tolist() == [1, 1]
    assert found.notes == (
        "l.json: task 5002 is skipped by the annotators, so not labelled.",
        "l.json: task 5003 is without a label, so not labelled yet.",
        "l.json: task 5001 is labelled in several ways equally often, so not labelled.",
        "l.json: task 5005 is labelled differently by annotators; the most frequent label counts.",
    )


@pytest.mark.parametrize("name", WRITERS)
def test_regions_and_several_choices_are_labelled_without_a_label(tmp_path: Path, name: str) -> None:
    boxes = annotated(tasks(PLAIN, [4, 2, 1]), [[annotation(box())], [annotation()], []])
    found = read_labelled(WRITERS[name](tmp_path / name, boxes), PLAIN)
    assert found.rows.tolist() == [4, 2]  # an image without any box is finished too
    assert found.labels is None
    assert "not single labels" in found.notes[0]
    several = annotated(tasks(PLAIN, [4, 2]), [[annotation(choice("0"))], [annotation(choice("0", "1"))]])
    found = read_labelled(WRITERS[name](tmp_path / name, several), PLAIN)
    assert (found.rows.tolist(), found.labels) == ([4, 2], None)
    assert "labelled by more than one word; no labels are taken" in found.notes[0]


@pytest.mark.parametrize("name", WRITERS)
def test_of_several_questions_the_one_called_label_counts(tmp_path: Path, name: str) -> None:
    for question, labels in (("label", [1]), ("digit", None)):
        said = annotation(choice("1", question=question), choice("good", question="quality"))
        project = annotated(tasks(PLAIN, [3]), [[said]])
        found = read_labelled(WRITERS[name](tmp_path / name, project), PLAIN)
        assert found.rows.tolist() == [3]
        assert (None if found.labels is None else found.labels.tolist()) == labels
        assert any("several questions ('digit', 'quality')" in note for note in found.notes) == (labels is None)


def test_the_classes_that_label_studio_knows(tmp_path: Path) -> None:
    def of(*results: dict[str, Any]) -> list[Any]:
        project = annotated(tasks(PLAIN, [3]), [[annotation(*results)]])
        found = [read_labelled(write(tmp_path / name, project), PLAIN).labels for name, write in WRITERS.items()]
        return [None if labels is None else labels.tolist() for labels in found]

    for kind, value, label in (("rating", 4, 4), ("number", 7, 7), ("taxonomy", [["A", "B"]], "A/B")):
        result = {**choice(kind=kind), "value": {kind: value}}
        assert of(result) == [[label]] * 3
    assert of(choice("1"), {"type": "relation", "from_id": "a", "to_id": "b"}) == [[1]] * 3
    assert of(choice("1"), choice("0")) == [None] * 3


TABLES: list[tuple[Table, str, str, list[int], Any]] = [
    (PLAIN, "l.csv", "index,label\n4,cat\n0,dog\n", [4, 0], ["cat", "dog"]),
    (PLAIN, "l.csv", "label,index\n7,4\n-1,0\n", [4, 0], [7, -1]),
    (PLAIN, "l.csv", "index,label\n4,cat\n5,\n0,dog\n", [4, 0], ["cat", "dog"]),
    (PLAIN, "picks.csv", "rank,index,id,label\n1,4,4,x\n2,1,1,\n", [4], ["x"]),
    (NAMED, "l.csv", "id,label\np0,cat\np7,dog\n", [7, 0], ["cat", "dog"]),
    (NUMBERED, "l.csv", "id,index,label\n10,0,a b\n80,1,c\n", [7, 0], ["a b", "c"]),
    (PLAIN, "l.json", '[{"index": 4, "label": "cat"}, {"index": 0, "label": "dog"}]', [4, 0], ["cat", "dog"]),
    (NAMED, "l.json", '[{"id": "p7", "label": 3}, {"id": "p0", "label": null}]', [0], [3]),
    (PLAIN, "l.csv", "index,label\n4,cat\n4,dog\n4,dog\n", [4], ["dog"]),
    (PLAIN, "l.csv", "index,label\n", [], None),
    (PLAIN, "l.csv", "rank,index\n1,4\n", [4], None),
    (PLAIN, "l.txt", "4\n0\n", [4, 0], None),
    (PLAIN, "l.json", "[4, 0]", [4, 0], None),
    (PLAIN, "l.json", "[]", [], None),
]


@pytest.mark.parametrize(("table", "name", "content", "rows", "labels"), TABLES)
def test_tables_and_lists(tmp_path: Path, table: Table, name: str, content: str, rows: list[int], labels: Any) -> None:
    (tmp_path / name).write_text(content)
    found = read_labelled(tmp_path / name, table)
    assert found.rows.tolist() == rows
    assert (None if found.labels is None else found.labels.tolist()) == labels


BAD: list[tuple[Table, str, str, str]] = [
    (PLAIN, "l.json", '[{"id": 3, "data": {"image": "x"}, "annotations": [{"result": []}]}]', "task 3 does not say"),
    (PLAIN, "l.json", '[{"data": {"handful_index": 9}, "annotations": [{}]}]', "names row 9.*rows 0 to 7"),
    (PLAIN, "l.json", '[{"data": {"handful_index": "x"}, "annotations": [{}]}]', "task 1 holds 'x'.*row number"),
    (NAMED, "l.json", '[{"data": {"handful_id": "q"}, "annotations": [{}]}]', "1 of 1 points by ids.*'q'"),
    (PLAIN, "l.json", '[{"id": 3, "data": {}, "annotations": "none"}]', "task 3 is no task of Label Studio"),
    (PLAIN, "l.json", '[{"data": {}, "annotations": []}, {}]', "task 2 is no task"),
    (PLAIN, "l.json", '[{"row": 1, "label": "x"}]', "no 'index' for labels of pool.npy.*'row', 'label'"),
    (PLAIN, "l.json", '[{"index": 1, "class": "x"}]', "no 'label'"),
    (PLAIN, "l.json", '[{"index": 1, "label": ["x"]}]', r"record 1 holds \['x'\] as label"),
    (PLAIN, "l.json", '[{"index": 1}, 4]', "must be one JSON list"),
    (PLAIN, "l.json", "[1, 2", "not JSON"),
    (NAMED, "l.csv", "index,label\n1,x\n", "no 'id' for labels"),
    (PLAIN, "l.csv", "index,label\n1\n", r"line 2 has 1 cell\(s\) and 2 were expected"),
    (PLAIN, "l.csv", "index,label\n9,x\n", "names row 9"),
    (PLAIN, "l.csv", "id,annotation_id,digit\n1,7,x\n", "line 2 does not say which point.*'handful_index'"),
]


@pytest.mark.parametrize(("table", "name", "content", "words"), BAD)
def test_bad_labels_get_one_sentence(tmp_path: Path, table: Table, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(HandfulError) as caught:
        read_labelled(tmp_path / name, table)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / name))
    assert re.search(words, message), message


def test_a_task_of_others_is_left_out_and_said(tmp_path: Path) -> None:
    """Label Studio's own id, which JSON-MIN and CSV put beside the data, is never taken for the pool's."""
    project = annotated([*tasks(PLAIN, [6]), {"data": {"image": "other.png"}}], [[annotation(choice("1"))]] * 2)
    project[1]["id"] = 2
    for name, write in (("l.json", write_json), ("m.json", write_min), ("l.csv", write_csv)):
        found = read_labelled(write(tmp_path / name, project), PLAIN)
        assert found.rows.tolist() == [6]
        assert "without 'handful_index', so not of this pool, and left out" in found.notes[0]


def test_a_text_that_is_annotated_by_a_question_called_text(tmp_path: Path) -> None:
    """Label Studio then moves the text of the task to ``_data_text`` in CSV."""
    names = '"_data_text","annotation_id","handful_index","id","text"'
    (tmp_path / "l.csv").write_text(f'{names}\n"long, words",7,4,5000,"spam"\n')
    found = read_labelled(tmp_path / "l.csv", PLAIN)
    assert (found.rows.tolist(), found.labels.tolist() if found.labels is not None else None) == ([4], ["spam"])


def test_in_python_the_pool_is_said_by_its_size_and_ids(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(json.dumps([{"id": "b", "label": "x"}]))
    assert finished(tmp_path / "l.json", 3, ["a", "b", "c"]).rows.tolist() == [1]
    (tmp_path / "l.csv").write_text("index,label\n2,x\n")
    assert finished(tmp_path / "l.csv", 3).rows.tolist() == [2]
    with pytest.raises(HandfulError, match="the pool has only the rows 0 to 1"):
        finished(tmp_path / "l.csv", 2)
