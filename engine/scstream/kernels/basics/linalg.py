"""Linear algebra of small matrices: Cholesky factor, triangular inverse, eigenvectors."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import kernel, leaf

#: Largest matrix whose eigenvectors Jacobi's method finds faster than LAPACK.
_JACOBI_MAX = 24


@leaf
def cholesky(M):
    """Replace the lower triangle of M (D, D) float64 by its Cholesky factor C, M = C C', and return log det M.

    A pivot that rounding has made non-positive is raised to 1e-12 of its diagonal entry.
    """
    D = M.shape[0]
    logdet = 0.0
    product = 1.0
    for j in range(D):
        v = M[j, j]
        for e in range(j):
            v -= M[j, e] * M[j, e]
        v = max(v, 1e-12 * M[j, j], 1e-300)
        # One logarithm serves many pivots, as long as their product stays within the float's range.
        if not 1e-100 < v < 1e100 or not 1e-100 < product < 1e100:
            logdet += math.log(product)
            product = 1.0
        product *= v
        v = math.sqrt(v)
        M[j, j] = v
        inverse = 1.0 / v
        for i in range(j + 1, D):
            w = M[i, j]
            for e in range(j):
                w -= M[i, e] * M[j, e]
            M[i, j] = w * inverse
    return logdet + math.log(product)


@leaf
def invert_lower(C, out):
    """out = C^-1 of a lower triangular C (D, D) float64; writes the lower triangle of out only."""
    D = C.shape[0]
    for i in range(D):
        inverse = 1.0 / C[i, i]
        for j in range(i):
            v = 0.0
            for e in range(j, i):
                v -= C[i, e] * out[e, j]
            out[i, j] = v * inverse
        out[i, i] = inverse


@kernel
def symmetric_eigen(M, V):
    """Eigenvalues of a symmetric M (D, D) on its diagonal, in place; eigenvectors in the columns of V (D, D).

    Jacobi's method: for small matrices it takes a tenth of the time of a call to LAPACK, which serves large ones.
    """
    D = M.shape[0]
    if D > _JACOBI_MAX:
        values, vectors = np.linalg.eigh(M)
        for i in range(D):
            M[i, i] = values[i]
            for j in range(D):
                V[i, j] = vectors[i, j]
        return
    for i in range(D):
        for j in range(D):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(30):
        off = total = 0.0
        for i in range(D):
            total += M[i, i] * M[i, i]
            for j in range(i):
                off += M[i, j] * M[i, j]
        if off <= 1e-30 * total:
            return
        for p in range(D - 1):
            for q in range(p + 1, D):
                if M[p, q] == 0.0:
                    continue
                theta = 0.5 * (M[q, q] - M[p, p]) / M[p, q]
                t = 1.0 / (abs(theta) + math.sqrt(1.0 + theta * theta))
                t = t if theta >= 0.0 else -t
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for e in range(D):
                    x, y = M[e, p], M[e, q]
                    M[e, p], M[e, q] = c * x - s * y, s * x + c * y
                for e in range(D):
                    x, y = M[p, e], M[q, e]
                    M[p, e], M[q, e] = c * x - s * y, s * x + c * y
                for e in range(D):
                    x, y = V[e, p], V[e, q]
                    V[e, p], V[e, q] = c * x - s * y, s * x + c * y
