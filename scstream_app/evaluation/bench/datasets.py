"""Benchmark on ordinary data sets: clusterers that are not given the number of clusters, with their defaults.

Data sets are those that scikit-learn bundles or generates. Every method gets the same points, unscaled unless the name
of the data set says so, and runs on one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from sklearn.preprocessing import StandardScaler

from scstream import ScStream, warm_up
from scstream.metrics import ari
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads

Points = npt.NDArray[Any]

#: Largest distance in ARI to the best method that counts as near it.
NEAR = 0.03
#: The label of points that HDBSCAN leaves out; they count as one more cluster in the ARI, but not as one found.
_NOISE = -1


class DataSet(NamedTuple):
    """Points (n, D) with the true cluster of each."""

    name: str
    X: Points
    y: Points


#: How to make each method for a seed. By default, BayesianGaussianMixture has a single component.
METHODS: dict[str, Callable[[int], Any]] = {
    "ScStream": lambda seed: ScStream(seed=seed, threads=1),
    "BayesianGaussianMixture": lambda seed: BayesianGaussianMixture(random_state=seed),
    "the same, 20 components": lambda seed: BayesianGaussianMixture(n_components=20, random_state=seed),
    "HDBSCAN": lambda _: HDBSCAN(copy=True),
}


def measure(
    quick: bool = False, seeds: int | None = None, on_status: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """The figures that `scstream bench datasets` reports, as plain values."""
    on_status("Compiling the engine")
    warm_up(video_only=False)
    seeds = seeds or (1 if quick else 3)
    results = []
    for data in quick_sets() if quick else all_sets():
        on_status(f"{data.name}: {len(data.X)} points")
        results.append(
            {
                "data": data.name,
                "points": len(data.X),
                "features": data.X.shape[1],
                "true_clusters": len(np.unique(data.y)),
                "methods": [{"method": name, **evaluate(make, data, seeds)} for name, make in METHODS.items()],
            }
        )
    return {"seeds": seeds, "near": NEAR, "datasets": results, "summary": summary(results)}


def quick_sets() -> list[DataSet]:
    """Three small data sets."""
    return [blobs(2), bundled("iris"), diagonal()]


def all_sets() -> Iterator[DataSet]:
    """All data sets, from 1 to 64 dimensions."""
    yield from map(blobs, (1, 2, 5, 20, 64))
    yield mixed_units()
    yield diagonal()
    yield close_pair()
    yield near_blobs()
    yield whole_numbers()
    yield yes_or_no()
    yield one_gaussian()
    yield bundled("iris")
    wine = bundled("wine")
    yield wine
    yield DataSet("wine, standardised", StandardScaler().fit_transform(wine.X), wine.y)
    yield bundled("breast_cancer")
    yield from map(digits, (8, 16))


def blobs(n_features: int) -> DataSet:
    """Ten blobs (on a line: five, further apart) of 100 points."""
    centres, box = (5, 60.0) if n_features == 1 else (10, 20.0)
    X, y = datasets.make_blobs(100 * centres, n_features, centers=centres, center_box=(-box, box), random_state=1)
    return DataSet(f"{n_features}-D blobs", X, y)


def mixed_units() -> DataSet:
    """The blobs in five dimensions, each dimension in another unit."""
    data = blobs(5)
    return DataSet(f"{data.name}, mixed units", data.X * np.array([1.0, 1e3, 1e-3, 1e6, 1.0]), data.y)


def diagonal() -> DataSet:
    """Three tight clusters on the diagonal of three dimensions, a hundred standard deviations apart in each."""
    noise = np.random.default_rng(0).normal(size=(1200, 3))
    y = np.repeat(np.arange(3), 400)
    return DataSet("3-D diagonal", noise + 100.0 * y[:, None], y)


def close_pair() -> DataSet:
    """Three clusters, of which two lie ten standard deviations apart and the third ten thousand."""
    noise = np.random.default_rng(1).normal(size=(900, 3))
    y = np.repeat(np.arange(3), 300)
    return DataSet("3-D, a close pair", noise + np.array([0.0, 10.0, 1e4])[y, None], y)


def near_blobs() -> DataSet:
    """Ten blobs in 64 dimensions, whose centres vary by two standard deviations in each."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 10, 1000)
    return DataSet("64-D near blobs", 2.0 * rng.normal(size=(10, 64))[y] + rng.normal(size=(1000, 64)), y)


def whole_numbers() -> DataSet:
    """Six blobs in the plane with a standard deviation of 2, rounded to whole numbers."""
    X, y = datasets.make_blobs(1500, 2, centers=6, cluster_std=2.0, center_box=(-30.0, 30.0), random_state=3)
    return DataSet("2-D blobs, whole numbers", X.round(), y)


def yes_or_no() -> DataSet:
    """Three groups that answer each of twelve questions with yes at probabilities of 0.1 or 0.9."""
    rng = np.random.default_rng(4)
    chance, y = rng.choice([0.1, 0.9], (3, 12)), rng.integers(0, 3, 1200)
    return DataSet("12 yes or no answers", (rng.random((1200, 12)) < chance[y]).astype(float), y)


def one_gaussian() -> DataSet:
    """A single cluster: a method that divides it scores 0."""
    return DataSet("3-D Gaussian", np.random.default_rng(0).normal(size=(500, 3)), np.zeros(500, int))


def bundled(name: str) -> DataSet:
    """A data set of scikit-learn in its own units."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return DataSet(name.replace("_", " "), X, y)


def digits(n_components: int) -> DataSet:
    """The handwritten digits, reduced to their first principal components."""
    X, y = datasets.load_digits(return_X_y=True)
    return DataSet(f"digits, {n_components} PCs", PCA(n_components, random_state=0).fit_transform(X), y)


def evaluate(make: Callable[[int], Any], data: DataSet, seeds: int) -> dict[str, Any]:
    """Mean ARI, median number of clusters and median time of fits with several seeds."""
    watch, scores, sizes = Stopwatch(pause=0.0), [], []
    for seed in range(seeds):
        with limit_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = watch.time(partial(make(seed).fit_predict, data.X))
        scores.append(ari(data.y, labels))
        sizes.append(len(np.unique(labels[labels != _NOISE])))
    return {
        "clusters": float(np.median(sizes)),
        "fewest_clusters": min(sizes),
        "most_clusters": max(sizes),
        "ari": round(float(np.mean(scores)), 4),
        "seconds": round(watch.summary()["ms_median"] / 1000.0, 3),
    }


def summary(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean ARI of each method, and the number of data sets on which it is the best or near it."""
    scores: dict[str, list[float]] = {name: [] for name in METHODS}
    for result in results:
        for row in result["methods"]:
            scores[row["method"]].append(row["ari"])
    table = np.array(list(scores.values()))
    near = (table >= table.max(axis=0) - NEAR).sum(axis=1)
    return [
        {"method": name, "mean_ari": round(float(row.mean()), 4), "near_best": int(count)}
        for name, row, count in zip(scores, table, near, strict=True)
    ]
