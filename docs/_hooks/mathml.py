"""Turns the formulas of the pages into MathML while the site is built: they need no script, and no network."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
# What the converter does not know, in words that it does: sizes of brackets, and "arg" as an operator's name.
_SIZES = re.compile(r"\\[bB]ig+[lrm]?(?![A-Za-z])\s*")
_ARG = re.compile(r"\\arg\s*\\(max|min)")
# In a line of its own the subscript of these stands below them.
_UNDER = {"max": "max", "min": "min", "argmax": "arg max", "argmin": "arg min"}


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replace what arithmatex has found."""

    def formula(found: re.Match[str]) -> str:
        return _mathml(html.unescape(found[2]).strip(), "inline" if found[1] == "span" else "block", page.file.src_uri)

    return _FORMULA.sub(formula, content)


def _mathml(latex: str, display: str, where: str) -> str:
    known = _ARG.sub(r"\\operatorname{arg\1}", _SIZES.sub("", latex))
    formula = convert_to_element(known, display=display)
    for element in formula.iter():
        element.text = html.unescape(element.text or "")  # the converter leaves entities in it
        if "\\" in element.text:
            raise ValueError(f"{where}: the formula {latex!r} holds a command that latex2mathml does not know")
    for element in formula.iter("msub"):
        name = element[0]
        if name.text in _UNDER:
            element.tag, name.tag, name.text = "munder", "mo", _UNDER[name.text]
            name.set("movablelimits", "true")
    found = ElementTree.tostring(formula, encoding="unicode")
    return found if display == "inline" else f'<div class="formula">{found}</div>'
