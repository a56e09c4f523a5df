"""Gaussian with a normal-inverse-Wishart prior, in any dimension: marginal likelihood, predictive, draws.

The prior is kappa, m (D,), nu and nu_psi = nu psi (D, D); the posterior's values are written kappa*, m*, nu*, psi*.
If m is a tuple rather than an array, D is known to the compiler, which unrolls the loops over dimensions.
Statistics S (P,) are the count, the sum (D,) and the lower triangle of sum x x', row by row: P = 1 + D + D (D + 1) / 2.
All arrays are float64.
"""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.linalg import cholesky, invert_lower
from scstream.kernels.basics.scalar_math import lgamma


@leaf
def niw_posterior(S, kappa, m, nu, nu_psi, mean, scatter):
    """Posterior of one cluster with statistics S (P,); returns kappa*, nu*.

    Writes mean = m* (D,) and the lower triangle of scatter = nu* psi* (D, D), with kappa* = kappa + n, nu* = nu + n,
    m* = (kappa m + sum x) / kappa* and nu* psi* = nu psi + sum x x' + kappa m m' - kappa* m* m*'.
    """
    D = len(m)
    kappa_n = kappa + S[0]
    for i in range(D):
        mean[i] = (kappa * m[i] + S[1 + i]) / kappa_n
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            scatter[i, j] = nu_psi[i, j] + S[e] + kappa * m[i] * m[j] - kappa_n * mean[i] * mean[j]
            e += 1
        # Points only add to the prior's scatter; rounding may make the difference smaller than that.
        scatter[i, i] = max(scatter[i, i], nu_psi[i, i])
    return kappa_n, nu + S[0]


@leaf
def log_multigamma(x, D):
    """log Gamma_D(x) = sum over i < D of log Gamma(x - i / 2).

    Without the constant pi^(D (D - 1) / 4), which cancels in every ratio.
    """
    total = 0.0
    for i in range(D):
        total += lgamma(x - 0.5 * i)
    return total


@kernel
def niw_log_marginal(S, kappa, m, nu, nu_psi, out):
    """Log marginal likelihood out (M,) of the points of each cluster with statistics S (M, P).

    log p = log Gamma_D(nu* / 2) - log Gamma_D(nu / 2) + nu / 2 log|nu psi| - nu* / 2 log|nu* psi*|
    + D / 2 log(kappa / kappa*) - n D / 2 log(pi)
    """
    D = len(m)
    mean = np.empty(D)
    scatter = nu_psi.copy()
    prior = 0.5 * nu * cholesky(scatter) + 0.5 * D * math.log(kappa) - log_multigamma(0.5 * nu, D)
    for k in range(S.shape[0]):
        kappa_n, nu_n = niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = cholesky(scatter)
        out[k] = (
            prior
            - 0.5 * S[k, 0] * D * math.log(math.pi)
            + log_multigamma(0.5 * nu_n, D)
            - 0.5 * nu_n * logdet
            - 0.5 * D * math.log(kappa_n)
        )


@kernel
def niw_predictive(S, kappa, m, nu, nu_psi, A, b, c, dof):
    """Whitened form of the posterior predictive of each cluster with statistics S (M, P).

    A Student t with dof = nu* - D + 1 degrees, mean m* and scale matrix (kappa* + 1) / (kappa* dof) nu* psi*.
    Writes A (M, D, D), b (M, D), c (M,), dof (M,); only the lower triangle of A.
    """
    D = len(m)
    mean = np.empty(D)
    scatter = np.empty((D, D))
    for k in range(S.shape[0]):
        kappa_n, nu_n = niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = cholesky(scatter)
        invert_lower(scatter, A[k])
        dof[k] = nu_n - D + 1.0
        scale = math.sqrt(kappa_n * dof[k] / (kappa_n + 1.0))
        _whiten(A[k], scale, mean, b[k])
        c[k] = (
            lgamma(0.5 * (dof[k] + D))
            - lgamma(0.5 * dof[k])
            - 0.5 * D * math.log(dof[k] * math.pi)
            + D * math.log(scale)
            - 0.5 * logdet
        )


@kernel
def niw_draw(S, kappa, m, nu, nu_psi, normal, chi, A, b, c):
    """Draw (mu, Sigma) of each cluster with statistics S (M, P) from its posterior, in whitened form.

    normal (M, D + D (D - 1) / 2) are standard normals; chi (M, D): chi[k, i]^2 ~ chi^2 of nu* - (D - 1 - i) degrees.
    With nu* psi* = C C' and an upper triangular Bartlett factor U, Sigma^-1 = A' A for A = U' C^-1, which is lower
    triangular; mu = m* + A^-1 z / sqrt(kappa*), hence b = -A m* - z / sqrt(kappa*).
    Writes A (M, D, D), b (M, D), c (M,).
    """
    D = len(m)
    mean = np.empty(D)
    scatter = np.empty((D, D))
    inverse = np.empty((D, D))
    U = np.zeros((D, D))
    for k in range(S.shape[0]):
        kappa_n, _ = niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = cholesky(scatter)
        invert_lower(scatter, inverse)
        e = D
        log_diagonal = 0.0
        product = 1.0
        for i in range(D):
            U[i, i] = chi[k, i]
            product *= chi[k, i]
            if not 1e-100 < product < 1e100:
                log_diagonal += math.log(product)
                product = 1.0
            for j in range(i + 1, D):
                U[i, j] = normal[k, e]
                e += 1
        for i in range(D):
            for j in range(i + 1):
                v = 0.0
                for r in range(j, i + 1):
                    v += U[r, i] * inverse[r, j]
                A[k, i, j] = v
        _whiten(A[k], 1.0, mean, b[k])
        for i in range(D):
            b[k, i] -= normal[k, i] / math.sqrt(kappa_n)
        c[k] = log_diagonal + math.log(product) - 0.5 * logdet - 0.5 * D * math.log(2.0 * math.pi)


@leaf
def _whiten(A, scale, mean, b):
    """A *= scale, then b = -A mean; A (D, D) lower triangular, mean and b (D,) float64."""
    D = b.shape[0]
    for i in range(D):
        v = 0.0
        for j in range(i + 1):
            A[i, j] *= scale
            v -= A[i, j] * mean[j]
        b[i] = v
