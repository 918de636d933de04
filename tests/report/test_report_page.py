"""The file of a report: what is in it, that nothing in it can act, and how it comes about on the command line."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_cases import CASES
from typer.testing import CliRunner, Result

from handful.cli.app import app
from handful.files.columns import Values
from handful.files.table import Table
from handful.report import Shown, make, make_report, payload
from handful.report.page import embedded, page
from handful.report.thumbnails import image_source, thumbnails

EVIL = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload="window.pwned=1">',
    "<!--<script>window.pwned=1//-->",
    "@@script@@ @@data@@",
    "javascript:window.pwned=1",
    "&lt;b&gt;&amp;",
    "line\u2028and\u2029paragraph, \\u003c \\ 'quotes' \"too\"",
    "half a pair: \ud83d",
]


class Parts(HTMLParser):
    """The elements of a page, their attributes, and the text of each script and style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.texts.append((self._inside, data))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def data_of(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def unpacked(packed: dict[str, str]) -> np.ndarray:
    kinds = {"u16": "<u2", "u32": "<u4", "f32": "<f4"}
    return np.frombuffer(base64.b64decode(packed["bytes"]), kinds[packed["kind"]])


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report whose ids, texts and labels are hostile."""
    case = CASES["earlier"]
    ids = [f"{EVIL[row % len(EVIL)].replace(chr(0xD83D), '')} {row}" for row in range(case.n)]
    run = case.write(tmp_path / "run", ids)
    texts = Values("text", [EVIL[row % len(EVIL)] for row in range(case.n)], tmp_path)
    labels = Values(EVIL[1], [EVIL[row % 3] for row in range(case.n)], tmp_path)
    make_report(run, case.table(ids), tmp_path / "report.html", Shown("pca", (labels,), texts))
    return tmp_path / "report.html"


def test_texts_of_the_pool_stay_texts(report: Path) -> None:
    html = report.read_text(encoding="utf-8")
    plain = Parts(page("t", {}))
    assert [tag for tag, _ in Parts(html).elements] == [tag for tag, _ in plain.elements]
    assert html.count("window.pwned") == html.count("\\u003cimg src=x onerror=window.pwned") + html.count(
        "\\u003cscript\\u003ewindow.pwned"
    ) + html.count('onload=\\"window.pwned') + html.count("javascript:window.pwned")
    data = data_of(report)
    assert data["texts"][: len(EVIL)] == EVIL
    assert data["colours"][0]["name"] == EVIL[1]
    assert set(data["colours"][0]["names"]) == set(EVIL[:3])


@pytest.mark.parametrize("text", EVIL)
def test_data_survives_being_embedded(text: str) -> None:
    there = embedded({"text": text})
    assert json.loads(there) == {"text": text}
    assert not set("<>&\u2028\u2029") & set(there)
    there.encode()


def test_a_title_is_escaped() -> None:
    html = page("<b>&", {})
    assert "<title>&lt;b&gt;&amp;</title>" in html


def test_nothing_is_asked_of_any_network_and_only_this_script_may_run(report: Path) -> None:
    html = report.read_text(encoding="utf-8")
    parts = Parts(html)
    for _, attributes in parts.elements:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    without_data = re.sub(r'<script type="application/json".*?</script>', "", html, flags=re.DOTALL)
    addresses = set(re.findall(r"https?://[^\"'\s]*", without_data))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody fetches
    assert "url(" not in without_data
    assert "@import" not in without_data
    policy = next(a["content"] or "" for _, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    texts = {"script-src": parts.texts[-1][1], "style-src": next(text for kind, text in parts.texts if kind == "style")}
    for rule, text in texts.items():
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_data_of_a_report_are_those_of_the_run(report: Path, tmp_path: Path) -> None:
    case, data = CASES["earlier"], data_of(report)
    run = data["run"]
    assert (run["points"], run["budget"], run["earlier"]) == (60, 5, 2)
    assert run["distance"] == pytest.approx(2 * run["bound"])
    assert run["gap"] == pytest.approx(0.5)
    assert [pick["dot"] for pick in data["picks"]] == list(case.picks)
    assert [pick["rank"] for pick in data["picks"]] == [None, None, 1, 2, 3, 4, 5]
    assert [line[1] for line in data["trace"]] == pytest.approx([2 * run["distance"], run["distance"]])
    owner, away = unpacked(data["dots"]["pick"]), unpacked(data["dots"]["away"])
    assert away == pytest.approx(case.costs[owner, np.arange(60)], rel=1e-6)
    codes = unpacked(data["colours"][0]["values"])
    assert [data["colours"][0]["names"][code] for code in codes] == [EVIL[row % 3] for row in range(60)]


def test_packed_places_keep_their_proportions() -> None:
    wanted = np.random.default_rng(0).normal(size=(50, 2)) * [30, 1] + 5
    packed = payload.places(wanted)
    found = np.column_stack([unpacked(packed["x"]), unpacked(packed["y"])]).astype(float)
    scale = np.ptp(wanted[:, 0]) / 65535
    assert np.ptp(found[:, 0]) == 65535
    differences = (found - found[0]) * scale - (wanted - wanted[0])
    assert np.abs(differences).max() <= scale


def test_columns_become_classes_or_scales() -> None:
    few = payload.colour(Values("a", [3, 1, None, 3], Path()))
    assert (few["kind"], few["names"], unpacked(few["values"]).tolist()) == ("classes", ["1", "3"], [1, 0, 65535, 1])
    words = payload.colour(Values("a", ["x", "y", "y"], Path()))
    assert (words["names"], unpacked(words["values"]).tolist()) == (["y", "x"], [1, 0, 0])
    real = payload.colour(Values("a", [0.5, None, -2.0, float("nan")], Path()))
    assert (real["kind"], real["ends"]) == ("scale", [-2.0, 0.5])
    assert unpacked(real["values"]).tolist()[::2] == [0.5, -2.0]
    assert payload.colour(Values("a", list(range(60)), Path()))["kind"] == "scale"


def test_texts_are_cut_to_what_may_be_there_in_all() -> None:
    assert payload.texts(["short", None, 7], 100) == ["short", "", "7"]
    cut = payload.texts(["word " * 100] * 10, 1000)
    assert sum(map(len, cut)) <= 1000
    assert all(text.endswith("…") and len(text) > 60 for text in cut)


def test_a_large_pool_is_drawn_in_part_with_all_that_is_shown_of_its_picks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "_MOST_DOTS", 120)
    case = replace(CASES["free"], n=300)
    run = case.write(tmp_path / "run")
    made = make_report(run, case.table(), tmp_path / "report.html", Shown("pca"))
    data = data_of(tmp_path / "report.html")
    rows = unpacked(data["dots"]["rows"])
    assert "120 of 300 points are drawn" in made.notes[0]
    assert data["dots"]["count"] == len(rows) == 120
    assert (np.diff(rows.astype(int)) > 0).all()
    for pick, row in zip(data["picks"], case.picks, strict=True):
        assert rows[pick["dot"]] == row
        assert case.costs[list(case.picks).index(row), rows[pick["near"]]] == pytest.approx(pick["nearAway"], rel=1e-5)
        assert case.costs[list(case.picks).index(row), rows[pick["far"]]] == pytest.approx(pick["farAway"], rel=1e-5)


def test_thumbnails_show_their_points_and_stay_within_their_bytes(tmp_path: Path) -> None:
    from PIL import Image

    points = np.repeat(np.linspace(0, 1, 600)[:, None], 16, axis=1)
    table = Table(Path("pool.npy"), points, None, {})
    draw, order = image_source("4x4", table), np.arange(600)[::-1]
    found = thumbnails(draw, order, 10_000_000)
    assert found is not None
    assert found.rows.tolist() == order.tolist()
    assert len(found.sheets) == 3  # of 256 each
    for tile in (0, 300, 599):
        data = base64.b64decode(found.sheets[tile // 256].partition(",")[2])
        (tmp_path / "sheet").write_bytes(data)
        with Image.open(tmp_path / "sheet") as sheet:
            at = tile % 256
            place = (at % 16 * found.side + found.side // 2, at // 16 * found.side + found.side // 2)
            grey = sheet.convert("L").getpixel(place)
        assert grey == pytest.approx(255 * (1 - points[order[tile], 0]), abs=3)
    small = thumbnails(draw, order, found.size - 1)
    assert small is not None
    assert small.size < found.size
    assert small.rows.tolist() == order[:512].tolist()
    assert thumbnails(lambda row: None, order, 1000) is None


def test_images_of_a_folder_are_found_by_id_by_row_or_in_their_order(tmp_path: Path) -> None:
    from PIL import Image

    def folder(name: str, files: list[str]) -> Path:
        (tmp_path / name).mkdir()
        for at, file in enumerate(files):
            Image.new("L", (9, 9), at).save(tmp_path / name / file)
        return tmp_path / name

    plain = Table(Path("p.npy"), np.zeros((3, 2)), None, {})
    named = Table(Path("p.npy"), np.zeros((3, 2)), np.array(["b", "c.png", "x"]), {})

    def greys(source: Path | str, table: Table) -> list[int | None]:
        draw = image_source(str(source), table)
        return [None if (image := draw(row)) is None else image.getpixel((0, 0)) for row in range(3)]

    assert greys(folder("ids", ["a.png", "b.png", "c.png"]), named) == [1, 2, None]
    assert greys(folder("rows", ["00.png", "02.png", "07.png"]), plain) == [0, None, 1]
    assert greys(folder("order", ["ax.png", "by.png", "cz.png"]), plain) == [0, 1, 2]
    (tmp_path / "paths.csv").write_text("index,image\n1,ids/c.png\n0,ids/a.png\n", encoding="utf-8")
    assert greys(f"{tmp_path}/paths.csv:image", plain) == [0, 2, None]


def command(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", CASES["uniform"].points)
    return tmp_path


def test_a_run_is_reported_from_its_folder_alone(folder: Path) -> None:
    words = ("select", "pool.npy", "-b", 4, "--rounds", 1, "-o", "out/run", "--no-picture", "--report")
    done = command(*words)
    assert done.exit_code == 0, done.output
    assert "out/run/report.html" in done.output
    first = data_of(folder / "out/run/report.html")
    (folder / "labels.csv").write_text("index,kind\n3,odd\n4,even\n", encoding="utf-8")
    done = command("report", "out/run", "--layout", "pca", "--colour", "labels.csv", "-o", "again.html")
    assert done.exit_code == 0, done.output
    again = data_of(folder / "again.html")
    assert again["picks"] == first["picks"]
    assert again["coverage"] == first["coverage"]
    assert again["run"]["metric"] == "cosine"
    assert [column["name"] for column in again["colours"]] == ["kind"]
    # Moved together, run and pool find each other.
    (folder / "elsewhere").mkdir()
    os.rename("out", "elsewhere/out")
    os.rename("pool.npy", "elsewhere/pool.npy")
    assert command("report", "elsewhere/out/run", "--layout", "pca").exit_code == 0
    os.rename("elsewhere/pool.npy", "moved.npy")
    done = command("report", "elsewhere/out/run", "--layout", "pca")
    assert done.exit_code == 2
    assert "is not there any more; give it by --pool" in done.output
    assert command("report", "elsewhere/out/run", "--layout", "pca", "--pool", "moved.npy").exit_code == 0


def test_runs_of_every_kind_are_reported(folder: Path) -> None:
    kinds: dict[str, tuple[object, ...]] = {
        "strategy": ("select", "pool.npy", "-b", 4, "--strategy", "random", "--time-limit", "1s"),
        "free": ("select", "pool.npy", "-b", 4, "--picks-weight", "free", "--rounds", 1),
        "printed": (
            "select",
            "pool.npy",
            "-b",
            3,
            "--method",
            "benders",
            "--cuts",
            "benders,triangle-printed",
            "--rounds",
            2,
        ),
        "reduce": ("reduce", "pool.npy", "-k", 4, "--order", 2, "--rounds", 1),
        "paths": ("reduce", "pool.npy", "-k", 4, "--periods", 5, "--period-weights", "1,2,1,1,1", "--rounds", 1),
    }
    for name, words in kinds.items():
        done = command(*words, "-o", name, "-q")
        assert done.exit_code == 0, done.output
        done = command("report", name, "--layout", "pca")
        assert done.exit_code == 0, done.output
    printed = data_of(folder / "printed/report.html")["run"]
    assert (printed["bound"], printed["gap"]) == (None, None)
    assert "There is no certificate" in printed["meaning"]
    reduced = data_of(folder / "reduce/report.html")
    listing = json.loads((folder / "reduce/scenarios.json").read_text())
    assert reduced["run"]["distance"] == pytest.approx(listing["distance"])
    assert reduced["run"]["bound"] == pytest.approx(listing["lower_bound"])
    assert reduced["run"]["metric"] == "euclidean, order 2"
    assert sorted(pick["mass"] for pick in reduced["picks"]) == pytest.approx(sorted(listing["probabilities"].values()))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("nothing",), "nothing is no folder"),
        (("run", "--layout", "spiral"), "--layout spiral is none of tsne, pca, umap"),
        (("run", "-o", "report.txt"), "report.txt is no name of an HTML file"),
        (("run", "-o", "no/where.html"), "no/where.html can't be written"),
        (("run", "--images", "3x3"), "--images 3x3 does not fit points of 5 coordinates"),
        (("run", "--images", "gone"), "--images gone is neither"),
        (("run", "--images", "{name}.png"), "can't be filled in"),
        (("run", "--images", "photo{index}.png"), "photo.*png does not exist; correct --images"),
        (("run", "--text", "gone.csv:a"), "gone.csv does not exist"),
        (("run", "--pool", "other.npy"), "that are not those of the run in run"),
        (("heuristic",), "heuristic, which keeps no plan"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_a_sentence(folder: Path, words: tuple[str, ...], reason: str) -> None:
    CASES["uniform"].write(folder / "run", pool={"file": "../pool.npy"})
    np.save("other.npy", CASES["uniform"].points * 2)
    (folder / "heuristic").mkdir()
    (folder / "heuristic" / "scenarios.json").write_text("{}")
    done = command("report", *words, *(() if "--layout" in words else ("--layout", "pca")))
    assert done.exit_code == 2
    assert re.search(reason, " ".join(done.output.split())), done.output
    assert not (folder / "run" / "report.html").exists()


def test_a_report_needs_a_folder(folder: Path) -> None:
    done = command("select", "pool.npy", "-b", 3, "--report")
    assert done.exit_code == 2
    assert "--report needs a folder" in done.output
