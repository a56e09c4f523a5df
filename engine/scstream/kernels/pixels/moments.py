"""Statistics of pixels: weighted count, sum and second moments."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, inlined, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import PIXEL_D, PIXEL_P, PIXELS, TILE, uint


@leaf(fastmath=FAST)
def group_moments(px, centre, group, g, begin, end, weight, out):
    """Weighted statistics out (21,) float64 of the pixels p in [begin, end) with group[p] == g.

    out = weight (n, sum x, lower triangle of sum x x'); px (5, PIXELS) float32, group (PIXELS,) int32. Sums are taken
    in float32 around the tile's centre (5,) float32, where numbers are small, then shifted to the origin in float64.
    """
    vectorise()
    c0, c1, c2, c3, c4 = centre[0], centre[1], centre[2], centre[3], centre[4]
    z = np.float32(0.0)
    size = s0 = s1 = s2 = s3 = s4 = z
    m00 = m10 = m11 = m20 = m21 = m22 = m30 = m31 = m32 = m33 = m40 = m41 = m42 = m43 = m44 = z
    for p in range(uint(begin), uint(end)):
        w = np.float32(1.0) if group[p] == np.int32(g) else z
        x0 = px[0, p] - c0
        x1 = px[1, p] - c1
        x2 = px[2, p] - c2
        x3 = px[3, p] - c3
        x4 = px[4, p] - c4
        w0, w1, w2, w3, w4 = w * x0, w * x1, w * x2, w * x3, w * x4
        size += w
        s0 += w0
        s1 += w1
        s2 += w2
        s3 += w3
        s4 += w4
        m00 += w0 * x0
        m10 += w1 * x0
        m11 += w1 * x1
        m20 += w2 * x0
        m21 += w2 * x1
        m22 += w2 * x2
        m30 += w3 * x0
        m31 += w3 * x1
        m32 += w3 * x2
        m33 += w3 * x3
        m40 += w4 * x0
        m41 += w4 * x1
        m42 += w4 * x2
        m43 += w4 * x3
        m44 += w4 * x4
    second = (m00, m10, m11, m20, m21, m22, m30, m31, m32, m33, m40, m41, m42, m43, m44)
    _shift_to_origin(np.float64(size), (s0, s1, s2, s3, s4), second, centre, weight, out)


@leaf(fastmath=FAST)
def tile_moments(px, centre, weight, out):
    """Weighted statistics out (21,) float64 of all pixels px (5, PIXELS) float32 of a tile inside the picture.

    As `group_moments`, but faster: positions form a grid, so their sums are products over rows and columns.
    """
    vectorise()
    c2, c3, c4 = centre[2], centre[3], centre[4]
    s2 = s3 = s4 = np.float32(0.0)
    m20 = m21 = m22 = m30 = m31 = m32 = m33 = m40 = m41 = m42 = m43 = m44 = np.float32(0.0)
    for p in range(uint(PIXELS)):
        x0 = px[0, p] - centre[0]
        x1 = px[1, p] - centre[1]
        x2, x3, x4 = px[2, p] - c2, px[3, p] - c3, px[4, p] - c4
        s2 += x2
        s3 += x3
        s4 += x4
        m20 += x2 * x0
        m21 += x2 * x1
        m22 += x2 * x2
        m30 += x3 * x0
        m31 += x3 * x1
        m32 += x3 * x2
        m33 += x3 * x3
        m40 += x4 * x0
        m41 += x4 * x1
        m42 += x4 * x2
        m43 += x4 * x3
        m44 += x4 * x4
    s0 = s1 = m00 = m11 = 0.0
    for j in range(TILE):
        x0, x1 = np.float64(px[0, j * TILE] - centre[0]), np.float64(px[1, j] - centre[1])
        s0 += x0
        s1 += x1
        m00 += x0 * x0
        m11 += x1 * x1
    side = np.float64(TILE)
    second = (
        side * m00, s1 * s0, side * m11, np.float64(m20), np.float64(m21), np.float64(m22), np.float64(m30),
        np.float64(m31), np.float64(m32), np.float64(m33), np.float64(m40), np.float64(m41), np.float64(m42),
        np.float64(m43), np.float64(m44),
    )  # fmt: skip
    first = (side * s0, side * s1, np.float64(s2), np.float64(s3), np.float64(s4))
    _shift_to_origin(np.float64(PIXELS), first, second, centre, weight, out)


@inlined
def _shift_to_origin(count, first, second, centre, weight, out):
    """Weighted statistics out (21,) float64 from sums around a centre (5,).

    For y = x - centre, given count n, first = sum y (5,) and second = sum y y' (15 numbers, the lower triangle):
    sum x = first + n centre and sum x x' = second + centre first' + first centre' + n centre centre'.
    """
    W = np.float64(weight)
    out[0] = W * count
    e = 0
    for i in range(PIXEL_D):
        ci = np.float64(centre[i])
        si = np.float64(first[i])
        out[1 + i] = W * (si + count * ci)
        for h in range(i + 1):
            ch = np.float64(centre[h])
            out[1 + PIXEL_D + e] = W * (second[e] + ci * np.float64(first[h]) + ch * si + count * ci * ch)
            e += 1


@leaf
def add_row(part, out):
    """out += part, two rows of statistics (P,) float64."""
    vectorise()
    # The length comes from the array: the compiler would unroll a loop of known length instead of vectorising it.
    for e in range(part.shape[0]):
        out[e] += part[e]


@leaf
def clear_row(out):
    """out = 0, a row of statistics (21,) float64."""
    vectorise()
    for e in range(PIXEL_P):
        out[e] = 0.0
