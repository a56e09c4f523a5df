"""Scores and statistics of points that are vectors of counts, stored as sparse rows.

Rows are sparse, as in a CSR matrix: point n has the counts value[e] of the outcomes column[e] for e from indptr[n] to
indptr[n + 1] - 1; indptr (N + 1,) and column (nnz,) int64, value (nnz,) float64.
"""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, kernel, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.scalar_math import lgamma64, log64

#: Neighbouring counts of a dense row that are tested for zeros at once.
_BLOCK = 8


@kernel
def count_nonzeros(X):
    """Number of non-zero entries of a dense X (N, D) float64."""
    vectorise()
    total = np.int64(0)
    for n in range(X.shape[0]):
        row = X[n]
        for j in range(row.shape[0]):
            total += np.int64(1) if row[j] != 0.0 else np.int64(0)
    return total


@kernel
def sparse_rows(X, indptr, column, value):
    """Non-zero entries of a dense X (N, D), row by row.

    indptr (N + 1,), column and value are outputs; column and value need one element more than X has non-zeros.
    """
    D = X.shape[1]
    e = uint(0)
    for n in range(X.shape[0]):
        row = X[n]
        for begin in range(0, D, _BLOCK):
            end = min(begin + _BLOCK, D)
            # Most blocks of a bag of words are empty.
            if end - begin == _BLOCK and _is_zero(row, uint(begin)):
                continue
            for j in range(uint(begin), uint(end)):
                # Write always and keep non-zeros only: the processor would often mispredict a branch.
                column[e] = np.int64(j)
                value[e] = row[j]
                e += uint(1) if row[j] != 0.0 else uint(0)
        indptr[n + 1] = np.int64(e)


@leaf
def _is_zero(row, j):
    """Whether the _BLOCK numbers of row (D,) float64 from j on are all zero."""
    one = abs(row[j]) + abs(row[j + uint(1)]) + abs(row[j + uint(2)]) + abs(row[j + uint(3)])
    other = abs(row[j + uint(4)]) + abs(row[j + uint(5)]) + abs(row[j + uint(6)]) + abs(row[j + uint(7)])
    return one + other == 0.0


@kernel
def code_pairs(column, value, levels, table, entry, example):
    """Number the distinct (column, value) pairs of whole values < levels in order of appearance; returns how many.

    table (D levels,) int32 of -1 is scratch. Writes entry (nnz,) int64, the number of each non-zero's pair or -1 for
    other values, and example (nnz,) int64, the index of one non-zero of each pair.
    """
    n = 0
    for e in range(column.shape[0]):
        if not (value[e] < levels and value[e] == math.floor(value[e])):
            entry[e] = -1
            continue
        code = column[e] * levels + int(value[e])
        if table[code] < 0:
            table[code] = n
            example[n] = e
            n += 1
        entry[e] = table[code]
    return n


@kernel(fastmath=FAST)
def rising_table(concentration, column, value, first, last, out):
    """out[u, k] = log Gamma(d + x) - log Gamma(d) for u in [first, last).

    d = concentration[column[u], k] and x = value[u]; column (U,) int64, value (U,), concentration (D, K), out (U, K)
    float64: the loop over clusters vectorises. A whole x up to 16 needs only a product, d (d + 1) ... (d + x - 1).
    """
    vectorise()
    K = concentration.shape[1]
    product = np.empty(K)
    for u in range(first, last):
        d = concentration[column[u]]
        x = value[u]
        row = out[u]
        if x <= 16.0 and x == math.floor(x) and d.max() < 1e15:
            product[:] = 1.0
            for t in range(int(x)):
                for k in range(K):
                    product[k] *= d[k] + t
            for k in range(K):
                row[k] = log64(product[k])
        else:
            for k in range(K):
                row[k] = lgamma64(d[k] + x) - lgamma64(d[k])


@kernel(fastmath=FAST)
def table_scores(indptr, entry, scale, table, c, less, less_entry, first, last, out):
    """out[n, k] = c[k] + sum_e scale[e] table[entry[e], k] - less[less_entry[n], k] for n in [first, last).

    The sum is over the non-zero counts e of point n. table (U, K), c (K,), out (N, K), scale (nnz,), less (T, K)
    float64, entry (nnz,), less_entry (N,) int64; nothing is subtracted if T = 0. For each count a whole row of the
    table is added, so that the loop over clusters vectorises.
    """
    vectorise()
    K = c.shape[0]
    for n in range(first, last):
        s = out[n]
        s[:] = c
        e, end = indptr[n], indptr[n + 1]
        # Four counts at a time: the sums are loaded and stored a quarter as often.
        while e + 4 <= end:
            r0, r1, r2, r3 = table[entry[e]], table[entry[e + 1]], table[entry[e + 2]], table[entry[e + 3]]
            x0, x1, x2, x3 = scale[e], scale[e + 1], scale[e + 2], scale[e + 3]
            for k in range(K):
                s[k] += x0 * r0[k] + x1 * r1[k] + x2 * r2[k] + x3 * r3[k]
            e += 4
        while e < end:
            row, x = table[entry[e]], scale[e]
            for k in range(K):
                s[k] += x * row[k]
            e += 1
        if less.shape[0] > 0:
            row = less[less_entry[n]]
            for k in range(K):
                s[k] -= row[k]


@kernel
def table_own_scores(indptr, column, value, log_theta, c, labels, out):
    """out[j, n] = c[k] + sum_e value[e] log_theta[k, column[e]], k = 2 labels[n] + j a sub-cluster of n's own cluster.

    log_theta (2 K, D), c (2 K,), out (2, N) float64, labels (N,) int32.
    """
    for n in range(labels.shape[0]):
        k = 2 * labels[n]
        s0, s1 = c[k], c[k + 1]
        for e in range(indptr[n], indptr[n + 1]):
            s0 += value[e] * log_theta[k, column[e]]
            s1 += value[e] * log_theta[k + 1, column[e]]
        out[0, n] = s0
        out[1, n] = s1


@kernel
def rising_own_scores(indptr, column, value, total, concentration, sums, c, labels, first, last, out):
    """Dirichlet-multinomial scores of points [first, last) under the two sub-clusters of their own cluster.

    out[j, n] = c + log Gamma(s) - log Gamma(s + total[n]) + sum_e [log Gamma(d_e + x_e) - log Gamma(d_e)] for
    sub-cluster 2 labels[n] + j, with its concentrations d and their sum s.
    total (N,), concentration (2 K, D), sums, c (2 K,), out (2, N) float64, labels (N,) int32.
    """
    for n in range(first, last):
        for side in range(2):
            k = 2 * labels[n] + side
            s = c[k] - lgamma64(sums[k] + total[n]) + lgamma64(sums[k])
            product = 1.0
            for e in range(indptr[n], indptr[n + 1]):
                d, x = concentration[k, column[e]], value[e]
                if x <= 16.0 and d < 1e6 and x == math.floor(x):
                    for t in range(int(x)):
                        product *= d + t
                    # One logarithm serves many counts, as long as their product stays within the float's range.
                    if product > 1e200 or product < 1e-200:
                        s += math.log(product)
                        product = 1.0
                else:
                    s += lgamma64(d + x) - lgamma64(d)
            out[side, n] = s + math.log(product)


@kernel
def count_statistics(indptr, column, value, weight, groups, out):
    """out[groups[n]] += weight[n] (1, counts of point n).

    weight (N,), out (groups, 1 + D) float64, groups (N,) int32.
    """
    for n in range(groups.shape[0]):
        if weight[n] == 0.0:
            continue
        S = out[groups[n]]
        S[0] += weight[n]
        for e in range(indptr[n], indptr[n + 1]):
            S[1 + column[e]] += weight[n] * value[e]
