"""Points that Gaussian clusters share: those that lie together are scored only under the clusters near them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components.base import Array, Labels
from scstream.components.second_moments import square_places
from scstream.threads import run_ranges

#: Blocks that one thread works on at a time, unless that makes more than `_MOST_PARTS`.
_BLOCKS = 64
_MOST_PARTS = 8
_NO_LABELS = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class GaussianShares:
    """Shares of points in Gaussian clusters; see `Shares`."""

    labels: Labels
    statistics: Array
    entropy: float
    lost: Array


class GaussianSharing:
    """Points that Gaussian clusters share; see `Sharing`.

    Parameters
    ----------
    points : array (N, D)
    weight : array (N,)
    prior : tuple
        kappa, m, nu and nu psi, as the kernels take them.
    rounding : array (D,) or None
        Variance of a point within the steps of its features.
    """

    def __init__(self, points: Array, weight: Array, prior: tuple[Any, ...], rounding: Array | None) -> None:
        self._order = np.argsort(_places(points), kind="stable")
        N, D = points.shape
        Z = np.zeros((N, -(-(D + 1) // kernels.LANES) * kernels.LANES))
        Z[:, 0], Z[:, 1 : D + 1] = 1.0, points[self._order]
        XT = np.ascontiguousarray(Z[:, 1 : D + 1].T)
        middle, half = np.empty((2, D, -(-N // kernels.SHARED_BLOCK)))
        kernels.box_blocks(XT, middle, half)
        self._points = Z, XT, weight[self._order], middle, half
        self._prior, self._rounding = prior, rounding

    def shares(self, S: Array) -> GaussianShares:
        """Share each point between clusters with statistics S (K, P)."""
        sorted_labels = np.empty(len(self._order), np.int32)
        statistics, entropy, lost = self._share(S, sorted_labels, len(S))
        labels = np.empty_like(sorted_labels)
        labels[self._order] = sorted_labels
        return GaussianShares(labels, statistics, entropy, lost)

    def statistics(self, S: Array) -> Array:
        """Return the statistics of `shares` alone."""
        return self._share(S, _NO_LABELS, 0)[0]

    def _share(self, S: Array, labels: npt.NDArray[np.int32], n_losses: int) -> tuple[Array, float, Array]:
        """Statistics, entropy and losses (n_losses, n_losses) of `shares`; writes labels (N,) of the ordered points."""
        B = self._points[-1].shape[1]
        size = max(_BLOCKS, -(-B // _MOST_PARTS))
        n_parts = -(-B // size)
        statistics, lost = np.zeros((n_parts, *S.shape)), np.zeros((n_parts, n_losses, n_losses))
        entropy = np.zeros(n_parts)

        def share(first: int, last: int) -> None:
            part = first // size
            entropy[part] = kernels.gaussian_shares(
                *self._points, S, *self._prior, first, last, statistics[part], labels, lost[part]
            )

        run_ranges(B, size, share)
        total = statistics[0] if n_parts == 1 else statistics.sum(axis=0)
        if self._rounding is not None:
            total[:, square_places(len(self._rounding))] += total[:, :1] * self._rounding
        return total, float(entropy.sum()), lost[0] if n_parts == 1 else lost.sum(axis=0)


def _places(points: Array) -> npt.NDArray[np.uint16]:
    """Places (N,) of points (N, D) on a curve through the plane of the two coordinates with the largest variances."""
    places = np.empty(len(points), np.uint16)
    x, y = points[:, 0], points[:, -1]
    if points.shape[1] > 2:
        first, second = np.argsort(-points.var(axis=0), kind="stable")[:2]
        x, y = points[:, first], points[:, second]
    kernels.hilbert_places(x, y, places)
    return places
