"""Share points between clusters in proportion to the exponentials of their scores."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import larger, vectorise
from scstream.kernels.basics.layout import uint

#: Points whose best scores are searched side by side.
_CHUNK = 128
#: Clusters whose score is this much below the best one have no share: exp(-12) is next to nothing.
_NATS = 12.0


@kernel
def share_points(scores, cluster, share):
    """Share each point between the R clusters with its best scores (N, K) float64, K >= R.

    Writes these clusters, best first, to cluster (N, R) int32, 0 where there is none, and their shares, which sum to 1,
    to share (N, R) float64.
    """
    N, R = cluster.shape
    best = np.empty(_CHUNK)
    near = np.empty(_CHUNK + 1, np.int64)
    for first in range(0, N, _CHUNK):
        last = min(first + _CHUNK, N)
        cluster[first:last] = 0
        share[first:last] = -np.inf
        _best_scores(scores, first, last, best)
        _insert_scores(scores, first, last, best, near, share, cluster)
        for n in range(first, last):
            total = 0.0
            for r in range(R):
                # Most points have one cluster: exp is not needed for the other places.
                share[n, r] = math.exp(share[n, r]) if share[n, r] != -np.inf else 0.0
                total += share[n, r]
            for r in range(R):
                share[n, r] /= total


@leaf
def _best_scores(scores, first, last, best):
    """Largest score best (last - first,) float64 of each point in [first, last); scores (N, K) float64."""
    vectorise()
    size = uint(last - first)
    for i in range(size):
        best[i] = -np.inf
    # Clusters outermost: that is the order of most components' scores in memory.
    for k in range(scores.shape[1]):
        for i in range(size):
            best[i] = larger(best[i], scores[uint(first) + i, k])


@leaf
def _insert_scores(scores, first, last, best, near, share, cluster):
    """Insert scores, relative to the best ones, and their clusters into the lists of the points in [first, last).

    near (_CHUNK + 1,) int64 is scratch.
    """
    last_share = share.shape[1] - 1
    for k in range(scores.shape[1]):
        for m in range(_list_near(scores, first, last, k, best, near)):
            n = uint(near[m])
            score = scores[n, k] - best[n - uint(first)]
            if score > share[n, last_share]:
                _insert(score, k, share[n], cluster[n])


@leaf
def _list_near(scores, first, last, k, best, near):
    """List the points in [first, last) to which cluster k is near in near (_CHUNK + 1,) int64; returns how many."""
    m = uint(0)
    for i in range(uint(last - first)):
        # Write always and keep near points only: the processor would often mispredict a branch.
        near[m] = first + np.int64(i)
        m += uint(1) if scores[uint(first) + i, k] - best[i] > -_NATS else uint(0)
    return m


@leaf
def _insert(score, k, scores, clusters):
    """Insert a score and its cluster into descending scores (R,), dropping the last."""
    r = scores.shape[0] - 1
    while r > 0 and scores[r - 1] < score:
        scores[r] = scores[r - 1]
        clusters[r] = clusters[r - 1]
        r -= 1
    scores[r] = score
    clusters[r] = k


@kernel
def entropy_between(cluster, share, weight, out):
    """out[a, b] += entropy in nats that the labels lose if clusters a and b become one, for a < b.

    For shares r and s of a point: (r + s) log(r + s) - r log r - s log s, times its weight. cluster (N, R) int32, share
    (N, R), weight (N,), out (K, K) float64.
    """
    N, R = cluster.shape
    for n in range(N):
        for i in range(R):
            r = share[n, i]
            if r < 1e-12:
                continue
            for j in range(i):
                s = share[n, j]
                if s < 1e-12:
                    continue
                a, b = min(cluster[n, i], cluster[n, j]), max(cluster[n, i], cluster[n, j])
                lost = (r + s) * math.log(r + s) - r * math.log(r) - s * math.log(s)
                out[a, b] += weight[n] * lost
