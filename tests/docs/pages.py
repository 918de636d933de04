"""The pages of the documentation and the blocks of code on them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_EXEMPT = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.DOTALL)
_NEEDS = re.compile(r"<!-- needs: (\S+) -->")


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its text, its line on the page, and why it is not run, if it is not."""

    language: str
    text: str
    line: int
    exempt: str | None

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, those that end in a backslash joined with the next."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """All blocks of code of a page, in order."""
    text, found = text_of(page), []
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        why = _EXEMPT.search(before)
        code = re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)
        found.append(Block(match[2], code, before.count("\n") + 2, why[1] if why else None))
    return found


def needs(page: str) -> list[str]:
    """The files that the blocks of a page need beside pool.npy and labels.csv, from `<!-- needs: FILE -->`."""
    return _NEEDS.findall(text_of(page))


def words(command: str) -> list[str]:
    """A command as the shell splits it, without its comment."""
    return shlex.split(command, comments=True)
