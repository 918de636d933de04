"""`handful export`: what each tool is given, and what can't be handed on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handoff_cases import PICKED, command
from PIL import Image

import handful
from handful.errors import HandfulError
from handful.handoff import Picks, datasets, images

FIELDS = [
    {"handful_index": row, "handful_id": str(row), "handful_rank": rank, "handful_stands_for": 12}
    for rank, row in enumerate(PICKED, 1)
]


def exported(tool: str, *words: object, run: str = "run") -> Any:
    """The document that a tool is given, or its lines."""
    done = command("export", run, "--to", tool, "-o", "out", "--force", *words)
    assert done.exit_code == 0, done.stderr
    assert f"5 picks of {run} for {tool}, written to out." in done.stdout
    text = Path("out").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if tool in ("cvat", "datasets") else json.loads(text)


def photos(folder: Path) -> str:
    """A folder of images of different sizes, one for each point, and the pattern of their names."""
    (folder / "photos").mkdir()
    for row in range(60):
        Image.new("L", (10 + row, 5)).save(folder / "photos" / f"{row:03d}.png")
    return "photos/{index:03d}.png"


def test_label_studio_gets_tasks_in_the_order_of_the_picks(folder: Path) -> None:
    tasks = exported("label-studio", "--images", "https://x.org/{id}/{rank}.jpg")
    assert [task["data"] for task in tasks] == [
        {"image": f"https://x.org/{fields['handful_id']}/{fields['handful_rank']}.jpg"} | fields for fields in FIELDS
    ]
    assert all(list(task) == ["data"] for task in tasks)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_texts_come_from_a_table_in_the_order_of_the_pool_or_by_id(folder: Path, suffix: str) -> None:
    random = np.random.default_rng(0)
    texts = [f'text {row}, "quoted"\nand broken' for row in range(60)]
    write_table(folder / f"plain{suffix}", {"t": texts, "id": list(range(1, 61))})  # ids of another kind: not looked at
    plain = exported("datasets", "--table", f"plain{suffix}", "--text", "t")
    assert [line["text"] for line in plain] == [texts[row] for row in PICKED]
    order = random.permutation(60)
    columns = {
        "id": [f"naïve {row}" for row in order],
        "t": [texts[row] for row in order],
        "u": [f"{r}.png" for r in order],
    }
    write_table(folder / f"named{suffix}", columns)
    named = exported("label-studio", "--table", f"named{suffix}", "--text", "t", "--images", "u", run="named")
    assert [task["data"]["text"] for task in named] == [texts[row] for row in PICKED]
    assert [task["data"]["image"] for task in named] == [f"{row}.png" for row in PICKED]
    assert [task["data"]["handful_id"] for task in named] == [f"naïve {row}" for row in PICKED]


def write_table(path: Path, columns: dict[str, list[Any]]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def test_image_lists_have_sizes_and_the_rows_of_the_pool(folder: Path) -> None:
    pattern = photos(folder)
    listed = exported("coco", "--images", pattern)
    assert listed["images"] == [
        {"id": row, "file_name": f"photos/{row:03d}.png", "width": 10 + row, "height": 5} | fields
        for row, fields in zip(PICKED, FIELDS, strict=True)
    ]
    assert listed["annotations"] == listed["categories"] == []
    manifest = exported("cvat", "--images", pattern)
    assert manifest[:2] == [{"version": "1.1"}, {"type": "images"}]
    assert manifest[2:] == [
        {"name": f"photos/{row:03d}", "extension": ".png", "width": 10 + row, "height": 5, "meta": fields}
        for row, fields in zip(PICKED, FIELDS, strict=True)
    ]
    remote = exported("coco", "--images", "https://x.org/p/{index}.jpg")["images"][0]
    assert remote == {"id": 17, "file_name": "17.jpg", "coco_url": "https://x.org/p/17.jpg"} | FIELDS[0]


def test_fiftyone_gets_whole_paths_and_the_tag(folder: Path) -> None:
    document = exported("fiftyone", "--images", "photos/{index}.png")
    assert [sample["filepath"] for sample in document["samples"]] == [str(folder / f"photos/{r}.png") for r in PICKED]
    assert all(sample["tags"] == ["handful"] for sample in document["samples"])
    assert {*document["sample_fields"]} == {*document["samples"][0]}


BAD: list[tuple[list[object], str]] = [
    (["gone", "--to", "coco"], "gone holds no picks.csv; give the folder"),
    (["run", "--to", "excel"], "--to excel is not known; what there is: label-studio, cvat, coco, datasets, fiftyone."),
    (["run", "--to", "label-studio"], "label-studio has nothing to show"),
    (["run", "--to", "cvat"], "cvat takes images; say where they are"),
    (["run", "--to", "cvat", "--text", "t"], "--text means nothing to cvat"),
    (["run", "--to", "coco", "--images", "x/{name}.png"], "the pattern 'x/{name}.png' can't be filled in"),
    (["run", "--to", "coco", "--images", "x/{.png"], "can't be filled in"),
    (["run", "--to", "coco", "--images", "x/{index}.png"], "the image x/17.png can't be read"),
    (["run", "--to", "coco", "--images", "pool.{index:.0s}npy"], "can't be filled in"),
    (["run", "--to", "cvat", "--images", "https://x.org/{id}"], "cvat needs the size of https://x.org/17"),
    (["run", "--to", "datasets", "--text", "t"], "--text t is a column, and of which table was not said"),
    (["run", "--to", "datasets", "--images", "t"], "--images t is a column.*or write a pattern"),
    (["run", "--to", "datasets", "--table", "t.csv"], "--table t.csv is of no use"),
    (
        ["run", "--to", "datasets", "--table", "t.csv", "--text", "u"],
        "t.csv has no column 'u'; its columns are: 'id', 't'",
    ),
    (["run", "--to", "datasets", "--table", "t.csv", "--text", "t"], "t.csv has 2 rows, and the pool of the picks 60"),
    (["named", "--to", "datasets", "--table", "t.csv", "--text", "t"], "t.csv lacks the ids of 5 of the 5 picks"),
    (["run", "--to", "datasets", "--table", "pool.npy", "--text", "t"], "pool.npy has the unknown extension"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD)
def test_what_cannot_be_handed_on_is_said_and_nothing_written(folder: Path, words: list[object], sentence: str) -> None:
    (folder / "t.csv").write_text("id,t\na,x\nb,y\n")
    before = sorted(folder.iterdir())
    done = command("export", *words, "-o", "out")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert re.search(sentence, done.stderr.replace("\n", " ")), done.stderr
    assert sorted(folder.iterdir()) == before


def test_a_file_that_is_there_is_not_replaced_unasked(folder: Path) -> None:
    words = ("export", "run", "--to", "datasets", "-o", "out.jsonl")
    assert command(*words).exit_code == 0
    first = Path("out.jsonl").read_text()
    refused = command(*words)
    assert (refused.exit_code, "out.jsonl exists; use --force" in refused.stderr) == (2, True)
    assert command(*words, "--force").exit_code == 0
    assert Path("out.jsonl").read_text() == first
    assert "is a folder" in command("export", "run", "--to", "datasets", "-o", "run").stderr
    assert "there is no folder" in command("export", "run", "--to", "datasets", "-o", "no/out").stderr


def test_a_broken_run_is_refused(folder: Path) -> None:
    (folder / "run" / "summary.json").write_text("{}")
    done = command("export", "run", "--to", "datasets", "-o", "out")
    assert done.exit_code == 2
    assert "run can't be read as the folder of a run" in done.stderr


def test_in_python_picks_come_from_the_selection(folder: Path) -> None:
    selection = handful.select(np.load("pool.npy"), 4, rounds=1, threads=1)
    selection.save(folder / "mine")
    picks = Picks.of(selection)
    assert picks == Picks.read(folder / "mine")
    assert picks.index == tuple(selection.indices.tolist())
    assert sum(picks.stands_for) == picks.n == 60
    ids = np.array([f"p{row}" for row in range(60)])
    assert Picks.of(selection, ids).ids == tuple(ids[selection.indices].tolist())
    shown = picks.showing(texts=list("abcd"))
    assert [record["text"] for record in datasets.records(shown)] == list("abcd")
    with pytest.raises(HandfulError, match="3 texts were given for 4 picks"):
        picks.showing(texts=list("abc"))
    with pytest.raises(HandfulError, match=r"the image same\.png is that of several picks"):
        images.cvat(picks.showing(images=["same.png"] * 4))
