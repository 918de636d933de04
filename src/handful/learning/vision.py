"""Encoders of images from the transformers library, by their folder or their name on the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.packages import needed
from handful.learning.saved import ImageEncoder, Recipe


class VisionModel(nn.Module):
    """A model up to the features that it says stand for an image: pooled by itself, the class token's, or the mean."""

    def __init__(self, model: Any, size: int) -> None:
        super().__init__()
        self.model = model
        with torch.no_grad():
            self.width = int(self.eval()(torch.zeros(1, 3, size, size)).shape[1])

    def forward(self, images: Tensor) -> Tensor:
        if hasattr(self.model, "get_image_features"):  # of images and texts, as CLIP
            found = self.model.get_image_features(pixel_values=images)
            if isinstance(found, Tensor):
                return found
        else:
            found = self.model(pixel_values=images)
        pooled: Tensor | None = getattr(found, "pooler_output", None)
        if pooled is not None:
            return pooled.flatten(1)
        last: Tensor = found.last_hidden_state
        return last[:, 0] if last.ndim == 3 else last.mean(dim=(2, 3))


def vision_model(name: str, size: int | None = None) -> ImageEncoder:
    """The model, and how it says that images are prepared for it."""
    transformers = needed("transformers", "hub models of images need transformers,")
    transformers.utils.logging.disable_progress_bar()
    try:
        model = transformers.AutoModel.from_pretrained(name)
        file = transformers.utils.cached_file(name, "preprocessor_config.json")
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:160]
        raise HandfulError(f"{name} can't be loaded as a transformers model of images: {reason}") from None
    told = json.loads(Path(file).read_text())
    side = size or _side(told)
    mean, deviation = (tuple(told.get(word) or (0.5, 0.5, 0.5)) for word in ("image_mean", "image_std"))
    return ImageEncoder(Recipe(name, "", 3, side, mean, deviation), VisionModel(model, side))


def _side(told: dict[str, Any]) -> int:
    """Width and height of the images that the model was trained on."""
    for word in ("crop_size", "size"):
        given = told.get(word)
        if isinstance(given, int):
            return given
        if isinstance(given, dict):
            for key in ("height", "shortest_edge"):
                if key in given:
                    return int(given[key])
    return 224
