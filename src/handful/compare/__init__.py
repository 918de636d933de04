"""A fair comparison of strategies: the same pool, budgets, seeds and measures for all of them."""

from handful.compare.cells import Cell, Contest
from handful.compare.run import cells_of, run
from handful.compare.table import MEASURES, Figure, Measure, Row, Table, table

__all__ = ["MEASURES", "Cell", "Contest", "Figure", "Measure", "Row", "Table", "cells_of", "run", "table"]
