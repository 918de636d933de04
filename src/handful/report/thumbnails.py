"""Small images of points, packed into a few sheets of bounded size."""

from __future__ import annotations

import base64
import importlib.util
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.files.columns import read_values
from handful.files.table import Table

Indices = NDArray[np.int64]
Draw = Callable[[int], Any]
"""Gives the image of a point, or None where it has none."""

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")

_SIDE = 48  # pixels of a thumbnail, less where the images are smaller
_ACROSS = 16  # thumbnails in a row of a sheet, and rows of it
_QUALITY = 75
_PLAIN = 24  # pixels below which nothing of a thumbnail is lost


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Sheets as data URIs, each of ``across`` x ``across`` tiles of ``side`` pixels; point ``rows[k]`` is tile k."""

    sheets: tuple[str, ...]
    side: int
    across: int
    rows: Indices

    @property
    def size(self) -> int:
        """Bytes of all sheets, as they stand in the file."""
        return sum(map(len, self.sheets))


def image_source(source: str, table: Table) -> Draw:
    """What draws the image of a point.

    ``source`` is ``HEIGHTxWIDTH``, where the coordinates are pixels; a folder with images that are named by id, or by
    row, or else as many as there are points, in the order of their names; a path with ``{id}`` or ``{index}`` in it; or
    a column of paths, as `read_values` finds it.
    """
    if importlib.util.find_spec("PIL") is None:
        raise HandfulError("--images needs Pillow; install it with pip install 'handful[report]'.")
    shape = re.fullmatch(r"(\d+)x(\d+)", source)
    if shape and not Path(source).exists():
        return _pixels(table, int(shape[1]), int(shape[2]))
    if Path(source).is_dir():
        return _files(_in_folder(Path(source), table))
    if "{" in source:
        return _files(_by_pattern(source, table))
    found = read_values(source, table, "--images")
    base = found.file.resolve().parent
    return _files([None if value is None else base / str(value) for value in found.values])


def thumbnails(draw: Draw, order: Indices, most: int) -> Thumbnails | None:
    """Make thumbnails of the points in this order, those with an image, until ``most`` bytes are full.

    Every sheet but the last is full; sheets that would go over the bytes are not made. None where there is no image.
    """
    images = ((row, image) for row in order.tolist() if (image := draw(row)) is not None)
    first = next(images, None)
    if first is None:
        return None
    side = min(_SIDE, max(8, *first[1].size))
    sheets: list[str] = []
    rows: list[int] = []
    total = 0
    for tiles in _sheetfuls(first, images):
        sheet = _encoded([image for _, image in tiles], side)
        if total + len(sheet) > most:
            break
        total += len(sheet)
        sheets.append(sheet)
        rows += [row for row, _ in tiles]
    return Thumbnails(tuple(sheets), side, _ACROSS, np.array(rows, np.int64)) if sheets else None


def _sheetfuls(first: tuple[int, Any], others: Iterator[tuple[int, Any]]) -> Iterator[list[tuple[int, Any]]]:
    tiles = [first]
    for tile in others:
        if len(tiles) == _ACROSS**2:
            yield tiles
            tiles = []
        tiles.append(tile)
    yield tiles


def _encoded(images: Sequence[Any], side: int) -> str:
    """A sheet as a data URI: WebP, or JPEG where Pillow can't write that."""
    from PIL import Image, features

    sheet = Image.new("RGB", (side * min(_ACROSS, len(images)), side * -(-len(images) // _ACROSS)), "white")
    for at, image in enumerate(images):
        tile = image.convert("RGBA" if image.mode in ("P", "LA", "PA", "RGBA") else "RGB")
        scale = side / max(tile.size)
        small = tile.resize(tuple(max(1, round(length * scale)) for length in tile.size), Image.Resampling.BOX)
        left, top = (side - small.width) // 2, (side - small.height) // 2
        corner = (at % _ACROSS * side + left, at // _ACROSS * side + top)
        sheet.paste(small, corner, small if small.mode == "RGBA" else None)
    kind = "webp" if features.check("webp") else "jpeg"
    file = io.BytesIO()
    if kind == "webp" and side < _PLAIN:  # what is lost would be seen
        sheet.save(file, kind, lossless=True)
    else:
        sheet.save(file, kind, quality=_QUALITY)
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def _pixels(table: Table, height: int, width: int) -> Draw:
    """The coordinates as grey values, dark on white as ink is."""
    from PIL import Image

    d = table.points.shape[1]
    if height * width not in (d, d / 3) or not height * width:
        raise HandfulError(f"--images {height}x{width} does not fit points of {d} coordinates.")
    colours = d // (height * width)
    some = np.asarray(table.points[:: max(1, len(table.points) // 1_000)], np.float64)
    low, high = float(some.min()), float(some.max())

    def draw(row: int) -> Any:
        values = (np.asarray(table.points[row], np.float64) - low) / ((high - low) or 1.0)
        if colours == 1:
            values = 1 - values
        pixels = (values.clip(0, 1) * 255).round().astype(np.uint8)
        shape = (height, width) if colours == 1 else (height, width, 3)
        return Image.fromarray(pixels.reshape(shape))

    return draw


def _in_folder(folder: Path, table: Table) -> list[Path | None]:
    """The image of each point."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)
    names = {path.name: path for path in files} | {path.stem: path for path in files}
    if table.ids is not None:
        found = [names.get(str(name)) for name in table.ids.tolist()]
    elif files and all(path.stem.isdecimal() for path in files):
        numbered = {int(path.stem): path for path in files}
        found = [numbered.get(row) for row in range(len(table.points))]
    else:
        found = list(files) if len(files) == len(table.points) else []
    if not any(found):
        by = "row (0.png, 1.png, ...)" if table.ids is None else "id"
        raise HandfulError(
            f"{folder} holds {len(files):,} images, none for a known point; name them by {by}, or give --images a "
            "column with their paths."
        )
    return found


def _by_pattern(pattern: str, table: Table) -> list[Path | None]:
    """The path of each point's image, from its id or row; ``{index:05d}`` has leading zeros."""
    ids = range(len(table.points)) if table.ids is None else table.ids.tolist()
    try:
        return [Path(pattern.format(id=name, index=index)) for index, name in enumerate(ids)]
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise HandfulError(
            f"--images {pattern} can't be filled in ({error}); what it may hold is {{id}} and {{index}}."
        ) from error


def _files(paths: Sequence[Path | None]) -> Draw:
    from PIL import Image, UnidentifiedImageError

    def draw(row: int) -> Any:
        path = paths[row]
        if path is None:
            return None
        try:
            with Image.open(path) as image:
                image.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # large JPEGs are read at a fraction of their size
                image.load()
                return image.copy()
        except UnidentifiedImageError:
            raise HandfulError(f"{path} is no image that Pillow can read; correct --images.") from None
        except FileNotFoundError:
            raise HandfulError(f"{path} does not exist; correct --images.") from None

    return draw
