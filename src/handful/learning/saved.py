"""An image encoder and what its images must look like, as one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.device import chosen, image_tensor
from handful.learning.encoders import encoder, read_tensors

_MARK = "handful image encoder"


@dataclass(frozen=True)
class Recipe:
    """Which encoder, and how images are prepared for it: brought to ``size``, then (image - mean) / deviation."""

    encoder: str
    stem: str
    channels: int
    size: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True)
class ImageEncoder:
    """A network from prepared images to features, with its recipe."""

    recipe: Recipe
    network: nn.Module

    @classmethod
    def fresh(cls, recipe: Recipe) -> ImageEncoder:
        """Untrained."""
        return cls(recipe, encoder(recipe.encoder, stem=recipe.stem, channels=recipe.channels))

    @property
    def width(self) -> int:
        """Features per image."""
        return int(self.network.width)  # type: ignore[arg-type]

    def prepared(self, images: Tensor) -> Tensor:
        """Bytes of (n, channels, h, w) as the network wants them: a gray image for each of its channels alike."""
        floats = images.float() / 255
        if floats.shape[1] != self.recipe.channels:
            floats = floats.mean(dim=1, keepdim=True).expand(-1, self.recipe.channels, -1, -1)
        size = (self.recipe.size, self.recipe.size)
        if floats.shape[2:] != size:
            floats = nn.functional.interpolate(floats, size, mode="bilinear", antialias=True, align_corners=False)
        return standardised(floats, self.recipe)

    @torch.no_grad()
    def features(
        self, images: NDArray[np.uint8], *, batch: int = 512, device: str | None = None
    ) -> NDArray[np.float32]:
        """One row of features for each image."""
        where = chosen(device)
        network = self.network.to(where).eval()
        rows = np.empty((len(images), self.width), np.float32)
        for start in range(0, len(images), batch):
            part = image_tensor(images[start : start + batch], where)
            rows[start : start + batch] = network(self.prepared(part)).float().cpu().numpy()
        return rows

    def save(self, path: Path) -> None:
        """Write the file that `ImageEncoder.load` reads."""
        state = {name: value.cpu() for name, value in self.network.state_dict().items()}
        torch.save({"what": _MARK, "recipe": asdict(self.recipe), "state": state}, path)

    @classmethod
    def load(cls, path: Path) -> ImageEncoder:
        """Read an encoder that was trained here."""
        held: Any = read_tensors(path)
        if not is_saved(held):
            raise HandfulError(f"{path} holds no encoder that handful trained; give the encoder.pt of such a run")
        recipe = Recipe(**held["recipe"])
        found = cls.fresh(recipe)
        found.network.load_state_dict(held["state"])
        return found


def is_saved(held: Any) -> bool:
    """Whether what a file of tensors holds is an encoder that was trained here."""
    return isinstance(held, dict) and held.get("what") == _MARK


def standardised(floats: Tensor, recipe: Recipe) -> Tensor:
    """Images from 0 to 1 less their mean, over their deviation, channel by channel."""
    mean = torch.tensor(recipe.mean, device=floats.device).view(-1, 1, 1)
    deviation = torch.tensor(recipe.deviation, device=floats.device).view(-1, 1, 1)
    return (floats - mean) / deviation
