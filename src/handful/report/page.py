"""Puts data, style and script into one HTML file that asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from typing import Any

# In this order: a part may use what stands in those before it.
_SCRIPTS = ("data.js", "colours.js", "dots.js", "map.js", "detail.js", "charts.js", "table.js", "hands.js", "main.js")


def page(title: str, data: dict[str, Any]) -> str:
    """The report as HTML.

    Whatever comes from the pool (ids, texts, names) goes into the page as data, never as markup; the policy that stands
    above it lets the browser run this script alone and load nothing.
    """
    folder = files("handful.report") / "page"
    style = (folder / "style.css").read_text(encoding="utf-8")
    parts = "\n".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    script = f'"use strict";\n(() => {{\n{parts}\n}})();\n'
    policy = (
        f"default-src 'none'; img-src data:; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'"
    )
    values = {
        "title": escape(title),
        "policy": escape(policy),
        "style": style,
        "data": embedded(data),
        "script": script,
    }
    html = (folder / "page.html").read_text(encoding="utf-8")
    pieces = html.split("@@")  # text, name, text, name, ..., so that nothing put in is looked through again
    return "".join(piece if at % 2 == 0 else values[piece] for at, piece in enumerate(pieces))


def embedded(data: Any) -> str:
    """Data as JSON that no HTML parser can take for the end of its script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # Half of a surrogate pair can't be written as UTF-8.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
