"""Every compiled function of the engine: scores, bounds, labelling, moments, random numbers, exp and log.

They live in one module because numba's cache does not notice an edit in a callee of another file. All release the
GIL and none uses numba's threading layer: callers map them over independent ranges with ordinary threads, or hand a
`Queue` of pieces to several of them.

A Gaussian score, drawn or predictive, is always kept in *whitened form* ``(A, b, c, dof)``::

    q(x) = |A x + b|^2          A lower triangular, so that A' A is the precision
    score(x) = c - q / 2                                      dof = 0: a Gaussian with drawn parameters
    score(x) = c - (dof + D) / 2 * log(1 + q / dof)           dof > 0: a Student t, the posterior predictive

The log weight of the cluster is part of ``c``. Symmetric matrices are stored as their lower triangle, row by row.

For pixels a whitened form is one row of float32, FORM numbers: the lower triangle of A, b, c and dof. What loops over
pixels takes such rows; what loops over clusters takes the same table turned on its side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

#: Side of a square tile of pixels, and the pixels in it.
TILE = 16
PIXELS = TILE * TILE
#: Dimensions of a pixel (row, column, three colours) and of its statistics (count, sum, lower triangle).
PIXEL_D = 5
PIXEL_P = 1 + PIXEL_D + PIXEL_D * (PIXEL_D + 1) // 2
#: Numbers of a pixel's whitened form, and where b, c and dof are in it.
FORM = PIXEL_D * (PIXEL_D + 1) // 2 + PIXEL_D + 2
_B, _C, _DOF = FORM - PIXEL_D - 2, FORM - 2, FORM - 1
#: Sampling ignores whatever lies this many nats under the best score: less than a float32 uniform can resolve.
SAMPLING_NATS = 17.0
#: Sampling first looks this many nats down, and further only for the pixels whose draw that leaves open.
FIRST_NATS = 4.0
#: Up to this number x is exact enough as the mantissa part of 1 + x.
SMALL = 0.25
#: So many of a tile's likeliest clusters are put in order; the rest are asked one by one.
SORTED = 16
#: A cluster with at most so many pixels in a tile has them copied side by side.
FEW = 32


def _can_cache() -> bool:
    """Whether compiled code can be kept for the next start: there may be no folder that can be written to."""
    try:
        numba.njit(cache=True)(lambda: None)
    except RuntimeError:
        return False
    return True


_JIT = {"cache": _can_cache(), "nogil": True, "error_model": "numpy"}
# For what is called once or more a tile and makes no arrays. Numba counts the references to each array that a function
# is handed, unless it sees that it need not, and it does not see that past branches and loops (its issues 2345, 2350):
# locked instructions that the threads contend for, a sixth of the time. Handing over the arrays' shapes costs as much.
_LEAF = {
    **_JIT, "cache": False, "_nrt": False, "forceinline": True,
    # Called from compiled functions only. To compile what Python would call them by took a tenth of a cold start.
    "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip
# A number that is never negative: an index that might be costs a test, and loops over it do not vectorise.
_U = np.uint64
# Reordering sums is what lets the loops over pixels vectorise; nan and inf keep their meaning.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


# --- work that threads share ----------------------------------------------------------------------------------


class Queue(NamedTuple):
    """Rows of a picture, or of tiles, in pieces that several threads take one by one, without asking Python.

    Piece i is the rows [edges[i], edges[i + 1]), ``order`` (n,) says which piece comes when, and ``taken`` (1,) how
    many are under way or done.
    """

    edges: Any
    order: Any
    taken: Any


@intrinsic
def _ticket(typingctx, counter):
    """The number in counter (1,), which goes up by one: no two threads get the same."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(counter), codegen


@numba.njit(inline="always", **_JIT)
def next_piece(queue):
    """A piece that nobody has taken yet, or -1 if there is none."""
    turn = _ticket(queue.taken)
    return queue.order[turn] if turn < queue.order.shape[0] else -1


# --- exp, log and random numbers ------------------------------------------------------------------------------


@intrinsic
def _float_bits(typingctx, value):
    """Reinterpret a float32 as its int32 bit pattern."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), codegen


@intrinsic
def _bits_float(typingctx, value):
    """Reinterpret an int32 bit pattern as a float32."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), codegen


@numba.njit(inline="always", **_JIT)
def _rank(value):
    """An int32 that is ordered as float32s are: running minima of whole numbers vectorise, those of floats do not."""
    return _swap(_float_bits(value))


@numba.njit(inline="always", **_JIT)
def _of_rank(rank):
    """The float32 of a rank."""
    return _bits_float(_swap(rank))


@numba.njit(inline="always", **_JIT)
def _swap(bits):
    # Without its sign a negative float's pattern grows as the number falls.
    return np.int32(bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@intrinsic
def _wide(typingctx):
    """Let a function use the widest vectors the processor has; LLVM holds back for the sake of older ones."""

    def codegen(context, builder, signature, args):
        # llvmlite's own `add` knows no attributes of one processor family; where there are none, this one is ignored.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), codegen


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def log1p32(x):
    """log(1 + x) of a float32 x >= 0 to about 5 ulp, small x included; vectorises, which a libm call does not."""
    bits = _float_bits(np.float32(1.0) + x)
    # Centre the mantissa on 1, in [sqrt(1/2), sqrt(2)). numba subtracts two int32s into an int64, of which a vector
    # holds half as many.
    exponent = np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23)
    m = _bits_float(bits - (exponent << np.int32(23))) - np.float32(1.0)
    # A small x is its own mantissa part: 1 + x would have rounded its low bits away.
    return _log_near_one(np.float32(exponent), x if x < np.float32(SMALL) else m)


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def _log_near_one(exponent, m):
    """log(2^exponent (1 + m)) of float32s, for m in [sqrt(1/2) - 1, sqrt(2) - 1]: log(1 + m) = 2 atanh(m / (2 + m))."""
    s = m / (np.float32(2.0) + m)
    z = s * s
    p = np.float32(0.24279079)
    p = p * z + np.float32(0.28498787)
    p = p * z + np.float32(0.40000972)
    p = p * z + np.float32(0.66666665)
    return _fused(exponent, np.float32(0.6931472), s * (np.float32(2.0) + z * p))


@intrinsic
def _double_bits(typingctx, value):
    """Reinterpret a float64 as its int64 bit pattern."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@intrinsic
def _bits_double(typingctx, value):
    """Reinterpret an int64 bit pattern as a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def _log_centred(exponent, m):
    """log(2^exponent (1 + m)) for m in [sqrt(1/2) - 1, sqrt(2) - 1], in double precision."""
    s = m / (2.0 + m)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return np.float64(exponent) * 0.6931471805599453 + 2.0 * s * (1.0 + z * p)


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def log1p64(x):
    """log(1 + x) of a float64 x >= 0 to about 1e-15, as `log1p32`."""
    bits = _double_bits(1.0 + x)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    m = _bits_double(bits - (exponent << np.int64(52))) - 1.0
    return _log_centred(exponent, x if x < 0.25 else m)


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def log64(x):
    """log(x) of a positive, normal float64 to about 1e-15; vectorises."""
    bits = _double_bits(x)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    return _log_centred(exponent, _bits_double(bits - (exponent << np.int64(52))) - 1.0)


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def lgamma64(x):
    """log Gamma(x) of a float64 x > 0 to about 1e-13; vectorises. Stirling's series, shifted by 8 where x is small."""
    small = x < 1e6
    y = x + 8.0 if small else x
    product = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) * (x + 5.0) * (x + 6.0) * (x + 7.0)
    product = product if small else 1.0
    r = 1.0 / y
    r2 = r * r
    series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))))
    return (y - 0.5) * log64(y) - y + 0.9189385332046727 + series - log64(product)


@intrinsic
def _fused(typingctx, x, y, z):
    """x * y + z of float32s, rounded once where the processor can: always alike, not as the compiler likes."""

    def codegen(context, builder, signature, args):
        kind = context.get_value_type(types.float32)
        function = builder.module.declare_intrinsic("llvm.fmuladd", [kind], ir.FunctionType(kind, [kind] * 3))
        return builder.call(function, args)

    return types.float32(types.float32, types.float32, types.float32), codegen


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def exp32(x):
    """exp(x) for a float32 x in [-87, 87], to about 2 ulp; vectorises."""
    # So large a number has no room for a fraction: x / log(2) is rounded, and its last bits are the whole number. That
    # is taken from the bits, for the compiler may cancel a number that is added and subtracted.
    large = np.float32(12582912.0)
    n = np.int32(_float_bits(x * np.float32(1.4426950408889634) + large) - _float_bits(large))
    r = _fused(np.float32(n), np.float32(2.12194440e-4), _fused(np.float32(n), np.float32(-0.693359375), x))
    # By pairs: a processor that looks a few instructions ahead can do them side by side.
    square = r * r
    y = np.float32(0.0082903146) * r + np.float32(0.04189793)
    y = y * square + (np.float32(0.16667636) * r + np.float32(0.4999915))
    y = y * square + (np.float32(0.99999971) * r + np.float32(1.0))
    return _bits_float(_float_bits(y) + (n << np.int32(23)))


@numba.njit(inline="always", **_JIT)
def hash_uniform(key, index):
    """A uniform float32 in (0, 1), a function of a 32-bit key and the point's index alone (multiply-xorshift)."""
    # numba multiplies two uint32 into a uint64: every step is masked back.
    h = np.uint32(np.uint32(index) * np.uint32(0x9E3779B1) + key)
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x21F0AAAD))
    h = np.uint32(h ^ (h >> np.uint32(15)))
    h = np.uint32(h * np.uint32(0xD35A2D97))
    h = np.uint32(h ^ (h >> np.uint32(15)))
    return (np.float32(np.int32(h >> np.uint32(9))) + np.float32(0.5)) * np.float32(1.0 / 8388608.0)


# --- tiles of pixels ------------------------------------------------------------------------------------------


@numba.njit(fastmath=_FAST, **_JIT)
def fill_tiles(queue, frame, table, lab, stride, placed, pixels, low, high):
    """Cut rows of tiles out of a frame and note each tile's bounding box.

    frame (H, W, 3) uint8; table (256,) float32 maps a channel's byte to a value; lab: convert linear RGB to CIE Lab
    (table is then the sRGB curve). Every ``stride``-th pixel in each direction is taken, from the middle of its
    block. pixels (tiles, 5, PIXELS) float32, low and high (tiles, 5) float32 are written for the queue's rows
    of tiles, or only the colours if the positions are in their places already (``placed``). A tile that hangs over the
    edge repeats the last pixel.

    A pixel is (row / H, column / W, two chroma axes, lightness). The order and the turned colour axes leave the
    model as it is, but make the boxes, and so the bounds over them, much tighter than R, G, B, row, column would.
    """
    _wide()
    height, width = frame.shape[0], frame.shape[1]
    rows = (height + stride - 1) // stride
    columns = (width + stride - 1) // stride
    across = (columns + TILE - 1) // TILE
    source = np.empty(across * TILE, np.int64)
    place = np.empty(across * TILE, np.float32)
    for j in range(across * TILE):
        source[j] = min(min(j, columns - 1) * stride + stride // 2, width - 1)
        place[j] = (source[j] + 0.5) / width
    piece = next_piece(queue)
    while piece >= 0:
        for tile_row in range(queue.edges[piece], queue.edges[piece + 1]):
            for tile_column in range(across):
                t = tile_row * across + tile_column
                px = pixels[t]
                left = tile_column * TILE
                for i in range(TILE):
                    y = min(min(tile_row * TILE + i, rows - 1) * stride + stride // 2, height - 1)
                    fy = np.float32((y + 0.5) / height)
                    line = frame[y]
                    base = i * TILE
                    if not placed:
                        for j in range(TILE):
                            px[0, base + j] = fy
                            px[1, base + j] = place[left + j]
                    if stride == 1 and left + TILE <= width:
                        for j in range(TILE):
                            px[2, base + j] = table[line[left + j, 0]]
                            px[3, base + j] = table[line[left + j, 1]]
                            px[4, base + j] = table[line[left + j, 2]]
                    else:
                        for j in range(TILE):
                            x = source[left + j]
                            px[2, base + j] = table[line[x, 0]]
                            px[3, base + j] = table[line[x, 1]]
                            px[4, base + j] = table[line[x, 2]]
                if lab:
                    _lab(px)
                else:
                    _opponent(px)
                for d in range(2):
                    low[t, d] = px[d, 0]
                    high[t, d] = px[d, PIXELS - 1]
                for d in range(2, PIXEL_D):
                    low[t, d], high[t, d] = _extremes(px[d])
        piece = next_piece(queue)


@numba.njit(**_LEAF)
def _extremes(values):
    """Smallest and largest of values (PIXELS,)."""
    _wide()
    low, high = _rank(np.float32(np.inf)), _rank(np.float32(-np.inf))
    for p in range(PIXELS):
        rank = _rank(values[p])
        low = rank if rank < low else low
        high = rank if rank > high else high
    return _of_rank(low), _of_rank(high)


@numba.njit(fastmath=_FAST, **_LEAF)
def _opponent(px):
    """R, G, B in px[2:] to red - blue, magenta - green and lightness, an orthonormal turn of the axes."""
    _wide()
    for p in range(PIXELS):
        r, g, b = px[2, p], px[3, p], px[4, p]
        px[2, p] = np.float32(0.70710678) * (r - b)
        px[3, p] = np.float32(0.40824829) * (r - g - g + b)
        px[4, p] = np.float32(0.57735027) * (r + g + b)


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def _lab_curve(t):
    """CIE Lab's cube root with its linear toe."""
    safe = max(t, np.float32(1e-6))
    # Newton's step polishes a bit-trick cube root to float32 precision.
    r = _bits_float(_float_bits(safe) // np.int32(3) + np.int32(709921077))
    for _ in range(3):
        r = np.float32(0.33333334) * (np.float32(2.0) * r + safe / (r * r))
    return r if t > np.float32(0.008856452) else np.float32(7.787037) * t + np.float32(0.13793103)


@numba.njit(fastmath=_FAST, **_LEAF)
def _lab(px):
    """Linear RGB in px[2:] to CIE a, b, L (D65), each divided by 100."""
    for p in range(PIXELS):
        r, g, b = px[2, p], px[3, p], px[4, p]
        x = np.float32(0.43395) * r + np.float32(0.37622) * g + np.float32(0.18983) * b
        y = np.float32(0.21267) * r + np.float32(0.71516) * g + np.float32(0.07217) * b
        z = np.float32(0.01776) * r + np.float32(0.10946) * g + np.float32(0.87278) * b
        fx, fy, fz = _lab_curve(x), _lab_curve(y), _lab_curve(z)
        px[2, p] = np.float32(5.0) * (fx - fy)
        px[3, p] = np.float32(2.0) * (fy - fz)
        px[4, p] = np.float32(1.16) * fy - np.float32(0.16)


@numba.njit(fastmath=_FAST, **_LEAF)
def _bounds(low, high, table, upper, lower):
    """Bound every cluster's score over one tile's 5-D box.

    low, high (5,) float32, table (FORM, K) of whitened forms. upper, lower (K,) are written. Each whitened coordinate
    is bounded by interval arithmetic, and the score falls with their sum of squares.
    """
    _wide()
    half = np.float32(0.5)
    m0, m1, m2 = half * (low[0] + high[0]), half * (low[1] + high[1]), half * (low[2] + high[2])
    m3, m4 = half * (low[3] + high[3]), half * (low[4] + high[4])
    r0, r1, r2 = half * (high[0] - low[0]), half * (high[1] - low[1]), half * (high[2] - low[2])
    r3, r4 = half * (high[3] - low[3]), half * (high[4] - low[4])
    # Written out, so that the loop over clusters vectorises.
    A, b, c, dof = table[:_B], table[_B:_C], table[_C], table[_DOF]
    for k in range(table.shape[1]):
        y0 = abs(b[0, k] + A[0, k] * m0)
        y1 = abs(b[1, k] + A[1, k] * m0 + A[2, k] * m1)
        y2 = abs(b[2, k] + A[3, k] * m0 + A[4, k] * m1 + A[5, k] * m2)
        y3 = abs(b[3, k] + A[6, k] * m0 + A[7, k] * m1 + A[8, k] * m2 + A[9, k] * m3)
        y4 = abs(b[4, k] + A[10, k] * m0 + A[11, k] * m1 + A[12, k] * m2 + A[13, k] * m3 + A[14, k] * m4)
        s0 = abs(A[0, k]) * r0
        s1 = abs(A[1, k]) * r0 + abs(A[2, k]) * r1
        s2 = abs(A[3, k]) * r0 + abs(A[4, k]) * r1 + abs(A[5, k]) * r2
        s3 = abs(A[6, k]) * r0 + abs(A[7, k]) * r1 + abs(A[8, k]) * r2 + abs(A[9, k]) * r3
        s4 = abs(A[10, k]) * r0 + abs(A[11, k]) * r1 + abs(A[12, k]) * r2 + abs(A[13, k]) * r3 + abs(A[14, k]) * r4
        n0, n1, n2, n3, n4 = y0 - s0, y1 - s1, y2 - s2, y3 - s3, y4 - s4
        n0 = n0 if n0 > 0 else np.float32(0.0)
        n1 = n1 if n1 > 0 else np.float32(0.0)
        n2 = n2 if n2 > 0 else np.float32(0.0)
        n3 = n3 if n3 > 0 else np.float32(0.0)
        n4 = n4 if n4 > 0 else np.float32(0.0)
        f0, f1, f2, f3, f4 = y0 + s0, y1 + s1, y2 + s2, y3 + s3, y4 + s4
        near = n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3 + n4 * n4
        far = f0 * f0 + f1 * f1 + f2 * f2 + f3 * f3 + f4 * f4
        upper[k] = near
        lower[k] = far
    # Either all of them are Student t's or none is. The slack covers float32 rounding, so that pruning never drops what
    # brute force would pick.
    if table.shape[1] > 0 and dof[0] > 0:
        for k in range(table.shape[1]):
            inverse = np.float32(1.0) / dof[k]
            scale = np.float32(0.5) * (dof[k] + np.float32(PIXEL_D))
            above = c[k] - scale * log1p32(upper[k] * inverse)
            below = c[k] - scale * log1p32(lower[k] * inverse)
            upper[k] = above + np.float32(0.01) + np.float32(1e-4) * abs(above)
            lower[k] = below - np.float32(0.01) - np.float32(1e-4) * abs(below)
    else:
        for k in range(table.shape[1]):
            above = c[k] - half * upper[k]
            below = c[k] - half * lower[k]
            upper[k] = above + np.float32(0.01) + np.float32(1e-4) * abs(above)
            lower[k] = below - np.float32(0.01) - np.float32(1e-4) * abs(below)


# A pixel's drawn score must come out the same to the last bit, whether its tile is scored or it alone: so these two,
# which share no code, round alike. Both take the position first, then the colours, and fuse every product.


@numba.njit(**_LEAF)
def _score_tile(px, form, begin, end, across, out):
    """Scores, by a whitened form (FORM,), of rows of a tile px (5, PIXELS), pixels begin to end; out (PIXELS,).

    In a tile a row's pixels have one row coordinate, and all rows the same column coordinates: what they add is
    worked out once for a row and once for a column. across (4, TILE) is overwritten.
    """
    _wide()
    a0, a1, a2, a3, a4 = form[0], form[1], form[2], form[3], form[4]
    a5, a6, a7, a8, a9 = form[5], form[6], form[7], form[8], form[9]
    a10, a11, a12, a13, a14 = form[10], form[11], form[12], form[13], form[14]
    b0, b1, b2, b3, b4 = form[_B], form[_B + 1], form[_B + 2], form[_B + 3], form[_B + 4]
    scale, shift = _ending(form)
    # Taken from the array, as a number the compiler does not know: it would write all of it out without vectors.
    for j in range(across.shape[1]):
        x1 = px[1, j]
        across[0, j] = _fused(a2, x1, b1)
        across[1, j] = _fused(a4, x1, b2)
        across[2, j] = _fused(a7, x1, b3)
        across[3, j] = _fused(a11, x1, b4)
    for base in range(_U(begin), _U(end), _U(TILE)):
        x0 = px[0, base]
        y0 = _fused(a0, x0, b0)
        q0 = y0 * y0
        for j in range(_U(TILE)):
            p = base + j
            x2, x3, x4 = px[2, p], px[3, p], px[4, p]
            y1 = _fused(a1, x0, across[0, j])
            y2 = _fused(a5, x2, _fused(a3, x0, across[1, j]))
            y3 = _fused(a9, x3, _fused(a8, x2, _fused(a6, x0, across[2, j])))
            y4 = _fused(a14, x4, _fused(a13, x3, _fused(a12, x2, _fused(a10, x0, across[3, j]))))
            q = _fused(y4, y4, _fused(y3, y3, _fused(y2, y2, _fused(y1, y1, q0))))
            out[p] = _fused(scale, q, shift)
    _student(form, begin, end, out)


@numba.njit(**_LEAF)
def _score_few(px, form, end, out):
    """The same for the first ``end`` of any pixels px (5, PIXELS)."""
    _wide()
    a0, a1, a2, a3, a4 = form[0], form[1], form[2], form[3], form[4]
    a5, a6, a7, a8, a9 = form[5], form[6], form[7], form[8], form[9]
    a10, a11, a12, a13, a14 = form[10], form[11], form[12], form[13], form[14]
    b0, b1, b2, b3, b4 = form[_B], form[_B + 1], form[_B + 2], form[_B + 3], form[_B + 4]
    scale, shift = _ending(form)
    for p in range(_U(end)):
        x0, x1, x2, x3, x4 = px[0, p], px[1, p], px[2, p], px[3, p], px[4, p]
        y0 = _fused(a0, x0, b0)
        y1 = _fused(a1, x0, _fused(a2, x1, b1))
        y2 = _fused(a5, x2, _fused(a3, x0, _fused(a4, x1, b2)))
        y3 = _fused(a9, x3, _fused(a8, x2, _fused(a6, x0, _fused(a7, x1, b3))))
        y4 = _fused(a14, x4, _fused(a13, x3, _fused(a12, x2, _fused(a10, x0, _fused(a11, x1, b4)))))
        q = _fused(y4, y4, _fused(y3, y3, _fused(y2, y2, _fused(y1, y1, y0 * y0))))
        out[p] = _fused(scale, q, shift)
    _student(form, 0, end, out)


@numba.njit(inline="always", **_JIT)
def _ending(form):
    """What q = |A x + b|^2 is multiplied with, and what is added: to c - q / 2, or to q / dof of a Student t."""
    if form[_DOF] > 0:
        return np.float32(1.0) / form[_DOF], np.float32(0.0)
    return np.float32(-0.5), form[_C]


@numba.njit(fastmath=_FAST, **_LEAF)
def _student(form, begin, end, out):
    """What is left to do for scores of a Student t."""
    _wide()
    top, dof = form[_C], form[_DOF]
    if dof > 0:
        scale = np.float32(0.5) * (dof + np.float32(PIXEL_D))
        # Patterns of bits are ordered as numbers that are not negative.
        largest = np.int32(0)
        for p in range(_U(begin), _U(end)):
            bits = _float_bits(out[p])
            largest = bits if bits > largest else largest
        if _bits_float(largest) < np.float32(SMALL):
            for p in range(_U(begin), _U(end)):
                out[p] = _fused(-scale, _log_near_one(np.float32(0.0), out[p]), top)
        else:
            for p in range(_U(begin), _U(end)):
                out[p] = _fused(-scale, log1p32(out[p]), top)


@numba.njit(fastmath=_FAST, **_LEAF)
def _raise_best(score, best):
    """best = max(best, score) pixel by pixel; returns the smallest of them."""
    _wide()
    worst = _rank(np.float32(np.inf))
    for p in range(PIXELS):
        larger = score[p] if score[p] > best[p] else best[p]
        best[p] = larger
        rank = _rank(larger)
        worst = rank if rank < worst else worst
    return _of_rank(worst)


@numba.njit(**_LEAF)
def _largest(values):
    """The largest of some numbers, none of them nan."""
    _wide()
    largest = _rank(np.float32(-np.inf))
    for n in range(values.shape[0]):
        rank = _rank(values[n])
        largest = rank if rank > largest else largest
    return _of_rank(largest)


@numba.njit(**_LEAF)
def _candidates(low, high, table, nats, prune, upper, lower, order, spare):
    """List the clusters that can come within ``nats`` of the best score somewhere in a tile.

    The likeliest by their upper bounds come first, in descending order, then the others. Writes ``upper`` and ``order``
    and returns the length of the list; ``lower`` and ``spare`` are overwritten. With ``prune`` False every cluster is
    listed: the brute force that pruning must equal.
    """
    K = table.shape[1]
    if not prune:
        for k in range(K):
            upper[k] = np.float32(np.inf)
            order[k] = k
        return K
    _bounds(low, high, table, upper, lower)
    floor = _largest(lower) - nats
    near = 0
    for k in range(K):
        # Written always and kept if it counts: a branch here would be guessed wrongly half of the time.
        order[near] = k
        near += 1 if upper[k] >= floor else 0
    n = rest = 0
    for i in range(near):
        k = order[i]
        bound = upper[k]
        if n == SORTED:
            if bound <= lower[n - 1]:
                spare[rest] = k
                rest += 1
                continue
            n -= 1
            spare[rest] = order[n]
            rest += 1
        j = n - 1
        while j >= 0 and lower[j] < bound:
            lower[j + 1] = lower[j]
            order[j + 1] = order[j]
            j -= 1
        lower[j + 1] = bound
        order[j + 1] = k
        n += 1
    for i in range(rest):
        order[n + i] = spare[i]
    return near


@numba.njit(**_LEAF)
def _evaluate(px, forms, nats, upper, order, n, across, scores, best):
    """Score those of n listed clusters that can come within ``nats`` of some pixel's best score.

    The i-th one's scores go to scores[i], and it becomes the i-th of the list. Writes ``best``; returns how many were
    scored and the worst best score.
    """
    best[:] = np.float32(-np.inf)
    worst = np.float32(-np.inf)
    count = 0
    for i in range(n):
        k = order[i]
        if upper[k] >= worst - nats:
            _score_tile(px, forms[k], 0, PIXELS, across, scores[count])
            worst = _raise_best(scores[count], best)
            order[count] = k
            count += 1
    return count, worst


@numba.njit(**_LEAF)
def _ascending(order, count, chosen, row):
    """Sort the first ``count`` of ``order``: chosen are the cluster indices, row where in the list each one was.

    Ties and sums then do not depend on the order of evaluation.
    """
    for i in range(count):
        k = order[i]
        j = i - 1
        while j >= 0 and chosen[j] > k:
            chosen[j + 1] = chosen[j]
            row[j + 1] = row[j]
            j -= 1
        chosen[j + 1] = k
        row[j + 1] = i


@numba.njit(fastmath=_FAST, **_LEAF)
def _left_out(upper, worst, nats):
    """Bound of the likelihood, over exp(worst), of the clusters more than ``nats`` under the worst best score."""
    _wide()
    total = np.float32(0.0)
    for k in range(upper.shape[0]):
        above = upper[k] - worst
        e = exp32(above if above > np.float32(-60.0) else np.float32(-60.0))
        total += e if above < -nats else np.float32(0.0)
    return total


@numba.njit(fastmath=_FAST, **_LEAF)
def _moments(px, centre, label, n, side, j, begin, end, weight, out):
    """Add weighted count, sum and lower triangle of second moments to out (21,) float64.

    They are those of the pixels from begin to end with label n on side j, summed in float32 around the tile's centre,
    where the numbers are small, then moved to the origin in float64.
    """
    _wide()
    c0, c1, c2, c3, c4 = centre[0], centre[1], centre[2], centre[3], centre[4]
    z = np.float32(0.0)
    size = s0 = s1 = s2 = s3 = s4 = z
    m00 = m10 = m11 = m20 = m21 = m22 = m30 = m31 = m32 = m33 = m40 = m41 = m42 = m43 = m44 = z
    for p in range(_U(begin), _U(end)):
        # Without a branch, which not every processor's loop would be rid of.
        w = np.float32(1.0) if np.int32((label[p] ^ np.int32(n)) | (side[p] ^ np.int32(j))) == 0 else z
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
    first = (s0, s1, s2, s3, s4)
    W = np.float64(weight)
    count = np.float64(size)
    out[0] += W * count
    e = 0
    for i in range(PIXEL_D):
        ci = np.float64(centre[i])
        si = np.float64(first[i])
        out[1 + i] += W * (si + count * ci)
        for h in range(i + 1):
            ch = np.float64(centre[h])
            out[1 + PIXEL_D + e] += W * (second[e] + ci * np.float64(first[h]) + ch * si + count * ci * ch)
            e += 1


@numba.njit(fastmath=_FAST, **_LEAF)
def _argmax_pixels(scores, row, count, best, label):
    """label[p] = position in ``chosen`` of the best score; the lowest one wins a tie."""
    _wide()
    for p in range(PIXELS):
        label[p] = 0
    for n in range(count - 1, -1, -1):
        s = scores[row[n]]
        for p in range(PIXELS):
            old = label[p]
            label[p] = np.int32(n) if s[p] == best[p] else old


@numba.njit(fastmath=_FAST, **_LEAF)
def _accumulate(s, best, total, end):
    """total += exp(s - best), or nothing where that is too small to be drawn; s = total. Up to pixel ``end``."""
    _wide()
    least = np.float32(-SAMPLING_NATS)
    for p in range(_U(end)):
        above = s[p] - best[p]
        e = exp32(above if above > least else least)
        t = total[p] + (e if above > least else np.float32(0.0))
        s[p] = t
        total[p] = t


@numba.njit(fastmath=_FAST, **_LEAF)
def _sample_pixels(sums, row, count, best, u, worst, left_out, K, total, low, high, label, other):
    """Draw label[p], a position in ``chosen``, from the running sums of the likelihoods; list the draws left open.

    A draw is open if it can depend on what was left out (see `_left_out`): the sum at which it lies is bounded from
    both sides, with room for the rounding of sums over K clusters, and the bounds fall to different clusters. The first
    of ``other`` are then the pixels with an open draw; returns how many they are. low, high (PIXELS,) are overwritten.
    """
    _wide()
    for p in range(PIXELS):
        below = best[p] - worst
        missing = np.float32(1.01) * left_out * exp32(-(below if below < np.float32(60.0) else np.float32(60.0)))
        slack = (np.float32(1e-5) + np.float32(1.2e-7) * np.float32(K)) * total[p]
        low[p] = u[p] * total[p] - missing - slack
        high[p] = u[p] * (total[p] + missing) + slack
        label[p] = 0
        other[p] = 0
    for n in range(count):
        s = sums[row[n]]
        for p in range(PIXELS):
            label[p] += np.int32(1) if s[p] <= low[p] else np.int32(0)
            other[p] += np.int32(1) if s[p] <= high[p] else np.int32(0)
    for p in range(PIXELS):
        differs = np.int32(1) if label[p] != other[p] else np.int32(0)
        # Below 0 the draw may fall to something left out that comes before the first cluster.
        before = np.int32(1) if low[p] < np.float32(0.0) else np.int32(0)
        other[p] = differs | before
    n_open = 0
    for i in range(TILE):
        some = np.int32(0)
        for j in range(TILE):
            some += other[i * TILE + j]
        if some > 0:
            for p in range(i * TILE, (i + 1) * TILE):
                is_open = other[p]
                other[n_open] = p
                n_open += is_open
    return n_open


@numba.njit(**_LEAF)
def _gather(px, u, p, i, few, few_u):
    """Copy pixel p of a tile to place i of a few."""
    few[0, i] = px[0, p]
    few[1, i] = px[1, p]
    few[2, i] = px[2, p]
    few[3, i] = px[3, p]
    few[4, i] = px[4, p]
    few_u[i] = u[p]


@numba.njit(**_LEAF)
def _rounded(n):
    """The next multiple of TILE: as many of a few are worked on, and what comes of those too many is not used."""
    return (n + TILE - 1) & -TILE


@numba.njit(fastmath=_FAST, **_LEAF)
def _invert_sums(sums, count, u, total, end, label):
    """label[p] = which of ``count`` clusters the draw u[p] falls to by their running sums, up to pixel ``end``."""
    _wide()
    for p in range(_U(end)):
        label[p] = 0
        u[p] *= total[p]
    for n in range(count - 1):
        s = sums[n]
        for p in range(_U(end)):
            label[p] += np.int32(1) if s[p] <= u[p] else np.int32(0)


@numba.njit(**_LEAF)
def _sample_open(px, forms, count, n_open, room):
    """Draw the labels that `_sample_pixels` left open, from all clusters that any of these pixels could get.

    A cluster that is not among the first ``count`` of ``chosen`` is added to them; returns how many there are then.
    """
    upper, listed, where, scores, chosen = room.upper, room.order, room.row, room.scores, room.chosen
    few, few_best, few_u, drawn, total = room.few, room.few_best, room.few_u, room.drawn, room.total
    end = _rounded(n_open)
    worst = np.float32(np.inf)
    for i in range(n_open):
        p = room.side[i]
        _gather(px, room.u, p, i, few, few_u)
        few_best[i] = room.best[p]
        worst = few_best[i] if few_best[i] < worst else worst
    for i in range(end):
        total[i] = np.float32(0.0)
    n = 0
    for k in range(forms.shape[0]):
        listed[n] = k
        n += 1 if upper[k] >= worst - np.float32(SAMPLING_NATS) else 0
    for i in range(n):
        _score_few(few, forms[listed[i]], end, scores[i])
        _accumulate(scores[i], few_best, total, end)
    _invert_sums(scores, n, few_u, total, end, drawn)
    known = count
    j = 0
    for i in range(n):
        while j < known and chosen[j] < listed[i]:
            j += 1
        where[i] = j if j < known and chosen[j] == listed[i] else -1
    for p in range(n_open):
        i = drawn[p]
        if where[i] < 0:
            where[i] = count
            chosen[count] = listed[i]
            count += 1
        room.label[room.side[p]] = where[i]
    return count


@numba.njit(fastmath=_FAST, **_LEAF)
def _sides(first, second, u, sampling, begin, end, side):
    """side[p] = 0 or 1, which of the two sub-clusters with scores first, second a pixel goes to."""
    _wide()
    if sampling:
        limit = np.float32(60.0)
        for p in range(_U(begin), _U(end)):
            difference = first[p] - second[p]
            difference = difference if difference < limit else limit
            difference = difference if difference > -limit else -limit
            # The second with probability 1 / (1 + exp(difference)).
            share = u[p] * (np.float32(1.0) + exp32(difference))
            side[p] = np.int32(1) if share < np.float32(1.0) else np.int32(0)
    else:
        for p in range(_U(begin), _U(end)):
            side[p] = np.int32(1) if second[p] > first[p] else np.int32(0)


@numba.njit(fastmath=_FAST, **_LEAF)
def _take_sides(side, label, n, k, begin, end, out):
    """out[p] = 2 k + side for the pixels with label n; returns how many there are on either side."""
    _wide()
    own = np.int32(0)
    other = np.int32(0)
    for p in range(_U(begin), _U(end)):
        mine = np.int32(1) if label[p] == np.int32(n) else np.int32(0)
        j, old = side[p], out[p]
        own = np.int32(own + mine)
        other = np.int32(other + mine * j)
        out[p] = np.int32(2 * k) + j if mine == 1 else old
    return own - other, other


@numba.njit(**_LEAF)
def _trim(tile_row, tile_column, rows, columns, none, label, out):
    """Give the pixels of a tile that hang over the picture's edge the label ``none``, and 0 in ``out``."""
    if (tile_row + 1) * TILE <= rows and (tile_column + 1) * TILE <= columns:
        return
    for i in range(TILE):
        for j in range(TILE):
            if tile_row * TILE + i >= rows or tile_column * TILE + j >= columns:
                label[i * TILE + j] = none
                out[i * TILE + j] = 0


@numba.njit(**_LEAF)
def _link(label, count, first, last, size, after):
    """The pixels with label n are first[n], after[first[n]], ... up to last[n]: size[n] of them, maybe none.

    Labels go up to ``count``, which stands for no cluster. A label that has a whole row is not one of a few: it counts
    as PIXELS or more, and its pixels are not linked.
    """
    _wide()
    for n in range(count + 1):
        first[n] = 0
        size[n] = 0
    for begin in range(PIXELS - TILE, -1, -TILE):
        n = label[begin]
        differs = np.int32(0)
        for p in range(begin, begin + TILE):
            differs |= label[p] ^ label[begin]
        if differs == 0:
            last[n] = last[n] if size[n] > 0 else begin + TILE - 1
            first[n] = begin
            size[n] += PIXELS
            continue
        for p in range(begin + TILE - 1, begin - 1, -1):
            n = label[p]
            last[n] = last[n] if size[n] > 0 else p
            after[p] = first[n]
            first[n] = p
            size[n] += 1


@numba.njit(fastmath=_FAST, **_LEAF)
def _add_pixel(px, p, weight, out):
    """Add one pixel's weighted count, sum and lower triangle of second moments to out (21,) float64."""
    out[0] += weight
    e = 1 + PIXEL_D
    for i in range(PIXEL_D):
        v = np.float64(weight) * px[i, p]
        out[1 + i] += v
        for h in range(i + 1):
            out[e] += v * px[h, p]
            e += 1


@numba.njit(**_LEAF)
def _halve_few(px, subs, k, n, first_of, sampling, weight, room, out, moments):
    """Give the n pixels of a tile that begin with first_of, see `_link`, to the halves of cluster k, and count them."""
    few, few_u, first, second, drawn, after = room.few, room.few_u, room.first, room.second, room.drawn, room.after
    p = first_of
    for i in range(n):
        _gather(px, room.u, p, i, few, few_u)
        p = after[p]
    end = _rounded(n)
    _score_few(few, subs[2 * k], end, first)
    _score_few(few, subs[2 * k + 1], end, second)
    _sides(first, second, few_u, sampling, 0, end, drawn)
    p = first_of
    for i in range(n):
        j = drawn[i]
        out[p] = np.int32(2 * k) + j
        _add_pixel(few, i, weight, moments[j])
        p = after[p]


@numba.njit(**_LEAF)
def _halve(px, subs, k, n, begin, end, sampling, weight, room, out, moments):
    """Give the pixels of a tile with label n, from begin to end, to the halves of cluster k, and sum their moments."""
    first, second, label, side, centre = room.first, room.second, room.label, room.side, room.centre
    _score_tile(px, subs[2 * k], begin, end, room.across, first)
    _score_tile(px, subs[2 * k + 1], begin, end, room.across, second)
    _sides(first, second, room.u, sampling, begin, end, side)
    n_first, n_second = _take_sides(side, label, n, k, begin, end, out)
    if n_first > 0:
        _moments(px, centre, label, n, side, 0, begin, end, weight, moments[0])
    if n_second > 0:
        _moments(px, centre, label, n, side, 1, begin, end, weight, moments[1])


@numba.njit(**_LEAF)
def _draw_pixels(tile_row, tile_column, columns, key, out):
    """out[p] = the uniform that belongs to the pixel's index in the picture, whatever the tile."""
    for i in range(TILE):
        base = (tile_row * TILE + i) * columns + tile_column * TILE
        for j in range(TILE):
            out[i * TILE + j] = hash_uniform(key, base + j)


class _Room(NamedTuple):
    """Memory to work in: for K clusters, for the pixels of a tile, and for the few of them that are gathered."""

    upper: Any
    lower: Any
    order: Any
    chosen: Any
    row: Any
    first_of: Any
    last_of: Any
    size_of: Any
    across: Any
    scores: Any
    best: Any
    total: Any
    u: Any
    first: Any
    second: Any
    label: Any
    side: Any
    centre: Any
    after: Any
    few: Any
    few_best: Any
    few_u: Any
    drawn: Any


@numba.njit(**_JIT)
def _room(K):
    """Allocated apart from the work, which then needs no counting of references (see `_LEAF`)."""
    return _Room(
        upper=np.empty(K, np.float32),
        lower=np.empty(K, np.float32),
        order=np.empty(K, np.int32),
        chosen=np.empty(K, np.int32),
        row=np.empty(K, np.int32),
        first_of=np.empty(K + 1, np.int64),
        last_of=np.empty(K + 1, np.int64),
        size_of=np.empty(K + 1, np.int64),
        across=np.empty((4, TILE), np.float32),
        scores=np.empty((K, PIXELS), np.float32),
        best=np.empty(PIXELS, np.float32),
        total=np.empty(PIXELS, np.float32),
        u=np.empty(PIXELS, np.float32),
        first=np.empty(PIXELS, np.float32),
        second=np.empty(PIXELS, np.float32),
        label=np.empty(PIXELS, np.int32),
        side=np.empty(PIXELS, np.int32),
        centre=np.empty(PIXEL_D, np.float32),
        after=np.empty(PIXELS, np.int64),
        few=np.zeros((PIXEL_D, PIXELS), np.float32),
        few_best=np.zeros(PIXELS, np.float32),
        few_u=np.zeros(PIXELS, np.float32),
        drawn=np.empty(PIXELS, np.int32),
    )


@numba.njit(**_JIT)
def label_tiles(
    queue, pixels, low, high, rows, columns, weight,
    forms, table, subs, key, sub_key, sampling, prune, labels, moments,
):  # fmt: skip
    """Label the pixels of the queue's rows of tiles with cluster and sub-cluster, and sum their statistics.

    pixels (tiles, 5, PIXELS), low, high (tiles, 5) as `fill_tiles` leaves them, of a rows x columns picture whose
    pixels weigh ``weight`` each. Clusters are forms (K, FORM), again in table (FORM, K); subs[2 k + j] are the
    sub-clusters. ``sampling`` draws labels in proportion to exp(score), with uniforms keyed by ``key`` and ``sub_key``;
    otherwise the best score wins. Writes labels (tiles, PIXELS) = 2 k + j and adds to moments (pieces, K, 2, 21)
    float64.
    """
    room = _room(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        _label_tiles(
            pixels, low, high, rows, columns, weight, queue.edges[piece], queue.edges[piece + 1],
            forms, table, subs, key, sub_key, sampling, prune, labels, moments[piece], room,
        )  # fmt: skip
        piece = next_piece(queue)


@numba.njit(**_LEAF)
def _label_tiles(
    pixels, low, high, rows, columns, weight, first_row, last_row,
    forms, table, subs, key, sub_key, sampling, prune, labels, moments, room,
):  # fmt: skip
    _wide()
    upper, lower, order, chosen, row = room.upper, room.lower, room.order, room.chosen, room.row
    first_of, last_of, size_of, centre = room.first_of, room.last_of, room.size_of, room.centre
    scores, best = room.scores, room.best
    total, u, first, second, label, side = room.total, room.u, room.first, room.second, room.label, room.side
    across = (columns + TILE - 1) // TILE
    nats = np.float32(FIRST_NATS) if sampling else np.float32(0.0)
    for tile_row in range(first_row, last_row):
        for tile_column in range(across):
            t = tile_row * across + tile_column
            px = pixels[t]
            n = _candidates(low[t], high[t], table, nats, prune, upper, lower, order, chosen)
            count, worst = _evaluate(px, forms, nats, upper, order, n, room.across, scores, best)
            _ascending(order, count, chosen, row)
            if sampling:
                _draw_pixels(tile_row, tile_column, columns, key, u)
                total[:] = np.float32(0.0)
                for i in range(count):
                    _accumulate(scores[row[i]], best, total, PIXELS)
                left_out = _left_out(upper, worst, nats) if prune else np.float32(np.inf)
                n_open = _sample_pixels(
                    scores, row, count, best, u, worst, left_out, forms.shape[0], total, first, second, label, side
                )
                if n_open > 0:
                    count = _sample_open(px, forms, count, n_open, room)
                _draw_pixels(tile_row, tile_column, columns, sub_key, u)
            else:
                _argmax_pixels(scores, row, count, best, label)
            _trim(tile_row, tile_column, rows, columns, count, label, labels[t])
            _link(label, count, first_of, last_of, size_of, room.after)
            for d in range(PIXEL_D):
                centre[d] = np.float32(0.5) * (low[t, d] + high[t, d])
            for n in range(count):
                size = size_of[n]
                if size == 0:
                    continue
                k = chosen[n]
                p, q = first_of[n] & -TILE, (last_of[n] + TILE) & -TILE
                if size <= FEW:
                    _halve_few(px, subs, k, size, first_of[n], sampling, weight, room, labels[t], moments[k])
                else:
                    _halve(px, subs, k, n, p, q, sampling, weight, room, labels[t], moments[k])


@numba.njit(**_JIT)
def tile_uncertainty(queue, pixels, low, high, columns, forms, table, out):
    """out (tiles, PIXELS) = 1 - the posterior probability of each pixel's best cluster, in the queue's rows."""
    room = _room(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        first, last = queue.edges[piece], queue.edges[piece + 1]
        _tile_uncertainty(pixels, low, high, columns, first, last, forms, table, out, room)
        piece = next_piece(queue)


@numba.njit(fastmath=_FAST, **_LEAF)
def _tile_uncertainty(pixels, low, high, columns, first_row, last_row, forms, table, out, room):
    upper, lower, order, chosen, row = room.upper, room.lower, room.order, room.chosen, room.row
    scores, best = room.scores, room.best
    nats = np.float32(SAMPLING_NATS)
    across = (columns + TILE - 1) // TILE
    for t in range(first_row * across, last_row * across):
        listed = _candidates(low[t], high[t], table, nats, True, upper, lower, order, chosen)
        count, _ = _evaluate(pixels[t], forms, nats, upper, order, listed, room.across, scores, best)
        _ascending(order, count, chosen, row)
        total = out[t]
        for p in range(PIXELS):
            total[p] = np.float32(0.0)
        for n in range(count):
            s = scores[row[n]]
            for p in range(PIXELS):
                total[p] += exp32(max(s[p] - best[p], np.float32(-60.0)))
        for p in range(PIXELS):
            total[p] = max(np.float32(1.0) - np.float32(1.0) / total[p], np.float32(0.0))


@numba.njit(**_JIT)
def untile(queue, tiles, table, stride, out):
    """out[y, x] = table[label of the pixel that covers (y, x)] in the queue's rows.

    tiles (tiles, PIXELS) of the picture sampled every ``stride`` pixels; out (H, W) int32.
    """
    width = out.shape[1]
    columns = (width + stride - 1) // stride
    across = (columns + TILE - 1) // TILE
    span = TILE * stride
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            sy = y // stride
            inner = (sy % TILE) * TILE
            line = out[y]
            for tile_column in range(across):
                tile = tiles[(sy // TILE) * across + tile_column]
                start = tile_column * span
                stop = min(start + span, width)
                if stride == 1:
                    row = tile[inner : inner + TILE]
                    part = line[start:stop]
                    for x in range(part.shape[0]):
                        part[x] = table[_U(row[x])]
                else:
                    for x in range(start, stop):
                        line[x] = table[tile[inner + (x - start) // stride]]
        piece = next_piece(queue)


@numba.njit(**_JIT)
def shrink(queue, frame, out):
    """The queue's rows of out (h, w, 3) uint8: each pixel the mean of the block of frame (H, W, 3) that it covers."""
    height, width = frame.shape[0], frame.shape[1]
    rows, columns = out.shape[0], out.shape[1]
    sums = np.empty(3 * width, np.int32)
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            top = i * height // rows
            bottom = max((i + 1) * height // rows, top + 1)
            sums[:] = 0
            for y in range(top, bottom):
                line = frame[y].reshape(-1)
                for e in range(3 * width):
                    sums[e] += line[e]
            for j in range(columns):
                left = j * width // columns
                right = max((j + 1) * width // columns, left + 1)
                n = (bottom - top) * (right - left)
                # Rounded as whole numbers are: half a unit keeps what rounding does to the quotient away from the next.
                share, half = 1.0 / n, n // 2 + 0.5
                for channel in range(3):
                    total = 0
                    for x in range(left, right):
                        total += sums[3 * x + channel]
                    out[i, j, channel] = np.uint8((total + half) * share)
        piece = next_piece(queue)


@numba.njit(**_JIT)
def enlarge(queue, small, out):
    """The queue's rows of out (H, W): each pixel the one of small (h, w) that lies there."""
    height, width = out.shape
    rows, columns = small.shape
    place = np.empty(width, np.uint64)
    for x in range(width):
        place[x] = x * columns // width
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            if y > queue.edges[piece] and y * rows // height == (y - 1) * rows // height:
                # One by one: to assign a whole row numba would compile what it says if the shapes differ, for a second.
                for x in range(width):
                    out[y, x] = out[y - 1, x]
                continue
            line = small[y * rows // height]
            for x in range(width):
                out[y, x] = line[place[x]]
        piece = next_piece(queue)


# --- Gaussian with a normal-inverse-Wishart prior, any dimension ----------------------------------------------


@numba.njit(**_JIT)
def _cholesky(M):
    """Cholesky factor of M (D, D) in its lower triangle, in place; returns log det M.

    A pivot that rounding has made non-positive is lifted to a sliver of its diagonal entry.
    """
    D = M.shape[0]
    logdet = 0.0
    for i in range(D):
        diagonal = M[i, i]
        for j in range(i + 1):
            v = M[i, j]
            for e in range(j):
                v -= M[i, e] * M[j, e]
            if i == j:
                v = math.sqrt(max(v, 1e-12 * diagonal, 1e-300))
                logdet += 2.0 * math.log(v)
                M[i, i] = v
            else:
                M[i, j] = v / M[j, j]
    return logdet


@numba.njit(**_JIT)
def _invert_lower(C, out):
    """out = C^-1 for a lower triangular C (D, D); the upper triangle of out is left as it is."""
    D = C.shape[0]
    for j in range(D):
        out[j, j] = 1.0 / C[j, j]
        for i in range(j + 1, D):
            v = 0.0
            for e in range(j, i):
                v -= C[i, e] * out[e, j]
            out[i, j] = v / C[i, i]


@numba.njit(**_JIT)
def _niw_posterior(S, kappa, m, nu, nu_psi, mean, scatter):
    """Posterior of one cluster from its statistics S (count, sum, lower triangle of sum x x').

    Writes mean = m* (D,) and scatter = nu* psi* (D, D, lower triangle); returns kappa*, nu*.
    """
    D = m.shape[0]
    kappa_n = kappa + S[0]
    for i in range(D):
        mean[i] = (kappa * m[i] + S[1 + i]) / kappa_n
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            scatter[i, j] = nu_psi[i, j] + S[e] + kappa * m[i] * m[j] - kappa_n * mean[i] * mean[j]
            e += 1
    return kappa_n, nu + S[0]


@numba.njit(**_JIT)
def _lgamma(x):
    """log Gamma(x), x > 0: Stirling's series where it is exact to double precision, libm's below."""
    if x < 12.0:
        return math.lgamma(x)
    r = 1.0 / x
    r2 = r * r
    series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series


@numba.njit(**_JIT)
def _log_multigamma(x, D):
    """log Gamma_D(x) without its constant pi^(D (D - 1) / 4), which cancels in every ratio."""
    total = 0.0
    for i in range(D):
        total += _lgamma(x - 0.5 * i)
    return total


@numba.njit(**_JIT)
def niw_log_marginal(S, kappa, m, nu, nu_psi, out):
    """Log marginal likelihood of each cluster of statistics S (M, P) under the prior; out (M,)."""
    D = m.shape[0]
    mean = np.empty(D)
    scatter = nu_psi.copy()
    prior = 0.5 * nu * _cholesky(scatter) + 0.5 * D * math.log(kappa) - _log_multigamma(0.5 * nu, D)
    for k in range(S.shape[0]):
        kappa_n, nu_n = _niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = _cholesky(scatter)
        out[k] = (
            prior
            - 0.5 * S[k, 0] * D * math.log(math.pi)
            + _log_multigamma(0.5 * nu_n, D)
            - 0.5 * nu_n * logdet
            - 0.5 * D * math.log(kappa_n)
        )


@numba.njit(**_JIT)
def niw_predictive(S, kappa, m, nu, nu_psi, A, b, c, dof):
    """Whitened form of the posterior predictive (Student t) of each cluster of statistics S (M, P).

    Writes A (M, D, D), b (M, D), c (M,), dof (M,).
    """
    D = m.shape[0]
    mean = np.empty(D)
    scatter = np.empty((D, D))
    for k in range(S.shape[0]):
        kappa_n, nu_n = _niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = _cholesky(scatter)
        _invert_lower(scatter, A[k])
        dof[k] = nu_n - D + 1.0
        scale = math.sqrt(kappa_n * dof[k] / (kappa_n + 1.0))
        _whiten(A[k], scale, mean, b[k])
        c[k] = (
            _lgamma(0.5 * (dof[k] + D))
            - _lgamma(0.5 * dof[k])
            - 0.5 * D * math.log(dof[k] * math.pi)
            + D * math.log(scale)
            - 0.5 * logdet
        )


@numba.njit(**_JIT)
def _whiten(A, scale, mean, b):
    """A *= scale; b = -A mean."""
    D = b.shape[0]
    for i in range(D):
        v = 0.0
        for j in range(i + 1):
            A[i, j] *= scale
            v -= A[i, j] * mean[j]
        b[i] = v


@numba.njit(**_JIT)
def niw_draw(S, kappa, m, nu, nu_psi, normal, chi, A, b, c):
    """Draw (mu, Sigma) of each cluster of statistics S (M, P) from its posterior, in whitened form.

    normal (M, D + D (D - 1) / 2) standard normals; chi (M, D): chi[k, i]^2 ~ chi^2 of nu* - (D - 1 - i) degrees.
    With nu* psi* = C C' and an upper triangular Bartlett factor U, Sigma^-1 = A' A for A = U' C^-1, which is lower
    triangular; mu = m* + A^-1 z / sqrt(kappa*), hence b = -A m* - z / sqrt(kappa*).
    """
    D = m.shape[0]
    mean = np.empty(D)
    scatter = np.empty((D, D))
    inverse = np.empty((D, D))
    U = np.zeros((D, D))
    for k in range(S.shape[0]):
        kappa_n, _ = _niw_posterior(S[k], kappa, m, nu, nu_psi, mean, scatter)
        logdet = _cholesky(scatter)
        _invert_lower(scatter, inverse)
        e = D
        log_diagonal = 0.0
        for i in range(D):
            U[i, i] = chi[k, i]
            log_diagonal += math.log(chi[k, i])
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
        c[k] = log_diagonal - 0.5 * logdet - 0.5 * D * math.log(2.0 * math.pi)


@numba.njit(fastmath=_FAST, **_JIT)
def niw_mergeable(S, log_marginal, log_alpha, least, kappa, m, nu, nu_psi, eligible, pairs):
    """List the pairs whose merge may have a log Hastings ratio above ``least``; writes pairs (n, 2), returns n.

    S (K, P), log_marginal (K,), eligible (K,) bool. With a's posterior as b's prior, the scatter of the union is
    M_a + scatter_b + g d d', d the distance between the means: leaving scatter_b out bounds its determinant from
    below by |M_a| (1 + g d' M_a^-1 d), and so the union's marginal from above.
    """
    D = m.shape[0]
    K = S.shape[0]
    scatter = nu_psi.copy()
    prior = 0.5 * nu * _cholesky(scatter) + 0.5 * D * math.log(kappa) - _log_multigamma(0.5 * nu, D)
    logdet = _union_logdets(S, kappa, m, nu, nu_psi)
    size = np.empty(K)
    own = np.empty(K)
    for k in range(K):
        size[k] = max(S[k, 0], 1e-3)
        own[k] = log_marginal[k] + _lgamma(size[k])
    bound = np.empty(K)
    n = 0
    for a in range(K):
        if not eligible[a]:
            continue
        # Written as passes over all b, so that each vectorises.
        for b in range(a):
            together = size[a] + size[b]
            least_logdet = max(logdet[a, b], logdet[b, a])
            bound[b] = (
                lgamma64(together)
                - 0.5 * together * D * math.log(math.pi)
                - 0.5 * (nu + together) * least_logdet
                - 0.5 * D * log64(kappa + together)
                # Gamma rises from 1.5 on: first the largest of D different ones in place of each.
                + D * lgamma64(max(0.5 * (nu + together), 2.0))
            )
        for b in range(a):
            beyond = prior + bound[b] - own[a] - own[b] - log_alpha - least
            if not eligible[b] or beyond <= 0.0:
                continue
            together = size[a] + size[b]
            beyond -= D * lgamma64(max(0.5 * (nu + together), 2.0))
            for i in range(D):
                beyond += lgamma64(0.5 * (nu + together - i))
            if beyond > 0.0:
                pairs[n, 0] = b
                pairs[n, 1] = a
                n += 1
    return n


@numba.njit(fastmath=_FAST, **_JIT)
def _union_logdets(S, kappa, m, nu, nu_psi):
    """(K, K): log |M_a| (1 + g d' M_a^-1 d), a lower bound of the log determinant of the union of a and b."""
    D = m.shape[0]
    K = S.shape[0]
    centre = np.empty((D, K))
    for k in range(K):
        for j in range(D):
            centre[j, k] = S[k, 1 + j] / max(S[k, 0], 1e-3)
    mean = np.empty(D)
    scatter = np.empty((D, D))
    inverse = np.empty((D, D))
    y = np.empty(K)
    q = np.empty(K)
    out = np.empty((K, K))
    for a in range(K):
        kappa_a, _ = _niw_posterior(S[a], kappa, m, nu, nu_psi, mean, scatter)
        logdet = _cholesky(scatter)
        _invert_lower(scatter, inverse)
        q[:] = 0.0
        for i in range(D):
            y[:] = 0.0
            for j in range(i + 1):
                for b in range(K):
                    y[b] += inverse[i, j] * (centre[j, b] - mean[j])
            for b in range(K):
                q[b] += y[b] * y[b]
        for b in range(K):
            g = kappa_a * S[b, 0] / (kappa_a + S[b, 0])
            out[a, b] = logdet + log1p64(g * q[b])
    return out


@numba.njit(fastmath=_FAST, **_JIT)
def _add_scaled(a, x, y):
    """y += a x."""
    for n in range(y.shape[0]):
        y[n] += a * x[n]


@numba.njit(fastmath=_FAST, **_JIT)
def gaussian_scores(XT, A, b, c, dof, first, last, out):
    """Scores of points [first, last) under each whitened Gaussian or Student t.

    XT (D, N), A (K, D, D), b (K, D), c (K,), dof (K,) float64; out (K, N) float64.
    """
    D = XT.shape[0]
    y = np.empty(last - first)
    for k in range(c.shape[0]):
        top = c[k]
        q = out[k, first:last]
        q[:] = 0.0
        for i in range(D):
            y[:] = b[k, i]
            for j in range(i + 1):
                _add_scaled(A[k, i, j], XT[j, first:last], y)
            for n in range(last - first):
                q[n] += y[n] * y[n]
        if dof[k] > 0:
            scale = 0.5 * (dof[k] + D)
            inverse = 1.0 / dof[k]
            for n in range(last - first):
                q[n] = top - scale * log1p64(q[n] * inverse)
        else:
            for n in range(last - first):
                q[n] = top - 0.5 * q[n]


@numba.njit(**_JIT)
def gaussian_own_scores(XT, A, b, c, dof, labels, first, last, out):
    """Scores of points [first, last) under the two sub-clusters 2 k, 2 k + 1 of their own cluster; out (2, N)."""
    D = XT.shape[0]
    for n in range(first, last):
        for side in range(2):
            k = 2 * labels[n] + side
            q = 0.0
            for i in range(D):
                y = b[k, i]
                for j in range(i + 1):
                    y += A[k, i, j] * XT[j, n]
                q += y * y
            out[side, n] = c[k] - (0.5 * (dof[k] + D) * math.log1p(q / dof[k]) if dof[k] > 0 else 0.5 * q)


@numba.njit(**_JIT)
def gaussian_statistics(X, weight, groups, out):
    """Add count, sum and lower triangle of sum x x' of the points X (N, D) to out (groups, P)."""
    D = X.shape[1]
    for n in range(X.shape[0]):
        S = out[groups[n]]
        w = weight[n]
        S[0] += w
        e = 1 + D
        for i in range(D):
            v = w * X[n, i]
            S[1 + i] += v
            for j in range(i + 1):
                S[e] += v * X[n, j]
                e += 1


@numba.njit(**_JIT)
def gaussian_halve(S, axis, out):
    """Statistics out (M, P) of half of each Gaussian of S (M, P), cut by the plane through its mean with normal axis.

    Half the points, mean moved by covariance @ axis * sqrt(2 / pi / variance along the axis).
    """
    D = axis.shape[0]
    mean = np.empty(D)
    shift = np.empty(D)
    for r in range(S.shape[0]):
        n = max(S[r, 0], 1e-300)
        for i in range(D):
            mean[i] = S[r, 1 + i] / n
            shift[i] = 0.0
        e = 1 + D
        for i in range(D):
            for j in range(i + 1):
                covariance = S[r, e] / n - mean[i] * mean[j]
                shift[i] += covariance * axis[j]
                if i != j:
                    shift[j] += covariance * axis[i]
                e += 1
        variance = 0.0
        for i in range(D):
            variance += shift[i] * axis[i]
        scale = math.sqrt(2.0 / math.pi / max(variance, 1e-300)) if variance > 0 else 0.0
        half = 0.5 * S[r, 0]
        out[r, 0] = half
        e = 1 + D
        for i in range(D):
            out[r, 1 + i] = 0.5 * S[r, 1 + i] + half * scale * shift[i]
            for j in range(i + 1):
                moved = mean[i] * shift[j] + shift[i] * mean[j]
                out[r, e] = 0.5 * S[r, e] + half * scale * moved
                e += 1


# --- diagonal Gaussian ----------------------------------------------------------------------------------------


@numba.njit(fastmath=_FAST, **_JIT)
def diagonal_scores(XT, mean, precision, c, dof, first, last, out):
    """Scores of points [first, last) under products of independent normals (dof 0) or Student t's.

    XT (D, N), mean, precision (K, D), c, dof (K,); out (K, N). Each dimension adds -q/2 or
    -(dof + 1)/2 log(1 + q/dof) for q = precision (x - mean)^2.
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


@numba.njit(**_JIT)
def diagonal_statistics(X, weight, groups, out):
    """Add count, sum and sum of squares of the points X (N, D) to out (groups, 1 + 2 D)."""
    D = X.shape[1]
    for n in range(X.shape[0]):
        S = out[groups[n]]
        S[0] += weight[n]
        for d in range(D):
            v = weight[n] * X[n, d]
            S[1 + d] += v
            S[1 + D + d] += v * X[n, d]


# --- multinomial with a Dirichlet prior -----------------------------------------------------------------------


@numba.njit(fastmath=_FAST, **_JIT)
def dirichlet_log_marginal(S, concentration, first, second, out):
    """Log marginal likelihood of the counts S[first[n]] + S[second[n]] (second[n] < 0: of S[first[n]] alone).

    S (K, 1 + D), concentration (D,), out (n,).
    """
    _wide()
    D = concentration.shape[0]
    prior = 0.0
    for j in range(D):
        prior -= lgamma64(concentration[j])
    prior += lgamma64(concentration.sum())
    counts = np.empty(D)
    for n in range(first.shape[0]):
        a = S[first[n], 1:]
        if second[n] < 0:
            for j in range(D):
                counts[j] = concentration[j] + a[j]
        else:
            b = S[second[n], 1:]
            for j in range(D):
                counts[j] = concentration[j] + a[j] + b[j]
        total = 0.0
        value = 0.0
        for j in range(D):
            total += counts[j]
            value += lgamma64(counts[j])
        out[n] = prior + value - lgamma64(total)


@numba.njit(fastmath=_FAST, **_JIT)
def dirichlet_mergeable(S, log_marginal, log_alpha, least, concentration, eligible, pairs):
    """List the pairs of eligible clusters whose log Hastings ratio of merging may exceed ``least``; returns how many.

    Because digamma(t) < log(t), log Gamma(x + y) < log Gamma(x) + G(x + y) - G(x) with G(t) = t log(t) - t: one
    logarithm a count instead of the dozens of operations of two log Gamma.
    """
    _wide()
    K, D = S.shape[0], concentration.shape[0]
    counts = concentration + S[:, 1:]
    total = np.empty(K)
    # What each cluster gives to the bound of a union with it as x.
    part = np.empty(K)
    for k in range(K):
        total[k] = counts[k].sum()
        value = 0.0
        for j in range(D):
            value += counts[k, j] * (log64(counts[k, j]) - 1.0)
        part[k] = log_marginal[k] + lgamma64(total[k]) - value
    prior = concentration.sum()
    n = 0
    for a in range(K):
        for b in range(a + 1, K):
            if not (eligible[a] and eligible[b]):
                continue
            value = 0.0
            for j in range(D):
                t = counts[a, j] + S[b, 1 + j]
                value += t * (log64(t) - 1.0)
            union = value + min(part[a], part[b]) - lgamma64(total[a] + total[b] - prior)
            sizes = lgamma64(S[a, 0] + S[b, 0]) - lgamma64(S[a, 0]) - lgamma64(S[b, 0])
            if sizes + union - log_marginal[a] - log_marginal[b] - log_alpha > least:
                pairs[n, 0], pairs[n, 1] = a, b
                n += 1
    return n


@numba.njit(fastmath=_FAST, **_JIT)
def rising_table(concentration, column, value, out):
    """out[u, k] = log Gamma(d + x) - log Gamma(d), d = concentration[column[u], k], x = value[u].

    concentration (D, K), so that the loop over clusters vectorises. A whole x up to 16 needs a product only.
    """
    _wide()
    K = concentration.shape[1]
    product = np.empty(K)
    for u in range(column.shape[0]):
        d = concentration[column[u]]
        x = value[u]
        row = out[u]
        if x <= 16.0 and x == math.floor(x) and d.max() < 1e15:
            product[:] = 1.0
            for t in range(int(x)):
                for k in range(K):
                    product[k] *= d[k] + t
            for k in range(K):
                row[k] = log64(product[k])
        else:
            for k in range(K):
                row[k] = lgamma64(d[k] + x) - lgamma64(d[k])


@numba.njit(**_JIT)
def sparse_rows(X, indptr, column, value):
    """Non-zero entries of a dense X (N, D), row by row; column and value need room for one more than there are."""
    e = 0
    for n in range(X.shape[0]):
        for j in range(X.shape[1]):
            # Written always and kept if it counts: a branch would often be guessed wrongly.
            column[e] = j
            value[e] = X[n, j]
            e += 1 if X[n, j] != 0.0 else 0
        indptr[n + 1] = e


@numba.njit(**_JIT)
def code_pairs(column, value, levels, table, entry, example):
    """Number the distinct (column, whole value < levels) pairs in order of appearance; returns how many.

    table (D * levels,) of -1 on entry; writes entry (which pair each non-zero is), example (a non-zero of each).
    """
    n = 0
    for e in range(column.shape[0]):
        code = column[e] * levels + int(value[e])
        if table[code] < 0:
            table[code] = n
            example[n] = e
            n += 1
        entry[e] = table[code]
    return n


@numba.njit(fastmath=_FAST, **_JIT)
def table_scores(indptr, entry, scale, table, c, first, last, out):
    """out[n, k] = c[k] + sum over the non-zero counts e of point n of scale[e] * table[entry[e], k].

    One row of the table is added whole for each non-zero count, so that the loop over clusters vectorises.
    """
    _wide()
    K = c.shape[0]
    for n in range(first, last):
        s = out[n]
        s[:] = c
        e, end = indptr[n], indptr[n + 1]
        # Four counts at a time: the sums are fetched and put back a quarter as often.
        while e + 4 <= end:
            r0, r1, r2, r3 = table[entry[e]], table[entry[e + 1]], table[entry[e + 2]], table[entry[e + 3]]
            x0, x1, x2, x3 = scale[e], scale[e + 1], scale[e + 2], scale[e + 3]
            for k in range(K):
                s[k] += x0 * r0[k] + x1 * r1[k] + x2 * r2[k] + x3 * r3[k]
            e += 4
        while e < end:
            row, x = table[entry[e]], scale[e]
            for k in range(K):
                s[k] += x * row[k]
            e += 1


@numba.njit(**_JIT)
def table_own_scores(indptr, entry, scale, table, c, labels, out):
    """As `table_scores`, for the two sub-clusters of each point's own cluster; out (2, N)."""
    for n in range(labels.shape[0]):
        k = 2 * labels[n]
        s0, s1 = c[k], c[k + 1]
        for e in range(indptr[n], indptr[n + 1]):
            s0 += scale[e] * table[entry[e], k]
            s1 += scale[e] * table[entry[e], k + 1]
        out[0, n] = s0
        out[1, n] = s1


@numba.njit(**_JIT)
def rising_own_scores(indptr, column, value, total, concentration, sums, c, labels, out):
    """Dirichlet-multinomial scores under the two sub-clusters of each point's own cluster; out (2, N)."""
    for n in range(labels.shape[0]):
        for side in range(2):
            k = 2 * labels[n] + side
            s = c[k] - lgamma64(sums[k] + total[n]) + lgamma64(sums[k])
            product = 1.0
            for e in range(indptr[n], indptr[n + 1]):
                d, x = concentration[k, column[e]], value[e]
                if x <= 16.0 and d < 1e6 and x == math.floor(x):
                    for t in range(int(x)):
                        product *= d + t
                    # One logarithm serves many counts, as long as their product keeps clear of the float's limits.
                    if product > 1e200 or product < 1e-200:
                        s += math.log(product)
                        product = 1.0
                else:
                    s += lgamma64(d + x) - lgamma64(d)
            out[side, n] = s + math.log(product)


@numba.njit(**_JIT)
def count_statistics(indptr, column, value, weight, groups, out):
    """Add number of points and summed counts of CSR rows to out (groups, 1 + D)."""
    for n in range(groups.shape[0]):
        S = out[groups[n]]
        S[0] += weight[n]
        for e in range(indptr[n], indptr[n + 1]):
            S[1 + column[e]] += weight[n] * value[e]


# --- labels from a table of scores ----------------------------------------------------------------------------


@numba.njit(**_JIT)
def label_points(scores, key, sampling, labels):
    """Label each point from its scores (N, K), by a draw in proportion to exp(score) or by the argmax."""
    K = scores.shape[1]
    for n in range(scores.shape[0]):
        best = 0
        for k in range(1, K):
            if scores[n, k] > scores[n, best]:
                best = k
        labels[n] = best
        if sampling:
            top = scores[n, best]
            total = 0.0
            for k in range(K):
                if scores[n, k] > top - SAMPLING_NATS:
                    total += math.exp(scores[n, k] - top)
            u = hash_uniform(key, n) * total
            total = 0.0
            for k in range(K):
                if scores[n, k] > top - SAMPLING_NATS:
                    total += math.exp(scores[n, k] - top)
                    if total > u:
                        labels[n] = k
                        break


@numba.njit(**_JIT)
def weighted_sum(weights, records, out):
    """out = sum over r of weights[r] * records[r], in a fixed order.

    weights (R,), out (M,); records may have more rows and columns than are summed.
    """
    out[:] = 0.0
    for r in range(weights.shape[0]):
        for i in range(out.shape[0]):
            out[i] += weights[r] * records[r, i]
