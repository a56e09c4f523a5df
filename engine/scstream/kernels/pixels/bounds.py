"""Upper bounds of a cluster's score over all pixels of a tile, used to skip clusters that cannot win there."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, inlined, leaf
from scstream.kernels.basics.intrinsics import larger, vectorise
from scstream.kernels.basics.layout import BANDS, FORM_C, FORM_POWER, uint
from scstream.kernels.pixels.pixel_scores import coefficients


@inlined(fastmath=FAST)
def _min_squared_distance(f, m, r):
    """Lower bound of |A x + b|^2 over the box |x_i - m_i| <= r_i.

    f are the form's `coefficients`; m and r five float32s each. By interval arithmetic on each whitened coordinate:
    sum_i max(0, |A_i m + b_i| - |A_i| r)^2.
    """
    zero = np.float32(0.0)
    n0 = abs(f[15] + f[0] * m[0]) - abs(f[0]) * r[0]
    n1 = abs(f[16] + f[1] * m[0] + f[2] * m[1])
    n1 -= abs(f[1]) * r[0] + abs(f[2]) * r[1]
    n2 = abs(f[17] + f[3] * m[0] + f[4] * m[1] + f[5] * m[2])
    n2 -= abs(f[3]) * r[0] + abs(f[4]) * r[1] + abs(f[5]) * r[2]
    n3 = abs(f[18] + f[6] * m[0] + f[7] * m[1] + f[8] * m[2] + f[9] * m[3])
    n3 -= abs(f[6]) * r[0] + abs(f[7]) * r[1] + abs(f[8]) * r[2] + abs(f[9]) * r[3]
    n4 = abs(f[19] + f[10] * m[0] + f[11] * m[1] + f[12] * m[2] + f[13] * m[3] + f[14] * m[4])
    n4 -= abs(f[10]) * r[0] + abs(f[11]) * r[1] + abs(f[12]) * r[2] + abs(f[13]) * r[3] + abs(f[14]) * r[4]
    n0, n1, n2 = larger(n0, zero), larger(n1, zero), larger(n2, zero)
    n3, n4 = larger(n3, zero), larger(n4, zero)
    return n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3 + n4 * n4


@inlined(fastmath=FAST)
def _max_score(near, top, power):
    """Upper bound of c - q, or c - power log(1 + q), given c = top and a lower bound of q; all float32.

    The slack covers float32 rounding, so that pruning never drops a cluster that brute force would pick.
    """
    # log(1 + z) >= 2 z / (2 + z)
    fall = np.float32(2.0) * power * near / (np.float32(2.0) + near) if power > 0 else near
    above = top - fall
    return above + np.float32(0.01) + np.float32(1e-4) * abs(above)


@leaf(fastmath=FAST)
def prepare_row_terms(low, high, table, out):
    """Write the terms out (ROW_TERMS, K) of the score bounds that all tiles of a row share.

    low, high (5,) is the box of the row's first tile, the widest one; table (FORM, K) the whitened forms, one a column;
    all float32. Row 0: the bound of the first whitened coordinate, squared; 1-4: b_i + A_i0 m_0 of the four others,
    m the box's centre; 5-8: |A_i0| r_0 + |A_i1| r_1, r its half widths; 9-14: |A_ij| of the colours.
    """
    vectorise()
    half = np.float32(0.5)
    m0, r0, r1 = half * (low[0] + high[0]), half * (high[0] - low[0]), half * (high[1] - low[1])
    t = table
    for k in range(uint(table.shape[1])):
        n0 = larger(abs(t[15, k] + t[0, k] * m0) - abs(t[0, k]) * r0, np.float32(0.0))
        out[0, k] = n0 * n0
        out[1, k] = t[16, k] + t[1, k] * m0
        out[2, k] = t[17, k] + t[3, k] * m0
        out[3, k] = t[18, k] + t[6, k] * m0
        out[4, k] = t[19, k] + t[10, k] * m0
        out[5, k] = abs(t[1, k]) * r0 + abs(t[2, k]) * r1
        out[6, k] = abs(t[3, k]) * r0 + abs(t[4, k]) * r1
        out[7, k] = abs(t[6, k]) * r0 + abs(t[7, k]) * r1
        out[8, k] = abs(t[10, k]) * r0 + abs(t[11, k]) * r1
        out[9, k], out[10, k], out[11, k] = abs(t[5, k]), abs(t[8, k]), abs(t[9, k])
        out[12, k], out[13, k], out[14, k] = abs(t[12, k]), abs(t[13, k]), abs(t[14, k])


@leaf(fastmath=FAST)
def bound_scores(low, high, table, row_terms, upper):
    """Upper bounds upper (K,) of every cluster's score over a tile's box low, high (5,).

    table (FORM, K) holds the whitened forms, row_terms (ROW_TERMS, K) what `prepare_row_terms` wrote for the row of
    tiles; all float32. The formula is that of `_min_squared_distance` and `_max_score`.
    """
    vectorise()
    half, zero = np.float32(0.5), np.float32(0.0)
    m1, m2 = half * (low[1] + high[1]), half * (low[2] + high[2])
    m3, m4 = half * (low[3] + high[3]), half * (low[4] + high[4])
    r2, r3, r4 = half * (high[2] - low[2]), half * (high[3] - low[3]), half * (high[4] - low[4])
    t, o = table, row_terms
    for k in range(uint(table.shape[1])):
        n1 = abs(o[1, k] + t[2, k] * m1) - o[5, k]
        n2 = abs(o[2, k] + t[4, k] * m1 + t[5, k] * m2) - (o[6, k] + o[9, k] * r2)
        n3 = abs(o[3, k] + t[7, k] * m1 + t[8, k] * m2 + t[9, k] * m3) - (o[7, k] + o[10, k] * r2 + o[11, k] * r3)
        n4 = abs(o[4, k] + t[11, k] * m1 + t[12, k] * m2 + t[13, k] * m3 + t[14, k] * m4)
        n4 -= o[8, k] + o[12, k] * r2 + o[13, k] * r3 + o[14, k] * r4
        n1, n2, n3, n4 = larger(n1, zero), larger(n2, zero), larger(n3, zero), larger(n4, zero)
        upper[k] = o[0, k] + n1 * n1 + n2 * n2 + n3 * n3 + n4 * n4
    c, power = table[FORM_C], table[FORM_POWER]
    # Either all clusters are Student t's or none is.
    if table.shape[1] > 0 and power[0] > 0:
        for k in range(uint(table.shape[1])):
            upper[k] = _max_score(upper[k], c[k], power[k])
    else:
        for k in range(uint(table.shape[1])):
            upper[k] = _max_score(upper[k], c[k], np.float32(0.0))


@leaf(fastmath=FAST)
def bound_band_scores(bands, form, out):
    """Upper bounds out (BANDS,) of one cluster's score over the boxes of a tile's bands.

    bands (2, 5, BANDS) holds centres and half widths of the boxes, form (FORM,) the whitened form; all float32.
    """
    vectorise()
    f = coefficients(form)
    m, r = bands[0], bands[1]
    # A loop of known length: one over the array's length would be vectorised for more bands than there are.
    for b in range(uint(BANDS)):
        middle = m[0, b], m[1, b], m[2, b], m[3, b], m[4, b]
        reach = r[0, b], r[1, b], r[2, b], r[3, b], r[4, b]
        out[b] = _max_score(_min_squared_distance(f, middle, reach), form[FORM_C], form[FORM_POWER])
