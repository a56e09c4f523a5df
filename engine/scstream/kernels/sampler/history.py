"""Weighted sums of the statistics of past batches, and how far clusters have moved since."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf


@kernel
def drift(past, now, steady, fewest, out):
    """Displacement out (M, D) of groups with the statistics past and now (M, parts, P), which begin with (n, sum of x).

    out = (mean now - mean past) n / (n + steady), n the points of now: few points say little about where a group went.
    0 if n < fewest N, N the points of past. All float64.
    """
    for g in range(out.shape[0]):
        n, N = _sum_parts(now[g], 0), _sum_parts(past[g], 0)
        known = n > 0.0 and N > 0.0 and n >= fewest * N
        for i in range(out.shape[1]):
            x, X = _sum_parts(now[g], 1 + i), _sum_parts(past[g], 1 + i)
            out[g, i] = (x / n - X / N) * (n / (n + steady)) if known else 0.0


@leaf
def _sum_parts(S, e):
    """Sum over the parts of their e-th statistic, S (parts, P)."""
    total = S[0, e]
    for part in range(1, S.shape[0]):
        total += S[part, e]
    return total


@kernel
def weighted_sums_of(weights, records, which, out):
    """As `weighted_sum`, for the clusters ``which`` (n,) int64 alone: out (K, M) from records (R or more, K', M)."""
    for k in which:
        for i in range(out.shape[1]):
            out[k, i] = 0.0
        for r in range(weights.shape[0]):
            for i in range(out.shape[1]):
                out[k, i] += weights[r] * records[r, k, i]


@kernel
def weighted_sum(weights, records, out):
    """out = sum over r of weights[r] records[r], in a fixed order.

    weights (R,), out (M,) float64; records may have more rows and columns than are summed.
    """
    out[:] = 0.0
    for r in range(weights.shape[0]):
        for i in range(out.shape[0]):
            out[i] += weights[r] * records[r, i]


@kernel
def join_halves(past, records, current, which):
    """Statistics of some clusters as wholes, from those of their sub-clusters.

    past, current (K, 2, P), records (R, K or more, 2, P) float64, which (n,) int64. Returns the time-weighted totals
    (n, P) and the rows (R + 1, n, P) of all records and of the current batch.
    """
    R, n, P = records.shape[0], which.shape[0], current.shape[2]
    total, rows = np.empty((n, P)), np.empty((R + 1, n, P))
    for i in range(n):
        k = which[i]
        for e in range(P):
            total[i, e] = (past[k, 0, e] + current[k, 0, e]) + (past[k, 1, e] + current[k, 1, e])
            rows[R, i, e] = current[k, 0, e] + current[k, 1, e]
        for r in range(R):
            for e in range(P):
                rows[r, i, e] = records[r, k, 0, e] + records[r, k, 1, e]
    return total, rows


@kernel
def store_halves(rows, half, which, records, current):
    """Write one half of each row, half (R + 1, n, P), and the other, rows - half, to records and current.

    The other arguments as in `join_halves`.
    """
    R = records.shape[0]
    for i in range(which.shape[0]):
        k = which[i]
        for e in range(rows.shape[2]):
            current[k, 0, e], current[k, 1, e] = half[R, i, e], rows[R, i, e] - half[R, i, e]
        for r in range(R):
            for e in range(rows.shape[2]):
                records[r, k, 0, e], records[r, k, 1, e] = half[r, i, e], rows[r, i, e] - half[r, i, e]
