"""Points that clusters share by a table of scores, for components that have no faster way."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from scstream import kernels
from scstream.components.base import Array, Component, Labels
from scstream.threads import run_ranges

#: Clusters between which a point is shared; the others have next to nothing of it.
_SHARED_BY = 4
#: Least scores that are turned into shares at a time by one thread.
_SCORES = 2**15


class TableSharing:
    """Points that clusters of any component share; see `Sharing`.

    Parameters
    ----------
    component : Component
    points : points (N, D)
        As `Component.prepare` returns them.
    weight : array (N,)
    """

    def __init__(self, component: Component, points: Any, weight: Array) -> None:
        self.component, self.points, self.weight = component, points, weight

    def shares(self, S: Array) -> TableShares:
        """Share each point between clusters with statistics S (K, P)."""
        component = self.component
        scores = component.scores(component.predictive(S), np.log(np.maximum(S[:, 0], 1e-300)), self.points)
        shape = min(len(S), _SHARED_BY), len(scores)
        cluster, share = np.empty(shape, np.int32), np.empty(shape)
        run_ranges(
            len(scores),
            max(256, _SCORES // len(S)),
            lambda first, last: kernels.share_points(scores, first, last, cluster, share),
        )
        return TableShares(self, cluster, share, len(S))

    def statistics(self, S: Array) -> Array:
        """Return the statistics of `shares` alone."""
        return self.shares(S).statistics


class TableShares:
    """The largest shares of each point; see `Shares`. What follows from them is computed when it is asked for.

    Parameters
    ----------
    sharing : TableSharing
    cluster : array (R, N) int32
        The clusters that share each point, the one with the largest share first.
    share : array (R, N)
        Their shares, which sum to 1.
    n_clusters : int
    """

    def __init__(self, sharing: TableSharing, cluster: npt.NDArray[np.int32], share: Array, n_clusters: int) -> None:
        self._sharing, self._cluster, self._share, self._n_clusters = sharing, cluster, share, n_clusters

    @property
    def labels(self) -> Labels:
        """The cluster (N,) with the largest share of each point."""
        labels: Labels = self._cluster[0]
        return labels

    @cached_property
    def statistics(self) -> Array:
        """Statistics (K, P) of the clusters."""
        own = self._sharing
        return own.component.shared_statistics(own.points, own.weight, self._cluster, self._share, self._n_clusters)

    @property
    def entropy(self) -> float:
        """Entropy of the labels."""
        return -float(xlogy(self._share, self._share).sum(axis=0) @ self._sharing.weight)

    @property
    def lost(self) -> Array:
        """What the entropy loses by merges (K, K)."""
        lost = np.zeros((self._n_clusters, self._n_clusters))
        kernels.entropy_between(self._cluster, self._share, self._sharing.weight, lost)
        return lost
