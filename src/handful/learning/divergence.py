r"""f-divergences by their conjugates, and the layer that turns gradients around.

.. math:: D_\varphi(P \| Q) = \sup_T E_P[T] - E_Q[\varphi^*(T)], \qquad
          \varphi^*(t) = \sup_{x \ge 0}\, t x - \varphi(x)

(Nguyen, Wainwright & Jordan 2010; Nowozin, Cseke & Tomioka 2016). What a network says is any number; an activation
brings it to where the conjugate is finite.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Final

import torch
from torch import Tensor, nn

from handful.errors import HandfulError


class Divergence(ABC):
    """One f-divergence."""

    @abstractmethod
    def generator(self, ratio: Tensor) -> Tensor:
        r"""The convex function φ, with φ(1) = 0."""

    @abstractmethod
    def activation(self, value: Tensor) -> Tensor:
        r"""Any number to one where the conjugate is finite, and rising."""

    @abstractmethod
    def conjugate(self, value: Tensor) -> Tensor:
        r"""φ*."""

    def between(self, first: Tensor, second: Tensor) -> Tensor:
        """The lower bound of the divergence that a network's numbers on samples of both give."""
        return self.activation(first).mean() - self.conjugate(self.activation(second)).mean()


class Pearson(Divergence):
    r"""Pearson's χ²: φ(x) = (x - 1)², φ*(t) = t + t²/4.

    The conjugate is this from t = -2 on and -1 below; as Acuna et al. we use the parabola throughout, which is the
    conjugate of φ on the whole line and bounds the other from above.
    """

    def generator(self, ratio: Tensor) -> Tensor:
        return (ratio - 1) ** 2

    def activation(self, value: Tensor) -> Tensor:
        return value

    def conjugate(self, value: Tensor) -> Tensor:
        return value + value**2 / 4


class JensenShannon(Divergence):
    r"""Twice the Jensen-Shannon divergence: φ(x) = x log x - (x + 1) log((x + 1) / 2), φ*(t) = -log(2 - exp t)."""

    def generator(self, ratio: Tensor) -> Tensor:
        return torch.xlogy(ratio, ratio) - (ratio + 1) * torch.log((ratio + 1) / 2)

    def activation(self, value: Tensor) -> Tensor:
        return math.log(2) + nn.functional.logsigmoid(value)

    def conjugate(self, value: Tensor) -> Tensor:
        return -torch.log(2 - torch.exp(value))

    def between(self, first: Tensor, second: Tensor) -> Tensor:
        # φ*(activation(v)) is -log 2 - log sigmoid(-v), which does not overflow where 2 - exp t rounds to 0.
        against = -math.log(2) - nn.functional.logsigmoid(-second)
        return self.activation(first).mean() - against.mean()


DIVERGENCES: Final[dict[str, Divergence]] = {"pearson": Pearson(), "jensen-shannon": JensenShannon()}


def divergence(name: str) -> Divergence:
    """The divergence of that name."""
    if name not in DIVERGENCES:
        raise HandfulError(f"unknown divergence {name!r}: choose one of {', '.join(DIVERGENCES)}")
    return DIVERGENCES[name]


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return -ctx.strength * gradients[0], None


def reversed_gradient(values: Tensor, strength: float) -> Tensor:
    """The values as they are; on the way back their gradient is multiplied by ``-strength``.

    What follows is lowered by one optimiser for all: by those after this layer as it is, and raised by those before it
    (Ganin & Lempitsky 2015, *Unsupervised domain adaptation by backpropagation*, ICML).
    """
    result: Tensor = _Reversal.apply(values, strength)  # type: ignore[no-untyped-call]
    return result
