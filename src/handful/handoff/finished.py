"""Labels that come back, for those who have the pool in memory."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from handful.files.labelled import Labelled, read_labelled
from handful.files.table import Table, as_ids


def finished(path: str | PathLike[str], n: int, ids: ArrayLike | None = None) -> Labelled:
    """Read finished labels of a pool of ``n`` points, as `handful select --already` does.

    Parameters
    ----------
    path
        An export of Label Studio (JSON, JSON-MIN, CSV), a table with the column "label", or a list of points.
    n
        How many points the pool has.
    ids
        Their names, where they have some.
    """
    pool = Path("the pool")
    names = None if ids is None else as_ids(pool, np.asarray(ids), "ids")
    return read_labelled(path, Table(pool, np.empty((n, 0)), names, {}))
