"""Encoders: images in, one row of features each out.

The residual networks are those of He, Zhang, Ren & Sun 2016, *Deep residual learning for image recognition*, CVPR;
their parameters have the names and shapes that torchvision's weight files use, so that those load as they are. For
small images the first layer is 3 x 3 without stride, and no pooling follows it, as SimCLR has it for CIFAR-10 (Chen,
Kornblith, Norouzi & Hinton 2020, appendix B.9).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

import torch
from torch import Tensor, nn

from handful.errors import HandfulError

STEMS: Final = ("small", "imagenet")
_WIDTHS: Final = (64, 128, 256, 512)


class _Block(nn.Module):
    """What a block adds to its input; the input is brought to the same shape where it has another."""

    expansion: int = 1

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Sequential | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def added(self, images: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, images: Tensor) -> Tensor:
        kept = images if self.downsample is None else self.downsample(images)
        return self.relu(self.added(images) + kept)


class _Basic(_Block):
    """Two 3 x 3 convolutions."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__(inputs, width, stride)
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)

    def added(self, images: Tensor) -> Tensor:
        return self.bn2(self.conv2(self.relu(self.bn1(self.conv1(images)))))


class _Bottleneck(_Block):
    """A 3 x 3 convolution on a quarter of the channels; it, not the 1 x 1 before it, has the stride."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__(inputs, width * self.expansion, stride)
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)

    def added(self, images: Tensor) -> Tensor:
        narrow = self.relu(self.bn1(self.conv1(images)))
        return self.bn3(self.conv3(self.relu(self.bn2(self.conv2(narrow)))))


class ResNet(nn.Module):
    """A residual network up to its pooled features; ``width`` is how many they are."""

    def __init__(self, block: type[_Block], depths: tuple[int, ...], stem: str, channels: int) -> None:
        super().__init__()
        if stem == "imagenet":
            self.conv1 = nn.Conv2d(channels, _WIDTHS[0], 7, 2, 3, bias=False)
            self.maxpool: nn.Module = nn.MaxPool2d(3, 2, 1)
        else:
            self.conv1 = nn.Conv2d(channels, _WIDTHS[0], 3, 1, 1, bias=False)
            self.maxpool = nn.Identity()
        self.bn1 = nn.BatchNorm2d(_WIDTHS[0])
        self.relu = nn.ReLU(inplace=True)
        inputs = _WIDTHS[0]
        for at, (width, depth) in enumerate(zip(_WIDTHS, depths, strict=True)):
            blocks: list[nn.Module] = []
            for row in range(depth):
                blocks.append(block(inputs, width, 2 if at and not row else 1))
                inputs = width * block.expansion
            self.add_module(f"layer{at + 1}", nn.Sequential(*blocks))
        self.width = inputs
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        images = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        for at in range(len(_WIDTHS)):
            images = self.get_submodule(f"layer{at + 1}")(images)
        return images.mean(dim=(2, 3))


class SmallConvolutional(nn.Module):
    """Four convolutions, for images of about 28 x 28 on a machine without a GPU.

    The first halves the image: an epoch takes a fifth of the time that it takes at full size.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        widths = (channels, 32, 64, 128, 256)
        parts: list[tuple[str, nn.Module]] = []
        for at, (inputs, outputs) in enumerate(pairwise(widths), start=1):
            parts.append((f"conv{at}", nn.Conv2d(inputs, outputs, 3, 2 if at < 4 else 1, 1, bias=False)))
            parts.append((f"bn{at}", nn.BatchNorm2d(outputs)))
            parts.append((f"relu{at}", nn.ReLU(inplace=True)))
        self.features = nn.Sequential(OrderedDict(parts))
        self.width = widths[-1]

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.features(images)
        return features.mean(dim=(2, 3))


_RESNETS: Final[dict[str, tuple[type[_Block], tuple[int, ...]]]] = {
    "resnet18": (_Basic, (2, 2, 2, 2)),
    "resnet34": (_Basic, (3, 4, 6, 3)),
    "resnet50": (_Bottleneck, (3, 4, 6, 3)),
}
NAMES: Final = (*_RESNETS, "small")


def encoder(name: str, *, stem: str = "small", channels: int = 3) -> ResNet | SmallConvolutional:
    """An untrained encoder from images, a float tensor of (n, channels, height, width), to (n, ``.width``) features.

    Parameters
    ----------
    name : "resnet18", "resnet34", "resnet50" or "small"
    stem : "small" or "imagenet"
        The first layer of a residual network: 3 x 3, or 7 x 7 with stride and pooling.
    channels : int
        3 for colour, 1 for gray.
    """
    if name not in NAMES:
        raise HandfulError(f"unknown encoder {name!r}: choose one of {', '.join(NAMES)}")
    if stem not in STEMS:
        raise HandfulError(f"unknown stem {stem!r}: choose one of {', '.join(STEMS)}")
    if name == "small":
        return SmallConvolutional(channels)
    block, depths = _RESNETS[name]
    return ResNet(block, depths, stem, channels)


def load_weights(network: nn.Module, path: Path | str) -> None:
    """Load a weight file, as torchvision and others write them, into an encoder; its last layer ``fc`` is left out.

    Every other name and shape must be that of the encoder. Only tensors are read: a file that would run code is
    refused.
    """
    state = read_tensors(path)
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise HandfulError(f"{path} holds no table of parameters by name; save the network's state_dict() in it")
    kept = {name: value for name, value in state.items() if name not in ("fc.weight", "fc.bias")}
    try:
        network.load_state_dict(kept)
    except RuntimeError as error:
        raise HandfulError(f"{path} does not fit the encoder: {_first_reason(error)}") from None


def read_tensors(path: Path | str) -> Any:
    """What torch.save wrote: tensors, numbers and text in lists and tables; a file with code in it is refused."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise HandfulError(f"{path}: there is no such file of weights") from None
    except (UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        raise HandfulError(f"{path} is no file of weights that torch.save wrote ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:120] or type(error).__name__


def _first_reason(error: Exception) -> str:
    """The first mismatch that torch names, after its heading."""
    lines = [line.strip() for line in str(error).splitlines()]
    return lines[1][:200] if len(lines) > 1 else lines[0]
