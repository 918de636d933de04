"""Networks and how they are trained: what needs torch stands here, and nothing outside imports it unasked.

Install with ``pip install 'handful[torch]'``.
"""

from __future__ import annotations

from importlib.util import find_spec

from handful.errors import HandfulError


def need_torch(what: str) -> None:
    """Say in one sentence what is missing, where torch is not installed."""
    if find_spec("torch") is None:
        raise HandfulError(f"{what} needs torch, which is not installed: pip install 'handful[torch]'")
