"""Wasserstein with the masses of the points weighted by how unsure a model is of them."""

from __future__ import annotations

from handful.problem import PicksWeight
from handful.selection import Selection
from handful.strategies.common.engine import optimised
from handful.strategies.common.strategy import strategy
from handful.strategies.common.task import Task
from handful.strategies.common.uncertainty import uncertainty
from handful.strategies.common.views import reweighted


@strategy(
    "uncertainty-wasserstein",
    "wasserstein, with every point counting as much as the model is unsure of it",
    needs="probabilities",
    model=True,
)
def uncertainty_wasserstein(task: Task, *, picks_weight: PicksWeight = "uniform", measure: str = "margin") -> Selection:
    r"""Minimise the Wasserstein distance of the picks to the pool with masses :math:`a_i U(x_i)`, scaled to sum to 1.

    The masses are those of Uncertainty Herding (Bae, Oliveira & Sutherland 2025, ICLR); the shares of the picks are
    even, as in Mahmood, Fidler & Law 2022, ICLR.

    Parameters
    ----------
    picks_weight : "uniform", "free" or (low, high)
        Share of the weighted pool that a pick carries.
    measure : "margin", "entropy" or "confidence"
        The uncertainty U.
    """
    unsure = uncertainty(task.require_probabilities("uncertainty-wasserstein"), measure)
    return optimised(task, reweighted(task.pool, unsure), picks_weight)
