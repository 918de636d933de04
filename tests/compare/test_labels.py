"""Labels from files of every kind."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handful import HandfulError
from handful.files.labels import named_array, read_labels

NUMBERS = np.array([3, 1, 1, 0])
WORDS = np.array(["a", "b", "b", "z"])


@pytest.mark.parametrize("labels", [NUMBERS, WORDS], ids=["numbers", "words"])
def test_the_same_labels_from_every_kind(tmp_path: Path, labels: np.ndarray) -> None:
    np.save(tmp_path / "x.npy", labels)
    np.savez(tmp_path / "x.npz", y=labels, points=np.ones((4, 2)))
    (tmp_path / "x.txt").write_text("".join(f"{label}\n" for label in labels))
    (tmp_path / "x.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    pq.write_table(pa.table({"label": labels, "id": np.arange(4)}), tmp_path / "x.parquet")
    for name in ("x.npy", "x.npz:y", "x.txt", "x.csv", "x.parquet"):
        assert read_labels(str(tmp_path / name), 4).tolist() == labels.tolist()


def test_files_are_told_from_arrays_in_them() -> None:
    assert named_array("a/data.npz:y") == ("a/data.npz", "y")
    assert named_array("C:/data.npy") == ("C:/data.npy", None)
    assert named_array("data.npz") == ("data.npz", None)


def test_bad_labels_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", NUMBERS)
    np.save(tmp_path / "real.npy", np.ones(4))
    np.save(tmp_path / "table.npy", np.ones((4, 2), int))
    np.savez(tmp_path / "x.npz", y=NUMBERS, z=WORDS)
    (tmp_path / "gap.csv").write_text("id,label\n1,a\n2,\n")
    (tmp_path / "two.csv").write_text("id,class\n1,a\n2,b\n")
    for name, count, sentence in (
        ("x.npy", 5, "holds 4 labels for 5 points"),
        ("real.npy", 4, "one number or word each is a label"),
        ("table.npy", 4, "one number or word each is a label"),
        ("x.npz", 4, "holds y, z; say which are the labels by .*x.npz:NAME"),
        ("x.npz:w", 4, "holds y, z; say which are the labels"),
        ("gap.csv", 2, "line 3 holds no label"),
        ("two.csv", 2, "has no column 'label'"),
        ("none.txt", 2, "does not exist"),
    ):
        with pytest.raises(HandfulError, match=sentence):
            read_labels(str(tmp_path / name), count)
