"""From a configuration to what its rounds need: data, features, what learns, and who is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful import datasets
from handful.datasets import Dataset
from handful.errors import HandfulError
from handful.rounds.config import Config, Data
from handful.rounds.features import FeatureSource, Fixed, LastClassifier
from handful.rounds.learners import Learner, NetworkLearner, ProbeLearner, Tables
from handful.rounds.oracle import Known, Oracle, Person
from handful.rounds.run import Setting
from handful.spreading import Spreading

if TYPE_CHECKING:
    from handful.learning.saved import ImageEncoder

Points = NDArray[Any]
Both = tuple[Points, Points | None]
Say = Callable[[str], None]

_SAVED = "features.npz"
_SOURCE = "source-features.npy"


def load(data: Data) -> Dataset:
    """The data set, cut down or divided as asked for."""
    found = datasets.load(data.name, data.folder, checksums=data.checksums, download=data.download, **data.options)
    if data.pool_share is not None:
        found = found.divided(data.pool_share)
    return found if data.points is None else found.drawn(data.points)


def build(config: Config, folder: Path, say: Say | None = None) -> Setting:
    """Everything that the rounds share; encoders that are trained for them, and features, are kept in ``folder``."""
    say = say or (lambda _: None)
    say(f"reading {config.data.name}")
    data = load(config.data)
    classes = _classes(config, data)
    if config.classifier.kind == "network" and not data.images:
        raise HandfulError(f"a whole network learns from images, and {data.name} has none; take a head or a probe")
    maker = _Maker(config, data, folder, say)
    start = maker.features()
    metric = config.features.metric
    changing = config.features.source == "last-classifier"
    source: FeatureSource = LastClassifier(start[0]) if changing else Fixed(start[0])
    spreading = None if config.classifier.spread == "none" else Spreading(config.classifier.spread)
    oracle: Oracle = Known(data) if config.oracle.kind == "data" else Person(folder, classes, data.ids)
    if config.oracle.kind == "data" and not data.labelled:
        raise HandfulError(f"{data.name} has no labels: give a file with them, or set oracle.kind to person")
    return Setting(oracle, source, maker.learner(start, len(classes)), metric, spreading)


def _classes(config: Config, data: Dataset) -> tuple[str, ...]:
    """Those of the data set; a person may name them where it has none."""
    told = config.oracle.classes
    if data.classes and told and set(told) != set(data.classes):
        raise HandfulError(
            f"oracle.classes are {', '.join(told)}, and those of {data.name} {', '.join(data.classes)}: leave them out"
        )
    return data.classes or told


class _Maker:
    """Makes features and learners of a data set."""

    def __init__(self, config: Config, data: Dataset, folder: Path, say: Say) -> None:
        self.config, self.data, self.folder, self.say = config, data, folder, say
        self.trained: ImageEncoder | None = None

    def features(self) -> Both:
        """Of pool and test set, in the first round."""
        source = self.config.features.first
        if source == "pixels":
            return self._flat()
        if source == "pca":
            return self._components()
        if source == "file":
            return self._file()
        self.trained = self._encoder(source)
        saved = self.folder / _SAVED
        if saved.is_file():
            with np.load(saved) as held:
                return held["pool"], held.get("test")
        self.say("computing features")
        device = self.config.classifier.device
        pool = self.trained.features(self.data.pool, device=device)
        test = None if self.data.test is None else self.trained.features(self.data.test, device=device)
        part = saved.with_suffix(".part.npz")
        if test is None:
            np.savez(part, pool=pool)
        else:
            np.savez(part, pool=pool, test=test)
        part.replace(saved)
        return pool, test

    def learner(self, start: Both, classes: int) -> Learner:
        """What learns, from features or from images."""
        told = self.config.classifier
        labels = self.data.test_labels
        unit = self.config.features.metric == "cosine"
        if self.config.source is not None and (told.kind != "head" or told.augment is not None):
            raise HandfulError("labels of a source are learned from by a head on features: set classifier.kind to head")
        if told.kind == "probe":
            return ProbeLearner(Tables(start[0], classes, start[1], labels), self.config.features.metric)
        from handful.learning.classifier import Training

        training = Training(told.epochs, told.steps, told.batch, told.rate, told.device)
        images = Tables(self.data.pool, classes, self.data.test, labels)
        if told.kind == "network":
            return NetworkLearner(images, training, fresh=self._fresh(), augment=self._augment())
        if told.augment is not None:
            if self.trained is None:
                raise HandfulError("classifier.augment needs images and an encoder: set features.source to one")
            return NetworkLearner(images, training, encoder=self.trained, augment=self._augment())
        tables = Tables(start[0], classes, start[1], labels)
        return NetworkLearner(tables, training, unit=unit, base=self._base())

    def _base(self) -> tuple[Points, NDArray[np.int64]] | None:
        """Features and labels of the other domain."""
        if self.source is None:
            return None
        if self.trained is None:
            raise HandfulError("a source needs features that both domains have: set features.source to an encoder")
        path = self.folder / _SOURCE
        if not path.is_file():
            part = path.with_suffix(".part.npy")
            np.save(part, self.trained.features(self.source[0], device=self.config.classifier.device))
            part.replace(path)
        return np.load(path), self.source[1]

    def _flat(self) -> Both:
        def flat(points: Points) -> Points:
            return points if points.ndim == 2 else points.reshape(len(points), -1).astype(np.float32) / 255

        return flat(self.data.pool), None if self.data.test is None else flat(self.data.test)

    def _components(self) -> Both:
        from sklearn.decomposition import PCA

        pool, test = self._flat()
        count = min(self.config.features.components, *pool.shape)
        fitted = PCA(count, svd_solver="covariance_eigh").fit(pool)
        return fitted.transform(pool).astype(np.float32), (
            None if test is None else fitted.transform(test).astype(np.float32)
        )

    def _file(self) -> Both:
        path = Path(str(self.config.features.file))
        if path.suffix != ".npz":
            from handful.files.read import read_pool

            table, tested = read_pool(path).points, None
        else:
            with np.load(path, allow_pickle=False) as held:
                if "train" not in held:
                    raise HandfulError(f"{path} must hold an array 'train', and 'test' if there is a test set")
                table, tested = held["train"], held.get("test")
        rows, test_rows = self.data.rows, self.data.test_rows
        if len(table) <= max(int(rows.max()), -1 if test_rows is None else int(test_rows.max())):
            raise HandfulError(f"{path} holds {len(table)} points, too few for {self.data.name}: one row for each")
        if self.data.test is None:
            return table[rows], None
        test = tested if test_rows is None else table[test_rows]
        if test is None or len(test) != len(self.data.test):
            raise HandfulError(
                f"{path} must hold an array 'test' of {len(self.data.test)} points, those of the test set"
            )
        return table[rows], test

    def _encoder(self, source: str) -> ImageEncoder:
        if not self.data.images:
            raise HandfulError(f"features.source {source!r} needs images, and {self.data.name} has none")
        from handful.learning.saved import ImageEncoder

        if source == "encoder":
            return ImageEncoder.load(Path(str(self.config.features.file)))
        made = self.folder / source / "encoder.pt"
        return ImageEncoder.load(made) if made.is_file() else getattr(self, f"_{source.replace('-', '_')}")()

    def _simclr(self) -> ImageEncoder:
        from handful.learning.settings import simclr_settings
        from handful.learning.simclr import train

        return train(
            np.asarray(self.data.pool if self.data.unlabelled is None else self.data.unlabelled),
            simclr_settings(self.config.simclr),
            folder=self.folder / "simclr",
            device=self.config.classifier.device,
            progress=lambda epoch: self.say(f"SimCLR, epoch {epoch.number} of {epoch.epochs}"),
        )[0]

    def _f_dal(self) -> ImageEncoder:
        from handful.learning.fdal import train
        from handful.learning.settings import fdal_settings

        assert self.source is not None
        return train(
            *self.source,
            self.data.pool,
            fdal_settings(self.config.fdal),
            folder=self.folder / "f-dal",
            device=self.config.classifier.device,
            progress=lambda epoch: self.say(f"f-DAL, epoch {epoch.number} of {epoch.epochs}"),
        ).images

    @cached_property
    def source(self) -> tuple[Points, NDArray[np.int64]] | None:
        """Images of the other domain, and all their labels."""
        if self.config.source is None:
            return None
        found = load(self.config.source)
        return found.pool, found.ask(np.arange(len(found)))

    def _fresh(self) -> Callable[[int], ImageEncoder]:
        """An untrained encoder for each seed, with the mean and deviation of the pool's images."""
        import torch

        from handful.learning.saved import ImageEncoder, Recipe

        told, images = self.config.classifier, self.data.pool
        some = images[:: max(1, len(images) // 10_000)].reshape(-1, images.shape[3]) / 255.0
        mean, deviation = some.mean(axis=0), np.maximum(some.std(axis=0), 1e-3)
        recipe = Recipe(
            told.encoder, told.stem, images.shape[3], images.shape[1], tuple(mean.tolist()), tuple(deviation.tolist())
        )

        def fresh(seed: int) -> ImageEncoder:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                return ImageEncoder.fresh(recipe)

        return fresh

    def _augment(self) -> Any:
        if self.config.classifier.augment is None:
            return None
        from handful.learning.augment import augmentation, preset

        return augmentation(preset(self.config.classifier.augment), self.data.pool.shape[1], self.data.pool.shape[3])
