r"""SimCLR: an encoder that knows two views of one image from the views of all others, without a label.

Chen, Kornblith, Norouzi & Hinton 2020, *A simple framework for contrastive learning of visual representations*, ICML.
The defaults are those of Mahmood, Fidler & Law 2022 (*Low-budget active learning via Wasserstein distance: an integer
programming approach*, ICLR): 800 epochs, a rate of 0.1 that falls to 0.001, a projection of 64 and 64.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.augment import Views, augmentation
from handful.learning.checkpoint import Checkpoint
from handful.learning.curve import write_curve
from handful.learning.device import chosen, image_tensor
from handful.learning.heads import Head
from handful.learning.saved import ImageEncoder, Recipe, standardised
from handful.learning.training import Epoch, Schedule, fit


@dataclass(frozen=True)
class SimCLR:
    """Settings of a run.

    Attributes
    ----------
    encoder, stem : str
        See `handful.learning.encoders.encoder`.
    epochs, batch : int
    rate, final_rate : float
        The learning rate falls from one to the other along half a cosine.
    temperature : float
    momentum, weight_decay : float
        Of stochastic gradient descent.
    projection : int
        Width of both layers of the projection, which is thrown away in the end.
    views : Views
    seed : int
    """

    encoder: str = "resnet18"
    stem: str = "small"
    epochs: int = 800
    batch: int = 512
    rate: float = 0.1
    final_rate: float = 0.001
    temperature: float = 0.5
    momentum: float = 0.9
    weight_decay: float = 1e-4
    projection: int = 64
    views: Views = field(default_factory=Views)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "projection"):
            if getattr(self, name) < 1:
                raise HandfulError(f"{name} must be 1 or more; got {getattr(self, name)!r}")
        for name in ("rate", "final_rate", "temperature"):
            if not getattr(self, name) > 0:
                raise HandfulError(f"{name} must be above 0; got {getattr(self, name)!r}")


def nt_xent(projections: Tensor, temperature: float) -> Tensor:
    r"""The normalised, temperature-scaled cross-entropy of views, of which rows i and i + n show the same image.

    .. math:: -\frac{1}{2n} \sum_i \log \frac{\exp(s_{i,i'} / \tau)}{\sum_{k \ne i} \exp(s_{ik} / \tau)}

    with s the cosine of two projections and i' the other view of the image of i.
    """
    unit = nn.functional.normalize(projections.float(), dim=1)
    count = len(unit)
    logits = unit @ unit.T / temperature
    itself = torch.eye(count, dtype=torch.bool, device=unit.device)
    partner = (torch.arange(count, device=unit.device) + count // 2) % count
    return nn.functional.cross_entropy(logits.masked_fill(itself, -torch.inf), partner)


def train(
    images: NDArray[np.uint8],
    settings: SimCLR | None = None,
    *,
    folder: Path | None = None,
    device: str | None = None,
    every: float = 30.0,
    progress: Callable[[Epoch], None] | None = None,
) -> tuple[ImageEncoder, list[Epoch]]:
    """Train an encoder on images without labels.

    Parameters
    ----------
    images : bytes of shape (n, h, w) or (n, h, w, 3)
    settings : SimCLR, optional
    folder : Path, optional
        Where the checkpoint, the encoder and the loss curve are kept. A run that was killed goes on from there.
    device : str, optional
        A GPU if there is one.
    every : float
        Seconds between two checkpoints.

    Returns
    -------
    ImageEncoder
        Without the projection.
    list of Epoch
        The loss curve.
    """
    settings = settings or SimCLR()
    if settings.batch > len(images):
        raise HandfulError(f"a batch of {settings.batch} is larger than the {len(images)} images; make it smaller")
    where = chosen(device)
    table = image_tensor(images)
    recipe = _recipe(table, settings)
    run = asdict(settings) | {"images": f"{tuple(table.shape)} {zlib.crc32(table.numpy().data):08x}"}
    checkpoint = Checkpoint(None if folder is None else folder / "checkpoint.pt", run, every)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        trained = ImageEncoder.fresh(recipe)
        network = nn.Sequential(trained.network, Head(trained.width, settings.projection, settings.projection))
    network.to(where).train()
    optimiser = torch.optim.SGD(
        network.parameters(), settings.rate, settings.momentum, weight_decay=settings.weight_decay
    )
    schedule = Schedule(settings.epochs, len(table) // settings.batch, _cosine(settings), settings.seed)
    history = fit(network, optimiser, schedule, _Losses(table.to(where), network, settings, recipe, schedule),
                  checkpoint, progress)  # fmt: skip
    if folder is not None:
        trained.save(folder / "encoder.pt")
        write_curve(history, folder)
    return trained, history


class _Losses:
    """The loss of a step: two views of each image of its batch."""

    def __init__(
        self, images: Tensor, network: nn.Module, settings: SimCLR, recipe: Recipe, schedule: Schedule
    ) -> None:
        self._images, self._network, self._settings = images, network, settings
        self._recipe, self._schedule = recipe, schedule
        self._augmentation = augmentation(settings.views, recipe.size, recipe.channels).to(images.device)
        self._epoch, self._order = -1, torch.empty(0)

    def __call__(self, step: int) -> dict[str, Tensor]:
        epoch, at = divmod(step, self._schedule.per_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._schedule.order(epoch, len(self._images)).to(self._images.device)
        batch = self._images[self._order[at * self._settings.batch : (at + 1) * self._settings.batch]].float() / 255
        views = standardised(self._augmentation(torch.cat([batch, batch])), self._recipe)
        with torch.autocast("cuda", torch.bfloat16, enabled=views.is_cuda):
            projections = self._network(views)
        return {"loss": nt_xent(projections, self._settings.temperature)}


def _recipe(images: Tensor, settings: SimCLR) -> Recipe:
    size = images.shape[2]
    if images.shape[3] != size:
        raise HandfulError(f"images must be square; got {images.shape[2]} x {images.shape[3]} pixels")
    some = images[:: max(1, len(images) // 10_000)].double() / 255
    mean, deviation = some.mean((0, 2, 3)), some.std((0, 2, 3)).clamp_min(1e-3)
    return Recipe(
        settings.encoder, settings.stem, images.shape[1], size, tuple(mean.tolist()), tuple(deviation.tolist())
    )


def _cosine(settings: SimCLR) -> Callable[[float], float]:
    high, low = settings.rate, settings.final_rate
    return lambda share: low + (high - low) * (1 + math.cos(math.pi * share)) / 2
