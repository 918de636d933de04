"""Cases of a proof that wait to be split: what the two kinds of trees have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from handful.proof import Proof

Indices = NDArray[np.int64]


class Case(Protocol):
    """A case, and the bound that is proven for it."""

    bound: float


Waiting = TypeVar("Waiting", bound=Case)


class Cases(ABC, Generic[Waiting]):
    """Cases still to be split, a heap by their bounds, and the least bound of those that need no more splitting."""

    def __init__(self, proof: Proof, limit: int) -> None:
        self._proof = proof
        self._limit = limit
        self._closed = np.inf
        self._cases: list[Waiting] = []

    @property
    def lower_bound(self) -> float:
        """The least bound of any case."""
        return min(self._closed, self._cases[0].bound if self._cases else np.inf)

    @property
    def finished(self) -> bool:
        """Whether no case is left to be split, or no room to do so."""
        return not self._cases or self._proof.size >= self._limit

    @abstractmethod
    def split(self, distance: float) -> list[Indices]:
        """Split some of the cases; returns the picks that their halves suggest."""
