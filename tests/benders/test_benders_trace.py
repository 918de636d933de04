import csv
import io
import json

import numpy as np
import pyarrow.parquet
import pytest
from sklearn.datasets import load_digits

import handful
from handful import benders
from handful.chart import draw_bounds
from handful.picture import sentence

DIGITS = load_digits().data[:80]


@pytest.fixture(scope="module")
def runs():
    return {
        preset: benders.solve(DIGITS, 4, preset=preset, iterations=5, threads=1) for preset in ("certified", "wass+eoc")
    }


def test_the_trace_is_written_with_the_run_as_csv_and_parquet(runs, tmp_path):
    run = runs["wass+eoc"]
    run.save(tmp_path / "run")
    with (tmp_path / "run" / "trace.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["master_bound"]) for row in rows] == [line.master_bound for line in run.history]
    assert [int(row["cuts"]) for row in rows] == [line.cuts for line in run.history]
    table = pyarrow.parquet.read_table(tmp_path / "run" / "trace.parquet").to_pydict()
    assert table["transport_value"] == [line.transport_value for line in run.history]
    assert table["iteration"] == list(range(6))
    assert list(table) == list(rows[0])


def test_a_run_without_certificate_says_so_in_every_file_and_to_verify(runs, tmp_path):
    run = runs["wass+eoc"]
    run.save(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["certified"], summary["lower_bound"], summary["master_bound"]) == (False, 0, None)
    assert summary["master_value_without_certificate"] == run.master_bound
    assert "no certificate" in summary["sentence"]
    with np.load(tmp_path / "run" / "certificate.npz") as claim:
        assert claim["lower_bound"] == 0
        assert claim["claim"].item().startswith("no certificate")
    verdict = handful.verify(DIGITS, tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound == 0
    assert str(verdict).endswith("no certificate: nothing is stated of how near any picks could be")
    assert sentence(run, "digits").endswith(", no certificate")


def test_the_bound_of_a_certified_run_is_verified(runs, tmp_path):
    run = runs["certified"]
    run.save(tmp_path / "run")
    verdict = handful.verify(DIGITS, tmp_path / "run")
    assert verdict.valid
    assert verdict.lower_bound == pytest.approx(run.lower_bound, rel=1e-9)
    assert verdict.lower_bound > 0
    with np.load(tmp_path / "run" / "certificate.npz") as claim:
        assert claim["claim"].item().startswith("at least ")


def test_the_plot_shows_both_bounds_over_time_and_says_which_is_none(runs, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.append(figure))
    draw_bounds(runs, io.BytesIO())
    lines = drawn[0].axes[0].get_lines()
    assert [line.get_label() for line in lines] == [
        "certified: distance of the picks",
        "certified: lower bound",
        "wass+eoc: distance of the picks",
        "wass+eoc: value of the master, no certificate",
    ]
    assert list(lines[0].get_ydata())[:-1] == [line.incumbent for line in runs["certified"].history]
    assert list(lines[3].get_xdata())[:-1] == [line.elapsed for line in runs["wass+eoc"].history]


def test_the_plot_opens_as_an_image(runs, tmp_path):
    from matplotlib.image import imread

    draw_bounds(runs, tmp_path / "bounds.png")
    assert imread(tmp_path / "bounds.png").shape[:2] == (650, 1040)
