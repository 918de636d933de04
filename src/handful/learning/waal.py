r"""WAAL's networks: a classifier of the labelled points, and a critic that tells them from those without a label.

Shui, Zhou, Gagné & Wang 2020, *Deep active learning: unified and principled method for query and training*, AISTATS.
With features z = f(x), the classifier h and the critic g, the critic raises

.. math:: E_U[g(z)] - E_L[g(z)] - \lambda\, E[(|\nabla g(\hat z)| - 1)^2],

the Wasserstein-1 distance between both sets where its gradient is of length 1 (the penalty, at points between pairs of
both, is of Gulrajani et al. 2017, *Improved training of Wasserstein GANs*, NeurIPS), and f and h lower

.. math:: E_L[\ell(h(z), y)] + \mu\,(E_U[g(z)] - E_L[g(z)]).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from handful.learning.device import chosen
from handful.learning.training import mixed


@dataclass(frozen=True)
class WAAL:
    """Settings: ``steps`` of the classifier with ``critic_steps`` of the critic before each.

    The penalty's weight of 10 is Gulrajani et al.'s; the paper trains whole networks on images, and these are ours for
    features.
    """

    steps: int = 200
    critic_steps: int = 3
    batch: int = 64
    rate: float = 1e-3
    coupling: float = 0.01  # μ
    penalty: float = 10.0  # λ
    hidden: int = 128
    seed: int = 0


class Networks(nn.Module):
    """Extractor f, classifier h and critic g, on features of ``width``."""

    def __init__(self, width: int, classes: int, hidden: int) -> None:
        super().__init__()
        self.extractor = nn.Sequential(nn.Linear(width, hidden), nn.ReLU())
        self.classifier = nn.Linear(hidden, classes)
        self.critic = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def gradient_penalty(critic: nn.Module, first: Tensor, second: Tensor) -> Tensor:
    """The mean square by which the critic's gradient misses length 1, at a random point between each pair."""
    share = torch.rand(len(first), 1, device=first.device, dtype=first.dtype)
    between = (share * first + (1 - share) * second).detach().requires_grad_()
    (slopes,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slopes.norm(dim=1) - 1) ** 2).mean()


@dataclass(frozen=True)
class Judgement:
    """What the trained networks say of every point: class log-probabilities, and the critic's number.

    The critic's is larger the less a point is like those with a label.
    """

    logs: NDArray[np.float64]
    critic: NDArray[np.float64]


def judged(
    points: NDArray[np.float32], labelled: NDArray[np.int64], labels: NDArray[np.int64], settings: WAAL | None = None
) -> Judgement:
    """Train on these points, of which the ``labelled`` rows have ``labels`` from 0 on, and judge all of them."""
    settings = settings or WAAL()
    device = chosen()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(mixed(settings.seed))
        centre, spread = points.mean(axis=0), float(points.std()) or 1.0
        table = torch.from_numpy((points - centre) / np.float32(spread)).to(device)
        networks = Networks(points.shape[1], int(labels.max()) + 1, settings.hidden).to(device)
        open_rows = np.setdiff1d(np.arange(len(points)), labelled)
        _train(networks, table, torch.from_numpy(labelled), torch.from_numpy(labels).to(device),
               torch.from_numpy(open_rows), settings)  # fmt: skip
    return _said(networks.eval(), table)


def _train(
    networks: Networks, table: Tensor, labelled: Tensor, labels: Tensor, unlabelled: Tensor, settings: WAAL
) -> None:
    learner = [*networks.extractor.parameters(), *networks.classifier.parameters()]
    lower = torch.optim.Adam(learner, settings.rate)
    raising = torch.optim.Adam(networks.critic.parameters(), settings.rate, betas=(0.5, 0.9))
    f, h, g = networks.extractor, networks.classifier, networks.critic
    for _ in range(settings.steps):
        for _ in range(settings.critic_steps):
            with torch.no_grad():
                known = f(table[_drawn(labelled, settings.batch, table.device)[0]])
                other = f(table[_drawn(unlabelled, settings.batch, table.device)[0]])
            apart = g(other).mean() - g(known).mean()
            raising.zero_grad()
            torch.autograd.backward(settings.penalty * gradient_penalty(g, known, other) - apart)
            raising.step()
        rows, at = _drawn(labelled, settings.batch, table.device)
        known = f(table[rows])
        other = f(table[_drawn(unlabelled, settings.batch, table.device)[0]])
        apart = g(other).mean() - g(known).mean()
        lower.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(h(known), labels[at]) + settings.coupling * apart)
        lower.step()


def _drawn(rows: Tensor, count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """``count`` of these rows with replacement, and where they stand among them."""
    at = torch.randint(len(rows), (count,))
    return rows[at].to(device), at.to(device)


@torch.no_grad()
def _said(networks: Networks, table: Tensor) -> Judgement:
    logs, critic = [], []
    for part in _parts(table):
        features = networks.extractor(part)
        logs.append(networks.classifier(features).double().log_softmax(dim=1).cpu().numpy())
        critic.append(networks.critic(features).double().squeeze(1).cpu().numpy())
    return Judgement(np.concatenate(logs), np.concatenate(critic))


def _parts(table: Tensor, rows: int = 8192) -> Iterator[Tensor]:
    for start in range(0, len(table), rows):
        yield table[start : start + rows]
