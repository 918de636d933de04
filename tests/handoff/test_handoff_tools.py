"""The real packages read what they are given, and what they export comes back; each is skipped where it is missing.

They are too big for the ``test`` extra (MB of a fresh environment with nothing else in it, seconds to install):
datasets 400 MB, 34 s; label-studio-sdk 509 MB, 41 s; datumaro with pycocotools 563 MB, 20 s; fiftyone 1,020 MB, 116 s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from annotated import CONFIG, annotated, annotation, box, choice, records, write_csv, write_json
from handoff_cases import PICKED, command
from PIL import Image

from handful.handoff import Picks, datasets, fiftyone, finished

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def photos(folder: Path) -> Path:
    """A folder with an image for each point."""
    (folder / "photos").mkdir()
    for row in range(60):
        Image.new("L", (10 + row, 5)).save(folder / "photos" / f"{row}.png")
    return folder


def exported(tool: str, file: str, *words: object) -> Path:
    done = command("export", "run", "--to", tool, "-o", file, "--images", "photos/{index}.png", *words)
    assert done.exit_code == 0, done.stderr
    return Path(file)


def test_label_studio_accepts_the_tasks_and_its_converter_writes_what_we_read(photos: Path) -> None:
    pytest.importorskip("label_studio_sdk")
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(CONFIG)
    interface.validate()
    (photos / "texts.csv").write_text("t\n" + "\n".join(f"text {row}" for row in range(60)))
    file = exported("label-studio", "tasks.json", "--table", "texts.csv", "--text", "t")
    tasks = json.loads(file.read_text())
    assert all(interface.validate_task(task) for task in tasks)
    answers: list[list[dict[str, Any]]] = [
        [annotation(choice("1"))],
        [annotation(choice("0")), annotation(choice("1")), annotation(choice("1"))],
        [annotation(choice("0")), annotation(choice("1"), skipped=True)],
        [annotation(skipped=True)],
        [],
    ]
    assert all(interface.validate_annotation(said) for some in answers for said in some)
    for more in ([], [annotation()], [annotation(box())], [annotation(choice("0", "1"))]):
        project = annotated(tasks, [*answers[:4], more])
        write_json(photos / "project.json", project)
        converter = Converter(CONFIG, str(photos))
        converter.convert("project.json", "min", "JSON_MIN", is_dir=False)
        converter.convert("project.json", "csv", "CSV", is_dir=False)
        # The imitation that the other tests use is faithful.
        assert json.loads((photos / "min/result.json").read_text()) == records(project)
        write_csv(photos / "imitated.csv", project)
        found = [finished(n, 60) for n in ("project.json", "min/result.json", "csv/result.csv", "imitated.csv")]
        rows = [17, 3, 58] if not more or not more[0]["result"] else [17, 3, 58, 29]
        unclear = more == [annotation(choice("0", "1"))]
        if more == [annotation(box())]:
            rows = [17, 3, 58]  # without a choice an image has no label, where others have one
        for result in found:
            assert result.rows.tolist() == rows
            assert (result.labels is None) == unclear
            if result.labels is not None:
                assert result.labels.tolist() == [1, 1, 0]


def test_datasets_loads_the_records_and_selects_the_rows(photos: Path) -> None:
    hub = pytest.importorskip("datasets")
    file = exported("datasets", "picks.jsonl")
    loaded = hub.load_dataset("json", data_files=str(file), cache_dir=str(photos / "cache"), split="train")
    assert loaded["handful_index"][:] == list(PICKED)
    seen = loaded.cast_column("image", hub.Image())
    assert [image.size for image in seen["image"]] == [(10 + row, 5) for row in PICKED]
    whole = hub.Dataset.from_dict({"label": list(range(60))})
    picked = datasets.pick(whole, Picks.read("run"))
    assert picked["label"][:] == picked["handful_index"][:] == list(PICKED)
    assert picked["handful_rank"][:] == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="the dataset has 59 rows and the pool had 60 points"):
        datasets.pick(whole.select(range(59)), Picks.read("run"))


def test_coco_tools_read_the_image_list(photos: Path) -> None:
    pytest.importorskip("pycocotools")
    from pycocotools.coco import COCO

    coco = COCO(str(exported("coco", "picks.json")))
    assert coco.getImgIds() == list(PICKED)
    assert coco.loadImgs([58])[0]["width"] == 68


def test_datumaro_reads_the_image_list(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datumaro")
    from datumaro import Dataset

    (photos / "coco" / "annotations").mkdir(parents=True)
    (photos / "photos").rename(photos / "coco" / "images")
    monkeypatch.chdir(photos / "coco" / "images")
    words = ("--to", "coco", "--images", "{index}.png", "-o", "../annotations/image_info_picks.json")
    assert command("export", "../../run", *words).exit_code == 0
    found = {item.attributes["id"]: item.media.size for item in Dataset.import_from(str(photos / "coco"), "coco")}
    assert found == {row: (5, 10 + row) for row in PICKED}


def test_fiftyone_loads_the_picks_and_tags_a_dataset(photos: Path) -> None:
    fo = pytest.importorskip("fiftyone")
    try:
        whole = fo.Dataset()
    except Exception as error:  # it needs a database, which it does not bring to every system
        pytest.skip(f"fiftyone has no database here: {error}")
    loaded = fo.Dataset.from_json(
        str(exported("fiftyone", "picks.json")), name=fo.core.dataset.get_default_dataset_name()
    )
    try:
        assert loaded.values("handful_index") == list(PICKED)
        assert loaded.count_sample_tags() == {"handful": 5}
        assert loaded.first().filepath == str(photos / "photos/17.png")
        whole.add_samples([fo.Sample(filepath=str(photos / f"photos/{row}.png"), tags=["old"]) for row in range(60)])
        picks = Picks.read("run").showing(images=[f"photos/{row}.png" for row in PICKED])
        assert fiftyone.tag(whole, picks) == fiftyone.tag(whole, picks) == 5
        tagged = whole.match_tags("handful").sort_by("handful_rank")
        assert tagged.values("handful_index") == list(PICKED)
        assert whole.count_sample_tags() == {"old": 60, "handful": 5}
        strangers = picks.showing(images=[f"elsewhere/{row}.png" for row in PICKED])
        with pytest.raises(ValueError, match="the dataset has none of the 5 picks"):
            fiftyone.tag(whole, strangers)
    finally:
        whole.delete()
        loaded.delete()
