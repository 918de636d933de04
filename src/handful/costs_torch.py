r"""Costs by torch, on a graphics card or on the processor.

A squared distance is one matrix product, :math:`|x|^2 + |y|^2 - 2 x y = (-2x, |x|^2, 1) \cdot (y, 1, |y|^2)`: a dot
product of two more terms, so that its error is within the bound that holds for the pool's (`handful.metrics`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from handful.prepared import Prepared

_PAIRS = 2**20  # squared distances that are computed from the coordinates at a time


class Costs:
    """Costs between the points of a pool (rows, as candidates) and some or all of them (columns), on a device."""

    def __init__(self, prepared: Prepared, dtype: torch.dtype, device: torch.device) -> None:
        self.metric = prepared.metric
        self.dtype = dtype
        self._parameter = prepared.parameter
        self._cancelled = prepared.cancelled
        points = torch.from_numpy(np.array(prepared.points)).to(device)
        self.candidates = self.count = len(points)
        if self.metric == "precomputed":
            self._table = points.T.to(dtype).contiguous()
            return
        norms = torch.from_numpy(np.array(prepared.norms)).to(device)[:, None]
        self._scale = 0.5 if self.metric == "cosine" else 1.0
        ones = torch.ones_like(norms)
        self._left = torch.cat([-2 * self._scale * points, self._scale * norms, self._scale * ones], 1)
        self._right = torch.cat([points, ones, norms], 1)

    def sampled(self, rows: Tensor) -> Costs:
        """The same to these points only."""
        part = copy.copy(self)
        part.count = len(rows)
        if self.metric == "precomputed":
            part._table = self._table[:, rows]
        else:
            part._right = self._right[rows]
        return part

    def between(self, candidates: Tensor, points: slice | Tensor, rough: bool = False) -> Tensor:
        """Costs of these; if ``rough``, squared distances that lost their last digits may be left as they are."""
        if self.metric == "precomputed":
            return self._table[candidates][:, points]
        x, y = self._left[candidates], self._right[points]
        width = x.shape[1] - 2
        if self.metric == "manhattan":
            return torch.cdist(x[:, :width] / (-2 * self._scale), y[:, :width], p=1).to(self.dtype)
        if np.isinf(self._cancelled):
            costs = sum(_column(x, y, k, self._scale) for k in range(width))
            assert isinstance(costs, Tensor)
            costs = (costs * self._scale).to(x.dtype)
        else:
            costs = x @ y.T
            if not rough or self.metric == "euclidean":
                self._repair(costs, x, y, costs < self._cancelled * (x[:, -2:-1] + self._scale * y[:, -1]))
        return self._finished(costs, x, y).to(self.dtype)

    def _repair(self, squares: Tensor, x: Tensor, y: Tensor, where: Tensor) -> None:
        """Compute these anew from the coordinates, summed in their order."""
        rows, columns = where.nonzero(as_tuple=True)
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            some, others = x[rows[part]].double(), y[columns[part]].double()
            total = torch.zeros(len(some), dtype=torch.float64, device=x.device)
            for k in range(x.shape[1] - 2):
                difference = some[:, k] / (-2 * self._scale) - others[:, k]
                total = total + difference * difference
            squares[rows[part], columns[part]] = (self._scale * total).to(squares.dtype)

    def _finished(self, squares: Tensor, x: Tensor, y: Tensor) -> Tensor:
        if self.metric == "euclidean":
            return squares.clamp_(min=0).sqrt_()
        if self.metric == "rbf":
            return squares.mul_(-0.5 / self._parameter**2).expm1_().neg_()
        if self.metric == "ball":
            rim = self._parameter**2
            near = (squares - rim).abs() <= 1e-3 * (rim + x[:, -2:-1] + y[:, -1])
            self._repair(squares, x, y, near)
            return squares > rim
        return squares


def _column(x: Tensor, y: Tensor, k: int, scale: float) -> Tensor:
    """Squares of the differences in one coordinate."""
    difference = x[:, k, None].double() / (-2 * scale) - y[:, k].double()
    return difference * difference


@contextmanager
def exact_products() -> Iterator[None]:
    """Single precision is single precision meanwhile, not the shorter kind that a program may have asked torch for."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_float32_matmul_precision(before)
