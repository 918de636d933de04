"""Passes over costs by the actors of a Ray cluster.

Every actor has the points, and keeps the costs of its part of the candidates. Prices are put into Ray's object store
once and fetched once by every machine; values, thresholds and lists of points come back. Blocks are cut as for threads,
and what comes back is summed in the same order, so that the results are the same.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from handful.blocks import Workers, available_cores, slices, workers
from handful.clock import Clock
from handful.cluster import Actors, Task
from handful.errors import HandfulError
from handful.forecast import Holding
from handful.lifted import Shares
from handful.pool import Pool
from handful.rows import Cut, Rows
from handful.sample import Sample, whole
from handful.shelf import Shelf

_PROCESS = 300_000_000  # bytes of an actor, beside its points and rows
_THREADS = 8  # of an actor, at most
_KEPT, _COMPUTED = 100_000_000, 25_000_000  # costs that each of its threads looks at in a task
_ANSWER = 5.0  # seconds that a cluster may take to answer

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Type = type[np.floating[Any]]


class Keeper:
    """What an actor does: passes over the rows that it keeps, or computes."""

    def __init__(self, threads: int) -> None:
        self._open = ExitStack()
        self._crew = self._open.enter_context(workers(threads, Clock(np.inf)))
        self._pools: dict[Type, Pool] = {}
        self._rows: dict[int, Rows] = {}

    def ready(self) -> None:
        """Nothing; done once the actor is there."""

    def bring(self, dtype: Type, pickled: bytes) -> None:
        """Take the points. They come as bytes, of which every actor makes arrays of its own: kernels compiled for
        Ray's, which can't be written to, would be others."""
        self._pools[dtype] = pickle.loads(pickled)

    def open(self, name: int, sample: Indices | None, shares: Shares, room: int, dtype: Type) -> None:
        """Be ready for passes over the costs to all points, or to a sample."""
        pool = self._pools[dtype]
        self._rows[name] = Rows(pool if sample is None else Sample(pool, sample), shares, room, dtype)

    def close(self, name: int) -> None:
        """Forget these."""
        del self._rows[name]

    def keep(self, name: int, candidates: Indices, others: Indices) -> None:
        """See `Rows`; so are the next three."""
        self._rows[name].keep(candidates, others, self._crew)

    def values(
        self, name: int, prices: Floats, candidates: Indices, thresholds: Floats, widths: Floats
    ) -> tuple[Floats, Floats]:
        return self._rows[name].values(candidates, prices.copy(), thresholds, widths, self._crew)

    def floors(self, name: int, prices: Floats, candidates: Indices) -> tuple[Floats, Floats]:
        return self._rows[name].floors(candidates, prices.copy(), self._crew)

    def listed(
        self, name: int, prices: Floats, candidates: Indices, thresholds: Floats
    ) -> list[tuple[NDArray[np.int32], Floats]]:
        return self._rows[name].listed(candidates, prices.copy(), thresholds, self._crew)


class RayExecutor:
    """Passes by ``count`` actors of so many ``threads`` each."""

    def __init__(self, count: int, threads: int) -> None:
        self.count, self.threads = count, threads
        self.holding = actors_holding(count)
        self._points: dict[Type, Any] = {}
        self._opened: weakref.WeakValueDictionary[int, RayPasses] = weakref.WeakValueDictionary()
        self._prices: tuple[Floats | None, Any] = (None, None)
        self.actors = Actors(count, self._start, self._equip)

    def _start(self) -> Any:
        kind = ray.remote(Keeper).options(num_cpus=self.threads, scheduling_strategy="SPREAD")
        return kind.remote(self.threads)

    def _equip(self, number: int, handle: Any) -> list[Any]:
        """Bring an actor that takes another's place to where that was."""
        done = [handle.ready.remote()]
        done += [handle.bring.remote(dtype, pickled) for dtype, pickled in self._points.items()]
        for passes in list(self._opened.values()):
            done.append(handle.open.remote(*passes.given))
            done.append(handle.keep.remote(passes.name, passes.owned(number), passes.owned(number)))
        return done

    def passes(self, points: Pool | Sample, shares: Shares, room: int, dtype: Type) -> RayPasses:
        """Passes over the costs to these points, of which those of up to ``room`` candidates are kept."""
        if dtype not in self._points:
            self._points[dtype] = ray.put(pickle.dumps(whole(points).shipped(dtype), protocol=5))
            self.actors.everywhere("bring", dtype, self._points[dtype])
        passes = RayPasses(self, points, shares, room, dtype)
        self._opened[passes.name] = passes
        self.actors.everywhere("open", *passes.given)
        weakref.finalize(passes, self._close, passes.name)
        return passes

    def _close(self, name: int) -> None:
        if ray.is_initialized():
            self.actors.everywhere("close", name)

    def sent(self, prices: Floats) -> Any:
        """The prices in the object store, put there once."""
        if self._prices[0] is not prices:
            self._prices = (prices, ray.put(prices))
            self.actors.traffic.sent += prices.nbytes
        return self._prices[1]


class RayPasses:
    """Passes over costs by actors (see `handful.blocks.Passes`); here is only known who keeps what."""

    _count = 0

    def __init__(self, executor: RayExecutor, points: Pool | Sample, shares: Shares, room: int, dtype: Type) -> None:
        RayPasses._count += 1
        self.name = RayPasses._count
        self._executor = executor
        self._n = points.n
        self._cut = Cut(points.n)
        self._shelf = Shelf(whole(points).n, room)
        self._owners = np.full(whole(points).n, -1)
        # The actor that has least always takes the next block, so none ever has more than this.
        most = room // executor.count + self._cut.step + 1
        sample = points.rows if isinstance(points, Sample) else None
        self.given = (self.name, sample, shares, min(most, room), dtype)

    def owned(self, actor: int) -> Indices:
        """The candidates whose rows this actor keeps."""
        return np.flatnonzero(self._owners == actor)

    def kept(self, candidates: Indices) -> NDArray[np.bool_]:
        """Which of these candidates have their costs in an actor's memory."""
        return self._owners[candidates] >= 0

    def keep(self, candidates: Indices, others: Indices, workers: Workers) -> None:
        """Have the costs of these there as far as there is room, and of ``others`` those that are there still."""
        new, places = self._shelf.clear(candidates, others)
        held = np.flatnonzero(self._owners >= 0)
        self._owners[held[self._shelf.places(held) < 0]] = -1
        loads = np.bincount(self._owners[self._owners >= 0], minlength=self._executor.count)
        tasks = []
        for block in slices(len(new), self._cut.step):
            least = int(np.argmin(loads))
            tasks.append(Task("keep", (self.name, new[block], self.owned(least)), least, only=True))
            self._owners[new[block]] = least
            loads[least] += len(new[block])
        self._shelf.put(new, places)
        self._executor.actors.run(tasks, workers.clock)

    def values(
        self, candidates: Indices, prices: Floats, thresholds: Floats, widths: Floats, workers: Workers
    ) -> tuple[Floats, Floats]:
        """Values and thresholds of these candidates."""
        sent = self._executor.sent(prices)
        tasks, parts = [], self._parts(candidates)
        for part, owner in parts:
            given = (self.name, sent, candidates[part], thresholds[part], widths[part])
            tasks.append(Task("values", given, owner))
        return self._gathered(len(candidates), parts, self._executor.actors.run(tasks, workers.clock))

    def floors(self, candidates: Indices, prices: Floats, workers: Workers) -> tuple[Floats, Floats]:
        """Bounds below the values, in one pass over the costs that selects nothing."""
        sent = self._executor.sent(prices)
        together = slices(len(candidates), self._cut.tall * self._executor.threads)
        parts = [(np.arange(part.start, part.stop), -1) for part in together]
        tasks = [Task("floors", (self.name, sent, candidates[part])) for part, _ in parts]
        return self._gathered(len(candidates), parts, self._executor.actors.run(tasks, workers.clock))

    def taken(self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers) -> Floats:
        """The mass of every point that these candidates take together."""
        sent = self._executor.sent(prices)
        parts = self._parts(candidates)
        tasks = [Task("listed", (self.name, sent, candidates[part], thresholds[part]), owner) for part, owner in parts]
        lists: dict[int, tuple[NDArray[np.int32], Floats]] = {}
        for (part, _), found in zip(parts, self._executor.actors.run(tasks, workers.clock), strict=True):
            lists |= dict(zip(part.tolist(), found, strict=True))
        total = np.zeros(self._n)
        kept = self.kept(candidates)
        for k in [*np.flatnonzero(kept).tolist(), *np.flatnonzero(~kept).tolist()]:
            points, masses = lists[k]
            total[points] += masses
        return total

    def _parts(self, candidates: Indices) -> list[tuple[Indices, int]]:
        """Positions in ``candidates`` for one task each, with who keeps their rows."""
        threads, cut = self._executor.threads, self._cut
        owners = self._owners[candidates]
        parts = []
        for owner in range(-1, self._executor.count):
            some = np.flatnonzero(owners == owner)
            cells, shares = (_COMPUTED, 2 * self._executor.count) if owner < 0 else (_KEPT, 2)
            # Blocks that a task computes are those that threads would.
            blocks = min(threads * cells // (cut.few * self._n), -(-len(some) // (shares * cut.few)))
            length = cut.few * max(1, blocks)
            parts += [(some[part], owner) for part in slices(len(some), length)]
        return parts

    @staticmethod
    def _gathered(
        count: int, parts: list[tuple[Indices, int]], results: list[tuple[Floats, Floats]]
    ) -> tuple[Floats, Floats]:
        found, moved = np.empty(count), np.empty(count)
        for (part, _), result in zip(parts, results, strict=True):
            found[part], moved[part] = result
        return found, moved


@contextmanager
def cluster(address: str, threads: int | None) -> Iterator[RayExecutor]:
    """Actors on the cluster at this address, or on one of this machine's own ("local"), as long as it is open.

    ``threads`` is how many CPUs they take together; default: all there are.
    """
    started = not ray.is_initialized()
    if started:
        _connect(address, threads)
    try:
        executor = RayExecutor(*_shape(threads))
        try:
            yield executor
        finally:
            executor.actors.end()
    finally:
        if started:
            ray.shutdown()


def _connect(address: str, threads: int | None) -> None:
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address == "local":
        # Ray's own report of its use to its makers is not this program's to send.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=threads or available_cores(), include_dashboard=False, **quiet)
        return
    try:
        if address != "auto":
            host, _, port = address.rpartition(":")
            # Ray itself would try for minutes.
            socket.create_connection((host, int(port)), _ANSWER).close()
        ray.init(address=address, **quiet)
    except (OSError, ValueError, OverflowError) as error:
        raise HandfulError(
            f"no Ray cluster answers at {address!r} ({error}): start one with ray start --head, which says its address "
            '(HOST:6379), or write "local"'
        ) from None


def _shape(threads: int | None) -> tuple[int, int]:
    """What there is room for on the cluster's machines."""
    cpus = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    if not any(cpus):
        raise HandfulError("the Ray cluster has no CPUs: start its machines with ray start --num-cpus")
    return shape([count for count in cpus if count], threads)


def shape(cpus: list[int], threads: int | None) -> tuple[int, int]:
    """How many actors of how many threads machines with so many CPUs have room for: two at least, as one may die."""
    total = min(sum(cpus), threads or sum(cpus))
    each = max(1, min(_THREADS, *cpus, total // 2))
    return max(1, min(sum(count // each for count in cpus), total // each)), each


def actors_holding(count: int | None, where: str = "") -> Holding:
    """What actors take; where their number is not known yet, at least two have the points."""
    number = "" if count is None else f"{count} "
    return Holding(f"by {number}Ray actors{where}", fixed=(count or 0) * _PROCESS, copies=(count or 2) + 1)
