"""Label Studio: tasks to import, as JSON. What it exports again, `handful.files.labelled` reads."""

from __future__ import annotations

from typing import Any

from handful.errors import HandfulError
from handful.handoff.picks import Picks


def tasks(picks: Picks) -> list[dict[str, Any]]:
    """A task for each pick: its image, its text or both, and the fields by which the label finds its point again."""
    if picks.images is None and picks.texts is None:
        raise HandfulError("label-studio has nothing to show; give images (--images), texts (--text) or both.")
    return [{"data": shown | fields} for shown, fields in zip(picks.shown(), picks.fields(), strict=True)]
