"""Blocks of points that lie together: places on a curve, bounding boxes, and bounds of a box's Gaussian scores."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import larger, smaller, vectorise
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.scalar_math import log1p64

#: Points of a block.
SHARED_BLOCK = 64
#: Cells of the grid along each axis, and its half width in standard deviations.
_CELLS = 256
_WIDTH = 3.0


@kernel
def hilbert_places(x, y, out):
    """Places out (N,) uint16 of the points (x, y) along Hilbert's curve, on which neighbours lie near each other.

    x, y (N,) float64. The curve fills a grid around the mean; points beyond its edges belong to the nearest cells.
    """
    along, across = _cell_size(x), _cell_size(y)
    mean_x, mean_y = x.mean(), y.mean()
    for n in range(x.shape[0]):
        i, j = _cell((x[n] - mean_x) * along), _cell((y[n] - mean_y) * across)
        place = np.int64(0)
        half = np.int64(_CELLS // 2)
        while half > 0:
            right, upper = np.int64((i & half) > 0), np.int64((j & half) > 0)
            place += half * half * ((3 * right) ^ upper)
            # Each quarter of the curve is a smaller curve, turned and mirrored.
            if upper == 0:
                if right == 1:
                    i, j = _CELLS - 1 - i, _CELLS - 1 - j
                i, j = j, i
            half //= 2
        out[n] = np.uint16(place)


@leaf
def _cell_size(x):
    """Cells for each unit of x (N,)."""
    spread = x.std()
    return 0.5 * _CELLS / (_WIDTH * spread) if spread > 0.0 else 0.0


@inlined
def _cell(x):
    """Cell of the grid at x cells from its middle."""
    return np.int64(min(max(x + 0.5 * _CELLS, 0.0), _CELLS - 1.0))


@kernel
def box_blocks(XT, middle, half):
    """Middles and half widths (D, B) of the bounding boxes of the points XT (D, N) in blocks of `SHARED_BLOCK`."""
    N = XT.shape[1]
    for j in range(XT.shape[0]):
        for block in range(middle.shape[1]):
            low, high = np.inf, -np.inf
            for n in range(block * SHARED_BLOCK, min((block + 1) * SHARED_BLOCK, N)):
                low, high = smaller(low, XT[j, n]), larger(high, XT[j, n])
            middle[j, block] = 0.5 * (low + high)
            half[j, block] = 0.5 * (high - low)


@leaf(fastmath=FAST)
def bound_blocks(middle, half, A, b, c, dof, y, far, most, sure, likely):
    """Bound the scores of the points in boxes under each Student t; see `gaussian_scores`.

    |A x + b|^2 of a point is at least and at most the sums of squares of |y| - e, if positive, and |y| + e, with
    y = A middle + b and e = |A| half.

    Parameters
    ----------
    middle, half : arrays (D, B) float64
        As `box_blocks` writes them.
    A, b, c, dof : arrays (K, D, D), (K, D), (K,), (K,) float64
        dof > 0.
    most : array (K, B) float64, output
        Upper bounds.
    sure : array (B,) float64, output
        Lower bounds of the best scores of all points.
    likely : array (B,) int64, output
        The cluster with the highest lower bound.
    y, far : arrays (2, B), (B,) float64
        Scratch.
    """
    D, B = middle.shape
    sure[:] = -np.inf
    likely[:] = 0
    for k in range(c.shape[0]):
        near = most[k]
        near[:] = 0.0
        far[:] = 0.0
        for i in range(D):
            y[0, :] = b[k, i]
            y[1, :] = 0.0
            for j in range(i + 1):
                _add_extent(middle[j], half[j], A[k, i, j], y[0], y[1])
            _add_squares(y[0], y[1], near, far)
        _tails(near, c[k], dof[k], D)
        _tails(far, c[k], dof[k], D)
        for block in range(B):
            if far[block] > sure[block]:
                sure[block], likely[block] = far[block], k


@leaf(fastmath=FAST)
def _add_extent(middle, half, a, y, e):
    """y += a middle and e += |a| half, all (B,)."""
    vectorise()
    for n in range(uint(y.shape[0])):
        y[n] += a * middle[n]
        e[n] += abs(a) * half[n]


@leaf(fastmath=FAST)
def _add_squares(y, e, near, far):
    """Add the smallest and the largest square of a number in [y - e, y + e] to near and far, all (B,)."""
    vectorise()
    for n in range(uint(y.shape[0])):
        least, most = larger(abs(y[n]) - e[n], 0.0), abs(y[n]) + e[n]
        near[n] += least * least
        far[n] += most * most


@leaf(fastmath=FAST)
def _tails(q, c, dof, D):
    """Replace squared distances q (B,) by scores under a Student t."""
    vectorise()
    scale, inverse = 0.5 * (dof + D), 1.0 / dof
    for n in range(uint(q.shape[0])):
        q[n] = c - scale * log1p64(q[n] * inverse)
