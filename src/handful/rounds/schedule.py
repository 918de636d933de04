"""How many points are labelled in each round."""

from __future__ import annotations

from handful.errors import HandfulError


def paper_schedule(step: int, total: int) -> tuple[int, ...]:
    """``step`` labels a round, and half of them in each of the first two rounds, up to ``total``.

    That is how Mahmood, Fidler & Law 2022 (*Low-budget active learning via Wasserstein distance: an integer programming
    approach*, ICLR) spend their budgets: 10, 10, 20, 20, ... up to 180 labels, for example.
    """
    if step < 2 or step % 2 or total < step or total % step:
        raise HandfulError(f"step must be an even number, and total a multiple of it; got {step} and {total}")
    return step // 2, step // 2, *[step] * (total // step - 1)
