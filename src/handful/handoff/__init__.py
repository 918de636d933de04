"""Hands picks to the tools that people label with, and reads the labels that come back."""

from collections.abc import Callable
from typing import Any

from handful.files.labelled import Labelled
from handful.handoff import datasets, fiftyone, images, label_studio
from handful.handoff.finished import finished
from handful.handoff.picks import Picks

__all__ = ["LINES", "TOOLS", "Labelled", "Picks", "datasets", "fiftyone", "finished", "images", "label_studio"]

TOOLS: dict[str, Callable[[Picks], Any]] = {
    "label-studio": label_studio.tasks,
    "cvat": images.cvat,
    "coco": images.coco,
    "datasets": datasets.records,
    "fiftyone": fiftyone.document,
}
"""What a tool is given for picks."""

LINES = ("cvat", "datasets")
"""Tools whose files are JSON lines: one object each; the others' are one JSON document."""
