"""Share points between clusters in proportion to the exponentials of their scores."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import uint

#: Points whose best scores are searched side by side.
_CHUNK = 128
#: Clusters whose score is this much below the best one have no share: exp(-12) is next to nothing.
_NATS = 12.0


@kernel
def share_points(scores, begin, end, cluster, share):
    """Share each of the points [begin, end) between the R clusters with its best scores, R <= K and R <= 4.

    Writes these clusters, best first, to cluster (N, R) int32, 0 where there is none, and their shares, which sum to 1,
    to share (N, R) float64. scores (N, K) float64; a part of an array that is stored by columns would not vectorise.
    """
    R = cluster.shape[1]
    best = np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK)
    which = np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK)
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        _four_best(scores, first, last, *best, *which)
        for n in range(first, last):
            i = n - first
            share[n, 0], cluster[n, 0] = 1.0, np.int32(which[0][i])
            total = 1.0
            total += _share(best[0][i], best[1][i], which[1][i], 1, share[n], cluster[n])
            total += _share(best[0][i], best[2][i], which[2][i], 2, share[n], cluster[n])
            total += _share(best[0][i], best[3][i], which[3][i], 3, share[n], cluster[n])
            for r in range(R):
                share[n, r] /= total


@leaf
def _four_best(scores, first, last, b0, b1, b2, b3, k0, k1, k2, k3):
    """Four best scores b (last - first,) of each point in [first, last) and their clusters k, all float64.

    scores (N, K) float64. Of equal scores, the first cluster's is the better one. With fewer clusters, the rest are
    -inf and 0.
    """
    vectorise()
    size = uint(last - first)
    for i in range(size):
        b0[i] = b1[i] = b2[i] = b3[i] = -np.inf
        k0[i] = k1[i] = k2[i] = k3[i] = 0.0
    # Clusters outermost: that is the order of most components' scores in memory, and points are handled side by side.
    for k in range(scores.shape[1]):
        for i in range(size):
            score, cluster = _exchange(scores[uint(first) + i, k], float(k), b0, k0, i)
            score, cluster = _exchange(score, cluster, b1, k1, i)
            score, cluster = _exchange(score, cluster, b2, k2, i)
            _exchange(score, cluster, b3, k3, i)


@leaf
def _exchange(score, cluster, best, which, i):
    """Let best[i] and which[i] be the better score and its cluster; returns the other ones."""
    other, loser = best[i], which[i]
    better = score > other
    best[i], which[i] = score if better else other, cluster if better else loser
    return (other, loser) if better else (score, cluster)


@leaf
def _share(best, score, k, r, share, cluster):
    """Write cluster k to cluster[r] and its share relative to the best one's to share[r]; returns the share."""
    if r >= share.shape[0]:
        return 0.0
    near = score - best > -_NATS
    share[r], cluster[r] = math.exp(score - best) if near else 0.0, np.int32(k) if near else np.int32(0)
    return share[r]


@kernel
def entropy_between(cluster, share, weight, out):
    """out[a, b] += entropy in nats that the labels lose if clusters a and b become one, for a < b.

    For shares r and s of a point: (r + s) log(r + s) - r log r - s log s, times its weight. cluster (N, R) int32, share
    (N, R), weight (N,), out (K, K) float64.
    """
    N, R = cluster.shape
    own = np.empty(R)
    for n in range(N):
        for i in range(R):
            r = share[n, i]
            if r < 1e-12:
                continue
            own[i] = r * math.log(r)
            for j in range(i):
                s = share[n, j]
                if s < 1e-12:
                    continue
                a, b = min(cluster[n, i], cluster[n, j]), max(cluster[n, i], cluster[n, j])
                out[a, b] += weight[n] * ((r + s) * math.log(r + s) - own[i] - own[j])
