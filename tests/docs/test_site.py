"""The site is built without a warning, and needs nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pages import PAGES, ROOT

pytest.importorskip("mkdocs", reason="the site is built with pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert built.returncode == 0, built.stderr
    return target


def test_every_page_is_there(site: Path) -> None:
    for page in PAGES:
        if page.startswith("docs/"):
            inside = Path(page).relative_to("docs").with_suffix("")
            name = inside.parent if inside.name in ("index", "README") else inside
            assert (site / name / "index.html").exists(), page


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:script|img|link|iframe)\b[^>]*>", page):
            loaded = re.search(r'(?:src|href)="(?:https?:)?//', tag) and 'rel="canonical"' not in tag
            assert not loaded, f"{path}: {tag}"


def test_formulas_are_formulas(site: Path) -> None:
    page = (site / "mathematics" / "index.html").read_text(encoding="utf-8")
    assert page.count("<math") > 50
    for path in site.rglob("*.html"):
        for formula in re.findall(r"<math\b.*?</math>", path.read_text(encoding="utf-8"), flags=re.DOTALL):
            ElementTree.fromstring(formula)
        page = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert "arithmatex" not in page, path
        assert not re.search(r"\$[^$<\n]{1,80}\\[a-z]", page), path
