"""Points labelled earlier, with their labels if the file has them: lists, tables, what labelling tools export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.label_studio import ANNOTATION, ID, INDEX, Answer, answers_of_records, answers_of_tasks
from handful.files.labels import COLUMN, as_labels
from handful.files.lists import LIST_SUFFIXES, read_points_list, rows_named
from handful.files.table import Table, check_file, shown
from handful.files.text import read_records

Records = list[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Points that are labelled.

    Attributes
    ----------
    rows : array of int
        Their rows in the pool, in the order of the file.
    labels : array, one each, or None
        Whole numbers where all are, else text; None where the file has not one label for each.
    notes : tuple of str
        What became of annotations that are no label: a sentence for each kind.
    """

    rows: NDArray[np.int64]
    labels: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()


def read_labelled(path: str | PathLike[str], table: Table) -> Labelled:
    """Read which points are labelled, and their labels.

    The file is an export of Label Studio (JSON, JSON-MIN or CSV) whose tasks `handful export` made; or a table with the
    column "label", beside "id" or "index" (`.csv`, or `.json` as a list of objects), where a point without a label is
    not labelled yet; or any list of points that `read_points_list` knows. Where several annotators labelled a point the
    most frequent label counts; a point without one is left out, and the notes say so.
    """
    path = Path(path)
    suffix = check_file(path, LIST_SUFFIXES, "labelled points")
    answers = None
    if suffix == ".json":
        answers = _of_json(path, table)
    elif suffix == ".csv":
        answers = _of_csv(path, table)
    if answers is None:
        return Labelled(read_points_list(path, table))
    known = [(answer.place, answer.point) for answer in answers if answer.point is not None]
    named = [answer for answer in answers if answer.point is not None]
    notes = [] if len(named) == len(answers) else [_nameless(path, answers, table)]
    return _Poll(named, rows_named(path, known, table)).outcome(path, notes)


def _of_json(path: Path, table: Table) -> list[Answer] | None:
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(content, list) or not content or not all(isinstance(item, dict) for item in content):
        return None
    if any(isinstance(item.get("data"), dict) for item in content):
        return answers_of_tasks(path, content, _field(table))
    return _of_table(path, [(f"record {number}", item) for number, item in enumerate(content, 1)], table)


def _of_csv(path: Path, table: Table) -> list[Answer] | None:
    records = read_records(path, commas=True)
    names = records[0][1] if records else []
    if ANNOTATION not in names and COLUMN not in names:
        return None
    for line, cells in records:
        if len(cells) != len(names):
            raise HandfulError(f"{path}: line {line} has {len(cells)} cell(s) and {len(names)} were expected.")
    return _of_table(
        path, [(f"line {line}", dict(zip(names, cells, strict=True))) for line, cells in records[1:]], table
    )


def _of_table(path: Path, records: Records, table: Table) -> list[Answer]:
    names = list(dict.fromkeys(name for _, record in records for name in record))
    if ANNOTATION in names:
        return answers_of_records(records, _field(table))
    plain = "index" if table.ids is None else "id"
    key = _field(table) if _field(table) in names else plain
    if records and (key not in names or COLUMN not in names):
        missing = plain if key not in names else COLUMN
        raise HandfulError(f"{path} has no '{missing}' for labels of {table.path}; what it has is: {shown(names)}.")
    answers = []
    for place, record in records:
        point, label = record.get(key), record.get(COLUMN)
        if isinstance(label, dict | list | bool):
            raise HandfulError(f"{path}: {place} holds {str(label)[:40]} as label; write one number or word.")
        said = {} if label is None or label == "" else {COLUMN: str(label)}
        answers.append(Answer(place, None if point is None or point == "" else str(point), said))
    return answers


def _field(table: Table) -> str:
    return INDEX if table.ids is None else ID


def _nameless(path: Path, answers: Sequence[Answer], table: Table) -> str:
    """Say how many annotations name no point; refuse a file in which none does."""
    lost = [answer.place for answer in answers if answer.point is None]
    if len(lost) == len(answers):
        raise HandfulError(
            f"{path}: {lost[0]} does not say which point of {table.path} it is, nor does any other; its field "
            f"'{_field(table)}' says so in tasks that handful export makes, and must be kept."
        )
    return f"{_many(lost)} without '{_field(table)}', so not of this pool, and left out"


def _many(places: Sequence[str]) -> str:
    """Name one place, or count several: "task 17 is", "3 annotations (the first: task 17) are"."""
    kinds = list(dict.fromkeys(places))
    return f"{kinds[0]} is" if len(kinds) == 1 else f"{len(kinds)} (the first: {kinds[0]}) are"


@dataclass
class _Poll:
    """Counts what the annotators said of each point, and finds one label for each."""

    answers: Sequence[Answer]
    rows: NDArray[np.int64]
    kept: list[tuple[int, str | None]] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    def outcome(self, path: Path, notes: list[str]) -> Labelled:
        questions = self._questions()
        question = questions[0] if len(questions) == 1 else COLUMN if COLUMN in questions else None
        places: dict[int, str] = {}
        votes: dict[int, Counter[str | None]] = {}
        for row, answer in zip(self.rows.tolist(), self.answers, strict=True):
            places.setdefault(row, answer.place)
            counts = votes.setdefault(row, Counter())
            if answer.labels is not None:
                # The empty word stands for an annotation that says nothing.
                counts[answer.labels.get(question, "") if question else None] += 1
        for row, counts in votes.items():
            self._settle(row, places[row], counts)
        notes = [f"{path.name}: {note}." for note in [*notes, *self._notes(questions, question)]]
        labels = [label for _, label in self.kept]
        rows = np.array([row for row, _ in self.kept], np.int64)
        known = [label for label in labels if label is not None]
        return Labelled(rows, as_labels(known) if question and len(known) == len(labels) else None, tuple(notes))

    def _questions(self) -> list[str]:
        """The questions that were answered by single labels."""
        found = [answer.labels or {} for answer in self.answers]
        return list(dict.fromkeys(name for labels in found for name, label in labels.items() if label is not None))

    def _settle(self, row: int, place: str, counts: Counter[str | None]) -> None:
        if not counts:
            self._remark("skipped", place)
            return
        said = Counter({label: count for label, count in counts.items() if label != ""})
        if not said:
            self._remark("empty", place)
            return
        (label, most), *others = said.most_common()
        if others and others[0][1] == most:
            self._remark("undecided", place)
            return
        if others:
            self._remark("differing", place)
        if label is None:
            self._remark("unclear", place)
        self.kept.append((row, label))

    def _remark(self, kind: str, place: str) -> None:
        self.remarks.setdefault(kind, []).append(place)

    def _notes(self, questions: Sequence[str], question: str | None) -> list[str]:
        notes = []
        if not self.kept:
            notes.append("no point in it is labelled yet")
        if len(questions) > 1 and question is None:
            notes.append(
                f"its annotations answer several questions ({shown(questions)}); all are labelled, but no labels taken"
            )
        for kind, sentence in (
            ("skipped", "skipped by the annotators, so not labelled"),
            ("empty", "without a label, so not labelled yet"),
            ("undecided", "labelled in several ways equally often, so not labelled"),
            ("differing", "labelled differently by annotators; the most frequent label counts"),
        ):
            if kind in self.remarks:
                notes.append(f"{_many(self.remarks[kind])} {sentence}")
        if question and "unclear" in self.remarks:
            notes.append(f"{_many(self.remarks['unclear'])} labelled by more than one word; no labels are taken")
        elif question is None and len(questions) == 0 and self.kept:
            notes.append("its annotations are not single labels, so points count as labelled, and no labels are taken")
        return notes
