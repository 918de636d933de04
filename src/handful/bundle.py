r"""Proximal bundle ascent of a concave function of the prices (Kiwiel 1990, *Proximity control in bundle methods for
convex nondifferentiable minimization*, Math. Program. 46).

Every evaluation gives a piece, :math:`L(u) \le b_c + g_c \cdot u`. The next trial maximises the least of the pieces
minus :math:`\|u - \hat u\|_a^2 / 2t` around the best prices :math:`\hat u` so far; the norm weighs every point by its
mass. Its dual is a small quadratic program over the simplex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handful.bound import Evaluation, Field

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PIECES = 70
_STEPS = 20  # of `ascend`
_MANY = 800  # candidates from which its steps are over the cheapest only, with a look at all in between
_ACTIVE = 300  # of these
_ROUNDS = 2  # looks at all


class Bundle:
    """Pieces of a concave function, and the prices around which they are trusted.

    Parameters
    ----------
    masses : array
        Weights of the norm; where one is 0 the function must not depend on that price.
    first : Evaluation
        Where to start.
    target : float
        A value that the function is known not to exceed, or nearly so; sets the first step length.
    """

    def __init__(self, masses: Floats, first: Evaluation, target: float) -> None:
        self._inverse = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
        self._gradients = np.empty((_PIECES + 2, len(masses)))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._picks: list[dict[int, float]] = []
        self._weights = np.ones(1)
        self.prices, self.value = first.prices, first.value
        self.predicted = np.inf
        self.add(first)
        self._step = max(target - first.value, 1e-9 * abs(target)) / max(self._gram[0, 0], 1e-300)
        self._misses = 0

    def propose(self) -> Floats:
        """The next prices to try; `predicted` is the gain that the pieces promise there."""
        pieces = self._gradients[: len(self._offsets)]
        heights = self._offsets + pieces @ self.prices - self.value
        self._weights = simplex_minimum(self._step * self._gram, heights)
        self._trial = self.prices + self._step * (self._inverse * (self._weights @ pieces))
        self.predicted = float((self._offsets + pieces @ self._trial).min()) - self.value
        return self._trial

    def learn(self, trial: Evaluation) -> bool:
        """Take in the evaluation of the last proposal; whether it became the new centre."""
        gain = trial.value - self.value
        # How far the new piece lies above the function at the centre: a large error means the trial was too far out.
        error = gain + float(trial.gradient @ (self.prices - trial.prices))
        self.add(trial)
        better = gain >= 0.1 * self.predicted
        if better:
            self._misses = 0
            if gain >= 0.5 * self.predicted:
                self._step *= 2
            self.recentre(trial.prices, trial.value)
        else:
            self._misses += 1
            if self._misses >= 3 and error > 3 * self.predicted:
                self._step *= 0.7
        return better

    def recentre(self, prices: Floats, value: float) -> None:
        """Trust the pieces around these prices from now on."""
        self.prices, self.value = prices, value

    def add(self, evaluation: Evaluation) -> None:
        """Take in the piece that an evaluation gives."""
        if len(self._offsets) == _PIECES:
            self._drop_idle()
        offset = evaluation.value - float(evaluation.gradient @ evaluation.prices)
        self._append(offset, evaluation.gradient, dict.fromkeys(evaluation.chosen.tolist(), 1.0))

    def support(self) -> dict[int, float]:
        """How much of each candidate is picked in the relaxed problem, by the weights of the pieces.

        At the top of the function these solve the linear relaxation (Barahona & Anbil 2000, *The volume algorithm*,
        Math. Program. 87).
        """
        total: dict[int, float] = {}
        for weight, picks in zip(self._weights.tolist(), self._picks, strict=False):
            for pick, part in picks.items():
                total[pick] = total.get(pick, 0.0) + weight * part
        return total

    def selections(self, count: int) -> Indices:
        """The selections that the bundle relies on most, at most so many; the rows of a table of candidates."""
        known = np.argsort(-self._weights, kind="stable")
        whole = [list(self._picks[k]) for k in known.tolist() if min(self._picks[k].values()) == 1.0]
        return np.array(whole[:count], np.int64).reshape(len(whole[:count]), -1)

    def _append(self, offset: float, gradient: Floats, picks: dict[int, float]) -> None:
        count = len(self._offsets)
        self._gradients[count] = gradient
        column = self._gradients[: count + 1] @ (gradient * self._inverse)
        self._gram = np.block([[self._gram, column[:-1, None]], [column[None, :]]])
        self._offsets = np.append(self._offsets, offset)
        self._picks.append(picks)

    def _drop_idle(self) -> None:
        # What is dropped lives on in one piece: the weighted mean of all, which is what the last proposal used.
        known = len(self._weights)
        mean = self._weights @ self._gradients[:known]
        offset, picks = float(self._weights @ self._offsets[:known]), self.support()
        idle = np.argsort(self._weights, kind="stable")[: known // 3]
        keep = np.setdiff1d(np.arange(len(self._offsets)), idle)
        self._gradients[: len(keep)] = self._gradients[keep]
        self._offsets = self._offsets[keep]
        self._gram = self._gram[np.ix_(keep, keep)]
        self._picks = [self._picks[k] for k in keep]
        self._append(offset, mean, picks)
        self._weights = np.append(np.zeros(len(keep)), 1.0)


def ascend(
    field: Field, prices: Floats, target: float, enough: float, selections: Indices | None = None
) -> tuple[Evaluation, Bundle]:
    """A few steps from ``prices``, up to a bound of ``enough``; returns the best evaluation and the bundle.

    Those of the ``selections`` (rows of candidates) that the field holds give the bundle its first pieces.
    """
    best = field.evaluate(prices)
    bundle = Bundle(field.pool.masses, best, target)
    for positions in [] if selections is None else field.holding(selections):
        bundle.add(field.piece(positions))
    if len(field.open) <= _MANY:
        return _climb(field, bundle, best, target, enough, _STEPS), bundle
    full, active = best, np.empty(0, np.int64)
    for _ in range(_ROUNDS):
        counted = field.open[np.isin(field.candidates[field.open], full.chosen)]
        active = np.unique(np.concatenate([active, counted, field.spread(_ACTIVE)]))
        reached = _climb(field.narrowed(field.forced, active), bundle, best, target, enough, _STEPS // _ROUNDS)
        full = field.evaluate(reached.prices)
        bundle.add(full)
        best = full if full.value > best.value else best
        bundle.recentre(best.prices, best.value)
        if best.value >= enough:
            break
    return best, bundle


def _climb(field: Field, bundle: Bundle, best: Evaluation, target: float, enough: float, steps: int) -> Evaluation:
    for _ in range(steps):
        if best.value >= enough or bundle.predicted < 1e-7 * abs(target):
            break
        trial = field.evaluate(bundle.propose())
        bundle.learn(trial)
        if trial.value > best.value:
            best = trial
    return best


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
    ones = np.ones((n, 2))
    for _ in range(60):
        gap = float(x @ slack)
        if gap < 1e-11:
            break
        ratio = slack / x
        ones[:, 0] = level - square @ x - linear + 0.1 * gap / n / x
        solved = np.linalg.solve(square + np.diag(ratio), ones)
        shift = (1 - x.sum() - solved[:, 0].sum()) / solved[:, 1].sum()
        dx = solved[:, 0] + shift * solved[:, 1]
        ds = 0.1 * gap / n / x - slack - ratio * dx
        shrink = max(float((-dx / x).max()), float((-ds / slack).max()), 0.99)
        step = 0.99 / shrink
        x, slack, level = x + step * dx, slack + step * ds, level + step * shift
    return x / x.sum()
