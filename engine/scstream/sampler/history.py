"""History: the statistics of past batches for each cluster, weighted by their age."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.checks import Array
from scstream.components.base import Component
from scstream.sampler.forgetting import Kernel, is_memoryless, kernel_weights

#: When there are this many records, the older half becomes one, if the kernel allows it: slow forgetting would keep
#: ever more of them.
MAX_RECORDS = 32

#: Number of points in a batch at which `History.recentre` shifts a cluster half of the way, at each sweep.
_HALF_SHIFT_POINTS = 20.0

#: Clusters with a smaller share of their usual number of points in a batch are taken as occluded and not shifted.
_OCCLUDED_SHARE = 0.1


class History:
    """Statistics of past batches for each cluster's two sub-clusters.

    A cluster's own statistics are the sum over its sub-clusters, so that the invariant "cluster = sub-cluster 1 +
    sub-cluster 2" holds by construction. Records are kept in one buffer (R, K, 2, P) with spare room, so that a move
    writes only the clusters that it changes, and forgetting the oldest records moves none of the others.

    Parameters
    ----------
    n_clusters, n_statistics : int
        K and P.

    Attributes
    ----------
    times : list of float
        Time of each record, ascending. The oldest one may stand for many batches, weighted as of its time.
    past : array (K, 2, P)
        Time-weighted sum of the records, as of the last `advance`.
    """

    def __init__(self, n_clusters: int, n_statistics: int) -> None:
        self.times: list[float] = []
        self._weights = np.zeros(0)
        self._mass = 0.0
        self._first = 0
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
        return self.records_with_room[:, : self.n_clusters]

    @property
    def records_with_room(self) -> Array:
        """The records with the buffer's room for more clusters; a contiguous view."""
        return self._buffer[self._first : self._first + len(self.times)]

    @property
    def largest_count(self) -> float:
        """Number of points in the largest batch that is kept; 0 if there is none."""
        # Of many records, the oldest may be the sum of several batches.
        first = 1 if len(self) >= MAX_RECORDS // 2 else 0
        return float(self.records[first:, ..., 0].sum(axis=(1, 2)).max(initial=0.0))

    def advance(self, time: float, kernel: Kernel, epsilon: float) -> None:
        """Weight the records by their age at ``time`` and drop those whose weight is at most epsilon.

        past = sum_r kernel(time - times[r]) * records[r]
        """
        if len(self.times) >= MAX_RECORDS and is_memoryless(kernel):
            self._sum_older_half(kernel)
        weights = kernel_weights(kernel, time - np.array(self.times))
        keep = (weights > epsilon).nonzero()[0]
        if len(keep) < len(weights):
            self._keep(keep)
            weights = weights[keep]
        self._sum_records(weights)

    def _keep(self, which: npt.NDArray[np.intp]) -> None:
        """Drop all records but ``which``, ascending."""
        R, n = len(self.times), len(which)
        if n == 0:
            self._first = 0
        elif which[0] == R - n:
            self._first += R - n
        else:
            self.records_with_room[:n] = self.records_with_room[which]
        self.times = [self.times[i] for i in which]

    def _sum_older_half(self, kernel: Kernel) -> None:
        """Replace the older half of the records by their sum, weighted as of the time of the last of them."""
        R, n = len(self.times), len(self.times) // 2
        weights = kernel_weights(kernel, self.times[n - 1] - np.array(self.times[:n]))
        total = np.empty(self._buffer[0].size)
        kernels.weighted_sum(weights, self.records_with_room.reshape(R, -1), total)
        self.records_with_room[n - 1] = total.reshape(self._buffer[0].shape)
        self._first += n - 1
        self.times = self.times[n - 1 :]

    def counts_at(self, time: float, kernel: Kernel, epsilon: float) -> Array:
        """Weighted counts (K,) that the clusters would have left at ``time``, without those of a later batch."""
        weights = kernel_weights(kernel, time - np.array(self.times))
        records = self.records
        counts: Array = np.where(weights > epsilon, weights, 0.0) @ (records[..., 0, 0] + records[..., 1, 0])
        return counts

    def _sum_records(self, weights: Array) -> None:
        """Sum the oldest ``len(weights)`` records into ``past``."""
        self._weights, self._mass = weights, float(weights.sum())
        rows = self._buffer[self._first :]
        kernels.weighted_sum(weights, rows.reshape(len(rows), -1), self.past.reshape(-1))

    @classmethod
    def restore(cls, times: list[float], records: Array, kernel: Kernel) -> History:
        """Return the history with these records (R, K, 2, P), as it was when the last of them was appended."""
        history = cls(records.shape[1], records.shape[3])
        for time, record in zip(times, records, strict=True):
            history.append(time, record)
        history._sum_records(kernel_weights(kernel, times[-1] - np.array(times[:-1])))
        return history

    def append(self, time: float, statistics: Array) -> None:
        """Add the finished batch's statistics (K, 2, P) as the newest record."""
        R, records = len(self.times), self.records_with_room
        if self._first + R == len(self._buffer):
            if 2 * R > len(self._buffer):
                # Pages that are not written to yet cost nothing.
                self._buffer = np.zeros((2 * len(self._buffer), *self._buffer.shape[1:]))
            self._buffer[:R] = records
            self._first = 0
        self._buffer[self._first + R, : self.n_clusters] = statistics
        self.times.append(time)

    def rescale(self, factor: float) -> None:
        """Multiply all statistics by a factor, as if every point had been seen ``factor`` times."""
        self._buffer *= factor
        self.past *= factor

    def shift_time(self, offset: float) -> None:
        """Add an offset to the time of every record."""
        self.times = [time + offset for time in self.times]

    def recentre(self, component: Component, current: Array, per_subcluster: bool) -> None:
        """Shift stored records so that each cluster is centred where the current batch puts it.

        A cluster with n points in the batch is shifted by n / (n + 20) of the way from its past mean to its mean in
        the batch. Costs a few passes over all records.

        Parameters
        ----------
        current : array (K, 2, P)
            Statistics of the current batch.
        per_subcluster : bool
            Shift each sub-cluster on its own rather than the cluster as a whole.
        """
        R, P, D = len(self._weights), current.shape[2], component.n_coordinates
        if self._mass == 0.0 or D == 0:
            return
        parts = (-1, 1 if per_subcluster else 2, P)
        past, current = self.past.reshape(parts), current.reshape(parts)
        shift = np.empty((len(current), D))
        kernels.drift(past, current, _HALF_SHIFT_POINTS, _OCCLUDED_SHARE / self._mass, shift)
        component.translate(self.records_with_room.reshape(len(self), *parts), R, shift)
        self._sum_records(self._weights)

    def translate(self, component: Component, shift: Array) -> None:
        """Shift all records of each cluster by shift (K, n_coordinates); `advance` or `refresh` must follow."""
        component.translate(self.records_with_room, len(self), shift)

    @property
    def mass(self) -> float:
        """Sum of the weights of the records in ``past``: how many batches the past counts for."""
        return self._mass

    def regroup(self, sources: npt.NDArray[np.intp], statistics: Array) -> None:
        """Replace the clusters: some continue an earlier one, the others begin with statistics of the newest batch.

        Parameters
        ----------
        sources : array (K,)
            Index of the cluster that each new one continues, or -1.
        statistics : array (K, 2, P)
            Statistics of all points of a batch, for the clusters that continue none. Their records become what they
            would be if every batch had looked like this one.
        """
        R, (K, _, P) = len(self.times), statistics.shape
        sizes = self.records[..., 0].sum(axis=(1, 2))
        scale = sizes / max(float(statistics[..., 0].sum()), 1e-300)
        records = scale[:, None, None, None] * statistics
        kept = np.flatnonzero(sources >= 0)
        records[:, kept] = self.records[:, sources[kept]]
        self._buffer, self._first = np.zeros((len(self._buffer), max(8, K), 2, P)), 0
        self._buffer[:R, :K] = records
        self.past = np.zeros((K, 2, P))
        self._sum_records(self._weights)

    def refresh(self, clusters: npt.ArrayLike) -> None:
        """Recompute ``past`` of some clusters after their records were changed."""
        rows = self._buffer[self._first :]
        records, past = rows.reshape(*rows.shape[:2], -1), self.past.reshape(len(self.past), -1)
        kernels.weighted_sums_of(self._weights, records, np.asarray(clusters, np.int64), past)

    def grow(self, n: int) -> list[int]:
        """Add clusters whose statistics are zero; returns their indices."""
        K, room = self.n_clusters, self._buffer.shape[1]
        if K + n > room:
            wider = np.zeros((self._buffer.shape[0], max(2 * room, K + n), *self._buffer.shape[2:]))
            wider[:, :K] = self._buffer[:, :K]
            self._buffer = wider
        self.records_with_room[:, K : K + n] = 0.0
        self.past = np.concatenate([self.past, np.zeros((n, *self.past.shape[1:]))])
        return list(range(K, K + n))

    def keep(self, clusters: list[int]) -> None:
        """Drop all clusters but these, which get the indices 0, 1, ... in this order."""
        moved = [new for new, old in enumerate(clusters) if new != old]
        self.records_with_room[:, moved] = self.records_with_room[:, [clusters[new] for new in moved]]
        self.past = self.past[clusters]
