"""What the bounds of a run mean, in a plain sentence."""

from __future__ import annotations


def meaning(new: int, earlier: int, distance: float, bound: float, *, certified: bool) -> str:
    """What is known of the picks, for somebody who has read nothing else."""
    with_earlier = f" and the {earlier:,} labelled earlier" if earlier else ""
    start = f"{_picks(new)}{with_earlier} are at distance {distance:.4g} from the pool"
    others = f"no other {new:,} picks" if new > 1 else "no other pick"
    if not certified:
        return f"{start}. There is no certificate: nothing is known of how near other picks could be."
    if bound >= distance:
        return f"{start}, and {others} can be nearer: that is proven."
    if bound <= 0:
        return f"{start}. Nothing is proven yet of how near other picks could be."
    gained = (distance - bound) / distance
    return (
        f"{start}. It is proven that {others} can be nearer than {bound:.4g}, so that any better choice "
        f"would be nearer by at most {_percent(gained)}."
    )


def _picks(count: int) -> str:
    return "This 1 pick" if count == 1 else f"These {count:,} picks"


def _percent(share: float) -> str:
    return f"{share:.2%}" if share >= 1e-4 else "less than 0.01%"
