"""The classifier of a round: a head on a frozen encoder or on given features, or a whole network.

Mahmood, Fidler & Law 2022, *Low-budget active learning via Wasserstein distance: an integer programming approach*,
ICLR: cross-entropy, batches of 128, a constant learning rate of 0.002. The optimiser is Adam, and the number of steps
is ours: the paper names neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.device import chosen, image_tensor
from handful.learning.heads import Head
from handful.learning.saved import ImageEncoder

Array = NDArray[Any]
Augmentation = Callable[[Tensor], Tensor]

_INFERENCE = 1024  # inputs that pass through a network at a time


@dataclass(frozen=True)
class Training:
    """How a classifier is trained.

    Attributes
    ----------
    epochs : int
        Passes over the labelled points, but never fewer than ``steps`` steps: a handful of points is one batch.
    steps : int
    batch : int
    rate : float
        Constant learning rate.
    device : str, optional
        Where; default a GPU if there is one.
    """

    epochs: int = 50
    steps: int = 300
    batch: int = 128
    rate: float = 0.002
    device: str | None = None

    def __post_init__(self) -> None:
        if min(self.epochs, self.steps) < 0 or self.batch < 2 or not self.rate > 0:
            raise HandfulError(
                f"epochs and steps must be 0 or more, batch 2 or more, rate above 0; got {self.epochs}, {self.steps}, "
                f"{self.batch}, {self.rate}"
            )


class Classifier:
    """A trained network: class probabilities, and the features before its last layer."""

    def __init__(self, encoder: ImageEncoder | None, head: Head, device: torch.device) -> None:
        self.encoder, self.head, self._device = encoder, head, device

    def probabilities(self, inputs: Array) -> NDArray[np.float32]:
        """Of every class, for every input."""
        return self._passed(inputs, lambda features: torch.softmax(self.head(features), dim=1))

    def features(self, inputs: Array) -> NDArray[np.float32]:
        """What the last layer sees of every input."""
        return self._passed(inputs, nn.Sequential(*list(self.head)[:-1]))

    def accuracy(self, inputs: Array, labels: ArrayLike) -> float:
        """Share of the inputs whose class it says."""
        return float(np.mean(self.probabilities(inputs).argmax(axis=1) == np.asarray(labels)))

    def _passed(self, inputs: Array, function: Callable[[Tensor], Tensor]) -> NDArray[np.float32]:
        self.head.eval()
        if self.encoder is not None:
            self.encoder.network.eval()
        with torch.no_grad():
            parts = [
                function(_encoded(self.encoder, inputs[start : start + _INFERENCE], self._device)).cpu().numpy()
                for start in range(0, len(inputs), _INFERENCE)
            ]
        return np.concatenate(parts)


def train(
    inputs: Array,
    targets: ArrayLike,
    classes: int,
    *,
    encoder: ImageEncoder | None = None,
    whole: bool = False,
    weights: ArrayLike | None = None,
    augment: Augmentation | None = None,
    training: Training | None = None,
    seed: int = 0,
) -> Classifier:
    """Train a fresh head of two layers, and with ``whole`` the encoder below it too.

    Parameters
    ----------
    inputs : array of shape (n, d), or images: bytes of (n, height, width, channels)
    targets : array of int, or of shape (n, classes)
        The class of each input, or the shares of all classes.
    encoder : ImageEncoder, optional
        From images to features; without it the inputs are features. It stays as it is unless the ``whole`` network is
        trained, which changes it.
    weights : array, optional
        How much each input counts.
    augment : callable, optional
        Changes a batch of images from 0 to 1 at random; without it the features of a frozen encoder are computed once.
    training : Training, optional
    seed : int
        Of the head's start, the order of batches and the augmentation; give an encoder that is seeded too.
    """
    training = training or Training()
    if encoder is None and inputs.ndim != 2:
        raise HandfulError(f"without an encoder inputs must be a table of features; got shape {inputs.shape}")
    shares = _shares(targets, len(inputs), classes)
    counts = np.ones(len(inputs)) if weights is None else np.asarray(weights, np.float64)
    if counts.shape != (len(inputs),) or not (counts >= 0).all() or not counts.sum() > 0:
        raise HandfulError(f"weights must be {len(inputs)} numbers of 0 or more, not all 0; got shape {counts.shape}")
    where = chosen(training.device)
    if encoder is not None:
        encoder.network.to(where)
    below = encoder
    if encoder is not None and not whole and augment is None:
        inputs, below = encoder.features(inputs, device=training.device), None
    with deterministic(seed, where):
        head = Head(inputs.shape[1] if encoder is None or below is None else encoder.width, classes).to(where)
        _fit(_Run(below, head, whole, augment, where), inputs, shares, counts, training)
    return Classifier(encoder, head, where)


def _encoded(
    encoder: ImageEncoder | None, inputs: Array, device: torch.device, augment: Augmentation | None = None
) -> Tensor:
    """Features of a batch."""
    if encoder is None:
        return torch.from_numpy(np.asarray(inputs, np.float32)).to(device)
    images = image_tensor(inputs, device).float()
    if augment is not None:
        images = augment(images / 255) * 255
    features: Tensor = encoder.network(encoder.prepared(images))
    return features


@contextmanager
def deterministic(seed: int, device: torch.device) -> Iterator[None]:
    """Chance that depends on the seed alone, and is as it was before afterwards."""
    devices = [device] if device.type == "cuda" else []
    before = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False
        try:
            yield
        finally:
            torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = before


@dataclass(frozen=True)
class _Run:
    """What is trained, and how a batch of inputs becomes features."""

    encoder: ImageEncoder | None
    head: Head
    whole: bool
    augment: Augmentation | None
    device: torch.device

    @property
    def trained(self) -> list[nn.Module]:
        return [self.head] if self.encoder is None or not self.whole else [self.encoder.network, self.head]

    def features(self, inputs: Array) -> Tensor:
        with torch.set_grad_enabled(self.whole):
            return _encoded(self.encoder, inputs, self.device, self.augment)


def _fit(
    run: _Run, inputs: Array, shares: NDArray[np.float32], weights: NDArray[np.float64], training: Training
) -> None:
    known = torch.from_numpy(shares).to(run.device)
    counts = torch.from_numpy(weights.astype(np.float32)).to(run.device)
    optimiser = torch.optim.Adam([p for part in run.trained for p in part.parameters()], lr=training.rate)
    if run.encoder is not None:
        run.encoder.network.train(run.whole)
    run.head.train()
    for rows in _batches(len(inputs), training):
        losses = -(known[rows] * torch.log_softmax(run.head(run.features(inputs[rows])), dim=1)).sum(dim=1)
        total = counts[rows].sum()
        if total > 0:
            optimiser.zero_grad()
            torch.autograd.backward((counts[rows] * losses).sum() / total)
            optimiser.step()


def _batches(count: int, training: Training) -> Iterator[NDArray[np.int64]]:
    """Rows of one batch after the other, each with two at least: the normalisation of a head needs them."""
    most = min(training.batch, count)
    parts = max(1, -(-count // most)) if most else 0
    epochs = max(training.epochs, -(-training.steps // max(parts, 1)))
    for _ in range(epochs):
        order = torch.randperm(count).numpy()
        for part in np.array_split(order, parts):
            yield part if len(part) > 1 else np.repeat(part, 2)


def _shares(targets: ArrayLike, count: int, classes: int) -> NDArray[np.float32]:
    given = np.asarray(targets)
    if not count:
        raise HandfulError("there are no labelled inputs to train on")
    if given.shape == (count, classes) and given.dtype.kind == "f":
        return np.ascontiguousarray(given, np.float32)
    if given.shape != (count,) or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= classes:
        raise HandfulError(
            f"targets must be {count} classes from 0 to {classes - 1}, or their shares, {count} x {classes}; got "
            f"{given.dtype} of {given.shape}"
        )
    return np.eye(classes, dtype=np.float32)[given]
