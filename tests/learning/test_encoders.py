"""Encoders and heads: names, shapes and counts as published, and weight files."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from handful.errors import HandfulError  # noqa: E402
from handful.learning.encoders import NAMES, encoder, load_weights  # noqa: E402
from handful.learning.heads import AdaptationHead, Bottleneck, Head  # noqa: E402

DEPTHS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3)}


def published(name: str) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all parameters and statistics, from the table of the architecture."""
    deep = name == "resnet50"
    shapes: dict[str, tuple[int, ...]] = {}

    def convolution(at: str, norm: str, outputs: int, inputs: int, size: int) -> None:
        shapes[f"{at}.weight"] = (outputs, inputs, size, size)
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{norm}.{part}"] = (outputs,)
        shapes[f"{norm}.num_batches_tracked"] = ()

    convolution("conv1", "bn1", 64, 3, 7)
    inputs = 64
    for layer, (width, depth) in enumerate(zip((64, 128, 256, 512), DEPTHS[name], strict=True), start=1):
        outputs = width * (4 if deep else 1)
        for row in range(depth):
            at = f"layer{layer}.{row}"
            thin, plain = (
                ((inputs, width, 1), (width, width, 3), (width, outputs, 1)),
                ((inputs, width, 3), (width, width, 3)),
            )
            for step, (source, target, size) in enumerate(thin if deep else plain, 1):
                convolution(f"{at}.conv{step}", f"{at}.bn{step}", target, source, size)
            if row == 0 and (inputs != outputs or layer > 1):
                convolution(f"{at}.downsample.0", f"{at}.downsample.1", outputs, inputs, 1)
            inputs = outputs
    return shapes


@pytest.mark.parametrize(("name", "count"), [("resnet18", 11689512), ("resnet34", 21797672), ("resnet50", 25557032)])
def test_parameters_are_those_of_the_published_architecture(name: str, count: int) -> None:
    with torch.device("meta"):
        network = encoder(name, stem="imagenet")
    assert {key: tuple(value.shape) for key, value in network.state_dict().items()} == published(name)
    assert sum(p.numel() for p in network.parameters()) + 1000 * network.width + 1000 == count


def test_strides_halve_where_they_should() -> None:
    network = encoder("resnet18", stem="imagenet").eval()
    sizes = {}
    for layer in ("maxpool", "layer1", "layer2", "layer3", "layer4"):
        network.get_submodule(layer).register_forward_hook(
            lambda _m, _i, out, layer=layer: sizes.__setitem__(layer, tuple(out.shape[1:]))
        )
    with torch.no_grad():
        network(torch.zeros(1, 3, 64, 64))
    assert sizes == {
        "maxpool": (64, 16, 16),
        "layer1": (64, 16, 16),
        "layer2": (128, 8, 8),
        "layer3": (256, 4, 4),
        "layer4": (512, 2, 2),
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name != "small"])
def test_small_images_keep_their_size_in_the_first_layer(name: str) -> None:
    network = encoder(name, channels=1).eval()
    seen: list[tuple[int, ...]] = []
    first = next(m for m in network.modules() if isinstance(m, torch.nn.Conv2d))
    first.register_forward_hook(lambda _m, _i, out: seen.append(tuple(out.shape[2:])))
    with torch.no_grad():
        features = network(torch.rand(2, 1, 16, 16))
    assert seen == [(16, 16)]
    assert features.shape == (2, network.width)


def test_a_bottleneck_block_is_what_its_formula_says() -> None:
    torch.manual_seed(0)
    block = encoder("resnet50").get_submodule("layer1.0").double().eval()
    images = torch.rand(2, 64, 5, 5, dtype=torch.float64)
    w = dict(block.state_dict())

    def unit(x, weight, pad):  # fresh statistics: a norm only divides by sqrt(1 + 1e-5)
        return torch.nn.functional.conv2d(x, weight, padding=pad) / (1 + 1e-5) ** 0.5

    added = unit(images, w["conv1.weight"], 0).relu()
    added = unit(unit(added, w["conv2.weight"], 1).relu(), w["conv3.weight"], 0)
    torch.testing.assert_close(block(images), (added + unit(images, w["downsample.0.weight"], 0)).relu())


def test_a_weight_file_with_its_last_layer_loads_as_it_is(tmp_path: Path) -> None:
    first, second = encoder("resnet18", stem="imagenet"), encoder("resnet18", stem="imagenet")
    state = {key: value for key, value in first.state_dict().items() if not key.endswith("num_batches_tracked")}
    state |= {"fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}
    torch.save(state, tmp_path / "resnet18.pth")
    load_weights(second, tmp_path / "resnet18.pth")
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_weight_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    torch.save(encoder("small").state_dict(), tmp_path / "small.pth")
    (tmp_path / "junk.pth").write_bytes(b"no weights")
    torch.save([1, 2], tmp_path / "list.pth")
    network = encoder("small", channels=1)
    with pytest.raises(HandfulError, match=r"does not fit the encoder: .*conv1"):
        load_weights(network, tmp_path / "small.pth")
    with pytest.raises(HandfulError, match="is no file of weights"):
        load_weights(network, tmp_path / "junk.pth")
    with pytest.raises(HandfulError, match="no table of parameters"):
        load_weights(network, tmp_path / "list.pth")
    with pytest.raises(HandfulError, match="there is no such file"):
        load_weights(network, tmp_path / "none.pth")
    with pytest.raises(HandfulError, match="unknown encoder 'vgg'"):
        encoder("vgg")
    with pytest.raises(HandfulError, match="unknown stem"):
        encoder("resnet18", stem="large")


def test_heads_are_of_the_papers_layers() -> None:
    kinds = [type(part).__name__ for part in Head(512, 10)]
    assert kinds == ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert [tuple(p.shape) for p in Head(512, 10).parameters()] == [(64, 512), (64,), (64,), (64,), (10, 64), (10,)]
    bottleneck = Bottleneck(2048)
    assert AdaptationHead(bottleneck.width, 31)(bottleneck(torch.rand(4, 2048))).shape == (4, 31)
