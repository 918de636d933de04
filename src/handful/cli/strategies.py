"""`handful strategies`: what there is, in one line each, and what it needs."""

from handful.cli.console import result


def strategies() -> None:
    """List the selection strategies: one line each, with what they need beside the pool."""
    from rich import box
    from rich.table import Table

    from handful.strategies import get, names

    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("strategy", "picks", "needs"):
        table.add_column(title, no_wrap=title == "strategy", overflow="fold")
    for name in names():
        strategy = get(name)
        table.add_row(name, strategy.line, strategy.needs)
    console = result()
    console.print(table)
    console.print("Use one with `handful select POOL -b 10 --strategy NAME`, several with `handful compare`.")
