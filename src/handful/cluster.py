"""Tasks for the actors of a Ray cluster, which may die."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayActorError, RayTaskError

from handful.clock import Clock
from handful.errors import HandfulError

ANYBODY = -1
_AHEAD = 2  # tasks that an actor has at a time, so that it need not wait for the next one
_LOOK = 0.2  # seconds after which the clock is looked at, whatever the actors do
_DEATHS = 3  # of each actor, with no task done in between, after which the run ends
_START = 120.0  # seconds that there may be no actor before the run ends


@dataclass(frozen=True)
class Task:
    """A method of the actors, with its arguments.

    The ``owner``, an actor's number, does it faster than others; if ``only``, nobody else can, and if it dies there is
    nothing to be done.
    """

    method: str
    arguments: tuple[Any, ...]
    owner: int = ANYBODY
    only: bool = False


@dataclass
class _Actor:
    handle: Any
    starting: list[Any]
    busy: dict[Any, int] = field(default_factory=dict)
    deaths: int = 0


@dataclass
class Traffic:
    """Bytes of numbers that went out to the actors, and that came back."""

    sent: int = 0
    returned: int = 0


class Actors:
    """A fixed number of actors of one kind.

    Parameters
    ----------
    start : callable
        Makes an actor.
    equip : callable
        Calls the methods of the actor of some number that it needs before any task, and returns their results to come.
    """

    def __init__(self, count: int, start: Callable[[], Any], equip: Callable[[int, Any], list[Any]]) -> None:
        self._start, self._equip = start, equip
        self._lock = threading.Lock()
        self.traffic = Traffic()
        self._actors = [_Actor(handle, [handle.ready.remote()]) for handle in (start() for _ in range(count))]
        self._idle_since = time.monotonic()

    @property
    def handles(self) -> list[Any]:
        """All of them, in their order."""
        return [actor.handle for actor in self._actors]

    def everywhere(self, method: str, *arguments: Any) -> None:
        """Have all of them do this, before whatever they are asked to do next."""
        for handle in self.handles:
            getattr(handle, method).remote(*arguments)

    def run(self, tasks: Sequence[Task], clock: Clock) -> list[Any]:
        """Results of all tasks; what an actor was doing when it died is done by others."""
        with self._lock:
            self._idle_since = time.monotonic()
            results: list[Any] = [None] * len(tasks)
            waiting = deque(range(len(tasks)))
            left = len(tasks)
            self.traffic.sent += sum(_bytes(task.arguments) for task in tasks)
            try:
                while left:
                    clock.check()
                    self._hand_out(tasks, waiting)
                    for number, result in self._done(tasks, waiting):
                        results[number] = result
                        left -= 1
            finally:
                for actor in self._actors:  # where the clock stopped the work, what is still done is not wanted
                    actor.busy.clear()
            return results

    def end(self) -> None:
        """Kill them all."""
        for handle in self.handles:
            ray.kill(handle)

    def _hand_out(self, tasks: Sequence[Task], waiting: deque[int]) -> None:
        up = {number for number, actor in enumerate(self._actors) if not actor.starting}
        if up:
            self._idle_since = time.monotonic()
        elif time.monotonic() > self._idle_since + _START:
            raise HandfulError(
                f"no worker started within {_START:.0f} s: Ray has {ray.cluster_resources().get('CPU', 0):g} CPUs, of "
                f"which {ray.available_resources().get('CPU', 0):g} are free"
            )
        for number in up:
            actor = self._actors[number]
            while len(actor.busy) < _AHEAD and (task := _suited(tasks, waiting, number, up)) is not None:
                waiting.remove(task)
                actor.busy[getattr(actor.handle, tasks[task].method).remote(*tasks[task].arguments)] = task

    def _done(self, tasks: Sequence[Task], waiting: deque[int]) -> list[tuple[int, Any]]:
        """Numbers and results of some tasks that are done; those of actors that died wait again."""
        expected = [ref for actor in self._actors for ref in (*actor.starting, *actor.busy)]
        refs, _ = ray.wait(expected, num_returns=1, timeout=_LOOK)
        found = []
        for number, actor in enumerate(self._actors):
            for ref in [ref for ref in refs if ref in actor.starting or ref in actor.busy]:
                try:
                    result = ray.get(ref)
                except RayActorError as error:
                    for task in self._replace(number, error):
                        if tasks[task].only:
                            found.append((task, None))
                        else:
                            waiting.appendleft(task)
                    break
                except RayTaskError as error:
                    raise error.as_instanceof_cause() from None
                if ref in actor.starting:
                    actor.starting.remove(ref)
                else:
                    found.append((actor.busy.pop(ref), result))
                    self.traffic.returned += _bytes(result)
                    actor.deaths = 0
        return found

    def _replace(self, number: int, error: RayActorError) -> list[int]:
        """Put a new actor in the place of one that died; returns the tasks that it had."""
        dead = self._actors[number]
        if dead.deaths == _DEATHS:
            raise HandfulError(
                f"a Ray worker died {_DEATHS + 1} times in a row; its machine may lack memory, or handful: "
                f"{str(error).splitlines()[0]}"
            )
        handle = self._start()
        self._actors[number] = _Actor(handle, self._equip(number, handle), deaths=dead.deaths + 1)
        return list(dead.busy.values())


def _suited(tasks: Sequence[Task], waiting: deque[int], number: int, up: set[int]) -> int | None:
    """The first task waiting that this actor should do: its own, anybody's, or that of one that is not up."""
    for task in waiting:
        owner = tasks[task].owner
        if owner in (number, ANYBODY) or (owner not in up and not tasks[task].only):
            return task
    return None


def _bytes(given: Any) -> int:
    if isinstance(given, np.ndarray):
        return given.nbytes
    return sum(_bytes(part) for part in given) if isinstance(given, tuple | list) else 0
