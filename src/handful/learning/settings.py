"""Settings of trainings from tables, as TOML gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from handful.errors import HandfulError

if TYPE_CHECKING:
    from handful.learning.fdal import FDAL
    from handful.learning.simclr import SimCLR

Made = TypeVar("Made")


def simclr_settings(table: Mapping[str, Any]) -> SimCLR:
    """Of the part [simclr]; ``views`` is the name of a preset, or a table."""
    from handful.learning.augment import Views, preset
    from handful.learning.simclr import SimCLR

    told = dict(table)
    views = told.get("views")
    if isinstance(views, str):
        told["views"] = preset(views)
    elif isinstance(views, Mapping):
        told["views"] = _made(Views, views, "simclr.views")
    return _made(SimCLR, told, "simclr")


def fdal_settings(table: Mapping[str, Any]) -> FDAL:
    """Of the part [fdal]."""
    from handful.learning.fdal import FDAL

    return _made(FDAL, table, "fdal")


def _made(kind: type[Made], table: Mapping[str, Any], part: str) -> Made:
    known = {item.name: str(item.type) for item in fields(kind)}  # type: ignore[arg-type]
    given = {word: tuple(value) if isinstance(value, list) else value for word, value in table.items()}
    types: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "tuple": (tuple,)}
    for word, value in given.items():
        if word not in known:
            raise HandfulError(f"[{part}] has no {word!r}; it may have {', '.join(known)}")
        wanted = types.get(known[word].partition("[")[0].partition(" ")[0])
        if wanted is not None and (isinstance(value, bool) or not isinstance(value, wanted)):
            raise HandfulError(f"{part}.{word} must be of type {known[word]}; got {value!r}")
    return kind(**given)
