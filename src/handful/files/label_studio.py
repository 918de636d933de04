"""What Label Studio exports: tasks with their annotations (JSON), or a record for each annotation (JSON-MIN, CSV)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from handful.errors import HandfulError

ID: Final = "handful_id"
INDEX: Final = "handful_index"
"""Fields of a task that say which point of the pool it is: Label Studio's own ``id`` is the number of the task."""

ANNOTATION = "annotation_id"
"""The field that only Label Studio's records have."""

_OF_THE_TOOL = {"id", "annotator", ANNOTATION, "created_at", "updated_at", "lead_time", "agreement", "history"}
_OF_THE_TASK = {"image", "text"}  # what handful export writes, beside the fields that begin with "handful_"
_MOVED = "_data_"  # before the name of a field of the task, in CSV, where a question is called like it
_CLASSES = ("choices", "taxonomy", "rating", "number")


@dataclass(frozen=True)
class Answer:
    """What one annotator said of one point.

    Attributes
    ----------
    place : str
        Where in the file: "task 17", "line 3".
    point : str or None
        The text that names the point; None where there is none.
    labels : mapping, or None
        For each question that was answered the label, or None where the answer is more than one label (several choices,
        regions). None in place of the mapping: the annotator skipped the point.
    """

    place: str
    point: str | None
    labels: Mapping[str, str | None] | None


def answers_of_tasks(path: Path, tasks: Sequence[Mapping[str, Any]], field: str) -> list[Answer]:
    """Every annotation of tasks as Label Studio's JSON has them; ``field`` names the point in the data of a task."""
    answers = []
    for number, task in enumerate(tasks, 1):
        place = f"task {task.get('id', number)}"
        data = task.get("data")
        annotations = task.get("annotations", task.get("completions")) or []
        if not isinstance(data, Mapping) or not _are_records(annotations):
            raise HandfulError(f"{path}: {place} is no task of Label Studio; export the project again, as JSON.")
        point = None if data.get(field) is None else str(data[field])
        for annotation in annotations:
            skipped = annotation.get("was_cancelled") or annotation.get("skipped")
            results = annotation.get("result") or []
            answers.append(Answer(place, point, None if skipped else dict(_said(results))))
    return answers


def answers_of_records(records: Sequence[tuple[str, Mapping[str, Any]]], field: str) -> list[Answer]:
    """Every annotation of JSON-MIN or CSV, whose records come with their places; there, nothing skipped is listed."""
    names = list(dict.fromkeys(name for _, record in records for name in record))
    questions = [name for name in names if _is_question(name, names)]
    return [
        Answer(
            place,
            str(record[field]) if _is_there(record.get(field)) else None,
            {name: single(record[name]) for name in questions if _is_there(record.get(name))},
        )
        for place, record in records
        if _is_there(record.get(ANNOTATION))
    ]


def single(value: Any) -> str | None:
    """The one label that an answer is (a choice, a path in a taxonomy, a rating, a number), or None where it is not."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return single(json.loads(value))  # CSV holds anything but one choice as JSON
        except ValueError:
            return value
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return single(value[0]) if len(value) == 1 else None
    if isinstance(value, Mapping) and len(value) == 1:
        kind, said = next(iter(value.items()))
        if kind == "taxonomy" and isinstance(said, list) and len(said) == 1 and isinstance(said[0], list):
            return "/".join(map(str, said[0]))
        return single(said) if kind in _CLASSES else None
    return None


def _said(results: Sequence[Any]) -> Iterator[tuple[str, str | None]]:
    """Question and label of each result; a question answered by several results has no single label."""
    found: dict[str, str | None] = {}
    for result in results:
        if isinstance(result, Mapping) and result.get("from_name"):
            name = str(result["from_name"])
            found[name] = None if name in found else single(result.get("value"))
    yield from found.items()


def _is_question(name: str, names: Sequence[str]) -> bool:
    if name in _OF_THE_TOOL or name.startswith(("handful_", _MOVED)):
        return False
    return name not in _OF_THE_TASK or _MOVED + name in names


def _is_there(value: Any) -> bool:
    return value is not None and value != "" and value != []


def _are_records(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, Mapping) for value in values)
