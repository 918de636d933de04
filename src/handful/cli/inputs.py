"""Reads what a run is about: the pool and the files that speak about its points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.naming import naming
from handful.errors import HandfulError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from handful.files import Labelled, Table
    from handful.pool import Pool

    Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """Where the pool comes from, as the command line says it."""

    file: Path
    id_column: str | None
    array: str | None
    mass: str | None

    def read(self) -> Table:
        """Read the file."""
        from handful.files import names_a_file, read_pool

        column = None if self.mass is None or names_a_file(self.mass) else self.mass
        return read_pool(self.file, id_column=self.id_column, mass_column=column, array=self.array)

    def pool(self, table: Table, metric: str, candidates: Indices | None = None) -> Pool:
        """Make the pool that the engine works on."""
        from handful.pool import Pool

        masses = self.masses(table)
        with naming(str(self.file) if self.mass is None else f"{self.file} with --mass {self.mass}"):
            return Pool(table.points, metric, masses=masses, candidates=candidates)

    def named(self, folder: Path) -> dict[str, Any]:
        """What the summary of the run in ``folder`` says of the pool, so that it is found again."""
        from handful.files.finished import named_source

        return named_source(self.file, folder, id_column=self.id_column, array=self.array, mass=self.mass)

    def masses(self, table: Table) -> NDArray[np.float64] | None:
        """How much each point weighs, if that was said."""
        from handful.files import read_masses

        return None if self.mass is None else read_masses(self.mass, table)


def earlier(table: Table, file: Path | None) -> Labelled:
    """The points labelled earlier."""
    import numpy as np

    from handful.files import Labelled, read_labelled

    return Labelled(np.empty(0, np.int64)) if file is None else read_labelled(file, table)


def allowed(table: Table, candidates: Path | None, exclude: Path | None) -> Indices | None:
    """Rows that may be picked, from the files that name those that may and may not; None for all."""
    import numpy as np

    from handful.files import read_points_list

    rows = None if candidates is None else read_points_list(candidates, table)
    if rows is not None and not len(rows):
        raise HandfulError(f"--candidates {candidates} names no points, so nothing may be picked; name some.")
    if exclude is None:
        return rows
    everything = np.arange(len(table.points)) if rows is None else rows
    left = np.setdiff1d(everything, read_points_list(exclude, table))
    if not len(left):
        raise HandfulError(f"--exclude {exclude} leaves no candidates, so nothing may be picked; exclude fewer.")
    return left
