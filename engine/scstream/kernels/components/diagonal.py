"""Gaussians with a diagonal covariance: scores and statistics of points, and which pairs of clusters may merge."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, kernel, leaf
from scstream.kernels.basics.intrinsics import larger, vectorise
from scstream.kernels.basics.scalar_math import lgamma_bound, log1p64, log64


@kernel(fastmath=FAST)
def diagonal_scores(XT, mean, precision, c, dof, first, last, out):
    """Scores out[:, first:last] of points under products of independent normals (dof 0) or Student t's.

    c + sum over dimensions of -q / 2, or of -(dof + 1) / 2 log(1 + q / dof), with q = precision (x - mean)^2.
    XT (D, N), mean, precision (K, D), c, dof (K,), out (K, N) float64.
    """
    for k in range(c.shape[0]):
        s = out[k, first:last]
        s[:] = c[k]
        for d in range(XT.shape[0]):
            x = XT[d, first:last]
            m = mean[k, d]
            if dof[k] > 0:
                inverse = precision[k, d] / dof[k]
                scale = 0.5 * (dof[k] + 1.0)
                for n in range(last - first):
                    s[n] -= scale * log1p64(inverse * (x[n] - m) * (x[n] - m))
            else:
                half = 0.5 * precision[k, d]
                for n in range(last - first):
                    s[n] -= half * (x[n] - m) * (x[n] - m)


@kernel
def diagonal_statistics(X, weight, groups, out):
    """out[groups[n]] += weight[n] (1, x, x^2) for each point x = X[n].

    X (N, D), weight (N,), out (groups, 1 + 2 D) float64, groups (N,) int32.
    """
    D = X.shape[1]
    for n in range(X.shape[0]):
        if weight[n] == 0.0:
            continue
        S = out[groups[n]]
        S[0] += weight[n]
        for d in range(D):
            v = weight[n] * X[n, d]
            S[1 + d] += v
            S[1 + D + d] += v * X[n, d]


@kernel(fastmath=FAST)
def diagonal_mergeable(ST, own, kappa, m, nu, nu_psi, least, eligible, first, last, pairs):
    """List the pairs of clusters whose merge may have a log Hastings ratio, less log alpha, above ``least``.

    The log marginal likelihood of a union is exact but for its log Gammas, which Stirling's formula bounds from above.

    Parameters
    ----------
    ST : array (1 + 2 D, K) float64
        Statistics of the clusters, one column each.
    own : array (K,) float64
        Log marginal likelihood + log Gamma(number of points) of each cluster.
    kappa, m, nu, nu_psi : prior
        m and nu_psi (D,) float64.
    least : float
    eligible : array (K,) bool
        Clusters that may merge.
    first, last : int
        Search the pairs (b, a), b < a, with a in [first, last).
    pairs : array (n or more, 2) int64, output
        Returns n.
    """
    D = m.shape[0]
    prior = 0.5 * D * math.log(kappa) - D * math.lgamma(0.5 * nu)
    for d in range(D):
        prior += 0.5 * nu * math.log(nu_psi[d])
    logdet, ratio = np.empty(last), np.empty(last)
    n = 0
    for a in range(first, last):
        if not eligible[a]:
            continue
        _union_ratios(ST, a, kappa, m, nu, nu_psi, logdet[:a], ratio[:a])
        for b in range(a):
            if eligible[b] and prior + ratio[b] - own[a] - own[b] > least:
                pairs[n, 0] = b
                pairs[n, 1] = a
                n += 1
    return n


@leaf(fastmath=FAST)
def _union_ratios(ST, a, kappa, m, nu, nu_psi, logdet, out):
    """The part of the log ratios out (n,) of merging cluster a with the first n ones that depends on both.

    With N points and the scatters M_d = nu psi_d + sum x_d^2 + kappa m_d^2 - (kappa m_d + sum x_d)^2 / (kappa + N) of
    the union: log Gamma(N) - D / 2 (log(kappa + N) + N log(pi)) + D log Gamma((nu + N) / 2)
    - (nu + N) / 2 sum_d log(M_d). logdet (n,) is scratch; the others as in `diagonal_mergeable`.
    """
    vectorise()
    D = m.shape[0]
    for b in range(out.shape[0]):
        logdet[b] = 0.0
    for d in range(D):
        total = kappa * m[d] + ST[1 + d, a]
        square = nu_psi[d] + kappa * m[d] * m[d] + ST[1 + D + d, a]
        least = 1e-9 * nu_psi[d]
        for b in range(out.shape[0]):
            both = total + ST[1 + d, b]
            scatter = square + ST[1 + D + d, b] - both * both / (kappa + ST[0, a] + ST[0, b])
            logdet[b] += log64(larger(scatter, least))
    half_log_pi = 0.5 * D * math.log(math.pi)
    for b in range(out.shape[0]):
        N = ST[0, a] + ST[0, b]
        # log Gamma rises from 1.5 on.
        most = larger(0.5 * (nu + N), 2.0)
        count = larger(N, 2.0)
        out[b] = (
            lgamma_bound(count, log64(count))
            - half_log_pi * N
            - 0.5 * D * log64(kappa + N)
            + D * lgamma_bound(most, log64(most))
            - 0.5 * (nu + N) * logdet[b]
        )
