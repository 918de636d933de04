"""What the pages name is there: options of commands, files of the repository, and each other."""

from __future__ import annotations

import re

import pytest
from pages import PAGES, ROOT, blocks, text_of, words
from typer.main import get_command

from handful.cli.app import app

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
SHELL = [
    (page, block, line) for page in PAGES for block in blocks(page) if block.language == "sh" for line in block.commands
]


def test_blocks_say_what_they_are() -> None:
    """A block without a language would never be run."""
    unnamed = [(page, block.line) for page in PAGES for block in blocks(page) if not block.language]
    assert unnamed == []
    others = {"py", "pycon", "bash", "shell", "console"}  # of which none would be run
    assert not others & {block.language for page in PAGES for block in blocks(page)}


def test_exempt_blocks_say_why() -> None:
    whys = [block.exempt for page in PAGES for block in blocks(page) if block.exempt is not None]
    assert all(len(why.split()) >= 2 for why in whys)


def test_commands_that_are_not_run_have_options_that_exist() -> None:
    parsed = 0
    for _, block, line in SHELL:
        if block.exempt is None or "..." in line or words(line)[0] != "handful":
            continue
        name, *arguments = words(line)[1:]
        arguments = [word for word in arguments if not word.startswith("[")]
        COMMANDS[name].make_context(name, arguments, resilient_parsing=False).close()
        parsed += 1
    assert parsed > 5


def test_scripts_and_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for script in re.findall(r"\b((?:benchmarks|tests)/[\w/]+\.py)", text_of(page)):
            assert (ROOT / script).exists(), f"{page} names {script}"
        for target in re.findall(r"^make ([\w-]+)|`make ([\w-]+)`", text_of(page), re.MULTILINE):
            assert re.search(rf"^{''.join(target)}:", makefile, re.MULTILINE), f"{page} names make {''.join(target)}"


def test_tests_that_are_named_exist() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    for page in PAGES:
        for name in re.findall(r"`(test_[a-z\d]+_\w+_\w+)`", text_of(page)):
            assert f"def {name}(" in tests or (ROOT / "tests" / f"{name}.py").exists(), f"{page} names {name}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """mkdocs checks the pages in docs; the README and the anchors of its links are not in them."""
    here = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        if not re.match(r"[a-z]+:", target):
            assert (here / target).exists(), f"{page} links to {target}"
