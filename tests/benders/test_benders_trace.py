import csv

import pyarrow.parquet
import pytest
from sklearn.datasets import load_digits

from handful import benders
from handful.errors import HandfulError


@pytest.fixture(scope="module")
def runs():
    digits = load_digits().data[:80]
    return {
        "certified": benders.solve(digits, 4, iterations=5, threads=1),
        "wass+eoc": benders.solve(digits, 4, preset="wass+eoc", iterations=5, threads=1),
    }


def test_the_trace_is_written_as_csv_and_parquet(runs, tmp_path):
    history = runs["wass+eoc"].history
    benders.write_trace(history, tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["master_bound"]) for row in rows] == [line.master_bound for line in history]
    assert [int(row["cuts"]) for row in rows] == [line.cuts for line in history]
    benders.write_trace(history, tmp_path / "trace.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "trace.parquet").to_pydict()
    assert table["transport_value"] == [line.transport_value for line in history]
    assert list(table) == list(rows[0])


def test_another_ending_is_refused(runs, tmp_path):
    with pytest.raises(HandfulError, match=r"trace.txt has the ending '.txt', but .* as .csv or .parquet"):
        benders.write_trace(runs["certified"].history, tmp_path / "trace.txt")


def test_the_plot_says_which_bound_is_none(runs, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.append(figure))
    benders.plot_trace(runs, tmp_path / "bounds.png")
    axes = drawn[0].axes[0]
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels == [
        "certified: distance",
        "certified: lower bound",
        "wass+eoc: distance",
        "wass+eoc: master value, no valid bound",
    ]
    assert list(axes.get_lines()[0].get_ydata()) == [line.incumbent for line in runs["certified"].history]


def test_the_plot_opens_as_an_image(runs, tmp_path):
    from matplotlib.image import imread

    benders.plot_trace(runs, tmp_path / "bounds.png")
    assert imread(tmp_path / "bounds.png").shape[:2] == (675, 1050)
