"""Whether the installed package does its work; run by `make wheel-test` in an environment that holds nothing else."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SCRIPTS = Path(sysconfig.get_path("scripts"))


def handful(*words: str, status: int = 0) -> str:
    done = subprocess.run([SCRIPTS / "handful", *words], capture_output=True, text=True)
    assert done.returncode == status, f"handful {' '.join(words)} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def main() -> None:
    import numpy as np

    import handful as package

    where = Path(package.__file__).parent
    assert where.is_relative_to(sysconfig.get_path("purelib")), f"{where} is not what was installed"
    assert (where / "py.typed").exists(), "the types are not part of the package"
    assert package.__version__ == version("handful")
    for extra in ("matplotlib", "pytest", "torch"):
        assert find_spec(extra) is None, f"the plain install brings {extra}"
    with tempfile.TemporaryDirectory() as folder:
        pool, run = f"{folder}/pool.npy", f"{folder}/run"
        np.save(pool, np.random.default_rng(0).normal(size=(40, 3)))
        assert package.__version__ in handful("--version")
        assert "3 picks of 40 points" in handful("select", pool, "-b", "3", "-o", run)
        assert "VALID" in handful("verify", pool, run)
        np.save(pool, np.random.default_rng(1).normal(size=(40, 3)))
        assert "INVALID" in handful("verify", pool, run, status=1)
        handful("select", pool, "-b", "41", status=2)
    print(f"handful {package.__version__} works where nothing else is installed ({sys.version.split()[0]})")


if __name__ == "__main__":
    main()
