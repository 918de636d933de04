"""FiftyOne: a dataset of the picks as JSON, or tags on the samples of a dataset that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handful.errors import HandfulError
from handful.handoff.picks import Picks

TAG = "handful"

_FIELDS = "fiftyone.core.fields."
_SCHEMA = {
    "filepath": f"{_FIELDS}StringField",
    "tags": f"{_FIELDS}ListField({_FIELDS}StringField)",
    "handful_index": f"{_FIELDS}IntField",
    "handful_id": f"{_FIELDS}StringField",
    "handful_rank": f"{_FIELDS}IntField",
    "handful_stands_for": f"{_FIELDS}IntField",
}


def document(picks: Picks) -> dict[str, Any]:
    """What ``fiftyone.Dataset.from_json(FILE)`` makes a dataset of: a sample for each pick, tagged "handful"."""
    samples = [
        {"filepath": _absolute(source), "tags": [TAG], **fields}
        for source, fields in zip(picks.require_images("fiftyone"), picks.fields(), strict=True)
    ]
    return {"name": TAG, "media_type": "image", "sample_fields": _SCHEMA, "samples": samples}


def tag(dataset: Any, picks: Picks, name: str = TAG) -> int:
    """Tag the picks among the samples of a FiftyOne dataset, found by their files; return how many there were.

    They get the fields of the picks too, so that the app sorts them by ``handful_rank``.
    """
    files = [_absolute(source) for source in picks.require_images("fiftyone")]
    wanted = dict(zip(files, picks.fields(), strict=True))
    found = 0
    for sample in dataset.select_by("filepath", files).iter_samples(autosave=True):
        if name not in sample.tags:
            sample.tags.append(name)
        for field, value in wanted[sample.filepath].items():
            sample[field] = value
        found += 1
    if not found:
        raise HandfulError(f"the dataset has none of the {len(files)} picks; the first was looked for as {files[0]}.")
    return found


def _absolute(source: str) -> str:
    return source if "://" in source else str(Path(source).absolute())
