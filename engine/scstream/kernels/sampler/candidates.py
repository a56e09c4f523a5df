"""Which clusters may be split or merged in a sweep, and their statistics."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel


@kernel
def split_candidates(past, current, age, subcluster_age, unlocked, burn_in):
    """Clusters that may be split, and clusters with an empty sub-cluster.

    Parameters
    ----------
    past, current : arrays (K, 2, P) float64
        The statistics are their sum.
    age, subcluster_age : arrays (K,) int64
    unlocked : array (K,) bool
    burn_in : int

    Returns
    -------
    candidates : array (n,) int64
        Unlocked clusters past their burn-in with a point in each sub-cluster.
    empty : array (m,) int64
        Clusters past their sub-clusters' burn-in with points in one sub-cluster alone.
    S : array (3 n, P) float64
        Statistics of the n candidates, and after them of their 2 n sub-clusters.
    """
    K, _, P = past.shape
    candidates, empty = np.empty(K, np.int64), np.empty(K, np.int64)
    n = m = 0
    for k in range(K):
        if subcluster_age[k] < burn_in:
            continue
        one, other = past[k, 0, 0] + current[k, 0, 0], past[k, 1, 0] + current[k, 1, 0]
        if min(one, other) < 1.0:
            if one + other >= 2.0:
                empty[m] = k
                m += 1
        elif age[k] >= burn_in and unlocked[k]:
            candidates[n] = k
            n += 1
    S = np.empty((3 * n, P))
    for i in range(n):
        k = candidates[i]
        for e in range(P):
            one, other = past[k, 0, e] + current[k, 0, e], past[k, 1, e] + current[k, 1, e]
            S[i, e], S[n + 2 * i, e], S[n + 2 * i + 1, e] = one + other, one, other
    return candidates[:n], empty[:m], S


@kernel
def merge_candidates(past, current, age, moved, unlocked, burn_in):
    """Clusters that may merge: unlocked, past their burn-in, with a point, and not moved in this sweep.

    Parameters
    ----------
    past, current, age, unlocked, burn_in
        As in `split_candidates`.
    moved : array (K,) bool

    Returns
    -------
    S : array (K, P) float64
        Statistics of all clusters.
    eligible : array (K,) bool
    n : int
        Number of eligible clusters.
    """
    K, _, P = past.shape
    S, eligible = np.empty((K, P)), np.empty(K, np.bool_)
    n = 0
    for k in range(K):
        for e in range(P):
            S[k, e] = (past[k, 0, e] + current[k, 0, e]) + (past[k, 1, e] + current[k, 1, e])
        eligible[k] = age[k] >= burn_in and unlocked[k] and not moved[k] and S[k, 0] >= 1.0
        n += eligible[k]
    return S, eligible, n
