"""Share points between clusters in proportion to the exponentials of their scores."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import bits_to_double, double_to_bits, larger, smaller, vectorise
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.scalar_math import exp64, log64

#: Points that are handled side by side.
_CHUNK = 128
#: Clusters whose score is this much below the best one have no share: exp(-12) is next to nothing.
_NATS = 12.0
#: Bits of a score that hold its cluster instead.
_CLUSTER = np.int64(0xFFFF)
#: Scores below this are raised to it, because the bits of -inf with a cluster in them are no number.
_LEAST = -1e300
#: Smaller shares count as nothing in an entropy.
_TINY = 1e-12


@kernel
def share_points(scores, begin, end, cluster, share):
    """Share each of the points [begin, end) between the R clusters with its best scores, R <= K and R <= 4.

    Writes these clusters, best first, to cluster (R, N) int32, 0 where there is none, and their shares, which sum to 1,
    to share (R, N) float64. scores (N, K) float64, K <= 65536; a part of an array that is stored by columns would not
    vectorise.
    """
    best, total = np.empty((4, _CHUNK)), np.empty(_CHUNK)
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        _four_best(scores, first, last - first, best[0], best[1], best[2], best[3])
        total[:] = 0.0
        for r in range(cluster.shape[0]):
            _read_clusters(scores, first, best[r], cluster[r, first:last])
            _exponentials(best[r], best[0], share[r, first:last], total)
        for r in range(cluster.shape[0]):
            _divide(share[r, first:last], cluster[r, first:last], total)


@leaf
def _four_best(scores, first, size, b0, b1, b2, b3):
    """Four best scores b (size,) of each point from ``first`` on, in order; their last bits hold the clusters.

    scores (N, K), b float64. Of equal scores, the first cluster's is the better one. With fewer clusters, the rest are
    -inf.
    """
    vectorise()
    size = uint(size)
    for i in range(size):
        b0[i] = b1[i] = b2[i] = b3[i] = -np.inf
    # Clusters outermost: that is the order of most components' scores in memory, and points are handled side by side.
    for k in range(scores.shape[1]):
        for i in range(size):
            score = _with_cluster(scores[uint(first) + i, k], k)
            other = smaller(score, b0[i])
            b0[i] = larger(score, b0[i])
            score = smaller(other, b1[i])
            b1[i] = larger(other, b1[i])
            other = smaller(score, b2[i])
            b2[i] = larger(score, b2[i])
            b3[i] = larger(other, b3[i])


@leaf
def _with_cluster(score, k):
    """The score with cluster k in its last bits: the first of equal scores is the largest."""
    bits = double_to_bits(larger(score, _LEAST))
    return bits_to_double((bits & ~_CLUSTER) | (np.int64(k) ^ _flip(bits)))


@leaf
def _flip(bits):
    """The bits of a cluster that are inverted in a score, given as bits: all if it is positive."""
    return ~(bits >> np.int64(63)) & _CLUSTER


@leaf
def _read_clusters(scores, first, best, cluster):
    """Read the clusters (n,) from best scores of the points from ``first`` on, and restore the scores."""
    for i in range(uint(cluster.shape[0])):
        bits = double_to_bits(best[i])
        k = (bits & _CLUSTER) ^ _flip(bits)
        cluster[i], best[i] = np.int32(k), scores[uint(first) + i, k]


@leaf(fastmath=FAST)
def _exponentials(score, best, out, total):
    """Write the exponentials of scores less the best ones, or 0 if they are far below, to out (n,); add to total."""
    for i in range(uint(out.shape[0])):
        difference = score[i] - best[i]
        out[i] = exp64(larger(difference, -_NATS)) if difference > -_NATS else 0.0
        total[i] += out[i]


@leaf
def _divide(share, cluster, total):
    """Divide shares (n,) by their total; a cluster without a share becomes 0."""
    for i in range(uint(share.shape[0])):
        cluster[i] = cluster[i] if share[i] > 0.0 else np.int32(0)
        share[i] /= total[i]


@kernel
def entropy_between(cluster, share, weight, out):
    """out[a, b] += entropy in nats that the labels lose if clusters a and b become one, for a < b.

    For shares r and s of a point: (r + s) log(r + s) - r log r - s log s, times its weight. cluster (R, N) int32, share
    (R, N), weight (N,), out (K, K) float64.
    """
    R, N = cluster.shape
    own, union = np.empty((R, _CHUNK)), np.empty(_CHUNK)
    for first in range(0, N, _CHUNK):
        last = min(first + _CHUNK, N)
        for i in range(R):
            _entropies(share[i, first:last], own[i])
            for j in range(i):
                _entropies_of_unions(share[i, first:last], share[j, first:last], union)
                for n in range(uint(last - first)):
                    point = uint(first) + n
                    a, b = cluster[i, point], cluster[j, point]
                    out[min(a, b), max(a, b)] += weight[point] * (union[n] - own[i, n] - own[j, n])


@leaf(fastmath=FAST)
def _entropies(share, out):
    """out[n] = r log r of shares r (n,)."""
    vectorise()
    for n in range(uint(share.shape[0])):
        out[n] = _xlogx(share[n])


@leaf(fastmath=FAST)
def _entropies_of_unions(share, other, out):
    """out[n] = (r + s) log(r + s) of shares r and s (n,)."""
    vectorise()
    for n in range(uint(share.shape[0])):
        out[n] = _xlogx(share[n] + other[n])


@inlined(fastmath=FAST)
def _xlogx(x):
    """x log x; next to nothing, and taken as 0, for tiny x."""
    return x * log64(larger(x, _TINY)) if x >= _TINY else 0.0
