"""Find pairs of Gaussian clusters that may merge, by an upper bound of the likelihood of each union."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.intrinsics import vectorise
from scstream.kernels.linalg import cholesky, invert_lower
from scstream.kernels.niw import log_multigamma, niw_posterior
from scstream.kernels.scalar_math import lgamma, lgamma64, log1p64, log64


@kernel(fastmath=FAST)
def niw_mergeable(S, log_marginal, log_alpha, least, kappa, m, nu, nu_psi, eligible, pairs):
    """List the pairs whose merge may have a log Hastings ratio above ``least``; writes pairs (n, 2), returns n.

    With a's posterior as b's prior, the scatter of the union is M_a + g d d' + scatter_b, d the difference of the
    means. Without scatter_b its determinant is |M_a| (1 + g d' M_a^-1 d), which bounds it from below, and so the
    union's marginal likelihood from above. Where this bound is not enough, scatter_b enters through Minkowski's
    inequality: |A + B|^(1/D) >= |A|^(1/D) + |B|^(1/D).

    Parameters
    ----------
    S : array (K, P) float64
        Statistics of the clusters; `niw` describes them and the prior kappa, m, nu, nu_psi.
    log_marginal : array (K,) float64
        Log marginal likelihood of each cluster.
    log_alpha, least : float
    kappa, m, nu, nu_psi : prior
    eligible : array (K,) bool
        Clusters that may merge.
    pairs : array (K (K - 1) / 2, 2) int64, output
        Pairs (b, a) with b < a.
    """
    D = m.shape[0]
    K = S.shape[0]
    scatter = nu_psi.copy()
    no_prior = np.zeros_like(nu_psi)
    prior = 0.5 * nu * cholesky(scatter) + 0.5 * D * math.log(kappa) - log_multigamma(0.5 * nu, D)
    size = np.empty(K)
    own = np.empty(K)
    own_logdet = np.empty(K)
    centre = np.empty((D, K))
    logdet = np.empty((K, K))
    mean = np.empty(D)
    inverse = np.empty((D, D))
    y = np.empty(K)
    for k in range(K):
        size[k] = max(S[k, 0], 1e-3)
        own[k] = log_marginal[k] + lgamma(size[k])
        niw_posterior(S[k], 0.0, m, 0.0, no_prior, mean, scatter)
        own_logdet[k] = cholesky(scatter)
        for j in range(D):
            centre[j, k] = mean[j]
    for a in range(K):
        if not eligible[a]:
            continue
        kappa_a, _ = niw_posterior(S[a], kappa, m, nu, nu_psi, mean, scatter)
        logdet_a = cholesky(scatter)
        invert_lower(scatter, inverse)
        _union_logdets(centre, size, mean, inverse, kappa_a, logdet_a, y, logdet[a])
    bound = np.empty(K)
    n = 0
    for a in range(K):
        if not eligible[a]:
            continue
        for b in range(a):
            y[b] = max(logdet[a, b], logdet[b, a])
        _bound_unions(size, size[a], y, nu, D, bound[:a])
        for b in range(a):
            beyond = prior + bound[b] - own[a] - own[b] - log_alpha - least
            if not eligible[b] or beyond <= 0.0:
                continue
            together = size[a] + size[b]
            tighter = _log_minkowski(logdet[a, b], own_logdet[b], D)
            tighter = max(tighter, _log_minkowski(logdet[b, a], own_logdet[a], D))
            beyond -= 0.5 * (nu + together) * (tighter - y[b])
            if beyond <= 0.0:
                continue
            most = max(0.5 * (nu + together), 2.0)
            beyond -= D * _lgamma_bound(most, log64(most))
            for i in range(D):
                beyond += lgamma64(0.5 * (nu + together - i))
            if beyond > 0.0:
                pairs[n, 0] = b
                pairs[n, 1] = a
                n += 1
    return n


@leaf(fastmath=FAST)
def _union_logdets(centre, size, mean, inverse, kappa, logdet, y, out):
    """Lower bounds out (K,) of log |M + g d d' + ...| of the unions of one cluster with each of the others.

    out = log |M| + log(1 + g d' M^-1 d), g = kappa size / (kappa + size), d = centre - mean.
    centre (D, K) and size (K,) of all clusters; mean (D,), kappa, logdet = log |M| and M^-1 = inverse' inverse,
    inverse (D, D), of the one's posterior. y (K,) is scratch; all float64.
    """
    vectorise()
    D, K = centre.shape
    for b in range(K):
        out[b] = 0.0
    for i in range(D):
        offset = 0.0
        for j in range(i + 1):
            offset -= inverse[i, j] * mean[j]
        for b in range(K):
            y[b] = offset
        for j in range(i + 1):
            factor = inverse[i, j]
            for b in range(K):
                y[b] += factor * centre[j, b]
        for b in range(K):
            out[b] += y[b] * y[b]
    for b in range(K):
        g = kappa * size[b] / (kappa + size[b])
        out[b] = logdet + log1p64(g * out[b])


@leaf(fastmath=FAST)
def _bound_unions(sizes, size, logdet, nu, D, out):
    """Upper bounds out (n,) of the marginal likelihoods of unions, the part that depends on both sizes.

    sizes (n or more,) of the other clusters, size of the one, logdet (n or more,) lower bounds of the log determinants.
    With N = size + sizes[b]:
    log Gamma(N) - N D / 2 log(pi) - (nu + N) / 2 logdet - D / 2 log(N) + D log Gamma((nu + N) / 2).
    """
    vectorise()
    half_log_pi = 0.5 * D * math.log(math.pi)
    for b in range(out.shape[0]):
        together = size + sizes[b]
        log_together = log64(together)
        # log Gamma rises from 1.5 on: the largest of the D terms of log Gamma_D bounds each of them.
        degrees = 0.5 * (nu + together)
        most = degrees if degrees > 2.0 else 2.0
        # The last logarithm omits kappa, which would only lower the bound.
        out[b] = (
            _lgamma_bound(together, log_together)
            - half_log_pi * together
            - degrees * logdet[b]
            - 0.5 * D * log_together
            + D * _lgamma_bound(most, log64(most))
        )


@leaf
def _log_minkowski(a, b, D):
    """log (|A|^(1/D) + |B|^(1/D))^D, a lower bound of log |A + B|, given a = log |A| and b = log |B|."""
    large, small = max(a, b), min(a, b)
    return large + D * math.log1p(math.exp((small - large) / D))


@inlined
def _lgamma_bound(x, log_x):
    """Upper bound of log Gamma(x) for x >= 2, given log(x), at most 1 / 24 too high: Stirling's formula."""
    return (x - 0.5) * log_x - x + (0.9189385332046727 + 1.0 / 24.0)
