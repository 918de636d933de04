"""Where the points of a pool lie on a map of two dimensions."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.axes import principal
from handful.errors import HandfulError
from handful.pool import Pool

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LAYOUTS = ("tsne", "pca", "umap")
_AXES = 50  # principal axes that neighbours are looked for along
_MOST_TSNE = 3_000  # points that t-SNE places itself, in about 10 seconds
_PERPLEXITY = 30
_FEWEST = 10  # points that have neighbours to speak of
_BESIDE = 5  # placed points that each of the others is put between
_BLOCK = 4_096


@dataclass(frozen=True, eq=False)
class Layout:
    """Two coordinates for each point, and how they came about, in words."""

    places: Floats
    words: str


def check_layout(name: str) -> None:
    """Refuse a layout that can't be made here, before any work."""
    if name not in LAYOUTS:
        raise HandfulError(f"--layout {name} is none of {', '.join(LAYOUTS)}; name one of them.")
    if name == "umap" and importlib.util.find_spec("umap") is None:
        raise HandfulError("--layout umap needs UMAP; install it with pip install umap-learn, or use --layout tsne.")


def layout(pool: Pool, picks: Indices, rows: Indices, name: str = "tsne") -> Layout:
    """Lay these ``rows`` out by t-SNE, the pool's first two principal components, or UMAP (McInnes et al. 2018).

    t-SNE (van der Maaten & Hinton 2008) places the picks and a sample of the other points; the rest lie between those
    placed points that are nearest to them.
    """
    check_layout(name)
    plane = principal(pool, picks, rows)
    if name == "pca" or len(rows) < _FEWEST or not np.ptp(plane, axis=0).any():
        return Layout(plane, "the first two principal components")
    width = len(picks) if pool.metric.name == "precomputed" else pool.dimension
    wide = principal(pool, picks, rows, max(2, min(_AXES, width)))
    if name == "umap":
        return Layout(_level(_umap(wide)), "UMAP")
    if len(rows) <= _MOST_TSNE:
        return Layout(_level(_tsne(wide)), "t-SNE")
    some = _sample(rows, picks)
    places = _between(wide, some, _tsne(wide[some]))
    return Layout(_level(places), f"t-SNE of {len(some):,} points, the others beside their nearest of these")


def _sample(rows: Indices, picks: Indices) -> Indices:
    """Positions of the picks, if they are not too many, and of others by chance."""
    random = np.random.default_rng(0)
    kept = np.flatnonzero(np.isin(rows, picks))
    if len(kept) > _MOST_TSNE // 2:
        kept = random.choice(kept, _MOST_TSNE // 2, replace=False)
    others = np.setdiff1d(np.arange(len(rows)), kept)
    return np.sort(np.append(kept, random.choice(others, _MOST_TSNE - len(kept), replace=False)))


def _tsne(wide: Floats) -> Floats:
    from sklearn.manifold import TSNE

    start = wide[:, :2] / (np.std(wide[:, 0]) or 1.0) * 1e-4
    perplexity = min(_PERPLEXITY, (len(wide) - 1) / 3)
    places: Floats = TSNE(perplexity=perplexity, init=start, random_state=0).fit_transform(wide)
    return places.astype(np.float64)


def _between(wide: Floats, some: Indices, placed: Floats) -> Floats:
    """Places for all points: those of ``some`` are known, the others lie between their nearest of those."""
    known = wide[some].astype(np.float32)
    norms = np.square(known).sum(axis=1)
    places = np.empty((len(wide), 2))
    beside = min(_BESIDE, len(some))
    for start in range(0, len(wide), _BLOCK):
        block = wide[start : start + _BLOCK].astype(np.float32)
        squares = norms - 2 * block @ known.T
        near = np.argpartition(squares, beside - 1, axis=1)[:, :beside]
        away = np.take_along_axis(squares, near, axis=1) + np.square(block).sum(axis=1)[:, None]
        # A point that lies on a placed one lies there on the map, too.
        weights = 1 / np.maximum(away, 1e-9 * (norms.max() or 1.0)).astype(np.float64)
        places[start : start + _BLOCK] = (placed[near] * weights[..., None]).sum(axis=1) / weights.sum(axis=1)[:, None]
    places[some] = placed
    return places


def _level(places: Floats) -> Floats:
    """Turned so that the map is widest from left to right; these layouts have no up and down of their own."""
    centred = places - places.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    return centred @ (directions * np.where(directions.sum(axis=0) < 0, -1, 1))


def _umap(wide: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Tensorflow is missing, and that a fixed seed means one thread
        from umap import UMAP

        return np.asarray(UMAP(n_components=2, random_state=0).fit_transform(wide), np.float64)
