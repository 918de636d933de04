r"""f-DAL: an encoder for a domain without labels, learnt with the labels of another.

Acuna, Zhang, Law & Fidler 2021, *f-domain-adversarial learning: theory and algorithms*, ICML. With the encoder g, the
classifier :math:`\hat h` and an adversary :math:`\hat h'` of the same shape,

.. math:: \min_{g, \hat h} \max_{\hat h'}\; E_S[\ell(\hat h(g(x)), y)]
          + E_S[\hat g(\hat h', \hat h)] - E_T[\varphi^*(\hat g(\hat h', \hat h))]

where :math:`\hat g` is the adversary's output for the class that the classifier gives the point, brought to where the
conjugate is finite.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.checkpoint import Checkpoint
from handful.learning.curve import write_curve
from handful.learning.device import chosen, image_tensor
from handful.learning.divergence import Divergence, divergence, reversed_gradient
from handful.learning.encoders import load_weights
from handful.learning.heads import AdaptationHead, Bottleneck
from handful.learning.saved import ImageEncoder, Recipe
from handful.learning.training import Epoch, Schedule, fit


@dataclass(frozen=True)
class FDAL:
    """Settings of a run.

    Attributes
    ----------
    encoder, stem : str
        See `handful.learning.encoders.encoder`.
    weights : str, optional
        A file of weights that the encoder starts with; its layers then learn at a tenth of the rate.
    size : int, optional
        Images are brought to this width and height; to those of the target without it.
    divergence : "pearson" or "jensen-shannon"
        "none" trains on the source alone, to compare with.
    epochs, batch : int
        Batches have as many images of each domain; an epoch goes through the larger.
    rate : float
        The rate after a share p of all steps is ``rate / (1 + 10 p) ** 0.75``.
    momentum, weight_decay : float
        Of stochastic gradient descent with Nesterov's momentum.
    adversity : float
        How much of the discrepancy's gradient reaches the encoder in the end; ``(1 - e) / (1 + e)`` of it, with
        ``e = exp(-10 p)``, after a share p.
    bottleneck, hidden : int
        Width of the bottleneck, and of the layer within both heads.
    dropout : float
    seed : int
    """

    encoder: str = "resnet50"
    stem: str = "imagenet"
    weights: str | None = None
    size: int | None = None
    divergence: str = "pearson"
    epochs: int = 50
    batch: int = 32
    rate: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 1e-3
    adversity: float = 0.1
    bottleneck: int = 1024
    hidden: int = 1024
    dropout: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "bottleneck", "hidden"):
            if getattr(self, name) < 1:
                raise HandfulError(f"{name} must be 1 or more; got {getattr(self, name)!r}")
        if not self.rate > 0:
            raise HandfulError(f"rate must be above 0; got {self.rate!r}")
        if self.divergence != "none":
            divergence(self.divergence)


class AdaptedNetwork(nn.Module):
    """Encoder, bottleneck, classifier and adversary."""

    def __init__(self, network: nn.Module, width: int, classes: int, settings: FDAL) -> None:
        super().__init__()
        self.encoder = network
        self.bottleneck = Bottleneck(width, settings.bottleneck, settings.dropout)
        heads = [AdaptationHead(settings.bottleneck, classes, settings.hidden, settings.dropout) for _ in range(2)]
        self.head, self.adversary = heads

    def forward(self, images: Tensor) -> Tensor:
        """The classifier's logits."""
        logits: Tensor = self.head(self.bottleneck(self.encoder(images)))
        return logits

    @torch.no_grad()
    def take_statistics(self, batches: Iterable[Tensor]) -> None:
        """Give batch norm the mean and variance of these images, in place of its running ones."""
        norms = [part for part in self.modules() if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d)]
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the plain mean over all batches
        self.train()
        for images in batches:
            linear, statistics, *_ = self.bottleneck
            statistics(linear(self.encoder(images)))
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum

    def losses(
        self, source: Tensor, labels: Tensor, target: Tensor, kind: Divergence | None, strength: float
    ) -> dict[str, Tensor]:
        """The source risk, the discrepancy, and what an optimiser of everything has to lower."""
        if kind is None:
            risk = nn.functional.cross_entropy(self(source).float(), labels)
            return {"loss": risk, "risk": risk}
        # Each domain goes through by itself, so that batch norm takes the statistics of its own batch.
        both = torch.cat([self.bottleneck(self.encoder(source)), self.bottleneck(self.encoder(target))])
        logits = self.head(both).float()
        risk = nn.functional.cross_entropy(logits[: len(source)], labels)
        against = self.adversary(reversed_gradient(both, strength)).float()
        at_class = against.gather(1, logits.detach().argmax(dim=1, keepdim=True)).squeeze(1)
        discrepancy = kind.between(at_class[: len(source)], at_class[len(source) :])
        # Lowered, this lets the adversary raise the discrepancy and, its gradient turned around, the encoder lower it.
        return {"loss": risk - discrepancy, "risk": risk, "discrepancy": discrepancy}


@dataclass(frozen=True)
class Adapted:
    """What a run gives: the encoder with its bottleneck and classifier, and the loss curve."""

    images: ImageEncoder
    network: AdaptedNetwork
    history: list[Epoch]

    @torch.no_grad()
    def probabilities(self, images: NDArray[np.uint8], *, batch: int = 512) -> NDArray[np.float32]:
        """The classifier's class probabilities, one row for each image."""
        network = self.network.eval()
        where = next(network.parameters()).device
        parts = [
            network(self.images.prepared(image_tensor(images[start : start + batch], where))).softmax(dim=1).cpu()
            for start in range(0, len(images), batch)
        ]
        return torch.cat(parts).numpy()

    def accuracy(self, images: NDArray[np.uint8], labels: ArrayLike) -> float:
        """The share of images that the classifier gives their class."""
        return float((self.probabilities(images).argmax(axis=1) == np.asarray(labels)).mean())


def train(
    source: NDArray[np.uint8],
    labels: ArrayLike,
    target: NDArray[np.uint8],
    settings: FDAL | None = None,
    *,
    folder: Path | None = None,
    device: str | None = None,
    every: float = 30.0,
    progress: Callable[[Epoch], None] | None = None,
) -> Adapted:
    """Learn from images of one domain with labels, and images of another without.

    Parameters
    ----------
    source, target : bytes of shape (n, h, w) or (n, h, w, 3)
    labels : array of int
        Classes of the source, from 0.
    settings : FDAL, optional
    folder, device, every, progress
        As for `handful.learning.simclr.train`.
    """
    settings = settings or FDAL()
    where = chosen(device)
    classes = np.array(labels, np.int64)
    if classes.shape != (len(source),) or not len(classes) or classes.min() < 0:
        raise HandfulError(f"labels must be {len(source)} whole numbers from 0 on, one for each image of the source")
    if settings.batch > min(len(source), len(target)):
        raise HandfulError(f"a batch of {settings.batch} is larger than a domain, of {len(source)} and {len(target)}")
    first, second = image_tensor(source), image_tensor(target)
    run = asdict(settings) | {
        "source": f"{tuple(first.shape)} {zlib.crc32(first.numpy().data):08x} {zlib.crc32(classes.data):08x}",
        "target": f"{tuple(second.shape)} {zlib.crc32(second.numpy().data):08x}",
    }
    checkpoint = Checkpoint(None if folder is None else folder / "checkpoint.pt", run, every)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        encoder = ImageEncoder.fresh(_recipe(first, second, settings))
        if settings.weights is not None:
            load_weights(encoder.network, settings.weights)
        network = AdaptedNetwork(encoder.network, encoder.width, int(classes.max()) + 1, settings)
    network.to(where).train()
    schedule = Schedule(
        settings.epochs,
        max(len(first), len(second)) // settings.batch,
        lambda share: settings.rate / (1 + 10 * share) ** 0.75,
        settings.seed,
    )
    step = _Step(network, encoder, schedule, settings, (first, second), torch.from_numpy(classes), where)
    history = fit(network, _optimiser(network, settings), schedule, step, checkpoint, progress)
    if settings.divergence != "none":
        parts = torch.split(second, max(settings.batch, 128))
        network.take_statistics(encoder.prepared(part.to(where)) for part in parts if len(part) > 1)
    if folder is not None:
        encoder.save(folder / "encoder.pt")
        write_curve(history, folder)
    return Adapted(encoder, network, history)


class _Step:
    """The losses of a step: a batch of each domain, in orders of their own."""

    def __init__(
        self,
        network: AdaptedNetwork,
        encoder: ImageEncoder,
        schedule: Schedule,
        settings: FDAL,
        domains: tuple[Tensor, Tensor],
        labels: Tensor,
        device: torch.device,
    ) -> None:
        self._network, self._encoder, self._schedule, self._settings = network, encoder, schedule, settings
        self._domains, self._labels, self._device = domains, labels, device
        self._kind = None if settings.divergence == "none" else divergence(settings.divergence)
        self._orders: dict[tuple[int, int], Tensor] = {}

    def __call__(self, step: int) -> dict[str, Tensor]:
        total = self._schedule.epochs * self._schedule.per_epoch
        ramp = 2 / (1 + math.exp(-10 * step / total)) - 1
        rows = self._rows(step, 0)
        source = self._prepared(self._domains[0][rows])
        target = self._prepared(self._domains[1][self._rows(step, 1)])
        labels = self._labels[rows].to(self._device)
        with torch.autocast("cuda", torch.bfloat16, enabled=source.is_cuda):
            return self._network.losses(source, labels, target, self._kind, self._settings.adversity * ramp)

    def _prepared(self, images: Tensor) -> Tensor:
        return self._encoder.prepared(images.to(self._device))

    def _rows(self, step: int, domain: int) -> Tensor:
        """The images of this step: each domain is gone through again and again, every time in another order."""
        count = len(self._domains[domain])
        turn, at = divmod(step, count // self._settings.batch)
        if (domain, turn) not in self._orders:
            self._orders = {key: order for key, order in self._orders.items() if key[0] != domain}
            self._orders[(domain, turn)] = self._schedule.order(turn, count, 1 + domain)
        return self._orders[(domain, turn)][at * self._settings.batch : (at + 1) * self._settings.batch]


def _recipe(source: Tensor, target: Tensor, settings: FDAL) -> Recipe:
    """Images as torchvision's weights want them where there are weights; else every domain has the same statistics."""
    channels = max(source.shape[1], target.shape[1])
    size = settings.size or int(target.shape[2])
    if settings.weights is not None:
        return Recipe(settings.encoder, settings.stem, 3, size, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    return Recipe(settings.encoder, settings.stem, channels, size, (0.5,) * channels, (0.5,) * channels)


def _optimiser(network: AdaptedNetwork, settings: FDAL) -> torch.optim.Optimizer:
    fresh = [p for part in (network.bottleneck, network.head, network.adversary) for p in part.parameters()]
    scale = 1.0 if settings.weights is None else 0.1
    groups = [{"params": list(network.encoder.parameters()), "scale": scale}, {"params": fresh, "scale": 1.0}]
    return torch.optim.SGD(groups, settings.rate, settings.momentum, weight_decay=settings.weight_decay, nesterov=True)
