"""Labels that are spread over a pool again and again, before anybody learns from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from handful.planned import planned
from handful.pool import Pool
from handful.problem import mass_range
from handful.spread import Spread, by_plan, neighbour_graph, spread

Indices = NDArray[np.int64]


@dataclass
class Spreading:
    """Spreads by one method; the graph of a pool is made once, as long as it is the same pool."""

    method: str = "graph"
    _made: tuple[Pool, csr_array] | None = field(default=None, repr=False)

    def spread(self, pool: Pool, picks: Indices, labels: NDArray[Any]) -> Spread:
        """Soft labels of all points; "plan" is that of even picks."""
        if self.method == "plan":
            plan = planned(pool, mass_range("uniform", len(picks)), picks, 0)
            order = np.argsort(picks)
            ranks = order[np.searchsorted(picks[order], plan["plan"])]
            flow = plan["flow_rows"], plan["flow_picks"], plan["flow_masses"]
            return by_plan(pool.n, flow, ranks, picks, labels)
        graph = self._graph(pool) if self.method == "graph" else None
        return spread(pool, picks, labels, method=self.method, graph=graph)

    def _graph(self, pool: Pool) -> csr_array:
        if self._made is None or self._made[0] is not pool:
            self._made = pool, neighbour_graph(pool)
        return self._made[1]
