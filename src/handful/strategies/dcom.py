r"""DCoM: coverage while the model knows little, margins once it knows more.

Every labelled point has a ball of its own, as large as the model's predictions in it agree with its label. The share
P of the pool that these balls cover says how competent the model is,

.. math:: S = \frac{1 + e^{-k (1 - a)}}{1 + e^{-k (P - a)}}, \qquad a = 0.8,\; k = 50,

and points are ranked by :math:`S\,(1 - M(x)) + (1 - S)\,O(x)`, with M the margin between the two likeliest classes,
scaled to between 0 and 1, and O the number of uncovered points in the ball of mean radius around x, over the largest
such number.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handful.blocks import workers
from handful.clock import Clock
from handful.errors import HandfulError
from handful.greedy import coverage_gains, coverage_losses
from handful.kernel import coordinates
from handful.pool import Pool
from handful.strategies.common.radius import pure_radius
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import lack_of_margin

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_FULL, _STEEP = 0.8, 50.0  # a and k
_AGREEMENT, _MORE = 0.4, 0.2  # that a ball must reach, and how much more where balls cover everything


@strategy(
    "dcom",
    "uncovered points while the model covers little, points of small margin once it covers more",
    needs="probabilities and labels, once there are earlier picks",
)
def dcom(
    task: Task,
    *,
    delta: float | None = None,
    most: float | None = None,
    purity: float = 0.95,
    classes: int | None = None,
) -> Indices:
    """Rank by coverage and margin, mixed by how competent the model is; cover the ball of every pick at once.

    Mishal & Weinshall 2024, *DCoM: active learning for all learners*, arXiv:2407.01804. Labels must be column numbers
    of ``probabilities``.

    Parameters
    ----------
    delta : float, optional
        Radius of the balls before there are labels. Default: the purity rule of ProbCover.
    most : float, optional
        Largest radius of the ball of a labelled point. Default: 1.5 times ``delta``.
    purity : float
        Of the balls, in ProbCover's rule.
    classes : int, optional
        See `probcover`.
    """
    points = coordinates(task.pool, "dcom")
    if delta is None:
        delta = pure_radius(task, points, purity, classes)
    elif not (np.isfinite(delta) and delta > 0):
        raise HandfulError(f"delta must be a number above 0; got {delta!r}")
    most = 1.5 * delta if most is None else most
    if not most >= delta:
        raise HandfulError(f"most must be a number no smaller than delta, {delta:g}; got {most!r}")
    covered, radius, competence, unsure = np.zeros(task.pool.n, bool), delta, 0.0, np.zeros(task.pool.n)
    if len(task.already):
        covered, radius = _covered_by_labels(task, Pool(points, "euclidean"), delta, most)
        competence = _competence(float(task.pool.masses[covered].sum()))
        unsure = _scaled(lack_of_margin(task.require_probabilities("dcom")))
    balls = Pool(points, f"ball:{radius!r}", masses=task.pool.masses, candidates=task.pool.candidates)
    return _ranked(task, balls, covered, competence, unsure)


def _competence(coverage: float) -> float:
    return (1 + math.exp(-_STEEP * (1 - _FULL))) / (1 + math.exp(-_STEEP * (coverage - _FULL)))


def _scaled(values: Floats) -> Floats:
    """Moved and stretched to between 0 and 1; all 0 where they are equal."""
    spread = float(np.ptp(values))
    return (values - values.min()) / spread if spread > 0 else np.zeros(len(values))


def _covered_by_labels(task: Task, pool: Pool, delta: float, most: float) -> tuple[NDArray[np.bool_], float]:
    """Points in the balls of the labelled points, and the mean radius of these balls."""
    probabilities = task.require_probabilities("dcom")
    labels = task.labels
    if labels is None or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= probabilities.shape[1]:
        raise HandfulError(
            f"dcom needs the labels of the earlier picks as column numbers of probabilities, 0 to "
            f"{probabilities.shape[1] - 1}"
        )
    predicted = probabilities.argmax(axis=1)
    within = np.zeros(pool.n, bool)
    for pick in task.already:
        within |= pool.distances([pick], dtype=np.float32)[0] <= delta
    agreement = _AGREEMENT + _MORE * float(task.pool.masses[within].sum())
    covered = np.zeros(pool.n, bool)
    radii = []
    for pick, label in zip(task.already, labels, strict=True):
        apart = pool.distances([pick], dtype=np.float32)[0]
        radii.append(_agreeing_reach(apart, predicted == label, agreement, most))
        covered |= apart <= radii[-1]
    return covered, max(float(np.mean(radii)), 1e-6 * delta)


def _agreeing_reach(apart: NDArray[np.floating], agrees: NDArray[np.bool_], agreement: float, most: float) -> float:
    """The largest distance, up to ``most``, within which that share of the points agrees; 0 if there is none."""
    order = np.argsort(apart, kind="stable")
    order = order[apart[order] <= most]
    share = np.cumsum(agrees[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(share >= agreement)
    return float(apart[order[enough[-1]]]) if len(enough) else 0.0


def _ranked(task: Task, balls: Pool, covered: NDArray[np.bool_], competence: float, unsure: Floats) -> Indices:
    left = np.ones(len(task.open), bool)
    picks: list[int] = []
    far, near = np.ones(balls.n), np.zeros(balls.n)
    with workers(task.effort.threads, Clock(math.inf)) as crew:
        degrees = coverage_gains(balls, task.open, np.where(covered, 0.0, 1.0), crew)
        while True:
            largest = degrees.max()
            rank = degrees / largest if largest > 0 else degrees
            scores = competence * unsure[task.open] + (1 - competence) * rank
            best = int(np.argmax(np.where(left, scores, -np.inf)))
            left[best] = False
            picks.append(int(task.open[best]))
            if len(picks) == task.budget:
                return np.array(picks, np.int64)
            new = np.flatnonzero((balls.distances(picks[-1:])[0] == 0) & ~covered)
            covered[new] = True
            # Sums of many small masses: what is left of them at the end may be a rounding below 0.
            degrees = np.maximum(0.0, degrees - coverage_losses(balls, task.open, far, near, new, crew))
