"""The paper's decomposition beside the engine: three tables.

    python benchmarks/benders.py race       presets and solvers on 1,797 digits, and the engine in the same time
    python benchmarks/benders.py optimal    120 digits, solved to the end: the whole MILP, the decomposition, the engine
    python benchmarks/benders.py closing    what fixing left, closed by the decomposition and by branch and bound

A race is long: its rows can be made in pieces, each appended to a file, whose rows are printed as one table.

    python benchmarks/benders.py race --budgets 10 --presets certified --seconds 240 --results race.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from sklearn.datasets import load_digits

import handful
from handful import benders
from handful.benders.loop import OPTIMAL
from handful.blocks import workers
from handful.clock import Clock, Stopped
from handful.forecast import forecast
from handful.problem import Problem
from handful.run import Run
from handful.selection import relative_gap

PRESETS = ("wass", "wass+eoc", "wass+eoc+p", "certified")
RACE = (
    *("B", "method", "solver", "limit", "distance", "lower_bound", "gap", "valid", "iterations"),
    *("master", "transport", "cuts", "ended", "seconds"),
)


def race(given: argparse.Namespace) -> None:
    """One row per budget, preset and solver, and one per budget for the engine; one thread each."""
    pool = handful.Pool(load_digits().data)
    for budget in numbers(given.budgets):
        for preset in given.presets.split(","):
            for solver in given.solvers.split(",") if preset != "engine" else ["-"]:
                row = one_run(pool, budget, preset, solver, given.seconds)
                new = not given.results.exists()
                with given.results.open("a", newline="") as file:
                    table = csv.DictWriter(file, RACE)
                    if new:
                        table.writeheader()
                    table.writerow(row)
    with given.results.open(newline="") as file:
        show(list(csv.DictReader(file)), RACE)


def one_run(pool: handful.Pool, budget: int, preset: str, solver: str, seconds: float) -> dict[str, Any]:
    """Run one method for some seconds, or until it is done."""
    row: dict[str, Any] = {"B": budget, "method": preset, "solver": solver, "limit": f"{seconds:g} s"}
    if preset == "engine":
        run: Any = handful.select(pool, budget, gap=0.0, time_limit=seconds, threads=1)
        bound, valid = run.lower_bound, True
    else:
        run = benders.solve(pool, budget, preset=preset, solver=solver, time_limit=seconds, threads=1)
        bound, valid = run.master_bound, run.valid_bound
        row |= {"iterations": run.iterations}
        for name in ("master", "transport"):
            spent = sum(getattr(line, f"{name}_seconds") for line in run.history)
            row[name] = f"{spent / run.seconds:.1%}"
        row["cuts"] = f"{sum(line.cut_seconds for line in run.history) / run.seconds:.1%}"
    return row | {
        "distance": f"{run.distance:.6f}",
        "lower_bound": f"{bound:.6f}",
        "gap": f"{relative_gap(run.distance, bound):.3%}" if valid else "-",
        "valid": "yes" if valid else "NO",
        "ended": run.status,
        "seconds": f"{run.seconds:.1f}",
    }


def optimal(given: argparse.Namespace) -> None:
    """The first 120 digits: the strong formulation with all N x N shares, and those that need not write it down."""
    pool = handful.Pool(load_digits().data[: given.points])
    rows = []
    for budget in numbers(given.budgets):
        started = time.perf_counter()
        distance, bound = strong_milp(pool, budget, given.seconds)
        rows.append(("whole MILP, HiGHS", budget, distance, bound, time.perf_counter() - started))
        for solver in given.solvers.split(","):
            run = benders.solve(pool, budget, solver=solver, time_limit=given.seconds, threads=1)
            rows.append((f"certified, {solver}", budget, run.distance, run.master_bound, run.seconds))
        found = handful.select(pool, budget, gap=0.0, time_limit=given.seconds, threads=1)
        rows.append(("engine", budget, found.distance, found.lower_bound, found.seconds))
    names = ("method", "B", "distance", "lower_bound", "seconds")
    show([dict(zip(names, (m, b, f"{d:.9f}", f"{lb:.9f}", f"{s:.1f}"), strict=True)) for m, b, d, lb, s in rows], names)


def strong_milp(pool: handful.Pool, budget: int, seconds: float) -> tuple[float, float]:
    """Uniform picks by one MILP: what every point sends to every candidate is at most its mass, if that is picked."""
    n = pool.n
    costs = pool.distances(np.arange(n)).T
    solver: Any = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "time_limit": seconds, "mip_rel_gap": 1e-9}.items():
        solver.setOptionValue(name, value)
    model = highspy.HighsLp()
    # Columns: n x n shares of the plan, row by row, then n picks. Rows: points, picks' shares, share <= pick, budget.
    point, pick = np.divmod(np.arange(n * n), n)
    shares, picks = np.arange(n * n), n * n + np.arange(n)
    rows = np.concatenate(
        [point, n + pick, n + np.arange(n), 2 * n + shares, 2 * n + shares, np.full(n, 2 * n + n * n)]
    )
    columns = np.concatenate([shares, shares, picks, shares, n * n + pick, picks])
    ones = np.ones(n * n)
    values = np.concatenate([ones, ones, np.full(n, -1 / budget), ones, -pool.masses[point], np.ones(n)])
    order = np.argsort(rows, kind="stable")
    model.num_col_, model.num_row_ = n * n + n, 2 * n + n * n + 1
    model.col_cost_ = np.concatenate([costs.ravel(), np.zeros(n)])
    model.col_lower_, model.col_upper_ = np.zeros(n * n + n), np.ones(n * n + n)
    model.row_lower_ = np.concatenate([pool.masses, np.zeros(n), np.full(n * n, -np.inf), [budget]])
    model.row_upper_ = np.concatenate([pool.masses, np.zeros(n), np.zeros(n * n), [budget]])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(rows))])
    model.a_matrix_.index_, model.a_matrix_.value_ = columns[order], values[order]
    kinds = highspy.HighsVarType
    model.integrality_ = [kinds.kContinuous] * (n * n) + [kinds.kInteger] * n
    solver.passModel(model)
    solver.run()
    return float(solver.getInfo().objective_function_value), float(solver.getInfo().mip_dual_bound)


class _UntilTheTree(Run):
    """The engine up to where it opens its tree, with every vector of prices that the ascent looked at."""

    def gather(self) -> None:
        self.looked: list[tuple[float, Any]] = []
        evaluate = self.ascent.field.evaluate

        def noting(prices: Any) -> Any:
            found = evaluate(prices)
            self.looked.append((found.value, prices))
            return found

        self.ascent.field.evaluate = noting  # type: ignore[method-assign]

    def _plant(self) -> None:
        super()._plant()
        raise Stopped


def closing(given: argparse.Namespace) -> None:
    """From where the engine opens its tree: the same picks, candidates and prices to both; one thread each."""
    names = ("N", "B", "candidates", "gap before", "by the tree", "gap after", "by the decomposition", "gap after it")
    rows = []
    for points in numbers(given.points):
        for budget in numbers(given.budgets):
            pool = handful.Pool(load_digits().data[:points])
            row = {"N": points, "B": budget} | _closed_both_ways(pool, budget, given.weight, given.seconds)
            rows.append(row)
            print(row, flush=True)
    show(rows, names)


def _closed_both_ways(pool: handful.Pool, budget: int, weight: str, seconds: float) -> dict[str, Any]:
    problem = Problem.of(pool, budget, weight, (), False)
    plan = forecast((pool.n, pool.dimension), 8, "cosine", budget, pool.n, None)
    with workers(1, Clock(np.inf)) as crew:
        run = _UntilTheTree(problem, crew, plan, 0, 0.0, None)
        run.gather()
        with suppress(Stopped):
            run.go(rounds=None)
        if run.tree is None:
            return {"candidates": 0}  # the gap was closed before
        before = relative_gap(run.best.distance, run.lower_bound)
        picks, left = run.best.picks, run.ascent.survivors()
        best = [prices for _, prices in sorted(run.looked, key=lambda seen: seen[0])[-40:]]
        crew.clock = Clock(seconds)
        closed = benders.close_gap(pool, problem.shares, budget, problem.forced, left, picks, best, crew)
        by_cuts = crew.clock.elapsed
        crew.clock = Clock(seconds)
        with suppress(Stopped):
            while relative_gap(run.best.distance, run.lower_bound) > OPTIMAL and not run.tree.finished:
                run._split()
        by_tree = crew.clock.elapsed
    return {
        "candidates": len(left),
        "gap before": f"{before:.3%}",
        "by the tree": f"{by_tree:.1f} s",
        "gap after": f"{relative_gap(run.best.distance, run.lower_bound):.4%}",
        "by the decomposition": f"{by_cuts:.1f} s",
        "gap after it": f"{relative_gap(closed.distance, closed.lower_bound):.4%}",
    }


def show(rows: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    """Print rows as a Markdown table."""
    print("| " + " | ".join(name.replace("_", " ") for name in names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(str(row.get(name) or "") for name in names) + " |")


def numbers(text: str) -> list[int]:
    """``10,40`` as numbers."""
    return [int(word) for word in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = parser.add_subparsers(dest="table", required=True)
    first = tables.add_parser("race")
    first.add_argument("--budgets", default="10,40")
    first.add_argument("--presets", default=",".join((*PRESETS, "engine")))
    first.add_argument("--solvers", default="cbc,highs")
    first.add_argument("--seconds", type=float, default=240)
    first.add_argument("--results", type=Path, default=Path("benders-race.csv"), help="rows are appended to it")
    second = tables.add_parser("optimal")
    second.add_argument("--points", type=int, default=120)
    second.add_argument("--budgets", default="5,10")
    second.add_argument("--solvers", default="highs,cbc")
    second.add_argument("--seconds", type=float, default=240)
    third = tables.add_parser("closing")
    third.add_argument("--points", default="120,300,1797")
    third.add_argument("--budgets", default="5,10,20")
    third.add_argument("--weight", choices=("uniform", "free"), default="uniform")
    third.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    warm = handful.Pool(load_digits().data[:100])
    handful.select(warm, 3, time_limit=30, rounds=2)
    benders.solve(warm, 3, time_limit=30, threads=1)
    {"race": race, "optimal": optimal, "closing": closing}[given.table](given)


if __name__ == "__main__":
    main()
