"""Draw or choose the cluster of each point from a table of scores."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import larger, smaller, vectorise
from scstream.kernels.basics.layout import SAMPLING_NATS, uint
from scstream.kernels.basics.noise import hash_uniform

#: Points whose best scores are searched side by side.
_CHUNK = 128


@kernel
def label_points(scores, key, sampling, first, last, labels):
    """Label the points [first, last): a draw in proportion to exp(score), or the first best cluster.

    scores (N, K) float64. key (uint32) seeds the draws, which are made if ``sampling``; writes labels (N,) int32.
    """
    top, second = np.empty(_CHUNK), np.empty(_CHUNK)
    best = np.empty(_CHUNK, np.int64)
    sums = np.empty(scores.shape[1])
    for begin in range(first, last, _CHUNK):
        end = min(begin + _CHUNK, last)
        # Read the scores in the order of memory.
        if scores.strides[0] < scores.strides[1]:
            _best_scores(scores, begin, end, top, second, best)
        else:
            for n in range(begin, end):
                i = n - begin
                top[i], best[i] = _best_score(scores[n])
                second[i] = -np.inf if sampling and _count_near(scores[n], top[i]) == 1 else top[i]
        for n in range(begin, end):
            i = n - begin
            labels[n] = best[i]
            # If no other score comes near the best one, a draw gives the best one.
            if sampling and second[i] > top[i] - SAMPLING_NATS:
                labels[n] = _draw_label(scores[n], top[i], hash_uniform(key, n), sums)


@leaf
def _best_score(row):
    """Largest of a point's scores row (K,) float64, and the first cluster that has it."""
    vectorise()
    top = -np.inf
    for k in range(row.shape[0]):
        top = larger(top, row[k])
    best = 0
    # Stops at the last cluster: the scores of extreme points may be nan.
    while best < row.shape[0] - 1 and row[best] != top:
        best += 1
    return top, best


@leaf
def _count_near(row, top):
    """Number of a point's scores row (K,) float64 that come near the largest, ``top``: a draw can choose these."""
    vectorise()
    count = np.int64(0)
    for k in range(row.shape[0]):
        count += np.int64(1) if row[k] > top - SAMPLING_NATS else np.int64(0)
    return count


@leaf
def _best_scores(scores, first, last, top, second, best):
    """Two largest scores of each point in [first, last), and the first cluster that has the largest.

    scores (N, K) float64, clusters outermost in memory; writes top, second (n,) float64 and best (n,) int64.
    """
    vectorise()
    size = uint(last - first)
    for i in range(size):
        top[i] = second[i] = -np.inf
        best[i] = 0
    for k in range(scores.shape[1]):
        for i in range(size):
            score, old, owner = scores[uint(first) + i, k], top[i], best[i]
            # Select by bits: a conditional store would not vectorise.
            taken = np.int64(-1) if score > old else np.int64(0)
            best[i] = owner ^ ((owner ^ k) & taken)
            second[i] = larger(second[i], smaller(score, old))
            top[i] = larger(score, old)


@leaf
def _draw_label(row, top, uniform, sums):
    """Draw a label k with probability exp(row[k]) / sum exp(row); row (K,) float64 has the largest score top.

    The first k with sums[k] > uniform total, where sums (K,) float64 (scratch) are running sums of exp(row - top).
    """
    K = row.shape[0]
    total = 0.0
    for k in range(K):
        if row[k] > top - SAMPLING_NATS:
            total += math.exp(row[k] - top)
        sums[k] = total
    u = uniform * total
    k = 0
    while k < K - 1 and sums[k] <= u:
        k += 1
    return k


@kernel
def label_halves(own, key, sampling, labels, out):
    """out[n] = 2 labels[n] + j, j the sub-cluster of point n.

    j = 1 is drawn with probability 1 / (1 + exp(own[0, n] - own[1, n])), or is the better one. own (2, N) float64 are
    the scores under the two sub-clusters, labels and out (N,) int32. key (uint32) seeds the draws, which are made if
    ``sampling``.
    """
    for n in range(labels.shape[0]):
        gain = own[1, n] - own[0, n]
        if sampling:
            # uniform < 1 / (1 + exp(-gain)), without dividing.
            side = hash_uniform(key, n) * (1.0 + math.exp(min(-gain, 700.0))) < 1.0
        else:
            side = gain > 0.0
        out[n] = 2 * labels[n] + (1 if side else 0)
