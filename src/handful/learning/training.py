"""The loop that SimCLR and f-DAL share: steps, rates, losses by epoch, and a state that a killed run goes on from.

All chance in a step comes from the seed and the number of the step. So the state of no generator has to be kept, and
a run that was killed at any moment ends with the same parameters, bit for bit on one machine, as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from handful.learning.checkpoint import Checkpoint

_ORDER, _STEP = 0, 1


@dataclass(frozen=True)
class Epoch:
    """One line of the loss curve: means over the epoch's steps, and the rate of its last one."""

    number: int
    epochs: int
    rate: float
    losses: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Schedule:
    """How many steps, and the learning rate of each."""

    epochs: int
    per_epoch: int
    rate: Callable[[float], float]  # of the share of all steps that are done
    seed: int

    def order(self, epoch: int, count: int, stream: int = 0) -> Tensor:
        """A shuffle of ``count`` things for this epoch."""
        chance = torch.Generator().manual_seed(mixed(self.seed, _ORDER, epoch, stream))
        return torch.randperm(count, generator=chance)


def mixed(*numbers: int) -> int:
    """A seed that depends on all of the numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)


def fit(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    schedule: Schedule,
    losses: Callable[[int], Mapping[str, Tensor]],
    checkpoint: Checkpoint,
    progress: Callable[[Epoch], None] | None = None,
) -> list[Epoch]:
    """Make all steps that are left, and return the loss curve of the whole run.

    Parameters
    ----------
    network : Module
        All that is trained.
    optimiser : Optimizer
        Its groups may have a ``scale`` that multiplies the rate.
    losses : callable
        From the number of a step to its losses by name; the one called ``loss`` is lowered.
    progress : callable, optional
        Told of every epoch that ends.
    """
    done, sums, history, spent = 0, None, [], 0.0
    if (state := checkpoint.resumed()) is not None:
        network.load_state_dict(state["network"])
        optimiser.load_state_dict(state["optimiser"])
        done, sums, spent = state["done"], state["sums"], state["seconds"]
        history = [Epoch(**line) for line in state["history"]]
    start = time.monotonic() - spent
    total = schedule.epochs * schedule.per_epoch
    device = next(network.parameters()).device
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        for step in range(done, total):
            torch.manual_seed(mixed(schedule.seed, _STEP, step))
            rate = schedule.rate(step / max(1, total - 1))
            for group in optimiser.param_groups:
                group["lr"] = rate * group.get("scale", 1.0)
            found = losses(step)
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(found["loss"])
            optimiser.step()
            values = {name: value.detach() for name, value in found.items()}
            sums = values if sums is None else {name: sums[name].to(device) + value for name, value in values.items()}
            if (step + 1) % schedule.per_epoch == 0:
                means = {name: float(value) / schedule.per_epoch for name, value in sums.items()}
                number = (step + 1) // schedule.per_epoch
                history.append(Epoch(number, schedule.epochs, rate, means, time.monotonic() - start))
                sums = None
                if progress is not None:
                    progress(history[-1])
            if checkpoint.due or step + 1 == total:
                checkpoint.keep(_state(network, optimiser, step + 1, sums, history, time.monotonic() - start))
    return history


def _state(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    done: int,
    sums: Mapping[str, Tensor] | None,
    history: list[Epoch],
    seconds: float,
) -> dict[str, Any]:
    return {
        "network": network.state_dict(),
        "optimiser": optimiser.state_dict(),
        "done": done,
        "sums": sums,
        "history": [vars(line) for line in history],
        "seconds": seconds,
    }
