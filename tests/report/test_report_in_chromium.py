"""A report as a person meets it: opened, pointed at, clicked, and driven by keys, in a real browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import PATH, Page, browser
from report_cases import CASES, Case

from handful.files.columns import Values
from handful.files.table import Table
from handful.report import Shown, make_report
from handful.report.gather import Standings, standings
from handful.report.make import pool_of
from handful.report.thumbnails import image_source

pytestmark = pytest.mark.skipif(PATH is None, reason="no Chromium is installed")

CASE = Case([3, 17, 28, 41, 55, 8, 9], 0.02, 0.4, earlier=2, n=150)
EVIL = '</script><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
KINDS = ["odd one", "even", EVIL]


def name_of(row: int) -> str:
    return f'<b>point-{row}</b>,"{row}"'


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Standings]:
    folder = tmp_path_factory.mktemp("report")
    ids = [name_of(row) for row in range(CASE.n)]
    run, table = CASE.write(folder / "run", ids), CASE.table(ids)
    texts = Values("text", [f"text of {row} {EVIL}" for row in range(CASE.n)], folder)
    kinds = Values("kind <i>", [KINDS[row % 3] for row in range(CASE.n)], folder)
    score = Values("score", [row / 7 for row in range(CASE.n)], folder)
    shown = Shown("pca", (kinds, score), texts, image_source("1x5", table))
    make_report(run, table, folder / "report.html", shown)
    return folder / "report.html", standings(run, pool_of(run, table))


@pytest.fixture
def opened(page: Page, made: tuple[Path, Standings]) -> Iterator[Page]:
    page.complaints.clear()
    page.requests.clear()
    page.prefer("light")
    page.open(made[0], height=1300)
    yield page
    assert page.complaints == []
    assert all(address.startswith("data:") or address == made[0].as_uri() for address in page.requests)
    assert page.ask("window.pwned === undefined")


def place(page: Page, dot: int) -> tuple[float, float]:
    """Where a dot is in the window."""
    script = f"""(() => {{
        const box = document.getElementById("map").getBoundingClientRect();
        const [x, y] = handful.Plan.placeOf({dot});
        return [box.left + 1 + x, box.top + 1 + y];
    }})()"""
    x, y = page.ask(script)
    return x, y


def alone(page: Page) -> int:
    """A dot that lies well away from all others and from the picks."""
    places = np.array(page.ask(f"Array.from({{length: {CASE.n}}}, (_, dot) => handful.Plan.placeOf(dot))"))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(apart, np.inf)
    far = (apart.min(axis=1) > 4) & (apart[:, list(CASE.picks)].min(axis=1) > 40)
    assert far.any()
    return int(np.flatnonzero(far)[0])


def said(page: Page, selector: str) -> str:
    found = page.ask(f"document.querySelector({selector!r}).textContent")
    assert isinstance(found, str)
    return found


def test_it_opens_and_says_what_is_proven(opened: Page) -> None:
    assert said(opened, "h1") == "5 picks of 150 points"
    assert "no other 5 picks can be nearer" in said(opened, "#meaning")
    assert "labelled earlier2" in said(opened, "#figures")
    assert opened.ask("document.querySelectorAll('#picks tbody tr').length") == 7
    assert opened.ask("document.querySelectorAll('img, script:not([id])').length") == 1
    assert opened.ask("document.querySelectorAll('svg[role=img][aria-label]').length") == 3


def test_pointing_at_a_point_shows_its_name_text_and_pick(opened: Page, made: tuple[Path, Standings]) -> None:
    dot = alone(opened)
    x, y = place(opened, dot)
    opened.hover(x + 2, y - 1)
    tip = said(opened, "#tip")
    assert name_of(dot) in tip
    assert f"text of {dot} {EVIL}" in tip
    assert f"kind <i>: {KINDS[dot % 3]}" in tip
    away = float(tip.split("at distance ")[1].split("kind")[0].split("pick")[0].split("labelled")[0])
    assert away == pytest.approx(made[1].distances[dot], rel=1e-3)
    assert opened.ask("document.querySelector('#tip canvas') !== null")
    corner = opened.ask(
        "(() => { const b = document.getElementById('map').getBoundingClientRect(); return [b.left, b.top]; })()"
    )
    opened.hover(corner[0] + 3, corner[1] + 3)
    assert opened.ask("document.getElementById('tip').hidden")


@pytest.mark.parametrize("at", [0, 2, 6])
def test_a_click_on_a_pick_shows_what_it_stands_for(opened: Page, made: tuple[Path, Standings], at: int) -> None:
    pick = made[1].picks[at]
    opened.ask(f"handful.Plan.zoom(8, ...handful.Plan.placeOf({pick.row}))")  # out from under other picks
    opened.click(*place(opened, pick.row))
    title = "Labelled earlier" if pick.rank is None else f"Pick {pick.rank}"
    assert said(opened, "#detail h3") == f"{title}: {name_of(pick.row)}"
    assert f"Stands for {pick.stands_for} point" in said(opened, "#detail")
    lists = opened.ask(
        "[...document.querySelectorAll('#detail ul')].map(u => [...u.querySelectorAll('button')].map(b => b.title))"
    )
    near, far = ([name.split(", at distance")[0] for name in names] for names in lists)
    assert near == [name_of(row) for row in pick.nearest]
    assert far == [name_of(row) for row in pick.farthest]
    assert opened.ask("document.querySelectorAll('tr.chosen').length") == 1
    opened.press("Escape")
    assert opened.ask("document.querySelectorAll('tr.chosen').length") == 0
    assert "Choose a pick" in said(opened, "#detail")


def test_a_click_on_a_point_shows_its_pick(opened: Page, made: tuple[Path, Standings]) -> None:
    dot = alone(opened)
    opened.click(*place(opened, dot))
    owner = opened.ask("handful.Plan.chosen")
    assert made[1].distances[dot] == pytest.approx(CASE.costs[owner, dot])
    assert name_of(made[1].picks[owner].row) in said(opened, "#detail h3")
    assert name_of(dot) in opened.ask("document.querySelector('#detail ul button').title")


def test_dots_have_the_colours_of_what_was_asked_for(opened: Page) -> None:
    dot = alone(opened)

    def colour(of: int) -> list[int]:
        opened.frame()
        script = f"""(() => {{
            const [x, y] = handful.Plan.placeOf({of});
            const pen = new OffscreenCanvas(1, 1).getContext("2d", {{ willReadFrequently: true }});
            pen.drawImage(document.getElementById("dots"), -Math.floor(x), -Math.floor(y));
            return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }})()"""
        found: list[int] = opened.ask(script)
        return found

    def ask_for(way: str) -> None:
        opened.ask(f"""(() => {{
            const select = document.getElementById("colour");
            select.value = [...select.options].find(option => option.textContent === {way!r}).value;
            select.dispatchEvent(new Event("change"));
        }})()""")

    ask_for("kind <i>")
    swatches = opened.ask(
        "[...document.querySelectorAll('#legend button')].map(b => [b.textContent, b.firstChild.style.background])"
    )
    wanted = dict(swatches)[KINDS[dot % 3]]
    shown = colour(dot)
    parts = [int(part) for part in wanted.removeprefix("rgb(").removesuffix(")").split(",")]
    assert np.abs(np.subtract(shown, parts)).max() < 50  # a dot lets a little of the map through
    ask_for("score")
    assert colour(dot) != shown
    ask_for("kind <i>")
    other = next(name for name, _ in swatches if name != KINDS[dot % 3])
    opened.ask(f"[...document.querySelectorAll('#legend button')].find(b => b.textContent === {other!r}).click()")
    assert min(colour(dot)) > min(shown) + 40  # faded


def test_everything_can_be_done_by_keys(opened: Page, made: tuple[Path, Standings]) -> None:
    focused = "document.activeElement.id"
    for _ in range(12):
        opened.press("Tab")
        if opened.ask(focused) == "cursor":
            break
    assert opened.ask(focused) == "cursor"
    assert opened.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert opened.ask("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    places = {at: place(opened, pick.row) for at, pick in enumerate(made[1].picks)}
    opened.press("Home")
    current = 0
    for key, axis, sign in (("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowLeft", 0, -1), ("ArrowUp", 1, -1)):
        for _ in range(4):
            opened.press(key)
            label = opened.ask("document.activeElement.getAttribute('aria-label')")
            now = next(at for at, pick in enumerate(made[1].picks) if f"{name_of(pick.row)}," in label)
            assert now == current or sign * (places[now][axis] - places[current][axis]) > 0
            assert said(opened, "#status") == label or now == current
            current = now
    opened.press("End")
    opened.press("p")
    opened.press("n")
    opened.press("Enter")
    assert said(opened, "#detail h3") == f"Pick 5: {name_of(9)}"
    assert said(opened, "#status").endswith("is shown.")
    before = place(opened, 3)
    opened.press("+")
    assert place(opened, 3) != before
    opened.press("0")
    assert place(opened, 3) == pytest.approx(before)
    opened.press("Escape")
    assert opened.ask("handful.Plan.chosen") is None


def test_every_control_has_a_name(opened: Page) -> None:
    opened.ask("handful.Plan.choose(3)")
    nodes = opened.call("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node for node in nodes if node.get("role", {}).get("value") in ("button", "combobox", "searchbox", "link")
    ]
    assert len(controls) > 30
    assert all(node["name"]["value"].strip() for node in controls)


def test_moving_and_zooming(opened: Page) -> None:
    x, y = place(opened, 3)
    opened.drag((x + 60, y + 60), (x + 90, y + 40))
    assert place(opened, 3) == pytest.approx((x + 30, y - 20), abs=1)
    opened.wheel(x + 30, y - 20, -300)
    assert place(opened, 3) == pytest.approx((x + 30, y - 20), abs=1)
    far = place(opened, 17)
    opened.ask("document.getElementById('whole').click()")
    assert place(opened, 3) == pytest.approx((x, y))
    assert np.hypot(*np.subtract(far, (x + 30, y - 20))) > np.hypot(*np.subtract(place(opened, 17), (x, y)))


def test_the_nearest_dot_is_found(opened: Page) -> None:
    opened.ask("handful.Plan.zoom(1.7)")
    places = np.array(opened.ask(f"Array.from({{length: {CASE.n}}}, (_, dot) => handful.Plan.placeOf(dot))"))
    size = opened.ask("[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]")
    asked = np.random.default_rng(0).random((300, 2)) * size
    found = opened.ask(f"{asked.tolist()}.map(([x, y]) => handful.Plan.under(x, y))")
    away = np.linalg.norm(asked[:, None] - places, axis=2)
    for at, dot in enumerate(found):
        if dot >= 0 and dot not in CASE.picks:
            assert away[at, dot] == pytest.approx(away[at].min(), abs=0.1)
            assert away[at, dot] <= 14.1
        elif dot < 0:
            assert away[at].min() >= 13.9
    assert len(set(found)) > 20


def test_the_table_is_sorted_and_downloaded(opened: Page, made: tuple[Path, Standings]) -> None:
    def column(name: str) -> list[str]:
        script = f"""(() => {{
            const heads = [...document.querySelectorAll("#picks thead tr > *")];
            const at = heads.findIndex(head => head.textContent === {name!r});
            return [...document.querySelectorAll("#picks tbody tr")].map(row => row.children[at].textContent);
        }})()"""
        found: list[str] = opened.ask(script)
        return found

    def sort(name: str) -> None:
        opened.ask(f"[...document.querySelectorAll('#picks th button')].find(b => b.textContent === {name!r}).click()")

    assert column("rank") == ["1", "2", "3", "4", "5", "earlier", "earlier"]
    sort("farthest")
    farthest = [float(text) for text in column("farthest")]
    assert farthest == sorted(farthest)
    sort("farthest")
    assert [float(text) for text in column("farthest")] == farthest[::-1]
    assert opened.ask("document.querySelector('[aria-sort=descending]').textContent") == "farthest"
    rows = list(csv.DictReader(io.StringIO(opened.ask("handful.Table.csv()"))))
    for row, pick in zip(rows, made[1].picks, strict=True):
        assert row["id"] == name_of(pick.row)
        assert int(row["index"]) == pick.row
        assert row["rank"] == ("" if pick.rank is None else str(pick.rank))
        assert float(row["mass"]) == pytest.approx(pick.mass)
        assert int(row["stands for"]) == pick.stands_for
        assert float(row["mean distance"]) == pytest.approx(pick.mean_distance)
        assert row["kind <i>"] == KINDS[pick.row % 3]
        assert row["text"] == f"text of {pick.row} {EVIL}"


def test_a_point_is_found_by_its_name(opened: Page, made: tuple[Path, Standings]) -> None:
    dot = alone(opened)
    search = (
        "(() => {{ document.getElementById('wanted').value = {}; document.getElementById('find').requestSubmit(); }})()"
    )
    opened.ask(search.format(repr(name_of(dot))))
    assert made[1].distances[dot] == pytest.approx(CASE.costs[opened.ask("handful.Plan.chosen"), dot])
    opened.ask(search.format("'nobody'"))
    assert said(opened, "#status") == "No point shown here is called nobody."


def brightness(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_and_dots_stand_out_in_light_and_in_dark(opened: Page, scheme: str) -> None:
    opened.prefer(scheme)
    opened.frame()
    script = """(() => {
        handful.Plan.choose(3);
        document.querySelectorAll("details").forEach(details => { details.open = true; });
        const found = [];
        const behind = element => {
            for (let at = element; at; at = at.parentElement) {
                const colour = getComputedStyle(at).backgroundColor;
                if (!colour.endsWith(", 0)")) return colour;
            }
        };
        for (const element of document.querySelectorAll("body *")) {
            const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
            if (!own || element.closest("script, svg, noscript, [hidden], .skip, option")) continue;
            found.push([element.tagName, getComputedStyle(element).color, behind(element)]);
        }
        return found;
    })()"""
    texts = opened.ask(script)
    assert len(texts) > 100
    for tag, letters, behind in texts:
        assert contrast(letters, behind) >= 4.5, (tag, letters, behind)
    assert (brightness(texts[0][2]) < 0.1) == (scheme == "dark")
    swatches = opened.ask("""(() => {
        const select = document.getElementById("colour");
        select.value = "2";
        select.dispatchEvent(new Event("change"));
        return [...document.querySelectorAll("#legend i")].map(swatch => swatch.style.background);
    })()""")
    back = opened.ask("getComputedStyle(document.getElementById('map')).backgroundColor")
    for swatch in swatches:
        assert contrast(swatch, back) >= 3, swatch


def test_the_button_changes_the_colours(opened: Page) -> None:
    page_colour = "getComputedStyle(document.body).backgroundColor"
    light = opened.ask(page_colour)
    opened.ask("document.getElementById('theme').click()")
    assert brightness(opened.ask(page_colour)) < 0.1 < brightness(light)
    opened.ask("document.getElementById('theme').click()")
    assert opened.ask(page_colour) == light


@pytest.mark.parametrize("width", [390, 768])
def test_it_fits_a_small_window(opened: Page, made: tuple[Path, Standings], width: int) -> None:
    opened.open(made[0], width=width, height=844, mobile=True, scale=2)
    opened.ask("handful.Plan.choose(3)")
    opened.frame()
    assert opened.ask("document.documentElement.scrollWidth") <= width
    small = opened.ask("""[...document.querySelectorAll("button, select, input")]
        .filter(control => control.offsetParent && !control.closest("td, th, #legend") && control.id !== "cursor")
        .filter(control => control.offsetHeight < 32 || control.offsetWidth < 30).map(control => control.outerHTML)""")
    assert small == []
    box = opened.ask("(b => [b.width, b.height])(document.getElementById('map').getBoundingClientRect())")
    assert box[0] > 0.85 * width - 40
    opened.ask("document.getElementById('map').scrollIntoView({ behavior: 'instant' })")
    opened.ask(f"handful.Plan.zoom(8, ...handful.Plan.placeOf({CASE.picks[0]}).map(at => 2 * at))")
    opened.click(*place(opened, CASE.picks[0]))
    assert opened.ask("handful.Plan.chosen") == 0


def test_it_prints(opened: Page, tmp_path: Path) -> None:
    opened.prefer("dark")
    opened.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    opened.frame()


def test_without_certificate_it_says_so_and_draws_no_bound(page: Page, tmp_path: Path) -> None:
    case = CASES["free"]
    run = case.write(tmp_path / "run", certified=False, trace=[])
    make_report(run, Table(Path("pool.npy"), case.points, None, {}), tmp_path / "report.html", Shown("pca"))
    page.complaints.clear()
    page.open(tmp_path / "report.html")
    figures: Any = said(page, "#figures")
    assert "lower boundno certificate" in figures
    assert "There is no certificate" in said(page, "#meaning")
    assert page.ask("document.getElementById('trace').hidden")
    assert page.ask("document.querySelectorAll('path.second').length") == 0
    assert page.complaints == []
