"""Points under Gaussians with a diagonal covariance: scores and statistics."""

from __future__ import annotations

from scstream.kernels._jit import FAST, kernel
from scstream.kernels.scalar_math import log1p64


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
