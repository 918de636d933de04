"""f-DAL: conjugates, the turned gradient, the objective, and a domain that it learns to know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.optimize import minimize_scalar  # noqa: E402

from handful.errors import HandfulError  # noqa: E402
from handful.learning.divergence import DIVERGENCES, divergence, reversed_gradient  # noqa: E402
from handful.learning.encoders import encoder  # noqa: E402
from handful.learning.fdal import FDAL, AdaptedNetwork, train  # noqa: E402
from handful.learning.saved import ImageEncoder  # noqa: E402

TINY = FDAL(encoder="small", stem="small", size=12, epochs=2, batch=8, bottleneck=16, hidden=16, rate=0.05, seed=1)


def double(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


@pytest.mark.parametrize("name", DIVERGENCES)
@pytest.mark.parametrize("value", [-3.0, -1.0, -0.3, 0.0, 0.4, 2.0, 5.0])
def test_conjugates_are_the_suprema_that_define_them(name: str, value: float) -> None:
    """At the values that the activation gives, against a numerical maximum over x >= 0."""
    kind = divergence(name)
    t = float(kind.activation(double(value)))
    found = minimize_scalar(
        lambda x: float(kind.generator(double(x))) - t * x, bounds=(0, 2000), method="bounded", options={"xatol": 1e-10}
    )
    highest = max(-found.fun, -float(kind.generator(double(0.0))))
    conjugate = float(kind.conjugate(double(t)))
    if name == "pearson" and t < -2:  # the parabola goes on where the supremum is at x = 0
        assert conjugate > highest
        assert highest == pytest.approx(-1)
    else:
        assert conjugate == pytest.approx(highest, abs=1e-6)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_bound_is_the_divergence_at_its_best_and_never_more(name: str) -> None:
    """Two discrete distributions; the supremum is at T = φ'(p / q)."""
    kind = divergence(name)
    random = np.random.default_rng(0)
    p, q = random.dirichlet(np.ones(6)), random.dirichlet(np.ones(6))
    ratio = torch.from_numpy(p / q).requires_grad_()
    value = kind.generator(ratio)
    exact = float((torch.from_numpy(q) * value).sum().detach())
    (best,) = torch.autograd.grad(value.sum(), ratio)

    def bound(t: torch.Tensor) -> float:
        return float((torch.from_numpy(p) * t).sum() - (torch.from_numpy(q) * kind.conjugate(t)).sum())

    assert bound(best) == pytest.approx(exact, rel=1e-9)
    for _ in range(20):
        other = kind.activation(torch.from_numpy(random.normal(size=6)))
        assert bound(other) <= exact + 1e-12


@pytest.mark.parametrize("name", DIVERGENCES)
def test_between_is_the_activation_and_the_conjugate(name: str) -> None:
    kind = divergence(name)
    a, b = torch.randn(30, dtype=torch.float64), torch.randn(20, dtype=torch.float64)
    expected = kind.activation(a).mean() - kind.conjugate(kind.activation(b)).mean()
    assert float(kind.between(a, b)) == pytest.approx(float(expected), rel=1e-9)
    assert torch.isfinite(kind.between(a * 1000, b * 1000))


def test_jensen_shannon_is_that_of_scipy() -> None:
    from scipy.spatial.distance import jensenshannon

    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.4, 0.2])
    value = (q * divergence("jensen-shannon").generator(torch.from_numpy(p / q)).numpy()).sum()
    assert value == pytest.approx(2 * jensenshannon(p, q) ** 2)


def test_the_gradient_is_turned_and_the_value_is_not() -> None:
    values = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    turned = reversed_gradient(values, 0.3)
    assert torch.equal(turned, values)
    weights = torch.randn(4, 3, dtype=torch.float64)
    (turned**2 * weights).sum().backward()
    torch.testing.assert_close(values.grad, -0.3 * 2 * values.detach() * weights)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_every_part_moves_the_objective_its_own_way(name: str) -> None:
    """Gradients of the one loss against those of risk and discrepancy, taken apart without a turned gradient."""
    torch.manual_seed(0)
    network = AdaptedNetwork(encoder("small", channels=1), 256, 3, replace(TINY, dropout=0.0)).double().eval()
    source, target = torch.rand(6, 1, 12, 12).double(), torch.rand(6, 1, 12, 12).double()
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    kind = divergence(name)
    losses = network.losses(source, labels, target, kind, 0.25)
    assert float(losses["loss"].detach()) == pytest.approx(float((losses["risk"] - losses["discrepancy"]).detach()))
    body = [*network.encoder.parameters(), *network.bottleneck.parameters()]
    adversary, head = list(network.adversary.parameters()), list(network.head.parameters())
    found = torch.autograd.grad(losses["loss"], [*body, *adversary, *head])

    risk = torch.nn.functional.cross_entropy(network(source), labels)

    def said(images: torch.Tensor) -> torch.Tensor:
        classes = network(images).argmax(dim=1)
        numbers = network.adversary(network.bottleneck(network.encoder(images)))
        return numbers[torch.arange(len(images)), classes]

    gap = kind.activation(said(source)).mean() - kind.conjugate(kind.activation(said(target))).mean()
    of_risk = torch.autograd.grad(risk, [*body, *head], retain_graph=True)
    of_gap = torch.autograd.grad(gap, [*body, *adversary])
    count, others = len(body), len(body) + len(adversary)
    expected = [
        *(r + 0.25 * g for r, g in zip(of_risk[:count], of_gap[:count], strict=True)),  # lowers risk and discrepancy
        *(-g for g in of_gap[count:]),  # raises the discrepancy
        *of_risk[count:],  # lowers the risk alone
    ]
    assert len(found) == others + len(head)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)  # losses are taken in single precision


def shifted_domains() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two classes, bars down or across; the target's are inverted and dimmed."""
    random = np.random.default_rng(0)
    labels = np.arange(64) % 2
    images = random.integers(0, 60, (64, 12, 12)).astype(np.uint8)
    for image, label in zip(images, labels, strict=True):
        at = random.integers(2, 10)
        image[(slice(None), at) if label else (at, slice(None))] = 255
    return images, labels, images // 2 + 20


def test_a_killed_run_ends_with_identical_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, labels, target = shifted_domains()
    target = target[:40]  # an epoch goes through the larger domain, and the smaller is started again within it
    whole = train(source, np.repeat(labels, 2)[::2], target, TINY, device="cpu")  # strided: a column of a table
    proper, left = AdaptedNetwork.losses, [5]

    def dying(*given: object) -> object:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return proper(*given)

    monkeypatch.setattr(AdaptedNetwork, "losses", dying)
    with pytest.raises(KeyboardInterrupt):
        train(source, labels, target, TINY, folder=tmp_path, device="cpu", every=0.0)
    monkeypatch.setattr(AdaptedNetwork, "losses", proper)
    resumed = train(source, labels, target, TINY, folder=tmp_path, device="cpu")
    assert [line.losses for line in resumed.history] == [line.losses for line in whole.history]
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, resumed.network.state_dict()[name]), name
    assert (tmp_path / "loss.csv").read_text().startswith("epoch,loss,risk,discrepancy,rate,seconds\n")
    np.testing.assert_array_equal(
        ImageEncoder.load(tmp_path / "encoder.pt").features(target, device="cpu"),
        whole.images.features(target, device="cpu"),
    )


def test_probabilities_are_those_of_the_classifier_and_the_source_is_learnt() -> None:
    source, labels, target = shifted_domains()
    found = train(source, labels, target, replace(TINY, epochs=30, batch=16), device="cpu")
    table = found.probabilities(source)
    assert table.shape == (64, 2)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-5)
    assert found.accuracy(source, labels) == (table.argmax(axis=1) == labels).mean()
    assert found.accuracy(source, labels) > 0.9


def test_batch_norm_ends_with_the_statistics_of_the_target() -> None:
    source, labels, target = shifted_domains()
    found = train(source, labels, target, TINY, device="cpu")
    network = found.network.eval()
    with torch.no_grad():
        shown = network.encoder.features.conv1(found.images.prepared(torch.from_numpy(target)[:, None]))
    norm = network.encoder.features.bn1
    torch.testing.assert_close(norm.running_mean, shown.mean((0, 2, 3)), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(norm.running_var, shown.var((0, 2, 3)), rtol=1e-2, atol=1e-5)
    assert norm.momentum == 0.1
    alone = train(source, labels, target, replace(TINY, divergence="none"), device="cpu")
    again = train(source, labels, source, replace(TINY, divergence="none"), device="cpu")
    np.testing.assert_array_equal(alone.probabilities(target), again.probabilities(target))  # saw nothing of the target


def test_weights_start_the_encoder_and_learn_slower(tmp_path: Path) -> None:
    source, labels, target = shifted_domains()
    start = encoder("small", channels=3)
    torch.save(start.state_dict(), tmp_path / "start.pth")
    settings = replace(TINY, weights=str(tmp_path / "start.pth"), epochs=1, rate=1e-9)
    found = train(source, labels, target, settings, device="cpu")
    for one, other in zip(start.parameters(), found.network.encoder.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)
    assert found.images.recipe.mean == (0.485, 0.456, 0.406)


def test_bad_input_is_named() -> None:
    source, labels, target = shifted_domains()
    with pytest.raises(HandfulError, match="unknown divergence 'renyi'"):
        FDAL(divergence="renyi")
    with pytest.raises(HandfulError, match="labels must be 64 whole numbers"):
        train(source, labels[:5], target, TINY)
    with pytest.raises(HandfulError, match="a batch of 8 is larger than a domain, of 64 and 4"):
        train(source, labels, target[:4], TINY)
