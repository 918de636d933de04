"""Views of an image: random crops, flips and colours, for whole batches and on the device that the batch is on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from torch import nn

from handful.errors import HandfulError


@dataclass(frozen=True)
class Views:
    """How a view differs from its image.

    Chances are between 0 and 1. The defaults are SimCLR's for CIFAR-10 (Chen, Kornblith, Norouzi & Hinton 2020, *A
    simple framework for contrastive learning of visual representations*, ICML, appendix B.9, jitter of strength 0.5).

    Attributes
    ----------
    crop : pair of float
        Least and largest share of the image's area that a crop takes, before it is brought to the image's size.
    flip : float
        Chance of a mirror image.
    jitter : float
        Chance that colours change, by up to ``brightness``, ``contrast``, ``saturation`` and ``hue``.
    gray : float
        Chance that colours are taken away.
    """

    crop: tuple[float, float] = (0.08, 1.0)
    flip: float = 0.5
    jitter: float = 0.8
    brightness: float = 0.4
    contrast: float = 0.4
    saturation: float = 0.4
    hue: float = 0.1
    gray: float = 0.2

    def __post_init__(self) -> None:
        low, high = self.crop
        if not 0 < low <= high <= 1:
            raise HandfulError(f"crop must be two shares of the area, 0 < low <= high <= 1; got {self.crop}")
        for name in ("flip", "jitter", "gray"):
            if not 0 <= getattr(self, name) <= 1:
                raise HandfulError(f"{name} is a chance between 0 and 1; got {getattr(self, name)!r}")


PRESETS: Final = {
    "cifar10": Views(),
    "stl10": Views(),
    # Digits: a mirrored digit is another one or none, and a small crop of one is anything.
    "svhn": Views(crop=(0.3, 1.0), flip=0.0),
    "digits": Views(crop=(0.4, 1.0), flip=0.0, saturation=0.0, hue=0.0, gray=0.0),
    "fashion": Views(crop=(0.3, 1.0), saturation=0.0, hue=0.0, gray=0.0),
}


def preset(name: str) -> Views:
    """The views of that name."""
    if name not in PRESETS:
        raise HandfulError(f"unknown views {name!r}: choose one of {', '.join(PRESETS)}")
    return replace(PRESETS[name])


def augmentation(views: Views, size: int, channels: int) -> nn.Sequential:
    """A module from a batch of images, floats from 0 to 1, to one view of each, ``size`` pixels wide and high."""
    import kornia.augmentation as kornia

    colours = (views.saturation, views.hue) if channels == 3 else (0.0, 0.0)
    parts: list[nn.Module] = [
        # "resample" reads all crops of the batch at once; the other mode goes through them one by one.
        kornia.RandomResizedCrop((size, size), scale=views.crop, ratio=(3 / 4, 4 / 3), cropping_mode="resample")
    ]
    if views.flip:
        parts.append(kornia.RandomHorizontalFlip(p=views.flip))
    if views.jitter:
        parts.append(kornia.ColorJitter(views.brightness, views.contrast, *colours, p=views.jitter))
    if views.gray and channels == 3:
        parts.append(kornia.RandomGrayscale(p=views.gray))
    return nn.Sequential(*parts)
