"""Values of options, as people write them."""

import pytest

from handful.cli import values
from handful.errors import HandfulError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200), ("1h30m", 5400), ("1h 2m 5s", 3725), ("1.5H", 5400)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert values.duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500KB", 500_000),
        ("4GB", 4_000_000_000),
        ("4gb", 4_000_000_000),
        ("1.5 MiB", 1_572_864),
        ("2KiB", 2048),
        ("4GiB", 4 * 1024**3),
        ("1TB", 10**12),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert values.size(text) == size


@pytest.mark.parametrize(("text", "share"), [("0.01", 0.01), ("1%", 0.01), ("0", 0), ("0.5 %", 0.005), ("1e-3", 0.001)])
def test_gaps_are_read(text: str, share: float) -> None:
    assert values.gap(text) == pytest.approx(share, abs=0)


@pytest.mark.parametrize(
    ("text", "picks", "weight"),
    [
        ("uniform", 4, "uniform"),
        ("Free", 4, "free"),
        ("0.01:0.5", 4, (0.01, 0.5)),
        ("1%:50%", 4, (0.01, 0.5)),
        ("0.25x:3x", 6, (0.25 / 6, 0.5)),
        ("0:3x", 2, (0, 1)),  # three even shares of two picks are all there is
        ("0.5x:60%", 2, (0.25, 0.6)),
    ],
)
def test_weights_are_read(text: str, picks: int, weight: str | tuple[float, float]) -> None:
    found = values.picks_weight(text)(picks)
    assert found == weight if isinstance(weight, str) else found == pytest.approx(weight)


@pytest.mark.parametrize(
    ("read", "texts", "words"),
    [
        (values.duration, ["", "0", "0s", "-5", "10x", "m", "5m1h", "1h30", "1e999", "nan"], "--time-limit"),
        (values.size, ["", "4", "GB", "0GB", "-1GB", "4 gigs", "0.0001KB"], "--memory"),
        (values.gap, ["", "1", "100%", "-0.1", "5", "nan", "x%"], "--gap"),
        (values.picks_weight, ["", "even", "0.1", "0.1:", "a:b", "0.1:0.2:0.3", "-0.1:1", "x:3x"], "--picks-weight"),
    ],
)
def test_anything_else_is_refused_with_an_example(read: object, texts: list[str], words: str) -> None:
    assert callable(read)
    for text in texts:
        with pytest.raises(HandfulError, match=rf"^{words} .*write ") as caught:
            read(text)
        assert text in str(caught.value)


@pytest.mark.parametrize("text", ["0.3:0.4", "0.1:0.2", "0.5:0.1", "2x:3x", "0:0.5x"])
def test_ranges_that_the_picks_cannot_meet_name_the_option(text: str) -> None:
    with pytest.raises(HandfulError, match=rf"^--picks-weight {text}: "):
        values.picks_weight(text)(4)
