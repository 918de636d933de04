"""Labels that are spread over the pool before anybody learns from them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from handful.planned import planned
from handful.pool import Pool
from handful.problem import mass_range
from handful.rounds.learners import Examples
from handful.spread import by_plan, neighbour_graph, spread


@dataclass
class Spreading:
    """Spreads by one method; the graph of a pool that stays the same is made once."""

    method: str = "graph"
    _made: tuple[Pool, csr_array] | None = field(default=None, repr=False)

    def spread(self, pool: Pool, known: Examples) -> Examples:
        """All points of the pool that labels reach, each with its likeliest class, and its confidence as weight."""
        if self.method == "plan":
            plan = planned(pool, mass_range("uniform", len(known.rows)), known.rows, 0)
            ranks = np.searchsorted(np.sort(known.rows), plan["plan"])
            flow = plan["flow_rows"], plan["flow_picks"], plan["flow_masses"]
            found = by_plan(pool.n, flow, np.argsort(known.rows)[ranks], known.rows, known.classes)
        else:
            graph = self._graph(pool) if self.method == "graph" else None
            found = spread(pool, known.rows, known.classes, method=self.method, graph=graph)
        rows = np.flatnonzero(found.confidence > 0)
        return Examples(rows, found.labels[rows].astype(np.int64), found.confidence[rows])

    def _graph(self, pool: Pool) -> csr_array:
        if self._made is None or self._made[0] is not pool:
            self._made = pool, neighbour_graph(pool)
        return self._made[1]
