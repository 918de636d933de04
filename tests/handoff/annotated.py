"""Simulated annotation in Label Studio: the tasks of an export, answered, and written as the tool writes them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CONFIG = """<View>
  <Image name="picture" value="$image"/>
  <Text name="words" value="$text"/>
  <Choices name="digit" toName="picture"><Choice value="0"/><Choice value="1"/></Choices>
  <RectangleLabels name="box" toName="picture"><Label value="spot"/></RectangleLabels>
</View>"""


def choice(*labels: str, question: str = "digit", kind: str = "choices") -> dict[str, Any]:
    return {"id": "r", "from_name": question, "to_name": "picture", "type": kind, "value": {kind: list(labels)}}


def box() -> dict[str, Any]:
    value = {"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0, "rotation": 0, "rectanglelabels": ["spot"]}
    return {"id": "b", "from_name": "box", "to_name": "picture", "type": "rectanglelabels", "value": value}


def annotation(*results: dict[str, Any], by: int = 1, skipped: bool = False) -> dict[str, Any]:
    times = {"created_at": "2026-11-19T20:00:00.000000Z", "updated_at": "2026-11-19T20:00:01.000000Z"}
    about = {"id": 7, "completed_by": by, "was_cancelled": skipped, "ground_truth": False, "lead_time": 1.5}
    return about | times | {"result": list(results)}


def annotated(tasks: Sequence[dict[str, Any]], answers: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Tasks as a project exports them in JSON, with ids of its own that have nothing to do with the pool's."""
    return [
        {"id": 5000 + at, "annotations": list(said), "drafts": [], "predictions": [], **task, "meta": {}, "project": 3}
        for at, (task, said) in enumerate(zip(tasks, answers, strict=True))
    ]


def write_json(path: Path, project: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(project), encoding="utf-8")
    return path


def write_min(path: Path, project: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(records(project)), encoding="utf-8")
    return path


def write_csv(path: Path, project: list[dict[str, Any]]) -> Path:
    rows = records(project)
    names = sorted({name for row in rows for name in row})
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        for row in rows:
            writer.writerow({name: json.dumps(cell) if _nested(cell) else cell for name, cell in row.items()})
    return path


def records(project: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """JSON-MIN as documented: a record per annotation that was not skipped, and one for a task without any."""
    rows = []
    for task in project:
        finished = [said for said in task["annotations"] if not said["was_cancelled"]]
        for said in finished if task["annotations"] else [{}]:
            row = {**task["data"], "id": task["id"]}
            results = [result for result in said.get("result", []) if "from_name" in result]
            for name in dict.fromkeys(result["from_name"] for result in results):
                found = [_pretty(result) for result in results if result["from_name"] == name]
                row[name] = found[0] if results[0]["type"] == "choices" and len(found) == 1 else found
            row |= {"annotator": said.get("completed_by"), "annotation_id": said.get("id")}
            rows.append(row | {name: said.get(name) for name in ("created_at", "updated_at", "lead_time")})
    return rows


def _pretty(result: dict[str, Any]) -> Any:
    value = result["value"]
    return value["choices"][0] if result["type"] == "choices" and len(value["choices"]) == 1 else value


def _nested(cell: Any) -> bool:
    return isinstance(cell, dict | list)


WRITERS = {"export.json": write_json, "min.json": write_min, "export.csv": write_csv}
