import importlib.util
import itertools
import time

import numpy as np
import pytest

from handful.benders.cut import Cut
from handful.benders.master import make_master
from handful.errors import HandfulError

COUNT, FREE = 9, 3


@pytest.fixture(params=["highs", "cbc"])
def solver(request):
    if request.param == "cbc":
        pytest.importorskip("mip")
    return request.param


def random_cuts(seed, count, size=COUNT):
    random = np.random.default_rng(seed)
    return [Cut("lifted", float(random.normal()), random.normal(size=size), None) for _ in range(count)]


def value(cuts, columns):
    return max(cut.at(np.array(columns)) for cut in cuts)


def best_by_hand(cuts, allowed=lambda columns: True):
    return min(value(cuts, columns) for columns in itertools.combinations(range(COUNT), FREE) if allowed(set(columns)))


def ask(master, cuts, seconds=20.0, gap=1e-9, start=(0, 1, 2)):
    start = np.array(start)
    return master.solve(seconds, gap, start, value(cuts, start), lambda: False)


@pytest.mark.parametrize("seed", range(5))
def test_a_live_master_takes_cuts_between_solves(solver, seed):
    cuts = random_cuts(seed, 12)
    master = make_master(solver, COUNT, FREE, 1.0)
    for count, cut in enumerate(cuts, start=1):
        master.add(cut)
        if count % 3 == 0:
            answer = ask(master, cuts[:count])
            assert answer.bound == pytest.approx(best_by_hand(cuts[:count]), abs=1e-7)
            assert value(cuts[:count], answer.columns) == pytest.approx(answer.bound, abs=1e-7)
            assert len(answer.columns) == FREE


def test_closed_candidates_are_not_picked(solver):
    cuts = random_cuts(1, 6)
    master = make_master(solver, COUNT, FREE, 1.0)
    for cut in cuts:
        master.add(cut)
    closed = ask(master, cuts).columns[:2]
    master.close(closed)
    answer = ask(master, cuts, start=np.setdiff1d(np.arange(COUNT), closed)[:FREE])
    assert not set(closed) & set(answer.columns)
    assert answer.bound == pytest.approx(best_by_hand(cuts, lambda columns: not columns & set(closed)), abs=1e-7)


def test_overlaps_hold_until_released(solver):
    cuts = random_cuts(2, 6)
    master = make_master(solver, COUNT, FREE, 1.0)
    for cut in cuts:
        master.add(cut)
    free = ask(master, cuts)
    avoided = set(free.columns.tolist())
    master.overlap(free.columns, 0, 1)
    kept = np.array([0, 3, 4])
    row = master.overlap(kept, 2, FREE)
    answer = ask(master, cuts)
    rule = lambda columns: len(columns & avoided) <= 1 and len(columns & set(kept)) >= 2  # noqa: E731
    assert rule(set(answer.columns.tolist()))
    assert answer.bound == pytest.approx(best_by_hand(cuts, rule), abs=1e-7)
    master.release(row)
    assert ask(master, cuts).bound == pytest.approx(best_by_hand(cuts, lambda c: len(c & avoided) <= 1), abs=1e-7)
    master.overlap(free.columns, 3, FREE)
    assert ask(master, cuts).empty


def test_the_bound_is_the_dual_bound_where_a_gap_is_allowed_or_time_is_short(solver):
    cuts = [Cut("lifted", 5.0 + cut.constant, cut.coefficients, None) for cut in random_cuts(3, 40, size=150)]
    tight = make_master(solver, 150, 20, 1.0)
    loose = make_master(solver, 150, 20, 1.0)
    for cut in cuts:
        tight.add(cut)
        loose.add(cut)
    start = np.arange(20)
    began = time.monotonic()
    short = tight.solve(1.0, 1e-9, start, value(cuts, start), lambda: False)
    assert time.monotonic() - began < 4
    relaxed = loose.solve(2.0, 0.5, start, value(cuts, start), lambda: False)
    assert short.columns is not None
    assert relaxed.bound <= value(cuts, relaxed.columns)
    for answer in (short, relaxed):
        assert answer.bound < value(cuts, short.columns) - 0.01


def test_highs_stops_when_asked():
    cuts = random_cuts(4, 60, size=200)
    master = make_master("highs", 200, 20, 1.0)
    for cut in cuts:
        master.add(cut)
    began = time.monotonic()
    start = np.arange(20)
    answer = master.solve(60.0, 1e-9, start, value(cuts, start), lambda: time.monotonic() - began > 0.5)
    assert time.monotonic() - began < 5
    assert np.isfinite(answer.bound)


def test_solvers_that_are_unknown_or_missing_are_refused(monkeypatch):
    with pytest.raises(HandfulError, match="unknown solver 'gurobi': choose one of highs, cbc"):
        make_master("gurobi", COUNT, FREE, 1.0)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HandfulError, match=r"package mip, which is not installed: pip install 'handful\[cbc\]'"):
        make_master("cbc", COUNT, FREE, 1.0)
