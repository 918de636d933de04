"""The files that data sets are published in: where they are, what they hash to, and how they get here."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from handful.errors import HandfulError

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Source:
    """Where files can be downloaded: an address to which the name is added, and the MD5 of what lies there.

    An archive is unpacked.
    """

    address: str
    files: Mapping[str, str]
    archive: bool = False


@dataclass(frozen=True)
class Official:
    """A published data set.

    Attributes
    ----------
    title : str
    checksums : mapping
        MD5 of each file, unpacked if it is a ``.gz``, so that it does not matter who packed it.
    source : Source, optional
    """

    title: str
    checksums: Mapping[str, str]
    source: Source | None = None

    def check(self, path: Path) -> None:
        """Refuse a file that is not the published one; files without a known checksum pass."""
        expected = self.checksums.get(path.name.removesuffix(".gz"))
        if expected is None:
            return
        found = md5(path)
        if found != expected:
            raise HandfulError(
                f"{path} is not the published file of {self.title}: its MD5 is {found} and {expected} was expected; "
                "copy it again, or say that checksums are not to be compared if it is meant to differ"
            )

    def download(self, folder: Path) -> None:
        """Fetch what is not there yet (``pip install 'handful[data]'``), and compare it with its checksums."""
        if self.source is None:
            raise HandfulError(f"{self.title} has no address to download it from; put its files into {folder}")
        try:
            import pooch
        except ModuleNotFoundError:
            raise HandfulError("downloads need pooch: pip install 'handful[data]'") from None
        unpack = pooch.Untar(extract_dir=".") if self.source.archive else None
        for name, checksum in self.source.files.items():
            try:
                pooch.retrieve(self.source.address + name, f"md5:{checksum}", fname=name, path=folder, processor=unpack)
            except (OSError, ValueError) as error:  # no connection; another checksum
                raise HandfulError(f"{self.source.address}{name} could not be downloaded: {error}") from error


def md5(path: Path) -> str:
    """MD5 of a file, of what is in it if it is a ``.gz``."""
    digest = hashlib.md5(usedforsecurity=False)
    with opened(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def opened(path: Path) -> IO[bytes]:
    """Open a file, packed or not."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, packed or not."""
    try:
        with opened(path) as file:
            return file.read()
    except (EOFError, gzip.BadGzipFile) as error:
        raise HandfulError(f"{path} is truncated or no gzip file; copy it again") from error


def found(folder: Path, *names: str, inside: str = "") -> Path:
    """The first of these files that is in the folder, or in the folder ``inside`` it, packed or not."""
    if not folder.is_dir():
        raise HandfulError(f"there is no folder {folder}; give the one that holds the data set")
    for name in names:
        for place in (folder, folder / inside):
            for path in (place / name, place / f"{name}.gz"):
                if path.is_file():
                    return path
    raise HandfulError(f"{folder} does not hold {' or '.join(names)}; give the folder with the files as published")
