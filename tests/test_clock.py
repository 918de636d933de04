"""The clock that ends a run, and what it does not count."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from handful.blocks import workers
from handful.clock import Clock, Stopped


class Time:
    """A clock on the wall that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("handful.clock.time.monotonic", lambda: self.now)


def test_it_stands_still_between_the_first_halt_and_the_last_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Time(monkeypatch)
    clock = Clock(10)
    wall.now += 4
    clock.halt()
    wall.now += 50
    assert (clock.elapsed, clock.left) == (4, 6)
    clock.halt()
    clock.go_on()
    wall.now += 50
    clock.check()
    clock.go_on()
    wall.now += 5
    assert (clock.elapsed, clock.left) == (9, 1)
    wall.now += 2
    with pytest.raises(Stopped):
        clock.check()


def test_compiling_a_kernel_takes_no_time_from_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Time(monkeypatch)
    clock = Clock(10)
    kernel = njit(lambda x: x + 1)
    halt = clock.halt

    def slowly() -> None:
        halt()
        wall.now += 60

    monkeypatch.setattr(clock, "halt", slowly)
    with workers(1, clock):
        assert kernel(np.ones(3))[0] == 2
        assert wall.now >= 160
        assert clock.elapsed == 0
        clock.check()


def test_what_is_reserved_ends_the_work_earlier_by_a_tenth_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Time(monkeypatch)
    clock = Clock(100)
    clock.reserve(4)
    assert clock.left == 96
    clock.reserve(40)
    assert clock.left == 90
    wall.now += 89
    assert not clock.over
    wall.now += 2
    assert clock.over
    assert clock.elapsed == 91
