"""A batch of points of any component, which is labelled in chunks of rows.

A chunk is labelled by a function of its rows, the densities and its place in the batch alone, and the statistics of
the chunks are added in their order. So neither labels nor statistics depend on which thread labels which chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components.base import Array, Component, Labels
from scstream.sampler.sweep import Densities
from scstream.threads import run, run_ranges, threads_available

#: Rows of a chunk. Sums of a batch with more rows than this depend on it in their last digits.
CHUNK = 2**14
#: Most memory in bytes that the scores of the chunks that are labelled at the same time may take.
_MEMORY = 2**28
#: Least scores from which a thread chooses labels: starting one for fewer does not pay.
_SCORES = 2**18


class Rows:
    """The rows of a batch and their weights, before a component is chosen for them.

    Parameters
    ----------
    X : array or CSR array (N, D)
    weight : array (N,)
    """

    #: Whether the rows are in the memory of other processes, or in none yet.
    is_remote: ClassVar[bool] = False

    def __init__(self, X: Any, weight: Array) -> None:
        self.X, self.weight = X, weight

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    def candidates(self, component: Component) -> list[Component]:
        """Return the `Component.candidates` of a component for these rows."""
        return [*component.candidates(self.X, self.weight)]

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Any, Array]:
        """Draw at most ``size`` rows of positive weight, without repeats; returns them in order, and their weights."""
        rows = np.flatnonzero(self.weight)
        if len(rows) > size:
            rows = np.sort(rng.choice(rows, size, replace=False))
        return self.X[rows], self.weight[rows]

    def points(self, component: Component) -> Points:
        """Return the rows as points of a component."""
        return Points(component, self.X, self.weight)


class Points:
    """A batch of N weighted points.

    Parameters
    ----------
    component : Component
    X : array or CSR array (N, D)
    weight : array (N,)

    Attributes
    ----------
    rows : Rows
    labels : array (N,)
        Label 2 k + j of each point after the last call of `label`: cluster k, sub-cluster j.
    used : array (2 K,)
        Whether any point has each label.
    """

    def __init__(self, component: Component, X: Any, weight: Array) -> None:
        self.rows, self.weight = Rows(X, weight), weight
        self._chunks = [component.prepare(X[first : first + CHUNK]) for first in range(0, len(weight), CHUNK)]
        self.labels: Labels = np.zeros(len(weight), np.int32)
        self.used = np.ones(2, bool)

    def copy(self) -> Points:
        """Return the same points without their labels."""
        points = object.__new__(Points)
        points.rows, points.weight, points._chunks = self.rows, self.weight, self._chunks
        points.labels, points.used = np.zeros(len(self.weight), np.int32), np.ones(2, bool)
        return points

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        """Label each point and return the statistics (K, 2, P); see `sweep.Batch`."""
        n_groups = len(densities.sub_log_weight)
        statistics, used = OrderedSum(), np.zeros(n_groups, bool)

        def label(first: int, last: int) -> None:
            n = first // CHUNK
            self.labels[first:last], part = label_chunk(
                component, densities, keys, sampling, self._chunks[n], self.weight[first:last], first
            )
            used[self.labels[first:last]] = True
            statistics.add(n, part)

        run_chunks(len(self.weight), n_groups // 2, label)
        self.used = used
        return statistics.total.reshape(n_groups // 2, 2, -1)

    def ids(self, id_of: npt.NDArray[np.int64]) -> Any:
        """Return the id (N,) of each point, given those (2 K,) of the labels."""
        return id_of[self.labels]

    def border_length(self) -> Array:
        """Zeros: points have no neighbours."""
        return np.zeros(len(self.used))


def label_chunk(
    component: Component,
    densities: Densities,
    keys: npt.NDArray[np.uint32],
    sampling: bool,
    points: Any,
    weight: Array,
    first: int,
) -> tuple[Labels, Array]:
    """Label a chunk of a batch that starts at its row ``first``.

    Returns the labels 2 k + j of the points and the statistics (2 K, P) of those with each label.
    """
    cluster_key, half_key = (kernels.key_from(key, first) for key in keys)
    scores = component.scores(densities.parameters, densities.log_weight, points)
    cluster = choose_clusters(scores, cluster_key, sampling)
    del scores
    own = component.own_scores(densities.sub_parameters, densities.sub_log_weight, points, cluster)
    labels = np.empty(len(cluster), np.int32)
    kernels.label_halves(own, half_key, sampling, cluster, labels)
    return labels, component.statistics(points, weight, labels, len(densities.sub_log_weight))


def choose_clusters(scores: Array, key: np.uint32, sampling: bool) -> Labels:
    """Cluster (N,) of each point, drawn or the best one, from scores (N, K); see `kernels.label_points`."""
    cluster = np.empty(len(scores), np.int32)
    run_ranges(
        len(scores),
        max(1, _SCORES // scores.shape[1]),
        lambda first, last: kernels.label_points(scores, key, sampling, first, last, cluster),
    )
    return cluster


class OrderedSum:
    """Sum of numbered arrays in the order of their numbers, in whichever order threads add them.

    Only arrays that arrive before one with a lower number are kept: memory does not grow with the number of arrays.

    Attributes
    ----------
    total : array
        Sum of the arrays 0, 1, ... up to the first that has not been added.
    """

    def __init__(self) -> None:
        self.total: Array = np.zeros(0)
        self._early: dict[int, Array] = {}
        self._next = 0
        self._lock = Lock()

    def add(self, number: int, array: Array) -> None:
        """Add the array with this number. Array 0 becomes the total, which later arrays are added to in place."""
        with self._lock:
            self._early[number] = array
            while self._next in self._early:
                array = self._early.pop(self._next)
                if self._next == 0:
                    self.total = array
                else:
                    self.total += array
                self._next += 1


def run_chunks(n_points: int, n_clusters: int, work: Callable[[int, int], None]) -> None:
    """Call work(first, last) for each chunk of ``n_points`` rows, on several threads.

    If tables of scores for ``n_clusters`` clusters would take too much memory side by side, chunks follow one another,
    and ``work`` can use the threads.
    """
    threads = threads_available()
    if 8 * CHUNK * n_clusters * threads > _MEMORY:
        threads = 1
    run(threads, lambda n: work(n * CHUNK, min((n + 1) * CHUNK, n_points)), -(-n_points // CHUNK))
