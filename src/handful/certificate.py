"""The certificate of a run: what it claims, and the prices that prove it. See docs/certificate.md for every array."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from handful import __version__
from handful.errors import HandfulError
from handful.proof import ROOT

if TYPE_CHECKING:
    from handful.proof import Proof
    from handful.selection import Selection

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
FloatTable = NDArray[np.float64]
IndexTable = NDArray[np.int64]

# What the annotations of the fields below mean in a file: the dtype's kinds, dimensions, and the words for them.
_KINDS: Final = {
    "Indices": ("iu", 1, "a list of whole numbers"),
    "Floats": ("f", 1, "a list of real numbers"),
    "IndexTable": ("iu", 2, "a table of whole numbers"),
    "FloatTable": ("f", 2, "a table of real numbers"),
    "float": ("f", 0, "one real number"),
    "str": ("U", 0, "a text"),
}


@dataclass(frozen=True, eq=False)
class Certificate:
    """The claim that these picks are at this distance, and that none can be nearer than the lower bound.

    Attributes
    ----------
    picks : array of int
        Rows of the pool; those of earlier rounds come first.
    shares : array, one per pick
        Mass that each pick carries.
    prices : array, one per point
        The proof of the lower bound, or the first vector of it.
    further_prices : array of shape (k, points)
        The other vectors.
    cases : array of shape (c, 4)
        For every case the one it comes from, the candidate it was split by, whether that is in (1) or out (0), and the
        vector that closes it: 0 for ``prices``, k for row k - 1 of ``further_prices``. A number r below -1 stands for
        region -2 - r: more of its candidates than ``region_most`` are picked (1), or no more than that (0).
    regions : array of shape (m, 2)
        Region and candidate in it.
    region_most : array of int
    discarded : array of shape (d, 3)
        Case, candidate, and the vector that proves that it need not be considered there.
    distance, lower_bound : float
    metric : str
    low, high : float
        The mass range of a pick.
    already : array of int
        The picks of earlier rounds.
    candidates : array of int
        Rows that may be picked; empty where every point may.
    masses : array
        One per point, of sum 1; empty where all are equal.
    fingerprint : str
        `Pool.fingerprint` of the points.
    version : str
        Version of handful that wrote it.
    claim : str
        What the run says of all picks, in words: that there is no certificate, where its bound is none.
    """

    picks: Indices
    shares: Floats
    prices: Floats
    further_prices: FloatTable
    cases: IndexTable
    regions: IndexTable
    region_most: Indices
    discarded: IndexTable
    distance: float
    lower_bound: float
    metric: str
    low: float
    high: float
    already: Indices
    candidates: Indices
    masses: Floats
    fingerprint: str
    version: str
    claim: str

    @classmethod
    def of(cls, selection: Selection) -> Certificate:
        """The certificate of a selection."""
        pool = selection.pool
        everyone = len(pool.candidates) == pool.n
        vectors, cases, discarded = _tables(selection.proof)
        regions = selection.proof.regions
        return cls(
            picks=selection.picks,
            shares=selection.masses,
            prices=vectors[0],
            further_prices=vectors[1:],
            cases=cases,
            regions=np.array([(r, j) for r, (some, _) in enumerate(regions) for j in some], np.int64).reshape(-1, 2),
            region_most=np.array([most for _, most in regions], np.int64),
            discarded=discarded,
            distance=selection.distance,
            lower_bound=selection.lower_bound,
            metric=str(pool.metric),
            low=selection.low,
            high=selection.high,
            already=selection.already,
            candidates=np.empty(0, np.int64) if everyone else pool.candidates,
            masses=np.empty(0) if pool.equal_masses else pool.masses,
            fingerprint=pool.fingerprint,
            version=__version__,
            claim=selection.claim,
        )

    @property
    def vectors(self) -> FloatTable:
        """All vectors of prices, as ``cases`` and ``discarded`` count them."""
        return np.vstack([self.prices, self.further_prices])

    @property
    def point_masses(self) -> Floats:
        """The mass of every point."""
        n = len(self.prices)
        return self.masses if len(self.masses) else np.full(n, 1 / n)

    @property
    def allowed(self) -> Indices:
        """All rows that may be picked."""
        return self.candidates if len(self.candidates) else np.arange(len(self.prices))

    def write(self, path: str | PathLike[str]) -> None:
        """Write it as an ``.npz`` file that NumPy reads without pickle."""
        arrays: dict[str, Any] = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Certificate:
        """Read a file that `write` wrote."""
        arrays = read_arrays(path, {field.name: str(field.type) for field in fields(cls)})
        values: dict[str, Any] = {name: array if array.ndim else array.item() for name, array in arrays.items()}
        certificate = cls(**values)
        picks, points = len(certificate.picks), len(certificate.prices)
        if not picks or not points:
            raise HandfulError(f"{path} names no picks or no prices, so it proves nothing; give the folder of a run.")
        _check_shape(path, "shares", certificate.shares, (picks,))
        _check_shape(path, "masses", certificate.masses, (points if len(certificate.masses) else 0,))
        _check_shape(path, "further_prices", certificate.further_prices, (len(certificate.further_prices), points))
        _check_shape(path, "cases", certificate.cases, (max(1, len(certificate.cases)), 4))
        _check_shape(path, "regions", certificate.regions, (len(certificate.regions), 2))
        _check_shape(path, "discarded", certificate.discarded, (len(certificate.discarded), 3))
        return certificate


def _tables(proof: Proof) -> tuple[FloatTable, IndexTable, IndexTable]:
    """A proof as tables: those vectors of it that prove something, that of the root first; cases; discarded."""
    places: dict[int, int] = {}
    vectors: list[Floats] = []

    def place(number: int) -> int:
        vector = proof.prices[number]
        if id(vector) not in places:
            places[id(vector)] = len(vectors)
            vectors.append(vector)
        return places[id(vector)]

    place(proof.closing[ROOT])
    split = set(proof.parents)
    closing = [0 if case in split else place(number) for case, number in enumerate(proof.closing)]
    cases = np.column_stack([proof.parents, proof.branches, proof.included, closing]).astype(np.int64)
    discarded = [(case, candidate, place(number)) for case, candidate, number in proof.discarded]
    return np.stack(vectors), cases, np.array(discarded, np.int64).reshape(-1, 3)


def read_arrays(path: str | PathLike[str], kinds: dict[str, str]) -> dict[str, NDArray[Any]]:
    """Read these arrays of an ``.npz`` file; ``kinds`` names each and says what it is, as a field's annotation."""
    try:
        with open(path, "rb") as stream:
            file = np.load(stream, allow_pickle=False)
            arrays = {name: file[name] for name in kinds if isinstance(file, NpzFile) and name in file}
    except FileNotFoundError as error:
        raise HandfulError(f"{path} is missing; give the folder of a run that ended well.") from error
    except OSError as error:
        raise HandfulError(f"{path} can't be read: {error.strerror or error}; copy or make the run again.") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise HandfulError(f"{path} is truncated or no .npz file ({error}); copy or make the run again.") from error
    for name in kinds:
        if name not in arrays:
            raise HandfulError(f"{path} has no array '{name}'; give the folder that the run wrote.")
    for name, array in arrays.items():
        letters, dimensions, words = _KINDS[kinds[name]]
        if array.dtype.kind not in letters or array.ndim != dimensions:
            given = f"shape {array.shape} of {array.dtype}"
            raise HandfulError(f"{path}: '{name}' must be {words}; got {given}. Use the file that the run wrote.")
        if letters != "U":
            arrays[name] = array.astype(np.float64 if letters == "f" else np.int64)
    return arrays


def _check_shape(path: str | PathLike[str], name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        given = f"'{name}' must be of shape {shape}; got {array.shape}"
        raise HandfulError(f"{path}: {given}. Use the file that the run wrote.")
