"""Reports of pools of 1,797 and 60,000 points: seconds to make, size of the file, and frames in Chromium.

    python benchmarks/report.py make [REPORT ...] [--fashion FOLDER]    # writes reports into the folder reports
    python benchmarks/report.py frames [REPORT ...]                     # pans, zooms and hovers in headless Chromium

A REPORT is one of digits-pca, digits-tsne, large-pca and large-tsne; without any, all of them.

FOLDER holds Fashion-MNIST as its authors ship it (train-images-idx3-ubyte.gz and the others); without it the 60,000
points are drawn by chance. The picks are drawn by chance, too: what they are changes nothing here.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from handful.files import read_pool
from handful.files.columns import read_values
from handful.files.finished import read_run
from handful.files.runs import save
from handful.pool import Pool
from handful.report import Shown, make_report
from handful.report.thumbnails import image_source
from handful.strategies import Task, get
from handful.strategies.judge import judged

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "report"))

FOLDER = Path("reports")
PICKS = 40
REPORTS = ["digits-pca", "digits-tsne", "large-pca", "large-tsne"]

MEASURE = """
(async () => {
  const { Plan, PICKS } = handful;
  const map = document.getElementById("map"), box = map.getBoundingClientRect();
  const next = () => new Promise(done => requestAnimationFrame(done));
  const at = (times, share) => times.sort((a, b) => a - b)[Math.floor(times.length * share)];
  async function timed(step) {
    const frames = [], scripts = [];
    await next();
    for (let turn = 0; turn < 80; turn++) {
      const start = performance.now();
      step(turn);
      Plan.drawNow();
      scripts.push(performance.now() - start);
      await next();
      frames.push(performance.now() - start);
    }
    return [at(frames, 0.5), at(frames, 0.95), at(scripts, 0.25), at(scripts, 0.5)];
  }
  const swing = (start, size, turn) => start + size * (0.5 + 0.3 * Math.sin(turn));
  const point = at => map.dispatchEvent(new PointerEvent("pointermove", { pointerId: 9,
    clientX: swing(box.left, box.width, at), clientY: swing(box.top, box.height, at * 1.7) }));
  const found = {};
  found.pan = await timed(at => Plan.move(at % 2 ? 7 : -5, 3 * (-1) ** at));
  found.zoom = await timed(at => Plan.zoom(at < 40 ? 1.04 : 1 / 1.04));
  found.hover = await timed(point);
  Plan.choose(3);
  found["pan, a pick chosen"] = await timed(at => Plan.move(at % 2 ? 5 : -5, 0));
  return found;
})()
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["make", "frames"])
    parser.add_argument("reports", nargs="*", default=REPORTS)
    parser.add_argument("--fashion", type=Path)
    words = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in words.reports:
        pool, _, layout = name.partition("-")
        if words.what == "make":
            shape = _pool(pool, words.fashion)
            make(pool, layout, shape)
    if words.what == "frames":
        frames([FOLDER / f"{name}.html" for name in words.reports])


def _pool(name: str, folder: Path | None) -> str | None:
    """Write the pool and its labels, and say of what shape its images are."""
    if name == "digits":
        digits = load_digits()
        points, labels, shape = digits.data, digits.target, "8x8"
    elif folder is None:
        random = np.random.default_rng(0)
        labels = random.integers(0, 10, 60_000)
        points, shape = random.normal(size=(10, 64))[labels] + random.normal(size=(60_000, 64)), None
    else:
        (points, labels), shape = fashion(folder), "28x28"
    np.save(FOLDER / f"{name}.npy", points.astype(np.float32))
    np.save(FOLDER / f"{name}-labels.npy", labels)
    return shape


def make(name: str, layout: str, images: str | None) -> None:
    table = read_pool(FOLDER / f"{name}.npy")
    run = FOLDER / f"{name}-run"
    if not run.exists():
        save(judged(get("random"), Task.of(Pool(table.points), PICKS), "uniform"), run, force=True)
    start, worked = time.perf_counter(), time.process_time()
    shown = Shown(
        layout,
        colours=(read_values(str(FOLDER / f"{name}-labels.npy"), table, "--colour"),),
        draw=None if images is None else image_source(images, table),
    )
    made = make_report(read_run(run), table, FOLDER / f"{name}-{layout}.html", shown)
    took = f"{time.perf_counter() - start:.1f} s ({time.process_time() - worked:.1f} s of work)"
    print(f"{name}, {len(table.points):,} points, {layout}: {took}, {made.size / 1e6:.2f} MB; {made.notes}", flush=True)


def frames(files: list[Path]) -> None:
    from chromium import browser

    with browser() as page:
        for file in files:
            start = time.perf_counter()
            page.open(file, width=1280, height=1000)
            print(f"{file.name}: open after {time.perf_counter() - start:.2f} s")
            for what, (median, slow, quarter, half) in page.ask(MEASURE).items():
                script = f"its script: a quarter below {quarter:.1f} ms, half below {half:.1f} ms"
                print(f"  {what}: frames of {median:.1f} ms, 95 % below {slow:.1f} ms; {script}", flush=True)
        print("complaints:", page.complaints)


def fashion(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The 60,000 training images as grey values, and their labels."""
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(60_000, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images.astype(np.float32) / 255, labels


if __name__ == "__main__":
    main()
