"""WAAL: its penalty, its critic and its query."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.stats import wasserstein_distance  # noqa: E402

from handful import HandfulError, strategies  # noqa: E402
from handful.learning.waal import WAAL, gradient_penalty, judged  # noqa: E402


def test_the_penalty_is_that_of_finite_differences() -> None:
    torch.manual_seed(0)
    critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    first, second = torch.randn(5, 3).double(), torch.randn(5, 3).double()
    torch.manual_seed(1)
    found = gradient_penalty(critic, first, second)
    torch.manual_seed(1)
    share = torch.rand(5, 1, dtype=torch.float64)
    between = share * first + (1 - share) * second
    slopes = torch.zeros(5, 3, dtype=torch.float64)
    with torch.no_grad():
        for at in range(3):
            step = torch.zeros(3, dtype=torch.float64)
            step[at] = 1e-6
            slopes[:, at] = ((critic(between + step) - critic(between - step)) / 2e-6).squeeze(1)
    expected = ((slopes.square().sum(dim=1).sqrt() - 1) ** 2).mean()
    assert float(found.detach()) == pytest.approx(float(expected), rel=1e-6)


def test_the_penalty_reaches_the_critics_parameters() -> None:
    """A linear critic: the penalty is (|w| - 1)², and its gradient 2 (|w| - 1) w / |w|."""
    critic = torch.nn.Linear(4, 1)
    weight = critic.weight.detach().clone()
    torch.autograd.backward(gradient_penalty(critic, torch.randn(6, 4), torch.randn(6, 4)))
    length = weight.norm()
    torch.testing.assert_close(critic.weight.grad, 2 * (length - 1) * weight / length)


def two_regions(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points in three clusters, of which only two have labels."""
    random = np.random.default_rng(seed)
    centres = 4 * np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]])
    where = np.repeat([0, 1, 2], 60)
    points = (centres[where] + 0.5 * random.normal(size=(180, 4))).astype(np.float32)
    return points, where, np.array([*range(10), *range(60, 70)])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_critic_separates_the_missing_part_and_the_query_covers_it(seed: int) -> None:
    points, where, labelled = two_regions(seed)
    labels = where[labelled]
    found = judged(points, labelled, labels, WAAL(seed=seed))
    assert found.critic[where == 2].min() > found.critic[labelled].max()
    picks = strategies.get("waal")(points, 8, metric="euclidean", already=labelled, labels=labels, seed=seed)
    assert (where[picks] == 2).all()


def test_the_critic_finds_nothing_where_there_is_no_difference() -> None:
    """Its mean difference estimates the Wasserstein distance: next to none between halves of one cluster."""
    random = np.random.default_rng(0)
    same = random.normal(size=(400, 4)).astype(np.float32)
    labelled, labels = np.arange(200), np.arange(200) % 2
    missing, where, few = two_regions()
    apart = judged(missing, few, where[few]).critic
    alike = judged(same, labelled, labels).critic
    assert alike[200:].mean() - alike[:200].mean() < 0.2 * (apart[where == 2].mean() - apart[few].mean())


def test_the_critics_difference_is_what_the_wasserstein_distance_makes_it() -> None:
    """Along a line, the distance W by SciPy: a slope s gives s W - 10 (s - 1)², which is largest at s = 1 + W / 20."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    known, other = random.normal(0, 1, 300), random.normal(3, 1, 300)
    whole = torch.nn.Sequential(
        torch.nn.Linear(1, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
    )
    adam = torch.optim.Adam(whole.parameters(), 0.01, betas=(0.5, 0.9))
    a, b = (torch.from_numpy(part).float()[:, None] for part in (known, other))
    for _ in range(300):
        adam.zero_grad()
        torch.autograd.backward(10 * gradient_penalty(whole, a, b) - (whole(b).mean() - whole(a).mean()))
        adam.step()
    with torch.no_grad():
        apart = float(whole(b).mean() - whole(a).mean())
    distance = wasserstein_distance(known, other)
    assert apart == pytest.approx(distance * (1 + distance / 20), rel=0.05)


def test_the_query_is_its_formula() -> None:
    points, where, labelled = two_regions()
    labels = where[labelled]
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    said = judged(unit, labelled, labels, WAAL(seed=5, steps=30))
    p = np.exp(said.logs)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    scores = [-np.log(row.min()) / 2 + -np.log(row).mean() / 2 - 2.0 * g for row, g in zip(p, said.critic, strict=True)]
    scores = np.array(scores)
    scores[labelled] = np.inf
    picks = strategies.get("waal")(points, 5, already=labelled, labels=labels, seed=5, weight=2.0, steps=30)
    assert picks.tolist() == np.argsort(scores, kind="stable")[:5].tolist()


def test_labels_may_be_any_names() -> None:
    points, where, labelled = two_regions()
    names = np.array(["cat", "dog"])[where[labelled]]
    numbers = strategies.get("waal")(points, 5, already=labelled, labels=where[labelled] * 7 + 3, steps=9)
    assert strategies.get("waal")(points, 5, already=labelled, labels=names, steps=9).tolist() == numbers.tolist()


def test_what_is_missing_is_named() -> None:
    points, where, labelled = two_regions()
    with pytest.raises(HandfulError, match="waal needs the labels of the earlier picks"):
        strategies.get("waal")(points, 5, already=labelled)
    with pytest.raises(HandfulError, match="weight must be a number of 0 or more"):
        strategies.get("waal")(points, 5, already=labelled, labels=where[labelled], weight=-1.0)
    with pytest.raises(HandfulError, match="steps must be a whole number"):
        strategies.get("waal")(points, 5, already=labelled, labels=where[labelled], steps=0)


def test_without_torch_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from handful import learning

    monkeypatch.setattr(learning, "find_spec", lambda name: None)
    points, where, labelled = two_regions()
    with pytest.raises(HandfulError, match=r"waal needs torch, which is not installed: pip install 'handful\[torch\]'"):
        strategies.get("waal")(points, 5, already=labelled, labels=where[labelled])
