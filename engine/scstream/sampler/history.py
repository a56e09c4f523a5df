"""The damped window: what each batch contributed to each cluster, and how much of it still counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components.base import Component
from scstream.sampler.forgetting import Kernel, weigh

Array = npt.NDArray[np.float64]

#: How many points of a batch it takes to believe half of the way that their cluster seems to have gone, at each sweep.
_STEADY = 20.0

#: With a smaller part of its usual number of points in a batch, a cluster is hidden rather than somewhere else.
_FEWEST = 0.1


class History:
    """Statistics of past batches for each cluster's two sub-clusters.

    A cluster's own statistics are the sum over its sub-clusters, so that the invariant "cluster = sub-cluster 1 +
    sub-cluster 2" holds by construction. Records live in one buffer (R, K, 2, P) with spare room, so that a move
    touches only the clusters it is about.

    Attributes
    ----------
    past : array (K, 2, P)
        Time-weighted sum of the records, as of the last `advance`.
    """

    def __init__(self, n_clusters: int, n_statistics: int) -> None:
        self.times: list[float] = []
        self._weights = np.zeros(0)
        self._buffer = np.zeros((4, max(8, n_clusters), 2, n_statistics))
        self.past = np.zeros((n_clusters, 2, n_statistics))

    def __len__(self) -> int:
        return len(self.times)

    @property
    def n_clusters(self) -> int:
        return len(self.past)

    @property
    def records(self) -> Array:
        """The records (R, K, 2, P), oldest first; a view."""
        return self._buffer[: len(self.times), : self.n_clusters]

    def advance(self, time: float, kernel: Kernel, epsilon: float) -> None:
        """Weigh the records as seen from ``time`` and drop those that no longer count."""
        weights = weigh(kernel, time - np.array(self.times))
        keep = np.flatnonzero(weights > epsilon)
        if len(keep) < len(weights):
            self._buffer[: len(keep)] = self._buffer[keep]
            self.times = [self.times[i] for i in keep]
            weights = weights[keep]
        self._weigh(weights)

    def _weigh(self, weights: Array) -> None:
        """Sum the oldest ``len(weights)`` records into ``past``."""
        self._weights = weights
        kernels.weighted_sum(weights, self._buffer.reshape(len(self._buffer), -1), self.past.reshape(-1))

    @classmethod
    def restore(cls, times: list[float], records: Array, kernel: Kernel) -> History:
        """The history whose records (R, K, 2, P) these are, as it stood when the last of them was appended."""
        history = cls(records.shape[1], records.shape[3])
        for time, record in zip(times, records, strict=True):
            history.append(time, record)
        history._weigh(weigh(kernel, times[-1] - np.array(times[:-1])))
        return history

    def append(self, time: float, statistics: Array) -> None:
        """Add the finished batch's statistics (K, 2, P) as the newest record."""
        R = len(self.times)
        if R == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[R, : self.n_clusters] = statistics
        self.times.append(time)

    def rescale(self, factor: float) -> None:
        """Count every point of the past ``factor`` times."""
        self._buffer *= factor
        self.past *= factor

    def follow(self, component: Component, now: Array, halves: bool) -> None:
        """Let the records go where the batch at hand, with statistics (K, 2, P), has each cluster, or each half.

        Costs a few passes over all records.
        """
        R, P, D = len(self._weights), now.shape[2], component.n_place
        if R == 0 or D == 0:
            return
        if halves:
            buffer = self._buffer.reshape(len(self._buffer), -1, 1, P)
            past, now = self.past.reshape(-1, P), now.reshape(-1, P)
        else:
            buffer, past, now = self._buffer, self.past.sum(axis=1), now.sum(axis=1)
        way = np.empty((len(now), D))
        kernels.drift(past, now, _STEADY, _FEWEST / self._weights.sum(), way)
        component.translate(buffer, R, way)
        self._weigh(self._weights)

    def refresh(self, k: int) -> None:
        """Recompute ``past`` of cluster k after its records were changed."""
        rows = self._buffer[: len(self._weights), k].reshape(len(self._weights), self.past[k].size)
        kernels.weighted_sum(self._weights, rows, self.past[k].reshape(-1))

    def grow(self) -> int:
        """Make room for one more cluster, all zero; returns its index."""
        K = self.n_clusters
        if K == self._buffer.shape[1]:
            wider = np.zeros((self._buffer.shape[0], 2 * K, *self._buffer.shape[2:]))
            wider[:, :K] = self._buffer
            self._buffer = wider
        self._buffer[:, K] = 0.0
        self.past = np.concatenate([self.past, np.zeros_like(self.past[:1])])
        return K

    def drop(self, k: int) -> None:
        """Remove cluster k; the last cluster takes its index."""
        last = self.n_clusters - 1
        self._buffer[:, k] = self._buffer[:, last]
        self.past[k] = self.past[last]
        self.past = self.past[:last].copy()
