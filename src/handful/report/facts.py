"""The figures of a run, and what they mean in plain sentences."""

from __future__ import annotations

import math
from typing import Any

from handful import __version__
from handful.files.finished import Finished
from handful.files.table import Table
from handful.pool import Pool
from handful.selection import STATUS, relative_gap


def scenarios(run: Finished) -> dict[str, Any] | None:
    """How scenarios were reduced, where that is what the run did."""
    found = run.summary.get("scenarios")
    return found if isinstance(found, dict) else None


def order(run: Finished) -> int:
    """To which power of the distances the costs of the run are; distances are told, not costs."""
    words = scenarios(run)
    return 1 if words is None else int(words["p"])


def facts(run: Finished, table: Table, pool: Pool) -> dict[str, Any]:
    """What stands above the map."""
    claim, power = run.certificate, order(run)
    distance, bound = (_rooted(value, power) for value in (claim.distance, claim.lower_bound))
    certified = bool(run.summary.get("certified", claim.lower_bound > 0 or claim.distance == 0))
    new, earlier = len(claim.picks) - len(claim.already), len(claim.already)
    few = None if len(claim.candidates) in (0, pool.n) else len(claim.candidates)
    status = str(run.summary.get("status", ""))
    words = scenarios(run)
    return {
        "headline": f"{new:,} pick{'s' * (new != 1)} of {pool.n:,} points",
        "pool": table.path.name,
        "points": pool.n,
        "dimension": int(table.points.shape[1]),
        "metric": claim.metric if words is None else f"{words['metric']}, order {power}",
        "budget": new,
        "earlier": earlier,
        "weights": _weights(claim.low, claim.high, len(claim.picks)),
        "distance": distance,
        "bound": bound if certified else None,
        "gap": relative_gap(distance, bound) if certified else None,
        "meaning": meaning(new, earlier, distance, bound, certified=certified, candidates=few),
        "ending": STATUS.get(status, status),
        "by": run.summary.get("strategy") or run.summary.get("preset"),
        "seconds": run.summary.get("seconds"),
        "version": __version__,
    }


def trace(run: Finished) -> list[list[float]]:
    """Seconds, distance, bound; lines without all of them are left out."""
    lines, power = run.summary.get("trace"), order(run)
    found = []
    for line in lines if isinstance(lines, list) else []:
        values = [line.get(name) if isinstance(line, dict) else None for name in ("elapsed", "distance", "lower_bound")]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if len(numbers) == len(values):
            found.append([numbers[0], _rooted(numbers[1], power), _rooted(numbers[2], power)])
    return found


def meaning(
    new: int, earlier: int, distance: float, bound: float, *, certified: bool, candidates: int | None = None
) -> str:
    """What is known of the picks, for somebody who has read nothing else.

    ``candidates`` says out of how many points picks may be, where not all are.
    """
    these = "This 1 pick" if new == 1 else f"These {new:,} picks"
    with_earlier = f" and the {earlier:,} labelled earlier" if earlier else ""
    verb = "is" if new == 1 and not earlier else "are"
    start = f"{these}{with_earlier} {verb} at distance {distance:.4g} from the pool"
    among = "" if candidates is None else f" out of the {candidates:,} candidates"
    others = (f"no other {new:,} picks" if new > 1 else "no other pick") + among
    if not certified:
        return f"{start}. There is no certificate: nothing is known of how near other picks could be."
    if bound >= distance:
        return f"{start}, and {others} can be nearer: that is proven."
    if bound <= 0:
        return f"{start}. Nothing is proven yet of how near other picks could be."
    gained = (distance - bound) / distance
    share = f"{gained:.2%}" if gained >= 1e-4 else "less than 0.01%"
    return (
        f"{start}. It is proven that {others} can be nearer than {bound:.4g}, so that any better choice would be "
        f"nearer by at most {share}."
    )


def _rooted(cost: float, power: int) -> float:
    return max(0.0, cost) ** (1 / power)


def _weights(low: float, high: float, picks: int) -> str:
    if low <= 0 and high >= 1:
        return "whatever is nearest to it"
    if math.isclose(low, high):
        return f"the same share of the pool, {100 / picks:.3g}%"
    return f"between {100 * low:.3g}% and {100 * high:.3g}% of the pool"
