"""What stands on an encoder: the heads of the paper, and its bottleneck for domain adaptation.

Mahmood, Fidler & Law 2022, *Low-budget active learning via Wasserstein distance: an integer programming approach*,
ICLR.
"""

from __future__ import annotations

from torch import nn


class Head(nn.Sequential):
    """Linear, BatchNorm, ReLU, Linear: ``width`` features to ``hidden`` to ``classes``.

    With 64 in place of the classes it projects for SimCLR; for a classifier the last layer is replaced by one of as
    many outputs as there are classes.
    """

    def __init__(self, width: int, classes: int, hidden: int = 64) -> None:
        super().__init__(nn.Linear(width, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, classes))


class Bottleneck(nn.Sequential):
    """Linear, BatchNorm, ReLU, dropout: between an encoder and its heads in domain adaptation."""

    def __init__(self, width: int, outputs: int = 1024, dropout: float = 0.5) -> None:
        super().__init__(nn.Linear(width, outputs), nn.BatchNorm1d(outputs), nn.ReLU(), nn.Dropout(dropout))
        self.width = outputs


class AdaptationHead(nn.Sequential):
    """Linear, ReLU, dropout, Linear: a classifier on the bottleneck, and the shape of its adversary."""

    def __init__(self, width: int, classes: int, hidden: int = 1024, dropout: float = 0.5) -> None:
        super().__init__(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, classes))
