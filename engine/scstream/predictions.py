"""Turn the scores of points under clusters into ids, probabilities and densities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from scstream.components.base import Array
from scstream.sampler.points import choose_clusters


def best_ids(scores: Array, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the id (N,) of each point's best cluster, from scores (N, K) and ids (K,)."""
    best: npt.NDArray[np.int64] = ids[choose_clusters(scores, np.uint32(0), False)]
    return best


def likely_ids(
    scores: Array, columns: npt.NDArray[np.intp], first: npt.NDArray[np.intp], ids: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the id (N,) of each point's most likely group of clusters; see `sum_probabilities`."""
    likely: npt.NDArray[np.int64] = ids[sum_probabilities(scores, columns, first).argmax(axis=1)]
    return likely


def sum_probabilities(scores: Array, columns: npt.NDArray[np.intp], first: npt.NDArray[np.intp]) -> Array:
    """Return probabilities (N, M) of groups of clusters, from scores (N, K).

    ``columns`` (K,) are the clusters in the order of their groups; ``first`` (M,) is where each group begins in it.
    """
    sums: Array = np.add.reduceat(softmax(scores[:, columns], axis=1), first, axis=1)
    return sums


def log_densities(scores: Array, log_count: float) -> Array:
    """Return the log density (N,) of each point, from scores (N, K) with weights that sum to exp(log_count)."""
    density: Array = logsumexp(scores, axis=1) - log_count
    return density
