"""Give points to the nearest of several seeds."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import larger, vectorise
from scstream.kernels.basics.layout import uint

#: Points that are compared side by side.
_CHUNK = 128


@kernel
def join_seeds(scores, own, first, distance, piece):
    """Let points join the piece of a new seed that is nearer than the nearest so far.

    The distance of point n from seed k is own[n] - scores[n, k], or 0 if that is negative. scores (N, K) float64.
    Updates distance (N,) float64, and piece (N,) int32 to first + k; of equally near seeds, to the first.
    """
    best = np.empty(_CHUNK)
    for begin in range(0, scores.shape[0], _CHUNK):
        size = min(_CHUNK, scores.shape[0] - begin)
        _best_scores(scores, begin, best[:size])
        for i in range(size):
            n = begin + i
            new = max(own[n] - best[i], 0.0)
            if new < distance[n]:
                distance[n] = new
                k = 0
                while k < scores.shape[1] - 1 and scores[n, k] != best[i]:
                    k += 1
                piece[n] = np.int32(first + k)


@leaf
def _best_scores(scores, begin, best):
    """Best scores (n,) of the points from ``begin`` on; scores (N, K) float64."""
    vectorise()
    for i in range(uint(best.shape[0])):
        best[i] = -np.inf
    # Clusters outermost: that is the order of most components' scores in memory.
    for k in range(scores.shape[1]):
        for i in range(uint(best.shape[0])):
            best[i] = larger(best[i], scores[uint(begin) + i, k])
