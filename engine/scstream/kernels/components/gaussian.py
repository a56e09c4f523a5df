"""Points in full-covariance Gaussian clusters: scores, statistics, halving and shifting of clusters."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, kernel, leaf
from scstream.kernels.basics.intrinsics import SIDE_BY_SIDE, square_distances, vectorise
from scstream.kernels.basics.layout import PIXEL_D, uint
from scstream.kernels.basics.linalg import symmetric_eigen
from scstream.kernels.basics.scalar_math import log1p64

#: Points that are scored under one cluster before the next.
_CHUNK = 128


@kernel(fastmath=FAST)
def gaussian_scores(XT, A, b, c, dof, first, last, out):
    """Scores out[:, first:last] of the points [first, last) under each whitened Gaussian or Student t.

    q = |A x + b|^2; score = c - q / 2, or c - (dof + D) / 2 log(1 + q / dof) if dof > 0.
    XT (D, N), A (K, D, D), only the lower triangles, b (K, D), c, dof (K,), out (K, N) float64.
    """
    X = np.zeros((_CHUNK // SIDE_BY_SIDE, XT.shape[0] + 1, SIDE_BY_SIDE))
    for begin in range(first, last, _CHUNK):
        end = min(begin + _CHUNK, last)
        copy_points(XT, begin, end, X)
        for k in range(c.shape[0]):
            score_points(XT, begin, X, A[k], b[k], c[k], dof[k], out[k, begin:end])


@leaf
def copy_points(XT, first, last, X):
    """Copy the points XT[:, first:last] to X (groups, D + 1, SIDE_BY_SIDE), one group after another."""
    for n in range(uint(first), uint(last), uint(SIDE_BY_SIDE)):
        group = X[(n - uint(first)) // uint(SIDE_BY_SIDE)]
        for j in range(XT.shape[0]):
            for m in range(min(uint(SIDE_BY_SIDE), uint(last) - n)):
                group[j, m] = XT[j, n + m]


@leaf(fastmath=FAST)
def score_points(XT, first, X, A, b, c, dof, q):
    """Scores q (n,) of the points XT[:, first : first + n] under one cluster; see `gaussian_scores`.

    XT (D, N), X its copy by `copy_points`, whose last rows are scratch; A (D, D), only its lower triangle, b (D,).
    """
    vectorise()
    D = XT.shape[0]
    if D == 2:
        _square_distances_in_a_plane(XT, first, A, b, q)
    else:
        _square_distances(X, A, b, q)
    if dof > 0:
        scale, inverse = 0.5 * (dof + D), 1.0 / dof
        for n in range(uint(q.shape[0])):
            q[n] = c - scale * log1p64(q[n] * inverse)
    else:
        for n in range(uint(q.shape[0])):
            q[n] = c - 0.5 * q[n]


@leaf
def _square_distances(X, A, b, q):
    """q = |A x + b|^2 of the first n of the points X; arguments as in `score_points`."""
    size, D = uint(q.shape[0]), b.shape[0]
    for begin in range(uint(0), size, uint(SIDE_BY_SIDE)):
        group = X[begin // uint(SIDE_BY_SIDE)]
        square_distances(group, A, b, group[D])
        for m in range(min(uint(SIDE_BY_SIDE), size - begin)):
            q[begin + m] = group[D, m]


@leaf(fastmath=FAST)
def _square_distances_in_a_plane(XT, first, A, b, q):
    """q = |A x + b|^2 of the points XT[:, first : first + n] with two features."""
    vectorise()
    for n in range(uint(q.shape[0])):
        y0 = b[0] + A[0, 0] * XT[0, uint(first) + n]
        y1 = b[1] + A[1, 0] * XT[0, uint(first) + n] + A[1, 1] * XT[1, uint(first) + n]
        q[n] = y0 * y0 + y1 * y1


@kernel
def gaussian_own_scores(XT, A, b, c, dof, labels, first, last, out):
    """Scores out[:, first:last] of points under the two sub-clusters of their own cluster.

    out[j, n] is the score of point n under sub-cluster 2 labels[n] + j, as in `gaussian_scores`.
    XT (D, N), A (2 K, D, D), b (2 K, D), c, dof (2 K,), out (2, N) float64, labels (N,) int32.
    """
    K = c.shape[0] // 2
    begin, order = np.zeros(K + 1, np.int64), np.empty(last - first, np.int64)
    _sort_by_cluster(labels, first, last, begin, order)
    X, q = np.zeros((_CHUNK // SIDE_BY_SIDE, XT.shape[0] + 1, SIDE_BY_SIDE)), np.empty(_CHUNK)
    # Points of one cluster side by side: the loops over them vectorise.
    for k in range(K):
        for here in range(begin[k], begin[k + 1], _CHUNK):
            points = order[here : min(here + _CHUNK, begin[k + 1])]
            _gather(XT, points, X)
            for side in range(2):
                sub = 2 * k + side
                _score_own(X, A[sub], b[sub], c[sub], dof[sub], q[: len(points)])
                for m in range(uint(len(points))):
                    out[side, uint(points[m])] = q[m]


@leaf
def _sort_by_cluster(labels, first, last, begin, order):
    """List the points [first, last) by their clusters, each cluster's in ascending order.

    Those of cluster k go to order[begin[k]:begin[k + 1]]. labels (N,) int32; begin (K + 1,), zero, and
    order (last - first,) int64 are outputs.
    """
    K = begin.shape[0] - 1
    # begin[k + 1] counts the points of cluster k, then says where the next of them goes: in the end, behind the last.
    for n in range(first, last):
        begin[labels[n] + 1] += 1
    total = np.int64(0)
    for k in range(1, K + 1):
        count = begin[k]
        begin[k] = total
        total += count
    for n in range(first, last):
        k = labels[n] + 1
        order[begin[k]] = n
        begin[k] += 1


@leaf
def _gather(XT, points, X):
    """Copy the columns ``points`` (n,) of XT (D, N) to X; see `copy_points`."""
    side = uint(SIDE_BY_SIDE)
    for j in range(XT.shape[0]):
        for m in range(uint(points.shape[0])):
            X[m // side, j, m % side] = XT[j, uint(points[m])]


@leaf
def _score_own(X, A, b, c, dof, q):
    """Scores q (n,) of the first points X under one cluster; see `score_points`."""
    vectorise()
    D = b.shape[0]
    _square_distances(X, A, b, q)
    if dof > 0:
        for m in range(uint(q.shape[0])):
            q[m] = c - 0.5 * (dof + D) * log1p64(q[m] / dof)
    else:
        for m in range(uint(q.shape[0])):
            q[m] = c - 0.5 * q[m]


@kernel
def gaussian_statistics(X, weight, groups, out):
    """out[groups[n]] += weight[n] (1, x, lower triangle of x x') for each point x = X[n].

    X (N, D), weight (N,), out (groups, P) float64, groups (N,) int32.
    """
    _add_points(X, weight, groups, out)


@leaf
def _add_points(X, weight, groups, out):
    """Add each point to the statistics of its group; see `gaussian_statistics`."""
    # A constant D lets the compiler unroll the loops: less than half the time in a plane.
    if X.shape[1] == 2:
        _add_points_of(X, weight, groups, 2, out)
    else:
        _add_points_of(X, weight, groups, X.shape[1], out)


@leaf
def _add_points_of(X, weight, groups, D, out):
    """`_add_points` for points with D features."""
    vectorise()
    D = uint(D)
    for n in range(uint(X.shape[0])):
        w = weight[n]
        if w == 0.0:
            continue
        S, x = out[uint(groups[n])], X[n]
        S[uint(0)] += w
        e = uint(1) + D
        for i in range(D):
            v = w * x[i]
            S[uint(1) + i] += v
            for j in range(i + uint(1)):
                S[e + j] += v * x[j]
            e += i + uint(1)


@kernel
def gaussian_axis(S, unit, normal, principal, out):
    """Normal out (D,) of a plane that cuts a cluster with statistics S (P,) in two.

    The principal axis, or a random one: sum_j v_j normal[j] / sqrt(lambda_j) over the eigenvectors v_j and eigenvalues
    lambda_j of the covariance, normal (D,) standard normals. Features are measured in ``unit`` (D,). Directions with
    almost no variance are left out: rounding errors dominate there. All float64.
    """
    D = unit.shape[0]
    M = np.empty((D, D))
    V = np.empty((D, D))
    n = max(S[0], 1e-300)
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            M[i, j] = (S[e] / n - S[1 + i] / n * (S[1 + j] / n)) / (unit[i] * unit[j])
            M[j, i] = M[i, j]
            e += 1
    symmetric_eigen(M, V)
    top = 0
    for i in range(D):
        top = i if M[i, i] > M[top, top] else top
    for i in range(D):
        out[i] = V[i, top] / unit[i] if principal else 0.0
    if principal:
        return
    for j in range(D):
        if M[j, j] > 1e-6 * M[top, top]:
            for i in range(D):
                out[i] += V[i, j] * normal[j] / math.sqrt(M[j, j]) / unit[i]


@kernel
def gaussian_halve(S, axis, out):
    """Statistics out (M, P) of one half of each Gaussian with statistics S (M, P), cut by a plane through its mean.

    The half has n / 2 points and the mean m + s, s = Sigma axis sqrt(2 / (pi axis' Sigma axis)), for the plane's normal
    axis (D,); the other half, S - out, has the mean m - s. All float64.
    """
    mean = np.empty(axis.shape[0])
    shift = np.empty(axis.shape[0])
    for r in range(S.shape[0]):
        _halve_row(S[r], axis, mean, shift, out[r])


@kernel
def gaussian_cut(S, unit, normal, principal, whole, out):
    """Halves out (R, M, P) of the rows whole (R, M, P), each of the M clusters along an axis of its own.

    The axes are those of `gaussian_axis` for the statistics S (M, P), with normal (M, D); see `gaussian_halve`.
    """
    axis = np.empty(unit.shape[0])
    mean = np.empty(unit.shape[0])
    shift = np.empty(unit.shape[0])
    for k in range(S.shape[0]):
        gaussian_axis(S[k], unit, normal[k], principal, axis)
        for r in range(whole.shape[0]):
            _halve_row(whole[r, k], axis, mean, shift, out[r, k])


@leaf
def _halve_row(S, axis, mean, shift, out):
    """Statistics out (P,) of one half of a Gaussian with statistics S (P,); mean and shift (D,) are scratch."""
    D = axis.shape[0]
    n = max(S[0], 1e-300)
    for i in range(D):
        mean[i] = S[1 + i] / n
        shift[i] = 0.0
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            covariance = S[e] / n - mean[i] * mean[j]
            shift[i] += covariance * axis[j]
            if i != j:
                shift[j] += covariance * axis[i]
            e += 1
    variance = 0.0
    for i in range(D):
        variance += shift[i] * axis[i]
    scale = math.sqrt(2.0 / math.pi / max(variance, 1e-300)) if variance > 0 else 0.0
    half = 0.5 * S[0]
    out[0] = half
    e = 1 + D
    for i in range(D):
        out[1 + i] = 0.5 * S[1 + i] + half * scale * shift[i]
        for j in range(i + 1):
            moved = mean[i] * shift[j] + shift[i] * mean[j]
            out[e] = 0.5 * S[e] + half * scale * moved
            e += 1


@kernel
def gaussian_translate(records, n_records, way):
    """Translate groups of points, given by their statistics, by way (M, D), in place.

    For x -> x + w: sum x += n w and sum x x' += w (sum x)' + (sum x) w' + n w w'. Applies to all parts of the first M
    groups in the first n_records of records (records, groups, parts, P) float64.
    """
    D = way.shape[1]
    for r in range(n_records):
        for g in range(way.shape[0]):
            for part in range(records.shape[2]):
                # A constant D lets the compiler unroll the loops: half the time.
                if D == PIXEL_D:
                    _translate_row(records[r, g, part], way[g], PIXEL_D)
                else:
                    _translate_row(records[r, g, part], way[g], D)


@leaf
def _translate_row(S, way, D):
    """Translate one group with statistics S (P,) by way (D,), in place."""
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            S[e] += way[i] * S[1 + j] + S[1 + i] * way[j] + S[0] * way[i] * way[j]
            e += 1
    for i in range(D):
        S[1 + i] += S[0] * way[i]
