"""Every block of code on every page runs, in order, in a folder that holds the digits.

``python`` blocks of a page share one namespace; lines of ``sh`` blocks that start with ``handful`` must exit with 0.
A line ``<!-- not run: why -->`` before a block exempts it. A page that says ``<!-- needs: NAME -->`` is skipped where
that is not there: a name without a dot is a package; an absolute path is a file, as it is; any other name is a file in
the folder that HANDFUL_DATA names, and is put beside the digits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import PAGES, blocks, needs, words
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from handful.cli.app import app

RUN = [page for page in PAGES if any(block.exempt is None for block in blocks(page) if block.language)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for the digits and their labels, which the page's code runs in."""
    digits = load_digits()
    np.save(tmp_path / "pool.npy", digits.data.astype(np.float32))
    lines = ["index,label", *(f"{row},{label}" for row, label in enumerate(digits.target))]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fetch(page: str, folder: Path) -> None:
    """Put the files that a page needs into the folder; skip the page where they, or its packages, are missing."""
    for name in needs(page):
        if "." not in name:
            pytest.importorskip(name)
            continue
        data = os.environ.get("HANDFUL_DATA", "")
        source = Path(data) / name
        if not (Path(name).is_absolute() or data) or not source.exists():
            pytest.skip(f"{name} is not there (HANDFUL_DATA names the folder of data)")
        if not Path(name).is_absolute():
            (folder / name).symlink_to(source.resolve())


@pytest.mark.parametrize("page", RUN)
def test_every_block_runs(page: str, folder: Path) -> None:
    fetch(page, folder)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.exempt is not None:
            continue
        if block.language == "python":
            # Blank lines before it, so that errors name the line of the page.
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), namespace)
        elif block.language == "sh":
            for command in block.commands:
                if words(command)[0] == "handful":
                    done = CliRunner().invoke(app, words(command)[1:], catch_exceptions=False)
                    assert done.exit_code == 0, f"{page}, line {block.line}: {command}\n{done.output}"
