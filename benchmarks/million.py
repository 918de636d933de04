"""A million points on one machine: forecasts, memory, time limits and interrupts, from 5,000 points up.

python benchmarks/million.py select                       # 40 picks of a million points, a certificate, and its check
python benchmarks/million.py forecast --sizes 5000,60000  # what was forecast beside what it took
python benchmarks/million.py memory                       # peak memory beside the limit
python benchmarks/million.py limits                       # time taken beside the limit
python benchmarks/million.py interrupt                    # seconds from Ctrl-C to the end, at random moments

Pools are made once, into the folder of --pools.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

import handful
from handful import timing
from handful.candidates import restricted
from handful.problem import Problem

DIMENSION, CLUSTERS = 64, 200
SIZES = (5_000, 20_000, 60_000, 200_000, 1_000_000)
FEW = "clustered:20000"  # candidates of the largest pool
BUDGET = 40
GIB = 2**30


def pool_file(folder: Path, points: int) -> Path:
    """A mixture of 200 clusters of unequal weight and width, each with a spectrum that falls and Student's tails.

    One point in twenty is an exact copy of another.
    """
    path = folder / f"mixture-{points}.npy"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    source = np.random.default_rng(0)
    weights = 1 / np.arange(1, CLUSTERS + 1) ** 0.9
    centres = source.normal(size=(CLUSTERS, DIMENSION))
    widths = source.uniform(0.4, 1, CLUSTERS)
    spectrum = np.arange(1, DIMENSION + 1) ** -0.5
    axes = np.linalg.qr(source.normal(size=(DIMENSION, DIMENSION)))[0] * (spectrum / np.sqrt((spectrum**2).mean()))
    aside = path.with_suffix(".part.npy")
    table = np.lib.format.open_memmap(aside, "w+", np.float32, (points, DIMENSION))
    for start in range(0, points, 50_000):
        count = min(50_000, points - start)
        cluster = source.choice(CLUSTERS, count, p=weights / weights.sum())
        tails = np.sqrt(source.chisquare(4, count) / 4)
        spread = source.normal(size=(count, DIMENSION)) @ axes.T * (widths[cluster] / tails)[:, None]
        block = (centres[cluster] + spread).astype(np.float32)
        copies = source.random(count) < 0.05
        block[copies] = block[source.integers(0, max(1, count // 100), copies.sum())]
        table[start : start + count] = block
    table.flush()
    aside.rename(path)
    return path


class Command:
    """A run of the command line in a process of its own."""

    def __init__(self, pool: Path, *words: object) -> None:
        self.start = time.monotonic()
        command = [sys.executable, "-m", "handful", "select", str(pool), "-b", str(BUDGET), "--gap", "0"]
        self.process = subprocess.Popen(
            [*command, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self) -> tuple[int, float, float, str]:
        """Exit status, seconds, peak of memory in GiB, and the last of what was said."""
        out, err = self.process.stdout, self.process.stderr
        assert out is not None
        assert err is not None
        said = out.read() + err.read()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - self.start
        sentence = re.findall(r"^.*(?:picks of|error:).*$", said, re.MULTILINE)
        return self.process.returncode, seconds, used.ru_maxrss * 1024 / GIB, (sentence or [said[-300:]])[-1]


def candidates_of(points: int) -> list[str]:
    """The words that leave few enough candidates of the largest pool."""
    return ["--candidates", FEW] if points > 500_000 else []


def select(folder: Path, limit: str, candidates: str) -> None:
    """40 picks of a million points within 6 GiB, and the check of their certificate."""
    pool, run = pool_file(folder, SIZES[-1]), folder / "run"
    words = (
        "--candidates",
        candidates,
        "--memory",
        "6GiB",
        "--time-limit",
        limit,
        "-o",
        run,
        "--force",
        "--no-picture",
    )
    _, seconds, peak, sentence = Command(pool, *words).end()
    print(f"{sentence}\n{seconds:.0f} s, peak {peak:.2f} GiB", flush=True)
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "handful", "verify", pool, run], check=True)
    print(f"checked in {time.monotonic() - start:.0f} s")


def forecasts(folder: Path, sizes: list[int], threads: int, candidates: str) -> None:
    """Seconds to picks and to a first bound: forecast, taken, and their ratio; and the same of processor time.

    Processor time does not hang on what else the machine does.
    """
    print(f"{'points':>9} {'candidates':>10} | {'picks: forecast, taken, ratio':^31} | {'first bound: the same':^31}")
    for size in sizes:
        pool = handful.Pool(np.load(pool_file(folder, size), mmap_mode="r"))
        pool = restricted(pool, candidates, 0) if size > 500_000 else pool
        problem = Problem.of(pool, BUDGET, "uniform", (), False)
        worked = time.process_time()
        expected = timing.timing(problem, threads, 6 * GIB)
        probe = time.process_time() - worked
        with patch.object(timing._Pace, "pace", 1.0):
            work = timing.timing(problem, threads, 6 * GIB)
        seconds: list[tuple[float, float, float]] = []
        began = time.process_time()

        def progress(
            news: handful.Progress, seconds: list[tuple[float, float, float]] = seconds, began: float = began
        ) -> None:
            seconds.append((news.elapsed, time.process_time() - began, news.lower_bound))
            if news.lower_bound > 0:
                os.kill(os.getpid(), signal.SIGINT)

        handful.select(pool, BUDGET, gap=0, time_limit=450, threads=threads, memory=6 * GIB, progress=progress)
        bound = seconds[-1] if seconds[-1][2] > 0 else (np.inf, np.inf, 0.0)
        for kind, found, k in (("seconds", expected, 0), (f"processor (probe {probe:.1f} s)", work, 1)):
            cells = [
                f"{forecast:>10.1f} {taken:>10.1f} {forecast / taken:>9.2f}"
                for forecast, taken in ((found.picks, seconds[0][k]), (found.bound, bound[k]))
            ]
            print(f"{size:>9,} {len(pool.candidates):>10,} | {cells[0]} | {cells[1]} | {kind}", flush=True)


def memory(folder: Path, sizes: list[int]) -> None:
    """Peak of memory of runs of 40 s, under the default limit and under the least one that is accepted."""
    for size in sizes:
        pool = pool_file(folder, size)
        _, _, _, sentence = Command(pool, *candidates_of(size), "--memory", "100MB", "-q").end()
        found = re.search(r"need at least ([\d.]+ [MG]B)", sentence)
        assert found, sentence
        least = found[1].replace(" ", "")
        print(f"{size:>9,}: refused with 100MB: {sentence}", flush=True)
        number, unit = float(found[1].split()[0]), found[1].split()[1]
        for limit in (f"{number + (0.1 if unit == 'GB' else 1):g}{unit}", "4GB" if size < 500_000 else "6GB"):
            words = ("--memory", limit, "--time-limit", "40s", "-q")
            status, seconds, peak, _ = Command(pool, *candidates_of(size), *words).end()
            allowed = float(limit[:-2]) * (1e9 if limit.endswith("GB") else 1e6) / GIB
            verdict = "within" if peak <= allowed else "BEYOND"
            print(f"{size:>9,}: limit {limit} = {allowed:.2f} GiB (least {least}), peak {peak:.2f} GiB, {verdict}; "
                  f"{seconds:.0f} s, status {status}", flush=True)  # fmt: skip


def limits(folder: Path, sizes: list[int], seconds: list[int]) -> None:
    """Time of the whole command, reading and writing too, beside its limit."""
    for size in sizes:
        pool = pool_file(folder, size)
        for limit in seconds:
            words = (*candidates_of(size), "--time-limit", limit, "-o", folder / "run", "--force", "--no-picture")
            status, taken, _, sentence = Command(pool, *words, "--memory", "6GB").end()
            verdict = "kept" if taken <= 1.05 * limit + 2 else "OVERRUN"
            print(f"{size:>9,}: limit {limit} s, took {taken:.1f} s, {verdict}; {status}; {sentence}", flush=True)


def interrupt(folder: Path, sizes: list[int], times: int, seed: int) -> None:
    """Seconds from Ctrl-C at a random moment to the end of the command, its files written."""
    chance = random.Random(seed)
    for size in sizes:
        pool = pool_file(folder, size)
        for _ in range(times):
            words = (*candidates_of(size), "-o", folder / "run", "--force", "--no-picture", "--memory", "6GB")
            command = Command(pool, *words)
            wait = chance.uniform(8, 100)
            time.sleep(wait)
            command.process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            status, _, _, sentence = command.end()
            took = time.monotonic() - sent
            verdict = "kept" if took <= 2 and status == 130 else "SLOW"
            print(f"{size:>9,}: after {wait:.0f} s, ended in {took:.1f} s, {verdict}; {status}; {sentence}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("select", "forecast", "memory", "limits", "interrupt"))
    parser.add_argument("--pools", type=Path, default=Path("pools"))
    parser.add_argument("--sizes", default="", help="numbers of points, as in 5000,60000")
    parser.add_argument("--limits", default="10,60", help="seconds")
    parser.add_argument("--time-limit", default="7m", help="of select")
    parser.add_argument("--candidates", default=FEW, help="of select")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",") if size]
    if given.what == "select":
        select(given.pools, given.time_limit, given.candidates)
    elif given.what == "forecast":
        forecasts(given.pools, sizes or list(SIZES), given.threads, given.candidates)
    elif given.what == "memory":
        memory(given.pools, sizes or [5_000, 60_000, 200_000, 1_000_000])
    elif given.what == "limits":
        limits(given.pools, sizes or [5_000, 60_000, 1_000_000], [int(limit) for limit in given.limits.split(",")])
    else:
        interrupt(given.pools, sizes or [60_000, 1_000_000], given.times, given.seed)


if __name__ == "__main__":
    main()
