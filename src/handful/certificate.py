"""The certificate of a run: what it claims, and the prices that prove it. See docs/certificate.md."""

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

if TYPE_CHECKING:
    from handful.selection import Selection

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# What the annotations of the fields below mean in a file: the dtype's kinds, dimensions, and the words for them.
_KINDS: Final = {
    "Indices": ("iu", 1, "a list of whole numbers"),
    "Floats": ("f", 1, "a list of real numbers"),
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
        The proof of the lower bound.
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
    """

    picks: Indices
    shares: Floats
    prices: Floats
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

    @classmethod
    def of(cls, selection: Selection) -> Certificate:
        """The certificate of a selection."""
        pool = selection.pool
        everyone = len(pool.candidates) == pool.n
        return cls(
            picks=selection.picks,
            shares=selection.masses,
            prices=selection.prices,
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
        )

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
        if not len(certificate.picks) or not len(certificate.prices):
            raise HandfulError(f"{path} names no picks or no prices, so it proves nothing; use the file of a run.")
        _check_length(path, "shares", certificate.shares, "picks", certificate.picks)
        if len(certificate.masses):
            _check_length(path, "masses", certificate.masses, "prices", certificate.prices)
        return certificate


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


def _check_length(path: str | PathLike[str], name: str, array: Floats, other: str, like: NDArray[Any]) -> None:
    if len(array) != len(like):
        raise HandfulError(f"{path}: '{name}' has {len(array)} entries, '{other}' {len(like)}; they must be as many.")
