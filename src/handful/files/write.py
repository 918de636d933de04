"""Writes the folder of a run, all of it or nothing, and the small files in it."""

import csv
import errno
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError

RUN_FILES = (
    *("picks.csv", "plan.npz", "certificate.npz", "summary.json", "spread.csv", "trace.csv", "trace.parquet"),
    *("picture.png", "bounds.png", "report.html", "scenarios.csv", "scenarios.json"),
)
"""Everything a run may write; a folder that holds anything else is never replaced."""

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
    errno.EROFS: "the disk is read-only",
}


def check_target(path: str | os.PathLike[str], force: bool) -> None:
    """Refuse, before any work is done, an output folder that could not be written in the end."""
    with _one_sentence(path):
        target = Path(path).resolve()
        if target == Path.cwd():
            raise HandfulError(f"{path} is the folder you are in; give the output a folder of its own.")
        if not target.is_dir():
            if target.exists():
                raise HandfulError(f"{path} is a file; give the output the name of a folder.")
            _check_parent(path, _existing_parent(target))
            return
        _check_parent(path, target.parent)
        there = sorted(target.iterdir())
    strangers = [entry.name for entry in there if entry.name not in RUN_FILES or not entry.is_file()]
    if strangers:
        raise HandfulError(
            f"{path} holds '{strangers[0]}', which is no file of a run, so it is never replaced; choose another folder."
        )
    if there and not force:
        raise HandfulError(f"{path} exists and holds an earlier run; use --force to replace it, or another folder.")


@contextmanager
def run_folder(path: str | os.PathLike[str], *, force: bool) -> Iterator[Path]:
    """Give an empty folder to write a run to, and put it in place when the block ends well.

    The folder lies on the disk of its target, so that putting it in place is one rename; an earlier run is moved aside
    before and removed after that. When the block fails or is interrupted, nothing is left of the new run, and the
    earlier one is as it was. The block should only write: any OSError in it is reported as one of writing.

    Parameters
    ----------
    path
        Where the run goes; folders above it are made as needed.
    force
        Whether an earlier run there is replaced.
    """
    check_target(path, force)
    target = Path(path).resolve()
    with _one_sentence(path):
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=_existing_parent(target)))
        try:
            # A folder inside has the permissions that the person's umask asks for; mkdtemp's own has not.
            fresh = aside / "new"
            fresh.mkdir()
            yield fresh
            check_target(path, force)
            _put_in_place(fresh, target, aside / "old")
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def write_csv(path: Path, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Write columns of one length as comma-separated text (RFC 4180); numbers read back as the same numbers."""
    values = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*values, strict=True))


def write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of one length as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(dict(columns)), path)


def write_json(path: Path, data: Any) -> None:
    """Write data as JSON for people and machines: indented, and null where a number is not finite."""
    path.write_text(json_text(data) + "\n", encoding="utf-8")


def json_text(data: Any) -> str:
    """Return data as JSON; NumPy's numbers and arrays are welcome, NaN and infinity become null."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(data: Any) -> Any:
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def _existing_parent(target: Path) -> Path:
    return next(parent for parent in target.parents if parent.exists())


def _check_parent(path: str | os.PathLike[str], parent: Path) -> None:
    if not parent.is_dir():
        raise HandfulError(f"{path} can't be made: {parent} is a file, not a folder; choose another place.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise HandfulError(f"{path} can't be written: permission is denied in {parent}; choose another place.")


def _put_in_place(fresh: Path, target: Path, old: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise


@contextmanager
def _one_sentence(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the file system throws into one sentence."""
    try:
        yield
    except OSError as error:
        # NumPy notices a full disk by the bytes that went missing, without an error number.
        reason = _REASONS.get(error.errno or 0) or error.strerror or f"the disk may be full ({error})"
        raise HandfulError(f"{path} can't be written: {reason}; make room or choose another place.") from error
