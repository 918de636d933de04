"""Lists of images: COCO's image information, and the manifest that CVAT makes tasks from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from handful import __version__
from handful.errors import HandfulError
from handful.handoff.picks import Picks


def coco(picks: Picks) -> dict[str, Any]:
    """COCO's "image info": images with their sizes, without annotations; an image's id is the row of the point.

    An address on the web stands in ``coco_url``, as in COCO, and its size is left out.
    """
    images = [
        {"id": fields["handful_index"], **_described(source), **fields}
        for source, fields in zip(picks.require_images("coco"), picks.fields(), strict=True)
    ]
    return {
        "info": {"description": f"{len(picks)} picks of {picks.n} points", "version": __version__},
        "licenses": [],
        "images": images,
        "annotations": [],
        "categories": [],
    }


def cvat(picks: Picks) -> list[dict[str, Any]]:
    """The lines of a CVAT manifest (`manifest.jsonl`), which keeps the order of the picks."""
    sources = picks.require_images("cvat")
    twice = [source for source, count in Counter(sources).items() if count > 1]
    if twice:
        raise HandfulError(f"the image {twice[0]} is that of several picks; cvat finds images by their names.")
    lines: list[dict[str, Any]] = [{"version": "1.1"}, {"type": "images"}]
    for source, fields in zip(sources, picks.fields(), strict=True):
        if _is_address(source):
            raise HandfulError(f"cvat needs the size of {source}; give files on this machine with --images.")
        path = PurePosixPath(Path(source).as_posix())
        width, height = _size(source)
        name = str(path.with_suffix(""))
        lines.append({"name": name, "extension": path.suffix, "width": width, "height": height, "meta": fields})
    return lines


def _described(source: str) -> dict[str, Any]:
    if _is_address(source):
        return {"file_name": PurePosixPath(source).name, "coco_url": source}
    width, height = _size(source)
    return {"file_name": Path(source).as_posix(), "width": width, "height": height}


def _is_address(source: str) -> bool:
    return "://" in source


def _size(source: str) -> tuple[int, int]:
    try:
        from PIL import Image
    except ImportError:
        raise HandfulError("sizes of images are read by Pillow; install it with pip install 'handful[plot]'.") from None
    try:
        with Image.open(source) as image:
            return image.size
    except OSError as error:
        reason = error.strerror or "it is no image that Pillow knows"
        raise HandfulError(f"the image {source} can't be read ({reason}); check --images.") from error
