"""Select, export, annotate, and select again: labels return to the points they belong to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from annotated import WRITERS, annotated, annotation, choice
from handoff_cases import command

POINTS = np.random.default_rng(8).normal(size=(60, 4))
TRUTH = (POINTS[:, 0] > 0).astype(int)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("ids", [False, True])
def test_the_next_round_needs_only_the_labels(folder: Path, name: str, ids: bool) -> None:
    names = [f"{60 - row}" if ids else str(row) for row in range(60)]  # ids that are rows of other points
    if ids:
        lines = [f"{n},{','.join(map(repr, row.tolist()))}" for n, row in zip(names, POINTS, strict=True)]
        (folder / "pool.csv").write_text("id,a,b,c,d\n" + "\n".join(lines))
        pool = "pool.csv"
    else:
        np.save("pool.npy", POINTS)
        pool = "pool.npy"
    assert command("select", pool, "-b", 5, "--rounds", 1, "-o", "one", "--no-picture").exit_code == 0
    assert command("export", "one", "--to", "label-studio", "--images", "{id}.png", "-o", "tasks.json").exit_code == 0

    tasks = json.loads(Path("tasks.json").read_text())
    assert [task["data"]["image"] for task in tasks] == [f"{task['data']['handful_id']}.png" for task in tasks]
    # The annotator sees an image, knows which of the pool it is by its name alone, and labels in an order of their own.
    order = np.random.default_rng(1).permutation(5)
    shown = [tasks[at] for at in order]
    seen = [names.index(task["data"]["image"].removesuffix(".png")) for task in shown]
    answers = [[annotation(choice(str(TRUTH[row])))] for row in seen]
    answers[2] = [annotation(choice("0"), by=1), annotation(choice("1"), by=2)]
    WRITERS[name](folder / name, annotated(shown, answers))

    np.savetxt("p.csv", np.column_stack([1 - TRUTH, TRUTH]), delimiter=",")
    words = ("--strategy", "dcom", "--probabilities", "p.csv")
    done = command("select", pool, "-b", 3, "--rounds", 1, "--already", name, "-o", "two", "--no-picture", *words)
    assert done.exit_code == 0, done.stderr
    assert "equally often, so not labelled" in done.stderr
    summary = json.loads(Path("two/summary.json").read_text())
    assert (summary["already"], summary["budget"]) == (4, 3)
    with np.load("two/plan.npz") as plan:
        used = {*plan["pick"].tolist()}
    labelled = {row for at, row in enumerate(seen) if at != 2}
    picks = {int(line.split(",")[1]) for line in Path("two/picks.csv").read_text().splitlines()[1:]}
    assert used == labelled | picks
    assert not labelled & picks


def test_labels_in_already_are_those_of_the_option(folder: Path) -> None:
    """`--already labels.csv` gives a strategy the labels that `--labels` gives for the same points."""
    random = np.random.default_rng(2)
    np.save("pool.npy", POINTS)
    np.savetxt("p.csv", random.dirichlet(np.ones(3), 60), delimiter=",")
    rows = random.permutation(60)[:12]
    (folder / "both.csv").write_text("index,label\n" + "\n".join(f"{row},{TRUTH[row]}" for row in rows))
    (folder / "rows.txt").write_text("\n".join(map(str, rows)))
    (folder / "labels.txt").write_text("\n".join(str(TRUTH[row]) for row in rows))
    words = ("select", "pool.npy", "-b", 4, "--strategy", "dcom", "--probabilities", "p.csv", "--json")
    together = json.loads(command(*words, "--already", "both.csv").stdout)
    apart = json.loads(command(*words, "--already", "rows.txt", "--labels", "labels.txt").stdout)
    assert together["picks"] == apart["picks"]
    without = command(*words, "--already", "rows.txt")
    assert without.exit_code == 2
    assert "labels" in without.stderr
