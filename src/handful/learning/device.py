"""Where networks run: on a GPU when there is one."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from handful.errors import HandfulError


def chosen(name: str | None = None) -> torch.device:
    """The device of that name; without one a GPU if there is one, and the processor if not."""
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0][:100]
        raise HandfulError(f"device {name!r} can't be used here ({reason}); leave it out, or give cpu") from None
    return device


def image_tensor(images: NDArray[np.uint8], device: torch.device | None = None) -> Tensor:
    """Images of shape (n, height, width), or with 1 or 3 channels last or first, as bytes of (n, channels, h, w)."""
    table = np.asarray(images)
    if table.dtype != np.uint8 or table.ndim not in (3, 4):
        raise HandfulError(f"images must be bytes of shape (n, h, w) or (n, h, w, 3); got {table.dtype} {table.shape}")
    if table.ndim == 3:
        table = table[:, None]
    elif table.shape[3] in (1, 3):
        table = table.transpose(0, 3, 1, 2)
    elif table.shape[1] not in (1, 3):
        raise HandfulError(f"images must have 1 or 3 channels, last or first; got shape {table.shape}")
    return torch.from_numpy(np.require(table, requirements=["C", "W"])).to(device or torch.device("cpu"))
