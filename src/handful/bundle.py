r"""Proximal bundle ascent of a concave function of the prices (Lemaréchal; Kiwiel 1990, *Proximity control in bundle
methods for convex nondifferentiable minimization*, Math. Program. 46).

Every evaluation gives a piece :math:`L(u) \le b_c + g_c \cdot u`. The next trial maximises the least of the pieces
minus :math:`\|u - \hat u\|_a^2 / 2t` around the best prices :math:`\hat u` so far; the norm weighs every point by its
mass. Its dual is a small quadratic program over the simplex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PIECES = 70


class Bundle:
    """Pieces of a concave function, and the point around which they are trusted.

    Parameters
    ----------
    masses : array
        Weights of the norm; where one is 0 the function must not depend on that price.
    prices, value, gradient, chosen
        A first evaluation; ``chosen`` are the candidates counted in it.
    target : float
        A value that the function is known not to exceed; sets the first step length.
    """

    def __init__(
        self, masses: Floats, prices: Floats, value: float, gradient: Floats, chosen: Indices, target: float
    ) -> None:
        self._inverse = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
        self._gradients = np.empty((0, len(masses)))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._picks: list[dict[int, float]] = []
        self._weights = np.ones(1)
        self.prices, self.value = prices, value
        self.predicted = np.inf
        self._add(value - gradient @ prices, gradient, dict.fromkeys(chosen.tolist(), 1.0))
        self._step = max(target - value, 1e-9 * abs(target)) / max(self._gram[0, 0], 1e-300)
        self._misses = 0

    def propose(self) -> Floats:
        """The next prices to try; `predicted` is the gain that the pieces promise there."""
        heights = self._offsets + self._gradients @ self.prices - self.value
        self._weights = simplex_minimum(self._step * self._gram, heights)
        direction = self._inverse * (self._weights @ self._gradients)
        self._trial = self.prices + self._step * direction
        self.predicted = float((self._offsets + self._gradients @ self._trial).min()) - self.value
        return self._trial

    def learn(self, value: float, gradient: Floats, chosen: Indices) -> bool:
        """Take in the evaluation of the last proposal; whether it became the new centre."""
        self._drop_idle()
        self._add(value - gradient @ self._trial, gradient, dict.fromkeys(chosen.tolist(), 1.0))
        gain = value - self.value
        # How far the new piece lies above the function at the centre: a large error means the trial was too far out.
        error = value + float(gradient @ (self.prices - self._trial)) - self.value
        better = gain >= 0.1 * self.predicted
        if better:
            self._misses = 0
            if gain >= 0.5 * self.predicted:
                self._step *= 2
            self.prices, self.value = self._trial, value
        else:
            self._misses += 1
            if self._misses >= 3 and error > 3 * self.predicted:
                self._step *= 0.7
        return better

    def support(self) -> dict[int, float]:
        """How much of each candidate is picked in the relaxed problem, by the weights of the pieces.

        At the top of the function these solve the linear relaxation (Barahona & Anbil 2000, *The volume algorithm*).
        """
        total: dict[int, float] = {}
        for weight, picks in zip(self._weights, self._picks, strict=False):
            for pick, part in picks.items():
                total[pick] = total.get(pick, 0.0) + float(weight) * part
        return total

    def _add(self, offset: float, gradient: Floats, picks: dict[int, float]) -> None:
        scaled = gradient * self._inverse
        column = self._gradients @ scaled
        corner = np.array([[gradient @ scaled]])
        self._gram = np.block([[self._gram, column[:, None]], [column[None, :], corner]])
        self._gradients = np.vstack([self._gradients, gradient])
        self._offsets = np.append(self._offsets, offset)
        self._picks.append(picks)

    def _drop_idle(self) -> None:
        if len(self._offsets) < _PIECES:
            return
        # What is dropped lives on in one piece: the weighted mean of all, which is what the last proposal used.
        mean, offset, picks = self._weights @ self._gradients, float(self._weights @ self._offsets), self.support()
        keep = np.sort(np.argsort(self._weights, kind="stable")[len(self._weights) // 3 :])
        self._gradients, self._offsets = self._gradients[keep], self._offsets[keep]
        self._gram = self._gram[np.ix_(keep, keep)]
        self._picks = [self._picks[k] for k in keep]
        self._add(offset, mean, picks)


def simplex_minimum(square: Floats, linear: Floats) -> Floats:
    """Minimise ``x Q x / 2 + c x`` over the simplex by a primal-dual interior-point method."""
    n = len(linear)
    x = np.full(n, 1.0 / n)
    if n == 1:
        return x
    scale = max(float(np.abs(linear).max()), float(np.diag(square).max()), 1e-300)
    square, linear = square / scale, (linear - linear.min()) / scale
    slope = square @ x + linear
    level = float(slope.min()) - 1.0
    slack = slope - level
    for _ in range(60):
        gap = float(x @ slack)
        if gap < 1e-12:
            break
        residual = square @ x + linear - level - slack
        matrix = square + np.diag(slack / x)
        rhs = -residual - slack + 0.1 * gap / n / x
        solved = np.linalg.solve(matrix, np.column_stack([rhs, np.ones(n)]))
        shift = (1 - x.sum() - solved[:, 0].sum()) / solved[:, 1].sum()
        dx = solved[:, 0] + shift * solved[:, 1]
        ds = 0.1 * gap / n / x - slack - slack / x * dx
        step = 1.0
        for current, change in ((x, dx), (slack, ds)):
            falling = change < 0
            if falling.any():
                step = min(step, 0.99 * float((-current[falling] / change[falling]).min()))
        x, slack, level = x + step * dx, slack + step * ds, level + step * shift
    return x / x.sum()
