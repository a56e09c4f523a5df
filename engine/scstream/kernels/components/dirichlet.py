"""Multinomial clusters with a Dirichlet prior: marginal likelihoods, and which pairs may merge.

Statistics S (1 + D,) are the number of points and the summed counts of the D outcomes.
"""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, kernel, leaf
from scstream.kernels.basics.intrinsics import bits_to_float, float_to_bits, vectorise
from scstream.kernels.basics.scalar_math import lgamma64, log64, log_from_parts32


@kernel(fastmath=FAST)
def dirichlet_log_marginal(S, concentration, first, second, out):
    """Log marginal likelihoods out (n,) of clusters or of their unions.

    The counts are x = S[first[n]] + S[second[n]], or x = S[first[n]] if second[n] < 0. With d = concentration (D,):
    sum_j [log Gamma(d_j + x_j) - log Gamma(d_j)] + log Gamma(sum_j d_j) - log Gamma(sum_j (d_j + x_j)).
    S (K, 1 + D) float64, first, second (n,) int64.
    """
    vectorise()
    D = concentration.shape[0]
    prior = 0.0
    for j in range(D):
        prior -= lgamma64(concentration[j])
    prior += lgamma64(concentration.sum())
    counts = np.empty(D)
    for n in range(first.shape[0]):
        a = S[first[n], 1:]
        if second[n] < 0:
            for j in range(D):
                counts[j] = concentration[j] + a[j]
        else:
            b = S[second[n], 1:]
            for j in range(D):
                counts[j] = concentration[j] + a[j] + b[j]
        total = 0.0
        value = 0.0
        for j in range(D):
            total += counts[j]
            value += lgamma64(counts[j])
        out[n] = prior + value - lgamma64(total)


@kernel(fastmath=FAST)
def dirichlet_shares(S, log_marginal, concentration, counts, total, share, own):
    """Terms of each cluster in the bounds of unions with it; see `dirichlet_mergeable`.

    S (K, 1 + D), log_marginal (K,), concentration (D,) float64. Writes counts (2, K, D) float32, with the prior's
    counts and without; total (K,) = sum_j x_j, share (K,) = log_marginal + log Gamma(total) - sum_j x_j (log(x_j) - 1)
    and own (K,) = log_marginal + log Gamma(n), float64, where x_j are the counts with the prior's.
    """
    for k in range(S.shape[0]):
        total[k] = value = 0.0
        for j in range(concentration.shape[0]):
            x = concentration[j] + S[k, 1 + j]
            total[k] += x
            value += x * (log64(x) - 1.0)
            counts[0, k, j], counts[1, k, j] = x, S[k, 1 + j]
        share[k] = log_marginal[k] + lgamma64(total[k]) - value
        own[k] = log_marginal[k] + lgamma64(S[k, 0])


@kernel(fastmath=FAST)
def dirichlet_mergeable(size, counts, total, share, own, prior, least, eligible, first, last, pairs):
    """List the pairs of clusters whose log Hastings ratio of merging, less log alpha, may exceed ``least``.

    Because digamma(t) < log(t), log Gamma(x + y) < log Gamma(x) + G(x + y) - G(x) with G(t) = t log(t) - t: one
    logarithm per count instead of the dozens of operations of two log Gamma. Single precision is enough for a bound.

    Parameters
    ----------
    size : array (K,) float64
        Number of points of each cluster.
    counts, total, share, own : arrays
        As `dirichlet_shares` writes them.
    prior : float
        Sum of the concentrations.
    least : float
    eligible : array (K,) bool
        Clusters that may merge.
    first, last : int
        Search the pairs (a, b), a < b, with a in [first, last).
    pairs : array (n or more, 2) int64, output
        Returns n.
    """
    n = 0
    for a in range(first, last):
        for b in range(a + 1, size.shape[0]):
            if not (eligible[a] and eligible[b]):
                continue
            value, scale = _sum_t_log_t(counts[0, a], counts[1, b])
            union = value + 1e-5 * scale + 0.1 + min(share[a], share[b]) - lgamma64(total[a] + total[b] - prior)
            if lgamma64(size[a] + size[b]) + union - own[a] - own[b] > least:
                pairs[n, 0], pairs[n, 1] = a, b
                n += 1
    return n


@leaf(fastmath=FAST)
def _sum_t_log_t(x, y):
    """Sum of t (log(t) - 1) over t = x + y > 0, and the sum of the terms' absolute values; x, y (D,) float32."""
    vectorise()
    value = size = np.float32(0.0)
    for j in range(x.shape[0]):
        t = x[j] + y[j]
        bits = float_to_bits(t)
        exponent = np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23)
        m = bits_to_float(bits - (exponent << np.int32(23))) - np.float32(1.0)
        term = t * (log_from_parts32(np.float32(exponent), m) - np.float32(1.0))
        value += term
        size += abs(term)
    return value, size
