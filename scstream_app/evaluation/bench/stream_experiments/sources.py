"""The streams of the experiments: files in a folder, or generated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from scstream.streams import batches, gaussian_stream, multinomial_stream, read_covertype, read_newsgroups
from scstream_app.errors import SourceError, reason
from scstream_app.evaluation.bench.streams.peers import Points
from scstream_app.evaluation.bench.streams.prequential import Batch, read_stream

BATCH_SIZE = 1000


class MissingStreamError(SourceError):
    """A stream whose files were not given."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Batches of a stream, and where they come from."""

    name: str
    title: str
    origin: str
    counts: bool
    batches: list[Batch]

    @property
    def n_clusters(self) -> int:
        """Number of true clusters in all batches."""
        return len(np.unique(np.concatenate([y for _, y in self.batches])))

    @property
    def facts(self) -> Facts:
        """What the ranges of hyperparameters depend on."""
        return Facts.of(self.batches[0][0], self.n_clusters, self.counts)


@dataclass(frozen=True, slots=True)
class Facts:
    """Properties of a stream that scale the ranges in which hyperparameters are searched."""

    n_features: int
    n_clusters: int
    counts: bool
    #: Mean variance of a feature in the first batch.
    variance: float
    #: Root mean square distance of a point from the mean of the first batch.
    distance: float

    @classmethod
    def of(cls, X: Points, n_clusters: int, counts: bool) -> Facts:
        """The properties of a stream with the first batch X."""
        variance = float(np.var(X, axis=0).mean())
        return cls(X.shape[1], n_clusters, counts, variance, float(np.sqrt(variance * X.shape[1])))


def _first(stream: Iterable[Batch], n: int) -> list[Batch]:
    return [(np.ascontiguousarray(X, np.float64), np.asarray(y)) for X, y in islice(stream, n)]


def _stored_or_generated(name: str, make: Callable[..., Any]) -> Callable[[Path | None, int], tuple[str, list[Batch]]]:
    def load(folder: Path | None, n: int) -> tuple[str, list[Batch]]:
        file = None if folder is None else folder / f"{name}.npz"
        if file is None or not file.is_file():
            return "generated, seed 0", _first(make(n, BATCH_SIZE, seed=0), n)
        return file.name, _first(read_stream(file), n)

    return load


def _load_covertype(folder: Path | None, n: int) -> tuple[str, list[Batch]]:
    file = _find(folder, "covtype.npz", "covtype.data", "covtype.data.gz")
    return file.name, _first(batches(*read_covertype(file), BATCH_SIZE), n)


def _load_newsgroups(folder: Path | None, n: int) -> tuple[str, list[Batch]]:
    counts, labels = _find(folder, "20newsgroups_counts.npz"), _find(folder, "20newsgroups_meta.npz")
    return counts.name, _first(batches(*read_newsgroups(counts, labels), BATCH_SIZE), n)


def _find(folder: Path | None, *names: str) -> Path:
    if folder is None:
        raise MissingStreamError(f"it needs {names[0]}: name its folder with --data")
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise MissingStreamError(f"there is no {' or '.join(names)} in '{folder}'")


def _load_imagenet(folder: Path | None, n: int) -> tuple[str, list[Batch]]:
    raise MissingStreamError(
        "this benchmark has no file format for its features, which a network computes from ImageNet"
    )


#: Title of each stream, whether its points are counts, and how to load it.
_STREAMS: dict[str, tuple[str, bool, Callable[[Path | None, int], tuple[str, list[Batch]]]]] = {
    "gauss2d": ("Drifting 2-D Gaussians", False, _stored_or_generated("gauss2d", gaussian_stream)),
    "covtype": ("CoverType", False, _load_covertype),
    "multinomial100d": (
        "Drifting 100-D multinomials",
        True,
        _stored_or_generated("multinomial100d", multinomial_stream),
    ),
    "newsgroups": ("20 Newsgroups", True, _load_newsgroups),
    "imagenet100": ("ImageNet100", False, _load_imagenet),
    "imagenet1k": ("ImageNet1K", False, _load_imagenet),
}
NAMES = tuple(_STREAMS)


def title_of(name: str) -> str:
    """The title of a stream in tables."""
    return _STREAMS[name][0]


def load(name: str, folder: Path | None, n_batches: int) -> Stream:
    """The first batches of a stream.

    Raises MissingStreamError if its files were not given.
    """
    title, counts, read = _STREAMS[name]
    try:
        origin, loaded = read(folder, n_batches)
    except (ValueError, OSError) as error:
        raise SourceError(f"Cannot use the stream {name}: {reason(error)}") from error
    return Stream(name, title, origin, counts, loaded)
