"""Passes over costs by torch: on a graphics card, or on the processor.

The points stay on the device. What is summed over them is summed in double precision, as on threads. A value is found
by its threshold: a sample of the terms says between which two numbers that lies, and only the terms in between are
sorted. Nothing here needs more than NumPy and torch.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from handful.costs_torch import Costs, exact_products
from handful.errors import HandfulError
from handful.shelf import Shelf

if TYPE_CHECKING:
    from handful.blocks import Workers
    from handful.forecast import Holding
    from handful.lifted import Shares
    from handful.pool import Pool
    from handful.sample import Sample

_SAMPLE = 1024  # points on which thresholds are guessed
_CUDA_CELLS, _CPU_CELLS = 2**26, 2**21  # costs in a block at most: a card wants many, a processor's cache few
_CELL = 60  # bytes that a cost in a block takes, with what is made of it
_LIBRARY = 400_000_000  # bytes of torch itself
_SHARE = 0.7  # of a card's free memory, for the distances that are kept

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class TorchPasses:
    """Passes over costs on a device (see `handful.blocks.Passes`).

    Parameters
    ----------
    low, high : float
        The mass range of a pick.
    room : int
        How many candidates' costs may be kept on the device.
    tolerance : float
        How far terms may be off: those nearer to a threshold tie with it.
    cells : int
        Costs looked at together, at most.
    """

    def __init__(
        self,
        costs: Costs,
        masses: Floats,
        low: float,
        high: float,
        room: int,
        device: torch.device,
        tolerance: float,
        cells: int,
    ) -> None:
        self._costs = costs
        self._low, self._high = low, high
        self._device = device
        self._tolerance = tolerance
        self._cells = cells
        self._masses = torch.from_numpy(np.array(masses)).to(device)
        self._table = torch.empty((room, costs.count), dtype=costs.dtype, device=device)
        self._shelf = Shelf(costs.candidates, room)
        self._lock = threading.Lock()
        # A fixed seed: the sample only decides how sharp the floors are, not what they mean.
        sample = np.random.default_rng(0).choice(costs.count, min(_SAMPLE, costs.count), p=masses)
        self._sample = torch.from_numpy(sample).to(device)

    def kept(self, candidates: Indices) -> NDArray[np.bool_]:
        """Which of these candidates have their costs on the device."""
        return self._shelf.places(candidates) >= 0

    def keep(self, candidates: Indices, others: Indices, workers: Workers) -> None:
        """Have the costs of these there as far as there is room, and of ``others`` those that are there still."""
        new, places = self._shelf.clear(candidates, others)
        with exact_products(), self._lock:
            for start in range(0, len(new), self._step):
                workers.clock.check()
                some, there = new[start : start + self._step], places[start : start + self._step]
                chosen, rows = (torch.from_numpy(given).to(self._device) for given in (some, there))
                self._table[rows] = self._costs.between(chosen, slice(None))
                self._shelf.put(some, there)

    def values(
        self, candidates: Indices, prices: Floats, thresholds: Floats, widths: Floats, workers: Workers
    ) -> tuple[Floats, Floats]:
        """Values and thresholds; those given are not needed here."""
        found, moved = np.empty(len(candidates)), np.empty(len(candidates))
        with exact_products(), self._lock:
            sent = self._sent(prices)
            for part in self._parts(candidates):
                workers.clock.check()
                value, threshold = self._knapsacks(self._rows(candidates[part]) - sent)
                found[part], moved[part] = value.cpu().numpy(), threshold.cpu().numpy()
        return found, moved

    def floors(self, candidates: Indices, prices: Floats, workers: Workers) -> tuple[Floats, Floats]:
        """Bounds below the values, in one pass over the costs that sorts none but those to a sample."""
        found, moved = np.empty(len(candidates)), np.empty(len(candidates))
        width = min(self._costs.count, 2**14)
        with exact_products(), self._lock:
            sent = self._sent(prices)
            step = max(1, self._cells // width)
            for start in range(0, len(candidates), step):
                chosen = torch.from_numpy(candidates[start : start + step]).to(self._device)
                thresholds = self._guessed(chosen, sent)
                taken = torch.zeros_like(thresholds)
                for begin in range(0, self._costs.count, width):
                    workers.clock.check()
                    part = slice(begin, begin + width)
                    terms = self._costs.between(chosen, part, rough=True) - sent[part]
                    taken += terms.sub_(thresholds[:, None]).clamp_(max=0) @ self._masses[part]
                bounds = self._low * thresholds.clamp(min=0) + self._high * thresholds.clamp(max=0) + taken
                found[start : start + step], moved[start : start + step] = (
                    bounds.cpu().numpy(),
                    thresholds.cpu().numpy(),
                )
        return found, moved

    def taken(self, candidates: Indices, prices: Floats, thresholds: Floats, workers: Workers) -> Floats:
        """The mass of every point that these candidates take together.

        Thresholds are those of costs computed here and now: the device may round others otherwise.
        """
        total = torch.zeros(self._costs.count, dtype=torch.float64, device=self._device)
        with exact_products(), self._lock:
            sent = self._sent(prices)
            for part in self._parts(candidates):
                workers.clock.check()
                terms = self._rows(candidates[part]) - sent
                _, found = self._knapsacks(terms)
                off = terms.sub_(found[:, None])
                below, at = off < -self._tolerance, off.abs() <= self._tolerance
                held = torch.where(below, self._masses, 0.0).sum(1)
                tied = torch.where(at, self._masses, 0.0).sum(1)
                # Terms that tie at the threshold share what is left of the mass the candidate must or may take.
                least = torch.full_like(held, self._low)
                rest = torch.where(found >= 0, least, self._high).sub(held).clamp(min=0).minimum(tied)
                shares = torch.where(tied > 0, rest / tied, 0.0)
                total += (below.sum(0) + torch.where(at, shares[:, None], 0.0).sum(0)) * self._masses
        return total.cpu().numpy()

    @property
    def _step(self) -> int:
        return max(1, self._cells // self._costs.count)

    def _sent(self, prices: Floats) -> Tensor:
        return torch.from_numpy(np.array(prices)).to(self._device)

    def _parts(self, candidates: Indices) -> list[Indices]:
        """Positions in ``candidates`` in blocks, of which all or none are kept."""
        kept = self.kept(candidates)
        sides = (np.flatnonzero(kept), np.flatnonzero(~kept))
        return [some[start : start + self._step] for some in sides for start in range(0, len(some), self._step)]

    def _rows(self, candidates: Indices) -> Tensor:
        """Costs of these to all points: all of them kept, or none."""
        places = self._shelf.places(candidates)
        if (places >= 0).all():
            return self._table[torch.from_numpy(places).to(self._device)]
        return self._costs.between(torch.from_numpy(candidates).to(self._device), slice(None))

    def _guessed(self, chosen: Tensor, prices: Tensor) -> Tensor:
        """Thresholds as they are on the sample."""
        terms = self._costs.between(chosen, self._sample) - prices[self._sample]
        count = terms.shape[1]
        negative = (terms < 0).sum(1).double() / count
        mass = negative.clamp(self._low, self._high) * count
        last = (mass.ceil().long() - 1).clamp(0, count - 1)
        found = terms.sort(1).values.gather(1, last[:, None])[:, 0]
        # Where the mass may vary, any of it is taken only as long as the terms are negative: the threshold is 0.
        return torch.where((self._low < negative) & (negative < self._high), 0.0, found)

    def _knapsacks(self, terms: Tensor) -> tuple[Tensor, Tensor]:
        """Values and thresholds of the candidates with these terms (rows)."""
        mass = torch.full((len(terms),), self._low, dtype=torch.float64, device=self._device)
        if self._low == self._high:
            return self._cheapest(terms, mass)
        negative = torch.where(terms < 0, self._masses, 0.0).sum(1)
        inner = (self._low <= negative) & (negative <= self._high)
        cost, threshold = terms.clamp(max=0) @ self._masses, torch.zeros_like(negative)
        if not inner.all():
            mass = torch.where(negative < self._low, mass, self._high)
            other, last = self._cheapest(terms, mass)
            cost, threshold = torch.where(inner, cost, other), torch.where(inner, 0.0, last)
        return cost, threshold

    def _cheapest(self, terms: Tensor, mass: Tensor) -> tuple[Tensor, Tensor]:
        """Sums of the cheapest terms of every row up to these masses, and the last terms taken."""
        if terms.shape[1] <= 2 * _SAMPLE:
            return _filled(terms, self._masses.expand_as(terms), mass)
        few = terms[:, self._sample].sort(1).values
        count = few.shape[1]
        spread = 4 * (mass * count).sqrt() + 4
        first, last = (mass * count - spread).long(), (mass * count + spread).long()
        lower = torch.where(first >= 0, few.gather(1, first.clamp(0)[:, None])[:, 0], -torch.inf)
        upper = torch.where(last < count, few.gather(1, last.clamp(max=count - 1)[:, None])[:, 0], torch.inf)
        below = torch.where(terms < lower[:, None], self._masses, 0.0)
        held, cost = below.sum(1), below.mul_(terms).sum(1)
        inside = (terms >= lower[:, None]) & (terms <= upper[:, None])
        counts = inside.sum(1)
        rows, columns = inside.nonzero(as_tuple=True)
        places = torch.arange(len(rows), device=self._device) - (counts.cumsum(0) - counts)[rows]
        some = torch.full((len(terms), max(1, int(counts.max()))), torch.inf, dtype=torch.float64, device=self._device)
        weights = torch.zeros_like(some)
        some[rows, places], weights[rows, places] = terms[rows, columns], self._masses[columns]
        value, threshold = _filled(some, weights, mass - held)
        value += cost
        missed = (mass < held) | (mass > held + weights.sum(1)) | (counts == 0)
        if missed.any():
            whole = terms[missed]
            value[missed], threshold[missed] = _filled(whole, self._masses.expand_as(whole), mass[missed])
        return value, threshold


def _filled(terms: Tensor, weights: Tensor, mass: Tensor) -> tuple[Tensor, Tensor]:
    """Sum of the cheapest terms of every row up to its mass, the last in part, and that last one."""
    terms, order = terms.sort(1)
    weights = weights.gather(1, order)
    held = weights.cumsum(1)
    last = torch.minimum((held < mass[:, None]).sum(1), terms.isfinite().sum(1) - 1).clamp(min=0)[:, None]
    threshold = terms.gather(1, last)[:, 0]
    whole = torch.arange(terms.shape[1], device=terms.device) < last
    cost = torch.where(whole, weights * terms.nan_to_num(posinf=0.0), 0.0).sum(1)
    before = (held - weights).gather(1, last)[:, 0] if terms.shape[1] else mass
    return cost + (mass - before) * threshold, threshold


class TorchExecutor:
    """Passes on one device of torch."""

    def __init__(self, name: str) -> None:
        self.device = _device(name)
        self.holding = holding_of(name)
        self._cells = _cells(self.device)
        self._costs: dict[torch.dtype, Costs] = {}

    def passes(self, points: Pool | Sample, shares: Shares, room: int, dtype: type[np.floating[Any]]) -> TorchPasses:
        """Passes over the costs to these points, of which those of up to ``room`` candidates are kept."""
        from handful.sample import Sample, whole

        kind = torch.float64 if np.dtype(dtype).itemsize == 8 else torch.float32
        if kind not in self._costs:
            self._costs[kind] = Costs(whole(points).prepared(dtype), kind, self.device)
        costs = self._costs[kind]
        if isinstance(points, Sample):
            costs = costs.sampled(torch.from_numpy(points.rows).to(self.device))
        tolerance = points.rounding(dtype)
        return TorchPasses(costs, points.masses, shares.low, shares.high, room, self.device, tolerance, self._cells)


def _device(name: str) -> torch.device:
    """The device of that name; a HandfulError says why it can't be."""
    if name == "cpu-torch":
        return torch.device("cpu")
    kind, _, number = name.partition(":")
    if kind != "cuda" or not (number == "" or number.isdecimal()):
        raise HandfulError(f'device {name!r} is not known: write "cuda", "cuda:1" for another card, or "cpu-torch"')
    count = torch.cuda.device_count()
    if int(number or 0) >= count:
        cards = "no card" if not count else f"only card {'0' if count == 1 else f'0 to {count - 1}'}"
        raise HandfulError(f"device {name}: torch {torch.__version__} finds {cards} here; leave it out to use threads")
    return torch.device("cuda", int(number or 0))


def _cells(device: torch.device) -> int:
    """How many costs are looked at together there."""
    if device.type != "cuda":
        return _CPU_CELLS
    free, _ = torch.cuda.mem_get_info(device)
    return min(_CUDA_CELLS, free // (5 * _CELL))


def holding_of(name: str) -> Holding:
    """What there is room for on the device of that name."""
    from handful.forecast import Holding

    device = _device(name)
    if device.type != "cuda":
        return Holding("by torch on the processor", fixed=_LIBRARY, copies=3)
    free, _ = torch.cuda.mem_get_info(device)
    return Holding(f"on the {torch.cuda.get_device_name(device)}", room=int(_SHARE * free), fixed=3 * _LIBRARY)
