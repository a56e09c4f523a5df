"""Share points between Gaussian clusters and sum up the shares, one block of points that lie together at a time.

A block is scored only under the clusters that may have shares of its points, by bounds for its bounding box.
"""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import SIDE_BY_SIDE, TOGETHER, add_outer_products, larger, smaller, vectorise
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.scalar_math import exp64, log64
from scstream.kernels.components.blocks import SHARED_BLOCK, bound_blocks
from scstream.kernels.components.gaussian import copy_points, score_points
from scstream.kernels.components.niw import niw_predictive

#: Clusters whose score is this much below the best one have no share: exp(-12) is next to nothing.
NATS = 12.0
#: Smaller shares count as nothing in an entropy.
_TINY = 1e-12


@kernel(fastmath=FAST)
def gaussian_shares(Z, XT, weight, middle, half, S, kappa, m, nu, nu_psi, first, last, out, label, lost):
    """Share the points of the blocks [first, last) between clusters; returns the entropy of their labels.

    The shares of a point sum to 1 and are proportional to a cluster's size times its posterior predictive; those that
    are less than exp(-`NATS`) of the largest, or than the fourth largest, count as nothing.

    Parameters
    ----------
    Z, XT : arrays (N, more than D), (D, N) float64
        The points, in blocks of `SHARED_BLOCK`: in rows 1, x, 0, ..., 0 of a multiple of `LANES` numbers, and in
        columns x.
    weight : array (N,) float64
    middle, half : arrays (D, B) float64
        As `box_blocks` writes them.
    S : array (K, P) float64
        Statistics of the clusters.
    kappa, m, nu, nu_psi
        See `niw`.
    first, last : int
    out : array (K, P) float64, output
        The statistics of the shares are added to it.
    label : array (N,) int32, or (0,), output
        The first cluster with the largest share.
    lost : array (K, K) float64, or (0, 0), output
        The entropy in nats that the labels lose if clusters a < b become one is added to it: for shares r and s of a
        point (r + s) log(r + s) - r log r - s log s, times its weight.
    """
    K, D, N, B = S.shape[0], XT.shape[0], XT.shape[1], last - first
    A, b, c, dof = np.zeros((K, D, D)), np.empty((K, D)), np.empty(K), np.empty(K)
    niw_predictive(S, kappa, m, nu, nu_psi, A, b, c, dof)
    for k in range(K):
        c[k] += math.log(max(S[k, 0], 1e-300))
    most, sure, likely = np.empty((K, B)), np.empty(B), np.empty(B, np.int64)
    bound_blocks(
        middle[:, first:last], half[:, first:last], A, b, c, dof, np.empty((2, B)), np.empty(B), most, sure, likely
    )
    score, top, best = np.empty((K, SHARED_BLOCK)), np.empty((3, SHARED_BLOCK)), np.empty(SHARED_BLOCK)
    X = np.zeros((SHARED_BLOCK // SIDE_BY_SIDE, D + 1, SIDE_BY_SIDE))
    fourth, total, moment = np.empty(SHARED_BLOCK), np.empty(SHARED_BLOCK), np.empty(SHARED_BLOCK)
    # Only where a loss is asked for.
    own, union = np.empty(score.shape if lost.size else (0, 0)), np.empty(SHARED_BLOCK)
    features = np.empty((6, SHARED_BLOCK))
    moments = np.zeros((K, 0 if D == 2 else D + 1, Z.shape[1]))
    rows, factor = np.empty(SHARED_BLOCK + TOGETHER, np.int64), np.empty(SHARED_BLOCK + TOGETHER)
    near = np.empty(K, np.int64)
    entropy = 0.0
    for block in range(first, last):
        begin = block * SHARED_BLOCK
        size = min(SHARED_BLOCK, N - begin)
        w = weight[begin : begin + size]
        k, sure_here = likely[block - first], sure[block - first]
        best[:] = -np.inf
        bounds = most[:, block - first]
        copy_points(XT, begin, begin + size, X)
        n_near = _score_near(XT, begin, X, A, b, c, dof, bounds, sure_here, k, score, near, best[:size])
        n_near = _drop_far(score, best[:size], near, n_near)
        if n_near > 4:
            _four_best(score, near[:n_near], size, top[0], top[1], top[2], fourth)
        else:
            fourth[:] = -np.inf
        total[:] = 0.0
        moment[:] = 0.0
        for m in range(n_near - 1, -1, -1):
            k = near[m]
            if label.size:
                _note_best(score[k, :size], best, k, label[begin : begin + size])
            _exponentials(score[k, :size], best, fourth, total, moment)
        entropy += _finish_totals(w, total, moment)
        if D == 2:
            _write_features(XT, begin, w, features)
        for m in range(n_near):
            k = near[m]
            _scale(score[k, :size], total)
            if D == 2:
                _add_shares_in_a_plane(score[k, :size], features, out[k])
            else:
                _add_shares(Z, begin, score[k, :size], w, rows, factor, moments[k])
        if lost.size:
            _add_losses(score, near[:n_near], w, own, union, lost)
    _add_moments(moments, out)
    return entropy


@leaf
def _least(x):
    """Smallest of the numbers x (n,)."""
    least = np.inf
    for n in range(uint(x.shape[0])):
        least = smaller(least, x[n])
    return least


@leaf
def _score_near(XT, begin, X, A, b, c, dof, most, sure, likely, score, near, best):
    """Score a block's points under all clusters that may come near their best scores; returns the number of these.

    most (K,) and sure are bounds. Writes the clusters to near (K,), score[k, :n] of these, and the best ones (n,),
    which are -inf before. The ``likely`` cluster comes first, because a high score rules out others.
    """
    size = best.shape[0]
    score_points(XT, begin, X, A[likely], b[likely], c[likely], dof[likely], score[likely, :size])
    n_near = 0
    _raise(score[likely, :size], best)
    for k in range(c.shape[0]):
        if k != likely:
            if most[k] <= max(sure, _least(best)) - NATS:
                continue
            score_points(XT, begin, X, A[k], b[k], c[k], dof[k], score[k, :size])
            _raise(score[k, :size], best)
        near[n_near] = k
        n_near += 1
    return n_near


@leaf
def _raise(score, best):
    """best = max(best, score) of the n points with a score."""
    vectorise()
    for n in range(uint(score.shape[0])):
        best[n] = larger(best[n], score[n])


@leaf
def _drop_far(score, best, near, n_near):
    """Keep those of the clusters near (n_near,) that have a share of any point; returns their number."""
    kept = 0
    for m in range(n_near):
        if _highest(score[near[m], : best.shape[0]], best) > -NATS:
            near[kept] = near[m]
            kept += 1
    return kept


@leaf
def _four_best(score, near, size, b0, b1, b2, b3):
    """Four best scores b (size,) of each of a block's points under the clusters near (m,), in order; -inf of fewer."""
    vectorise()
    size = uint(size)
    for n in range(size):
        b0[n] = b1[n] = b2[n] = b3[n] = -np.inf
    for m in range(near.shape[0]):
        row = score[near[m]]
        for n in range(size):
            s = row[n]
            other = smaller(s, b0[n])
            b0[n] = larger(s, b0[n])
            s = smaller(other, b1[n])
            b1[n] = larger(other, b1[n])
            other = smaller(s, b2[n])
            b2[n] = larger(s, b2[n])
            b3[n] = larger(other, b3[n])


@leaf(fastmath=FAST)
def _highest(score, best):
    """Largest of the differences score - best (n,)."""
    vectorise()
    top = -np.inf
    for n in range(uint(score.shape[0])):
        top = larger(top, score[n] - best[n])
    return top


@leaf
def _note_best(score, best, k, label):
    """Label k the points whose score (n,) is the best one."""
    for n in range(uint(label.shape[0])):
        label[n] = np.int32(k) if score[n] == best[n] else label[n]


@leaf(fastmath=FAST)
def _exponentials(score, best, fourth, total, moment):
    """Replace scores (n,) by the exponentials e of their differences d from the best ones.

    Those far below, or below the fourth best, become 0.
    Adds e to total and e d to moment.
    """
    vectorise()
    for n in range(uint(score.shape[0])):
        d = score[n] - best[n]
        e = exp64(larger(d, -NATS)) if d > -NATS and score[n] >= fourth[n] else 0.0
        score[n] = e
        total[n] += e
        moment[n] += e * d


@leaf(fastmath=FAST)
def _finish_totals(weight, total, moment):
    """Replace totals of exponentials e = exp(d) by their inverses; returns the weighted entropy of e / total.

    - sum over r = e / total of r log r = log(total) - moment / total, moment the sum of e d.
    """
    vectorise()
    entropy = 0.0
    for n in range(uint(weight.shape[0])):
        inverse = 1.0 / total[n]
        entropy += weight[n] * (log64(total[n]) - moment[n] * inverse)
        total[n] = inverse
    return entropy


@leaf
def _scale(share, inverse):
    """share *= inverse, for the n shares."""
    vectorise()
    for n in range(uint(share.shape[0])):
        share[n] *= inverse[n]


@leaf
def _write_features(XT, begin, weight, features):
    """Write the statistics of single points x in a plane, times their weights, to features (6, n or more)."""
    vectorise()
    f0, f1, f2, f3, f4, f5 = features[0], features[1], features[2], features[3], features[4], features[5]
    for n in range(uint(weight.shape[0])):
        x, y = XT[0, uint(begin) + n], XT[1, uint(begin) + n]
        f0[n], f1[n], f2[n] = weight[n], weight[n] * x, weight[n] * y
        f3[n], f4[n], f5[n] = weight[n] * x * x, weight[n] * x * y, weight[n] * y * y


@leaf(fastmath=FAST)
def _add_shares_in_a_plane(share, features, out):
    """out (6,) += the sums of shares (n,) of features (6, n or more)."""
    vectorise()
    f0, f1, f2, f3, f4, f5 = features[0], features[1], features[2], features[3], features[4], features[5]
    s0 = s1 = s2 = s3 = s4 = s5 = 0.0
    for n in range(uint(share.shape[0])):
        r = share[n]
        s0 += r * f0[n]
        s1 += r * f1[n]
        s2 += r * f2[n]
        s3 += r * f3[n]
        s4 += r * f4[n]
        s5 += r * f5[n]
    out[0] += s0
    out[1] += s1
    out[2] += s2
    out[3] += s3
    out[4] += s4
    out[5] += s5


@leaf
def _add_shares(Z, begin, share, weight, rows, factor, M):
    """Add shares (n,) of the weighted products z z' of the points z = Z[begin + m] to the lower triangle of M.

    Z (N, L), M (D + 1, L) float64; rows int64 and factor float64 (n + TOGETHER,) are scratch.
    """
    # Without a branch, which would often be predicted wrongly.
    n_rows = uint(0)
    for n in range(uint(share.shape[0])):
        rows[n_rows], factor[n_rows] = begin + n, share[n] * weight[n]
        n_rows += uint(share[n] != 0.0)
    for n in range(n_rows, n_rows + uint(TOGETHER)):
        rows[n], factor[n] = begin, 0.0
    for n in range(uint(0), n_rows, uint(TOGETHER)):
        add_outer_products(Z, rows, factor, n, M)


@leaf
def _add_moments(M, S):
    """Add the lower triangles of M (K, D + 1, L) of products z z', z = (1, x, ...), to statistics S (K, P)."""
    for k in range(M.shape[0]):
        e = M.shape[1]
        for i in range(M.shape[1]):
            S[k, i] += M[k, i, 0]
            for j in range(i):
                S[k, e] += M[k, i, j + 1]
                e += 1


@leaf(fastmath=FAST)
def _add_losses(share, near, weight, own, union, lost):
    """Add what the labels of a block's points lose if two of the clusters near (m,) become one; see `gaussian_shares`.

    share (K, SHARED_BLOCK), weight (n,); own (K, SHARED_BLOCK) and union (SHARED_BLOCK,) are scratch.
    """
    size = weight.shape[0]
    for i in range(near.shape[0]):
        a = near[i]
        _terms(share[a, :size], own[a])
        for j in range(i):
            lost[near[j], a] += _loss(share[near[j], :size], share[a], own[near[j]], own[a], weight)


@leaf(fastmath=FAST)
def _terms(share, out):
    """out = r log r of shares r (n,)."""
    vectorise()
    for n in range(uint(share.shape[0])):
        out[n] = _xlogx(share[n])


@leaf(fastmath=FAST)
def _loss(share, other, own, others_own, weight):
    """Weighted sum of (r + s) log(r + s) - r log r - s log s for n shares r and s, given r log r and s log s."""
    vectorise()
    loss = 0.0
    for n in range(uint(share.shape[0])):
        loss += weight[n] * (_xlogx(share[n] + other[n]) - own[n] - others_own[n])
    return loss


@inlined(fastmath=FAST)
def _xlogx(x):
    """x log x; next to nothing, and taken as 0, for tiny x."""
    return x * log64(larger(x, _TINY)) if x >= _TINY else 0.0
