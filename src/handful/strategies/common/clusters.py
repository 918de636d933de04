"""Clusters of a pool by k-means."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """For every point its cluster, and the centres of the clusters; some may be empty."""

    labels: Indices
    centres: NDArray[np.float32]

    @property
    def sizes(self) -> Indices:
        """Points in each."""
        return np.bincount(self.labels, minlength=len(self.centres))

    def fewest(self, already: Indices) -> NDArray[np.int64]:
        """Earlier picks in each."""
        return np.bincount(self.labels[already], minlength=len(self.centres))


def k_means_clusters(
    points: NDArray[np.float32], masses: NDArray[np.float64], count: int, seed: int, *, batches: bool
) -> Clusters:
    """Cluster the points; with ``batches`` by mini-batches, which is faster and a little coarser."""
    count = min(count, len(points))
    kind = MiniBatchKMeans if batches else KMeans
    model = kind(n_clusters=count, n_init=1, random_state=seed)
    equal = bool((masses == masses[0]).all())
    with warnings.catch_warnings():
        # Fewer distinct points than clusters: the clusters left empty are passed over by those who pick.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(points, sample_weight=None if equal else masses * len(points))
    return Clusters(model.labels_.astype(np.int64), model.cluster_centers_)
