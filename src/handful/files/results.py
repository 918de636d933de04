"""Results that are written as they come, so that a second run goes on from the first: JSON, one line each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handful.errors import HandfulError

RESULTS = "results.jsonl"


class ResultsFile:
    """A file whose first line says what the results are of, and whose every other line is a result.

    A line that was cut off when a run was killed is dropped.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        if path.exists():
            self._read(dict(identity))
        else:
            self._append({"comparison": dict(identity)})

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a result; it is on the disk when this returns."""
        self._append(record)
        self.records.append(dict(record))

    def _read(self, identity: dict[str, Any]) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = [self._parsed(number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines:  # killed while the first line was written
            self.path.unlink()
            self._append({"comparison": identity})
            return
        self._check(lines[0].get("comparison"), identity)
        self.records = lines[1:]
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))

    def _parsed(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(line)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise HandfulError(f"{self.path}: line {number} is no result; repair it, or choose another folder")
        return parsed

    def _check(self, there: Any, identity: dict[str, Any]) -> None:
        if not isinstance(there, dict):
            raise HandfulError(f"{self.path} holds no results of a comparison; choose another folder")
        other = [word for word in identity if there.get(word) != identity[word]]
        if other:
            raise HandfulError(
                f"{self.path} holds results of another comparison: {other[0]} was {there.get(other[0])} and is "
                f"{identity[other[0]]} now; choose another folder"
            )

    def _append(self, record: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
