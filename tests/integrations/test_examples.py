"""Every example runs, where what it needs is installed, and says what it learned."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from integration_cases import require_modal

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "fit_on_picks": "sklearn",
    "query_skactiveml": "skactiveml",
    "query_modal": "modAL",
    "query_small_text": "small_text",
}


@pytest.mark.filterwarnings("ignore")  # of the libraries, when they are imported
@pytest.mark.parametrize("name", NEEDS)
def test_an_example_runs(name: str) -> None:
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    if name == "query_modal":
        require_modal()
    program = [sys.executable, "-W", "ignore", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = [float(number) for number in re.findall(r"labels: accuracy ([\d.]+)%", done.stdout)]
    assert len(found) == 3
    assert found[-1] > 50
    assert found[-1] > found[0]
