"""The executors by name: threads unless others are asked for, whose packages are only then imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from handful.blocks import Executor, available_cores
from handful.errors import HandfulError
from handful.forecast import Holding


@contextmanager
def executor(ray: str | None, device: str | None, threads: int | None) -> Iterator[Executor | None]:
    """Open the executor that was asked for; None stands for threads.

    ``ray`` is the address of a running cluster or "local", ``device`` a card ("cuda", "cuda:1") or "cpu-torch".
    """
    _check(ray, device)
    if device is not None:
        from handful.blocks_torch import TorchExecutor

        yield TorchExecutor(device)
    elif ray is not None:
        from handful.blocks_ray import cluster

        with cluster(ray, threads) as found:
            yield found
    else:
        yield None


def holding(ray: str | None, device: str | None, threads: int | None) -> Holding | None:
    """Who will keep the distances, as far as it can be told without asking a cluster."""
    _check(ray, device)
    if device is not None:
        from handful.blocks_torch import holding_of

        return holding_of(device)
    if ray is None:
        return None
    from handful.blocks_ray import actors_holding, shape

    if ray != "local":
        return actors_holding(None, f" at {ray}")
    count, _ = shape([threads or available_cores()], threads)
    return actors_holding(count)


def _check(ray: str | None, device: str | None) -> None:
    if ray is not None and device is not None:
        raise HandfulError(f"passes are made by Ray (ray={ray!r}) or on a device ({device!r}), not both: give one")
    for given, package, what in ((ray, "ray", f"ray={ray!r}"), (device, "torch", f"device={device!r}")):
        if given is not None and find_spec(package) is None:
            raise HandfulError(f"{what} needs the package {package}: pip install 'handful[{package}]'")
