"""Find pairs of Gaussian clusters that may merge, by an upper bound of the likelihood of each union."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import larger, vectorise
from scstream.kernels.basics.linalg import cholesky, invert_lower
from scstream.kernels.basics.scalar_math import lgamma, lgamma64, lgamma_bound, log1p64, log64
from scstream.kernels.components.niw import log_multigamma, niw_posterior

#: From this alpha on, differences of log Gamma lose too many digits.
_LARGE_ALPHA = 1e8


@kernel(fastmath=FAST)
def niw_merge_terms(S, log_marginal, m, size, own, own_logdet, centre):
    """Terms of each cluster in the bounds of unions with it; see `niw_mergeable`.

    S (K, P), log_marginal (K,) and the prior mean m (D,) float64. Writes float64 size (K,), the number of points,
    own (K,) = log_marginal + log Gamma(size), own_logdet (K,), the log determinant of the scatter without the prior,
    and centre (D, K), the means without the prior.
    """
    D = len(m)
    no_prior = np.zeros((D, D))
    scatter = np.empty((D, D))
    mean = np.empty(D)
    for k in range(S.shape[0]):
        size[k] = max(S[k, 0], 1e-3)
        own[k] = log_marginal[k] + lgamma(size[k])
        niw_posterior(S[k], 0.0, m, 0.0, no_prior, mean, scatter)
        own_logdet[k] = cholesky(scatter)
        for j in range(D):
            centre[j, k] = mean[j]


@kernel(fastmath=FAST)
def niw_union_logdets(S, size, centre, kappa, m, nu, nu_psi, eligible, first, last, out):
    """Lower bounds out[a] (K,) of the log determinants of the unions of each a in [first, last) with all clusters.

    Rows of clusters that are not ``eligible`` (K,) are not written. The other arguments as in `niw_merge_terms`,
    with the prior kappa, m, nu, nu_psi of `niw`.
    """
    D = len(m)
    scatter = np.empty((D, D))
    inverse = np.empty((D, D))
    mean = np.empty(D)
    y = np.empty(size.shape[0])
    for a in range(first, last):
        if eligible[a]:
            kappa_a, _ = niw_posterior(S[a], kappa, m, nu, nu_psi, mean, scatter)
            logdet_a = cholesky(scatter)
            invert_lower(scatter, inverse)
            _union_logdets(centre, size, mean, inverse, kappa_a, logdet_a, y, out[a])


@kernel(fastmath=FAST)
def niw_mergeable(
    size, own, own_logdet, logdet, least, kappa, nu, nu_psi, share, log_alpha, eligible, first, last, pairs, places
):
    """List the pairs whose merge may have a log Hastings ratio, less log alpha, above ``least``.

    With a's posterior as b's prior, the scatter of the union is M_a + g d d' + scatter_b, d the difference of the
    means. Without scatter_b its determinant is |M_a| (1 + g d' M_a^-1 d), which bounds it from below, and so the
    union's marginal likelihood from above. Where this bound is not enough, scatter_b enters through Minkowski's
    inequality: |A + B|^(1/D) >= |A|^(1/D) + |B|^(1/D).

    Parameters
    ----------
    size, own, own_logdet : arrays (K,) float64
        As `niw_merge_terms` writes them.
    logdet : array (K, K) float64
        As `niw_union_logdets` writes it.
    least : float
    kappa, nu, nu_psi : prior
    share : array (K,) float64
    log_alpha : float
        If finite, only those pairs are listed whose ratio times Chang and Fisher's factor may exceed ``least``. The
        factor's logarithm is share_a + share_b - (log Gamma(alpha + n_a + n_b) - log Gamma(alpha)).
    eligible : array (K,) bool
        Clusters that may merge.
    first, last : int
        Search the pairs (b, a), b < a, with a in [first, last).
    pairs : array (n or more, 2) int64, output
    places : array (n or more,) int64, output
        Place that each listed pair has in the list of all pairs whose ratio without the factor may exceed ``least``.
        Returns n and the length of that list.
    """
    D = nu_psi.shape[0]
    scatter = nu_psi.copy()
    prior = 0.5 * nu * cholesky(scatter) + 0.5 * D * math.log(kappa) - log_multigamma(0.5 * nu, D)
    alpha = math.exp(min(log_alpha, 700.0))
    lgamma_alpha = lgamma(alpha) if alpha <= _LARGE_ALPHA else 0.0
    bound = np.empty(last)
    rise = np.empty(last)
    n = total = 0
    for a in range(first, last):
        if not eligible[a]:
            continue
        # Most pairs are ruled out by one of the two bounds; the other one lies far away in memory.
        _bound_unions(size, size[a], logdet[a], own_logdet, nu, D, rise, bound[:a])
        for b in range(a):
            beyond = prior + bound[b] - own[a] - own[b] - least
            if not eligible[b] or beyond <= 0.0:
                continue
            together = size[a] + size[b]
            degrees = 0.5 * (nu + together)
            tighter = _log_minkowski(logdet[a, b], own_logdet[b], D)
            beyond -= degrees * (tighter - logdet[a, b] - rise[b])
            if beyond <= 0.0:
                continue
            beyond -= degrees * max(_log_minkowski(logdet[b, a], own_logdet[a], D) - tighter, 0.0)
            if beyond <= 0.0:
                continue
            most = max(degrees, 2.0)
            log_most = log64(most)
            excess = _multigamma_excess(degrees, log_most, D)
            # digamma(x) < log(x), and `lgamma_bound` is at most 1 / 24 too high.
            largest_excess = 0.25 * D * (D - 1) * log_most + D / 24.0
            if degrees <= 2.0 or beyond <= largest_excess - excess:
                beyond += excess - D * lgamma_bound(most, log_most)
                for i in range(D):
                    beyond += lgamma64(degrees - 0.5 * i)
                if beyond <= 0.0:
                    continue
            if log_alpha < np.inf:
                beyond += share[a] + share[b] - _rising_bound(together, log_alpha, alpha, lgamma_alpha)
            if beyond > 0.0:
                pairs[n, 0] = b
                pairs[n, 1] = a
                places[n] = total
                n += 1
            total += 1
    return n, total


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
def _bound_unions(sizes, size, logdet, own_logdet, nu, D, rise, out):
    """Upper bounds out (n,) of the marginal likelihoods of unions, the part that depends on both sizes.

    sizes (n or more,) of the other clusters, size of the one, logdet (n or more,) lower bounds of the log determinants,
    which rise (n or more,) raises by a little less than `_log_minkowski` with own_logdet (n or more,) does.
    With N = size + sizes[b]:
    log Gamma(N) - N D / 2 log(pi) - (nu + N) / 2 (logdet + rise) - D / 2 log(N) + log Gamma_D((nu + N) / 2).
    """
    vectorise()
    half_log_pi = 0.5 * D * math.log(math.pi)
    for b in range(out.shape[0]):
        together = size + sizes[b]
        log_together = log64(together)
        # log Gamma rises from 1.5 on: the largest of the D terms of log Gamma_D bounds each of them.
        degrees = 0.5 * (nu + together)
        most = degrees if degrees > 2.0 else 2.0
        log_most = log64(most)
        rise[b] = D * _softplus_bound((own_logdet[b] - logdet[b]) / D)
        # The last logarithm omits kappa, which would only lower the bound.
        out[b] = (
            lgamma_bound(together, log_together)
            - half_log_pi * together
            - degrees * (logdet[b] + rise[b])
            - 0.5 * D * log_together
            + D * lgamma_bound(most, log_most)
            - _multigamma_excess(degrees, log_most, D)
        )


@inlined
def _softplus_bound(x):
    """Lower bound of log(1 + exp(x)), at most 0.05 too low: its tangents at 0, -1, 1, -2.5 and 2.5, and max(0, x)."""
    middle = larger(0.693146 + 0.5 * x, larger(0.582202 + 0.2689414 * x, 0.582202 + 0.7310586 * x))
    outer = larger(0.268534 + 0.0758582 * x, 0.268534 + 0.9241418 * x)
    return larger(larger(middle, outer), larger(0.0, x))


@inlined(fastmath=FAST)
def _multigamma_excess(x, log_x, D):
    """Lower bound of D `lgamma_bound`(x) - log Gamma_D(x), given log(x); 0 for a small x.

    log Gamma is convex: log Gamma(x) - log Gamma(x - h) >= h digamma(x - h), and digamma(y) > log(y) - 1 / y. With the
    largest h = (D - 1) / 2 and y = x - h, log(y) >= log(x) - h / y. The sum of all h is D (D - 1) / 4.
    """
    h = 0.5 * (D - 1)
    y = x - h
    least = log_x - (1.0 + h) / y
    return 0.25 * D * (D - 1) * least if x > 2.0 and y > 1.0 and least > 0.0 else 0.0


@leaf
def _rising_bound(n, log_alpha, alpha, lgamma_alpha):
    """Lower bound of log Gamma(alpha + n) - log Gamma(alpha); lgamma_alpha is the latter unless alpha is large.

    Stirling's formula without its last terms, which are positive; for a large alpha with the huge terms cancelled.
    """
    if alpha > _LARGE_ALPHA:
        return n * (log_alpha - 1.0) + (alpha + n - 0.5) * log1p64(n / alpha) - 1e-6
    x = alpha + n
    return (x - 0.5) * log64(x) - x + 0.9189385332046727 - lgamma_alpha


@leaf
def _log_minkowski(a, b, D):
    """log (|A|^(1/D) + |B|^(1/D))^D, a lower bound of log |A + B|, given a = log |A| and b = log |B|."""
    large, small = max(a, b), min(a, b)
    return large + D * math.log1p(math.exp((small - large) / D))
