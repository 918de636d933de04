"""Reads the values that options are written with: `10m`, `4GB`, `1%`, `0.25x:3x`."""

import math
import re
from collections.abc import Callable

from handful.cli.naming import naming
from handful.errors import HandfulError

Range = tuple[float, float]

_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"


def duration(text: str, option: str = "--time-limit") -> float:
    """Seconds of `90`, `90s`, `10m`, `2h` or `1h30m`."""
    words = _bare(text)
    if re.fullmatch(_NUMBER, words):
        words += "s"
    parts = re.fullmatch(rf"(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?", words)
    numbers = parts.groups(default="0") if parts else ()
    seconds = sum(float(number) * unit for number, unit in zip(numbers, (3600, 60, 1), strict=False))
    if not 0 < seconds < math.inf:
        raise HandfulError(f"{option} {text} is no length of time above 0; write it like 90s, 10m, 2h or 1h30m.")
    return seconds


def size(text: str, option: str = "--memory") -> int:
    """Bytes of `4GB` (of 1000³ bytes each), `4GiB` (of 1024³) and the like."""
    parts = re.fullmatch(rf"(?P<number>{_NUMBER})(?P<power>[kmgt])(?P<binary>i?)b", _bare(text))
    value = 0
    if parts:
        value = int(float(parts["number"]) * (1024 if parts["binary"] else 1000) ** _POWERS[parts["power"]])
    if not value:
        raise HandfulError(f"{option} {text} is no size of memory above 0; write it like 500MB, 4GB or 4GiB.")
    return value


def gap(text: str, option: str = "--gap") -> float:
    """A share of the distance, from `0.01` or `1%`."""
    value = _fraction(_bare(text))
    if not 0 <= value < 1:
        raise HandfulError(f"{option} {text} is no share from 0 up to 1; write it like 0.01 or 1%.")
    return value


def picks_weight(text: str, option: str = "--picks-weight") -> Callable[[int], str | Range]:
    """`uniform`, `free` or the mass range of each pick, as a function of how many picks there are.

    A bound of the range is a share of the pool (`0.01`, `1%`) or a multiple of an even share (`0.25x`).
    """
    words = _bare(text)
    if words in ("uniform", "free"):
        return lambda picks: words
    bounds = [_bound(word) for word in words.split(":")]
    if len(bounds) != 2 or any(math.isnan(value) for value, _ in bounds):
        raise HandfulError(
            f"{option} {text} is not understood; write uniform, free, or the least and the most mass of a pick, as "
            "shares of the pool (0.01:0.05 or 1%:5%) or as multiples of an even share (0.25x:3x)."
        )

    def range_of(picks: int) -> Range:
        from handful.problem import mass_range

        with naming(f"{option} {text}"):
            shares = mass_range((_share(bounds[0], picks), _share(bounds[1], picks)), picks)
        return shares.low, shares.high

    return range_of


def _share(bound: tuple[float, bool], picks: int) -> float:
    value, even = bound
    return value / picks if even else value


def _bound(word: str) -> tuple[float, bool]:
    """The number of `0.25x` and whether it counts even shares."""
    even = word.endswith("x")
    return (_number(word[:-1]) if even else _fraction(word)), even


def _fraction(word: str) -> float:
    return _number(word[:-1]) / 100 if word.endswith("%") else _number(word)


def _number(word: str) -> float:
    return float(word) if re.fullmatch(_NUMBER, word) else math.nan


def _bare(text: str) -> str:
    return "".join(text.split()).lower()
