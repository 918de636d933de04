"""Everything that reads and writes files: pools, lists of points, masses, and the folder of a run."""

from handful.files.labelled import Labelled, read_labelled
from handful.files.lists import names_a_file, read_masses, read_points_list
from handful.files.read import read_pool
from handful.files.table import Table
from handful.files.write import check_target, json_text, run_folder, write_csv, write_json

__all__ = [
    "Labelled",
    "Table",
    "check_target",
    "json_text",
    "names_a_file",
    "read_labelled",
    "read_masses",
    "read_points_list",
    "read_pool",
    "run_folder",
    "write_csv",
    "write_json",
]
