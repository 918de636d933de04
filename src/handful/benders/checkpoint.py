"""A file from which a killed run goes on.

It starts with a line of JSON that says which run it belongs to; then every iteration appends one record, an ``npz``
archive behind its length and its checksum. A record that was cut short by the kill is dropped.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError

Record = dict[str, NDArray[Any]]

_MAGIC = "handful benders checkpoint"
_FORMAT = 1
_PREFIX = struct.Struct("<QI")


class Checkpoint:
    """Appends records to a file; ``records`` are those that were there."""

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.records: list[Record] = []
        header = {"file": _MAGIC, "format": _FORMAT, **run}
        if path.exists() and path.stat().st_size:
            end = self._read(path, header)
            self._file: BinaryIO = path.open("r+b")
            self._file.truncate(end)
            self._file.seek(end)
        else:
            self._file = path.open("wb")
            self._file.write(json.dumps(header).encode() + b"\n")
            self._flush()

    def append(self, record: Record) -> None:
        """Write one record, on disk when this returns."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **record)
        content = buffer.getvalue()
        self._file.write(_PREFIX.pack(len(content), zlib.crc32(content)) + content)
        self._flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _flush(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path, expected: dict[str, Any]) -> int:
        """Read header and records; the position after the last whole one."""
        with path.open("rb") as file:
            _check_header(path, file.readline(), expected)
            end = file.tell()
            for record, position in _records(file):
                self.records.append(record)
                end = position
        return end


def _check_header(path: Path, line: bytes, expected: dict[str, Any]) -> None:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("file") != _MAGIC:
        raise HandfulError(f"checkpoint {path} is not a checkpoint of ours: give another name, or remove it")
    for name, value in expected.items():
        if found.get(name) != value:
            raise HandfulError(
                f"checkpoint {path} belongs to a run with another {name} ({found.get(name)}, now {value}): "
                "give another name, or remove it"
            )


def _records(file: BinaryIO) -> Iterator[tuple[Record, int]]:
    while len(prefix := file.read(_PREFIX.size)) == _PREFIX.size:
        length, checksum = _PREFIX.unpack(prefix)
        content = file.read(length)
        if len(content) < length or zlib.crc32(content) != checksum:
            return
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            yield dict(archive), file.tell()
