"""The report of a run: one HTML file to look at, which needs no network."""

from handful.report.layout import LAYOUTS, check_layout
from handful.report.make import Made, Shown, make_report, pool_of

__all__ = ["LAYOUTS", "Made", "Shown", "check_layout", "make_report", "pool_of"]
