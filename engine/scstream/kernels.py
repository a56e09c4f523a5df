"""Every compiled function of the engine: scores, bounds, labelling, moments, random numbers, exp and log.

They live in one module because numba's cache does not notice an edit in a callee of another file. All release the
GIL and none uses numba's threading layer: callers map them over independent ranges with ordinary threads, or hand a
`Queue` of pieces to several of them.

A Gaussian score, drawn or predictive, is always kept in *whitened form* ``(A, b, c, dof)``::

    q(x) = |A x + b|^2          A lower triangular, so that A' A is the precision
    score(x) = c - q / 2                                      dof = 0: a Gaussian with drawn parameters
    score(x) = c - (dof + D) / 2 * log(1 + q / dof)           dof > 0: a Student t, the posterior predictive

The log weight of the cluster is part of ``c``. Symmetric matrices are stored as their lower triangle, row by row.

For pixels a whitened form is one row of float32, FORM numbers: the lower triangle of A, b, c and ``power``. A and b
are scaled, so that the score is c - q if power is 0, and c - power * log(1 + q) of a Student t. What loops over pixels
takes such rows; what loops over clusters takes the same table turned on its side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

#: Side of a square tile of pixels, and the pixels in it.
TILE = 16
PIXELS = TILE * TILE
#: Bands of rows in a tile that have bounding boxes of their own.
BANDS = 4
#: Dimensions of a pixel (row, column, three colours) and of its statistics (count, sum, lower triangle).
PIXEL_D = 5
PIXEL_P = 1 + PIXEL_D + PIXEL_D * (PIXEL_D + 1) // 2
#: Numbers of a pixel's whitened form, and where c and power are in it.
FORM = PIXEL_D * (PIXEL_D + 1) // 2 + PIXEL_D + 2
_C, _POWER = FORM - 2, FORM - 1
#: Numbers of a cluster that bounds of its scores share in a row of tiles.
COMMON = 15
#: What lies this many nats under the best score counts for nothing: less than a float32 uniform can resolve.
SAMPLING_NATS = 17.0
#: Up to this number x is exact enough as the mantissa part of 1 + x.
SMALL = 0.25
#: Up to this number log(1 + x) is a short polynomial.
TINY = 0.0625
#: The noise of a row of tiles begins within so many rows of noise, or more if there are many tiles in it.
STRETCH = 2048
#: So many clusters, the largest of a tile in the last sweep, contend for it first in the next one.
LIKELY = 6
#: Then so many others with the best chances, in order; then the rest.
SORTED = 2
#: All but the first so many contenders ask in which bands of the tile they have a chance at all.
SURE = 2
#: So many points of other kinds than pixels are labelled side by side.
POINTS = 128
#: A cluster with at most so many pixels in a tile has them taken one by one.
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
# Numbers that are written out when a function is called would make numba compile it once more, for just these.
_ZERO, _ONE, _ALL = np.int64(0), np.int64(1), np.int64(PIXELS)
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


def _choice(name):
    """An intrinsic that takes one of two floats, neither of them nan: loops over it vectorise, over `min` not."""

    @intrinsic
    def choose(typingctx, x, y):
        def codegen(context, builder, signature, args):
            kind = context.get_value_type(x)
            function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * 2))
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return x(x, x), codegen

    return choose


_smaller = _choice("llvm.minnum")
_larger = _choice("llvm.maxnum")


@intrinsic
def _least_difference(typingctx, these, i, those, j):
    """The smallest of these[i] - those[j], ... of TILE float32s each, none of them nan."""

    def codegen(context, builder, signature, args):
        row = ir.VectorType(ir.FloatType(), TILE)
        parts = []
        for n in (0, 2):
            array = context.make_array(signature.args[n])(context, builder, args[n])
            place = builder.bitcast(builder.gep(array.data, [args[n + 1]]), row.as_pointer())
            parts.append(builder.load(place, align=4))
        name = f"llvm.vector.reduce.fmin.v{TILE}f32"
        least = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.FloatType(), [row]), name)
        return builder.call(least, [builder.fsub(*parts)], fastmath=("nnan", "nsz"))

    return types.float32(these, i, those, j), codegen


@intrinsic
def _lowest_bit(typingctx, bits):
    """Which is the lowest bit that is set in an int32 other than 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int32(types.int32), codegen


@intrinsic
def _vectors(typingctx):
    """Help a function's loops to vectorise: the arrays it is handed do not overlap, and vectors may be of any width.

    Otherwise loops would first find out whether arrays overlap, and LLVM holds wide vectors back for the sake of older
    processors.
    """

    def codegen(context, builder, signature, args):
        # llvmlite's own `add` knows no attributes of one processor family; where there are none, this one is ignored.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        # First come where to put what is returned and raised.
        for argument in builder.function.args[2:]:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
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


@numba.njit(inline="always", **_JIT)
def _log1p_tiny(x):
    """log(1 + x) of a float32 x in [0, TINY], to about 2 ulp."""
    p = _fused(np.float32(0.2), x, np.float32(-0.25))
    p = _fused(p, x, np.float32(0.33333333))
    p = _fused(p, x, np.float32(-0.5))
    return _fused(p, x * x, x)


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
    # Nearly 1 / 3 + z / 5 + z^2 / 7 + ..., fitted to these s: one term fewer for the same precision.
    p = 0.07308224842521702
    p = p * z + 0.07665860800278021
    p = p * z + 0.09091444562630861
    p = p * z + 0.1111110556739754
    p = p * z + 0.14285714312987743
    p = p * z + 0.19999999999949752
    p = p * z + 0.3333333333333335
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
def _hash(key, index):
    """A random uint32, a function of a 32-bit key and an index alone (multiply-xorshift)."""
    # numba multiplies two uint32 into a uint64: every step is masked back.
    h = np.uint32(np.uint32(index) * np.uint32(0x9E3779B1) + key)
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x21F0AAAD))
    h = np.uint32(h ^ (h >> np.uint32(15)))
    h = np.uint32(h * np.uint32(0xD35A2D97))
    return np.uint32(h ^ (h >> np.uint32(15)))


@numba.njit(inline="always", **_JIT)
def hash_uniform(key, index):
    """A uniform float32 in (0, 1), a function of a 32-bit key and the point's index alone."""
    h = _hash(key, index)
    return (np.float32(np.int32(h >> np.uint32(9))) + np.float32(0.5)) * np.float32(1.0 / 8388608.0)


class Noise(NamedTuple):
    """What disturbs the scores of pixels. By Gumbel variates the best score is a draw in proportion to exp(score).

    ``values`` are rows of TILE numbers. A tile takes TILE rows of them for each cluster, one cluster's after another's,
    from a row on that is picked at random; beyond the last comes the first, which is why PIXELS values are there
    twice. For pruning, ``rows`` has the largest of each row, ``tiles`` (TILE, n) that of rows TILE n + i to
    TILE (n + 1) + i. n is a power of two.
    """

    values: Any
    rows: Any
    tiles: Any


@numba.njit(inline="always", **_JIT)
def _start(noise, key, t, across):
    """The first row of noise of tile t, of so many in a row of tiles: anywhere in a stretch that only this row has.

    What is worked on together then fits into a cache.
    """
    stretch = max(_U(TILE) * _U(across), _U(STRETCH))
    place = _U(_hash(key, -1)) + _U(t) // _U(across) * stretch + _U(_hash(key, t)) % stretch
    return place % _U(noise.tiles.size)


@numba.njit(inline="always", **_JIT)
def _first_row(noise, start, k):
    """The first of the rows of noise for cluster k in a tile where those for cluster 0 begin at row ``start``."""
    n = _U(noise.tiles.shape[1])
    return (((_U(start) // _U(TILE) + _U(k)) & (n - _U(1))) * _U(TILE)) + _U(start) % _U(TILE)


# --- tiles of pixels ------------------------------------------------------------------------------------------


@numba.njit(fastmath=_FAST, **_JIT)
def fill_tiles(queue, frame, table, lab, stride, placed, pixels, low, high, bands, totals):
    """Cut rows of tiles out of a frame and note each tile's bounding box.

    frame (H, 3 W) uint8, its pixels side by side; table (256,) float32 maps a channel's byte to a value; lab: convert
    linear RGB to CIE Lab (table is then the sRGB curve). Every ``stride``-th pixel in each direction is taken, from the
    middle of its block. For the queue's rows of tiles pixels (tiles, 5, PIXELS) float32, or only the colours if the
    positions are in their places already (``placed``), low and high (tiles, 5) float32 and totals (tiles, 21) float64,
    the moments of all pixels, are written. A tile that hangs over the edge repeats the last pixel.

    A pixel is (row / H, column / W, two chroma axes, lightness). The order and the turned colour axes leave the
    model as it is, but make the boxes, and so the bounds over them, much tighter than R, G, B, row, column would.
    """
    _vectors()
    height, width = frame.shape[0], frame.shape[1] // 3
    rows = (height + stride - 1) // stride
    columns = (width + stride - 1) // stride
    across = (columns + TILE - 1) // TILE
    source = np.empty(across * TILE, np.int64)
    place = np.empty(across * TILE, np.float32)
    centre = np.empty(PIXEL_D, np.float32)
    inside = np.empty(PIXELS, np.int32)
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
                plain = stride == 1 and left + TILE <= width and not lab
                for i in range(TILE):
                    y = min(min(tile_row * TILE + i, rows - 1) * stride + stride // 2, height - 1)
                    fy = np.float32((y + 0.5) / height)
                    line = frame[y]
                    base = i * TILE
                    if not placed:
                        for j in range(TILE):
                            px[0, base + j] = fy
                            px[1, base + j] = place[left + j]
                    if plain:
                        _take_row(line[3 * left :], min(TILE, width - left), table[1], px, base)
                    else:
                        for j in range(TILE):
                            x = 3 * source[left + j]
                            px[2, base + j] = table[line[x]]
                            px[3, base + j] = table[line[x + 1]]
                            px[4, base + j] = table[line[x + 2]]
                if lab:
                    _lab(px)
                elif not plain:
                    _turn(px)
                _enclose(px, low[t], high[t], bands[t])
                for d in range(PIXEL_D):
                    centre[d] = np.float32(0.5) * (low[t, d] + high[t, d])
                if _hanging(tile_row, tile_column, rows, columns):
                    inside[:] = 0
                    _trim(tile_row, tile_column, rows, columns, inside, _ONE)
                    _moments(px, centre, inside, _ZERO, _ZERO, _ALL, np.float32(stride * stride), totals[t])
                else:
                    _all_moments(px, centre, stride * stride, totals[t])
        piece = next_piece(queue)


@numba.njit(**_LEAF)
def _take_row(line, n, unit, px, base):
    """Put the first n pixels of a line into a tile, from its pixel ``base`` on, a byte being so many units."""
    _vectors()
    for j in range(_U(n)):
        p = _U(base) + j
        r = unit * np.float32(line[_U(3) * j])
        g = unit * np.float32(line[_U(3) * j + _U(1)])
        b = unit * np.float32(line[_U(3) * j + _U(2)])
        px[2, p], px[3, p], px[4, p] = _opponent(r, g, b)


@numba.njit(**_LEAF)
def _enclose(px, low, high, bands):
    """The box low, high (5,) of a tile px (5, PIXELS); bands (2, 5, BANDS) are middle and reach of its bands' boxes."""
    _vectors()
    half, size = np.float32(0.5), PIXELS // BANDS
    for d in range(PIXEL_D):
        low[d], high[d] = np.float32(np.inf), np.float32(-np.inf)
        for b in range(BANDS):
            if d < 2:
                least, most = px[d, b * size], px[d, (b + 1) * size - 1]
            else:
                least, most = _extremes(px[d], b * size, (b + 1) * size)
            bands[0, d, b] = half * (least + most)
            bands[1, d, b] = half * (most - least)
            low[d] = _smaller(low[d], least)
            high[d] = _larger(high[d], most)


@numba.njit(**_LEAF)
def _extremes(values, begin, end):
    """Smallest and largest of values from begin to end."""
    _vectors()
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for p in range(_U(begin), _U(end)):
        low = _smaller(low, values[p])
        high = _larger(high, values[p])
    return low, high


@numba.njit(**_LEAF)
def _turn(px):
    """R, G, B in px[2:] to opponent colours."""
    _vectors()
    for p in range(PIXELS):
        px[2, p], px[3, p], px[4, p] = _opponent(px[2, p], px[3, p], px[4, p])


@numba.njit(inline="always", **_JIT)
def _opponent(r, g, b):
    """Red - blue, magenta - green and lightness of a colour, an orthonormal turn of the axes."""
    return (
        np.float32(0.70710678) * (r - b),
        np.float32(0.40824829) * (r - g - g + b),
        np.float32(0.57735027) * (r + g + b),
    )


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


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def _nearest(f, m, r):
    """A lower bound of |A x + b|^2, f as `_numbers` has them, for all x within r (5 numbers) of m in each coordinate.

    Each whitened coordinate is bounded by interval arithmetic.
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
    n0, n1, n2 = _larger(n0, zero), _larger(n1, zero), _larger(n2, zero)
    n3, n4 = _larger(n3, zero), _larger(n4, zero)
    return n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3 + n4 * n4


@numba.njit(fastmath=_FAST, inline="always", **_JIT)
def _highest(near, top, power):
    """An upper bound of the score by a lower bound of |A x + b|^2.

    The slack covers float32 rounding, so that pruning never drops what brute force would pick.
    """
    # log(1 + z) >= 2 z / (2 + z)
    fall = np.float32(2.0) * power * near / (np.float32(2.0) + near) if power > 0 else near
    above = top - fall
    return above + np.float32(0.01) + np.float32(1e-4) * abs(above)


@numba.njit(fastmath=_FAST, **_LEAF)
def _prepare_bounds(low, high, table, out):
    """What `_bounds` of all tiles in a row of them share, out (COMMON, K); low, high (5,) of its first, the widest.

    In each row: the first whitened coordinate, squared; what the tiles' rows add to the four others; what the tile's
    rows and columns make these vary; the sizes of the numbers that colours are multiplied with.
    """
    _vectors()
    half = np.float32(0.5)
    m0, r0, r1 = half * (low[0] + high[0]), half * (high[0] - low[0]), half * (high[1] - low[1])
    t = table
    for k in range(table.shape[1]):
        n0 = _larger(abs(t[15, k] + t[0, k] * m0) - abs(t[0, k]) * r0, np.float32(0.0))
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


@numba.njit(fastmath=_FAST, **_LEAF)
def _bounds(low, high, table, common, upper):
    """Upper bounds (K,) of every cluster's score over one tile's box low, high (5,); table (FORM, K) of their forms.

    As `_nearest` has them, but worked out once for a row of tiles where they do not depend on column and colours.
    """
    _vectors()
    half, zero = np.float32(0.5), np.float32(0.0)
    m1, m2 = half * (low[1] + high[1]), half * (low[2] + high[2])
    m3, m4 = half * (low[3] + high[3]), half * (low[4] + high[4])
    r2, r3, r4 = half * (high[2] - low[2]), half * (high[3] - low[3]), half * (high[4] - low[4])
    t, o = table, common
    for k in range(table.shape[1]):
        n1 = abs(o[1, k] + t[2, k] * m1) - o[5, k]
        n2 = abs(o[2, k] + t[4, k] * m1 + t[5, k] * m2) - (o[6, k] + o[9, k] * r2)
        n3 = abs(o[3, k] + t[7, k] * m1 + t[8, k] * m2 + t[9, k] * m3) - (o[7, k] + o[10, k] * r2 + o[11, k] * r3)
        n4 = abs(o[4, k] + t[11, k] * m1 + t[12, k] * m2 + t[13, k] * m3 + t[14, k] * m4)
        n4 -= o[8, k] + o[12, k] * r2 + o[13, k] * r3 + o[14, k] * r4
        n1, n2, n3, n4 = _larger(n1, zero), _larger(n2, zero), _larger(n3, zero), _larger(n4, zero)
        upper[k] = o[0, k] + n1 * n1 + n2 * n2 + n3 * n3 + n4 * n4
    c, power = table[_C], table[_POWER]
    # Either all of them are Student t's or none is.
    if table.shape[1] > 0 and power[0] > 0:
        for k in range(table.shape[1]):
            upper[k] = _highest(upper[k], c[k], power[k])
    else:
        for k in range(table.shape[1]):
            upper[k] = _highest(upper[k], c[k], np.float32(0.0))


@numba.njit(fastmath=_FAST, **_LEAF)
def _band_bounds(bands, form, out):
    """Upper bounds out (BANDS,) of one cluster's score over the boxes of a tile's bands."""
    _vectors()
    f = _numbers(form)
    m, r = bands[0], bands[1]
    # Taken from the array, as a number the compiler does not know: it would write all of it out without vectors.
    for b in range(_U(out.shape[0])):
        middle = m[0, b], m[1, b], m[2, b], m[3, b], m[4, b]
        reach = r[0, b], r[1, b], r[2, b], r[3, b], r[4, b]
        out[b] = _nearest(f, middle, reach)
    for b in range(_U(out.shape[0])):
        out[b] = _highest(out[b], form[_C], form[_POWER])


@numba.njit(**_JIT)
def pack_forms(A, b, c, dof, log_weight, out):
    """Whitened forms A (M, 5, 5), b (M, 5), c, dof (M,), and log weights (M,), as pixels take them: out (M, FORM)."""
    for k in range(out.shape[0]):
        scale = math.sqrt(1.0 / dof[k] if dof[k] > 0 else 0.5)
        e = 0
        for i in range(PIXEL_D):
            for j in range(i + 1):
                out[k, e] = scale * A[k, i, j]
                e += 1
        for i in range(PIXEL_D):
            out[k, e + i] = scale * b[k, i]
        out[k, _C] = c[k] + log_weight[k]
        out[k, _POWER] = 0.5 * (dof[k] + PIXEL_D) if dof[k] > 0 else 0.0


# Products are fused as they are written, not as the compiler likes: a pixel's score must not depend on the loop around
# it. The position comes first, then the colours.


@numba.njit(inline="always", **_JIT)
def _numbers(form):
    """A and b of a whitened form, as numbers that stay in registers."""
    return (
        form[0], form[1], form[2], form[3], form[4], form[5], form[6], form[7], form[8], form[9],
        form[10], form[11], form[12], form[13], form[14], form[15], form[16], form[17], form[18], form[19],
    )  # fmt: skip


@numba.njit(inline="always", **_JIT)
def _add_columns(f, px, across):
    """across (4, TILE): what b and a tile's columns add to the whitened coordinates from the second on.

    In a tile a row's pixels have one row coordinate, and all rows the same column coordinates: what they add is
    worked out once for a row and once for a column.
    """
    # Taken from the array, as a number the compiler does not know: it would write all of it out without vectors.
    for j in range(across.shape[1]):
        x1 = px[1, j]
        across[0, j] = _fused(f[2], x1, f[16])
        across[1, j] = _fused(f[4], x1, f[17])
        across[2, j] = _fused(f[7], x1, f[18])
        across[3, j] = _fused(f[11], x1, f[19])


@numba.njit(inline="always", **_JIT)
def _coordinates(f, x0, across, j, x2, x3, x4):
    """The whitened coordinates, from the second on, of the pixel in column j."""
    y1 = _fused(f[1], x0, across[0, j])
    y2 = _fused(f[5], x2, _fused(f[3], x0, across[1, j]))
    y3 = _fused(f[9], x3, _fused(f[8], x2, _fused(f[6], x0, across[2, j])))
    y4 = _fused(f[14], x4, _fused(f[13], x3, _fused(f[12], x2, _fused(f[10], x0, across[3, j]))))
    return y1, y2, y3, y4


@numba.njit(inline="always", **_JIT)
def _distance(f, x0, across, j, x2, x3, x4):
    """q = |A x + b|^2 of the pixel in column j."""
    y0 = _fused(f[0], x0, f[15])
    y1, y2, y3, y4 = _coordinates(f, x0, across, j, x2, x3, x4)
    return _fused(y4, y4, _fused(y3, y3, _fused(y2, y2, _fused(y1, y1, y0 * y0))))


@numba.njit(**_LEAF)
def _score_tile(px, form, begin, end, across, out):
    """Scores, by a whitened form (FORM,), of rows of a tile px (5, PIXELS), pixels begin to end; out (PIXELS,).

    across (4, TILE) is overwritten.
    """
    _vectors()
    f = _numbers(form)
    # c - q, or q of a Student t.
    sign, shift = (np.float32(1.0), np.float32(0.0)) if form[_POWER] > 0 else (np.float32(-1.0), form[_C])
    _add_columns(f, px, across)
    for base in range(_U(begin), _U(end), _U(TILE)):
        x0 = px[0, base]
        for j in range(_U(TILE)):
            p = base + j
            out[p] = _fused(sign, _distance(f, x0, across, j, px[2, p], px[3, p], px[4, p]), shift)
    if form[_POWER] > 0:
        _take_logarithms(form, begin, end, out)


@numba.njit(fastmath=_FAST, **_LEAF)
def _take_logarithms(form, begin, end, out):
    """The scores of a Student t, where out has q."""
    _vectors()
    top, power = form[_C], form[_POWER]
    largest = np.float32(0.0)
    for p in range(_U(begin), _U(end)):
        largest = _larger(largest, out[p])
    if largest < np.float32(TINY):
        for p in range(_U(begin), _U(end)):
            out[p] = _fused(-power, _log1p_tiny(out[p]), top)
    else:
        for p in range(_U(begin), _U(end)):
            out[p] = _fused(-power, log1p32(out[p]), top)


@numba.njit(inline="always", **_JIT)
def _contend(score, k, p, best, label):
    """Pixel p goes to cluster k if its score is the best so far; the lower index wins a tie. Returns the best."""
    old, owner = best[p], label[p]
    more = np.int32(1) if score > old else np.int32(0)
    equal = np.int32(1) if score == old else np.int32(0)
    first = np.int32(1) if k < owner else np.int32(0)
    larger = score if score > old else old
    best[p] = larger
    label[p] = k if np.int32(more | (equal & first)) == 1 else owner
    return larger


@numba.njit(**_LEAF)
def _open_rows(bounds, noise, start, worst):
    """The rows, as bits, in which a cluster may win; bounds (BANDS,) of its scores, and where its noise starts."""
    _vectors()
    peaks = noise.rows[start : start + _U(TILE)]
    rows = np.int32(0)
    # Taken from the array, as a number the compiler does not know: it would write all of it out without vectors.
    for r in range(_U(worst.shape[0])):
        rows |= np.int32(1) << np.int32(r) if bounds[r // _U(TILE // BANDS)] + peaks[r] >= worst[r] else np.int32(0)
    return rows


@numba.njit(**_LEAF)
def _open_pixels(rows, bounds, noise, start, best):
    """Those of the rows, as bits, in which a cluster may win some pixel, by the noise and the best score of each."""
    _vectors()
    left = np.int32(0)
    while rows != 0:
        r = _U(_lowest_bit(rows))
        bit = np.int32(rows & -rows)
        rows = np.int32(rows ^ bit)
        base = r * _U(TILE)
        gap = _least_difference(best, base, noise.values, start * _U(TILE) + base)
        left |= bit if bounds[r // _U(TILE // BANDS)] >= gap else np.int32(0)
    return left


@numba.njit(**_LEAF)
def _contend_drawn(px, form, k, bounds, noise, start, late, across, best, label, worst):
    """Let cluster k, of drawn parameters, contend for a tile: a pixel goes to the cluster of the best disturbed score.

    bounds (BANDS,) are those of its scores, not disturbed; start is its first row of noise. worst (TILE,) is the
    smallest best score of each row: rows in which the cluster cannot win are passed over. If it is ``late``, when most
    pixels are taken for good, these are looked for with more care.
    """
    _vectors()
    f = _numbers(form)
    top = form[_C]
    k = np.int32(k)
    at = start * _U(TILE)
    rows = _open_rows(bounds, noise, start, worst)
    if late:
        rows = _open_pixels(rows, bounds, noise, start, best)
    if rows == 0:
        return
    _add_columns(f, px, across)
    while rows != 0:
        r = _U(_lowest_bit(rows))
        rows = np.int32(rows & (rows - np.int32(1)))
        base = r * _U(TILE)
        x0 = px[0, base]
        y0 = _fused(f[0], x0, f[15])
        most = top - y0 * y0
        lowest = np.float32(np.inf)
        for j in range(_U(TILE)):
            p = base + j
            y1, y2, y3, y4 = _coordinates(f, x0, across, j, px[2, p], px[3, p], px[4, p])
            score = _fused(-y1, y1, most + noise.values[at + p])
            score = _fused(-y4, y4, _fused(-y3, y3, _fused(-y2, y2, score)))
            lowest = _smaller(lowest, _contend(score, k, p, best, label))
        worst[r] = lowest


@numba.njit(**_LEAF)
def _contend_predictive(px, form, k, bounds, noise, start, across, distance, line, best, label, worst):
    """The same for a Student t; distance (PIXELS,) and line (TILE,) are overwritten."""
    _vectors()
    f = _numbers(form)
    top, power = form[_C], form[_POWER]
    # The slack is for rounding.
    most, fall = top + np.float32(0.01) + np.float32(1e-5) * abs(top), np.float32(0.9999) * power
    half_fall = np.float32(0.5) * fall
    k = np.int32(k)
    at = start * _U(TILE)
    rows = _open_rows(bounds, noise, start, worst)
    if rows == 0:
        return
    _add_columns(f, px, across)
    # Logarithms only of rows in which some pixel needs them: q - q^2 / 2 <= log(1 + q) mostly tells. All rows are asked
    # before the first goes on: a processor that had guessed the answer wrong would have to wait for it.
    left = tiny = np.int32(0)
    while rows != 0:
        r = _U(_lowest_bit(rows))
        bit = np.int32(np.int32(1) << np.int32(r))
        rows = np.int32(rows ^ bit)
        base = r * _U(TILE)
        x0 = px[0, base]
        needed, largest = np.float32(np.inf), np.float32(0.0)
        for j in range(_U(TILE)):
            p = base + j
            q = _distance(f, x0, across, j, px[2, p], px[3, p], px[4, p])
            distance[p] = q
            needed = _smaller(needed, _fused(-half_fall, q * q, _fused(fall, q, best[p])))
            largest = _larger(largest, q)
        left |= bit if most + noise.rows[start + r] >= needed else np.int32(0)
        tiny |= bit if largest < np.float32(TINY) else np.int32(0)
    while left != 0:
        r = _U(_lowest_bit(left))
        bit = np.int32(np.int32(1) << np.int32(r))
        left = np.int32(left ^ bit)
        base = r * _U(TILE)
        if np.int32(tiny & bit) != 0:
            for j in range(_U(line.shape[0])):
                line[j] = _fused(-power, _log1p_tiny(distance[base + j]), top)
        else:
            for j in range(_U(line.shape[0])):
                line[j] = _fused(-power, log1p32(distance[base + j]), top)
        lowest = np.float32(np.inf)
        for j in range(_U(line.shape[0])):
            p = base + j
            lowest = _smaller(lowest, _contend(line[j] + noise.values[at + p], k, p, best, label))
        worst[r] = lowest


@numba.njit(**_LEAF)
def _largest(values):
    """The largest of some numbers, none of them nan."""
    _vectors()
    largest = np.float32(-np.inf)
    for n in range(values.shape[0]):
        largest = _larger(largest, values[n])
    return largest


@numba.njit(**_LEAF)
def _smallest(values):
    """The smallest of some numbers, none of them nan."""
    _vectors()
    smallest = np.float32(np.inf)
    for n in range(values.shape[0]):
        smallest = _smaller(smallest, values[n])
    return smallest


@numba.njit(**_LEAF)
def _bound_disturbed(low, high, table, common, noise, start, upper):
    """Upper bounds (K,) of the disturbed scores in a tile."""
    _bounds(low, high, table, common, upper)
    peaks = noise.tiles[_U(start) % _U(TILE)]
    first, last = _U(start) // _U(TILE), _U(peaks.shape[0]) - _U(1)
    for k in range(upper.shape[0]):
        upper[k] += peaks[(first + _U(k)) & last]


@numba.njit(**_LEAF)
def _next_contender(upper, least, likely, turn, k):
    """The next cluster whose upper bound reaches ``least``, or -1, and its turn, if k was the last one.

    First come the likely ones, then those SORTED with the largest bounds, then the others.
    """
    _vectors()
    K = upper.shape[0]
    while turn < LIKELY:
        guess = np.int64(likely[turn])
        turn += 1
        if 0 <= guess < K and upper[guess] >= least:
            return guess, turn
    turn += 1
    if turn <= LIKELY + SORTED:
        largest = _largest(upper)
        if largest < least:
            return -1, turn
        where = np.int32(K - 1)
        for i in range(np.int32(K)):
            here = np.int32(i) if upper[i] == largest else np.int32(K - 1)
            where = here if here < where else where
        return np.int64(where), turn
    for i in range(0 if turn == LIKELY + SORTED + 1 else k + 1, K):
        if upper[i] >= least:
            return i, turn
    return -1, turn


@numba.njit(**_LEAF)
def _compete(px, bands, likely, forms, noise, start, room):
    """Give each pixel of a tile to the cluster with the best disturbed score, by upper bounds of these.

    likely (LIKELY,) are clusters that may well win, or -1: the sooner the best scores are known, the fewer others have
    to be asked. Writes ``label``, the cluster's index, and ``best``, and uses the bounds up. The clusters that could
    win somewhere are put into ``order``; returns how many they are.
    """
    upper, order, best, label, worst = room.upper, room.order, room.best, room.label, room.worst
    least = np.float32(-3e38)
    count = 0
    k, turn = _next_contender(upper, least, likely, _ZERO, -_ONE)
    for p in range(PIXELS):
        best[p] = np.float32(-np.inf)
        label[p] = k
    for r in range(TILE):
        worst[r] = np.float32(-np.inf)
    while k >= 0:
        first = _first_row(noise, start, k)
        if count < SURE or upper[k] == np.float32(np.inf):
            bound = upper[k] - noise.tiles[first % _U(TILE), first // _U(TILE)]
            for b in range(BANDS):
                room.bounds[b] = bound
        else:
            _band_bounds(bands, forms[k], room.bounds)
        if forms[k, _POWER] > 0:
            _contend_predictive(
                px, forms[k], k, room.bounds, noise, first, room.across, room.first, room.line, best, label, worst
            )
        else:
            _contend_drawn(px, forms[k], k, room.bounds, noise, first, count >= SURE, room.across, best, label, worst)
        upper[k] = np.float32(-np.inf)
        least = _smallest(worst)
        order[count] = k
        count += 1
        k, turn = _next_contender(upper, least, likely, turn, k)
    return count


@numba.njit(fastmath=_FAST, **_LEAF)
def _moments(px, centre, group, g, begin, end, weight, out):
    """Weighted count, sum and lower triangle of second moments, out (21,) float64, of the pixels of group g.

    Pixels from begin to end are summed in float32 around the tile's centre, where the numbers are small, then moved to
    the origin in float64.
    """
    _vectors()
    c0, c1, c2, c3, c4 = centre[0], centre[1], centre[2], centre[3], centre[4]
    z = np.float32(0.0)
    size = s0 = s1 = s2 = s3 = s4 = z
    m00 = m10 = m11 = m20 = m21 = m22 = m30 = m31 = m32 = m33 = m40 = m41 = m42 = m43 = m44 = z
    for p in range(_U(begin), _U(end)):
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
    _to_origin(np.float64(size), (s0, s1, s2, s3, s4), second, centre, weight, out)


@numba.njit(fastmath=_FAST, **_LEAF)
def _all_moments(px, centre, weight, out):
    """The same of all pixels of a tile that does not hang over the edge: the places need not be summed one by one."""
    _vectors()
    c2, c3, c4 = centre[2], centre[3], centre[4]
    s2 = s3 = s4 = np.float32(0.0)
    m20 = m21 = m22 = m30 = m31 = m32 = m33 = m40 = m41 = m42 = m43 = m44 = np.float32(0.0)
    for p in range(_U(PIXELS)):
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
    _to_origin(np.float64(PIXELS), first, second, centre, weight, out)


@numba.njit(inline="always", **_JIT)
def _to_origin(count, first, second, centre, weight, out):
    """Weighted statistics out (21,) of so many pixels, given sums and second moments around a centre."""
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


@numba.njit(**_LEAF)
def _spread(label, order, count, last, size):
    """How many pixels have each label, one of the first ``count`` of ``order`` or the last there is; size (2, K + 1).

    A row of one label only counts as PIXELS. Sizes are counted apart for even and odd pixels, so that one need not wait
    for the other, then added up in size[0]. last[n] is the last row with the label n.
    """
    _vectors()
    none = size.shape[1] - 1
    size[0, none] = size[1, none] = 0
    for i in range(count):
        size[0, order[i]] = size[1, order[i]] = 0
    for r in range(TILE):
        base = r * TILE
        if _is_uniform(label, base):
            size[0, label[base]] += PIXELS
            last[label[base]] = r
            continue
        for p in range(base, base + TILE, 2):
            size[0, label[p]] += 1
            size[1, label[p + 1]] += 1
            last[label[p]] = r
            last[label[p + 1]] = r
    for i in range(count):
        size[0, order[i]] += size[1, order[i]]


@numba.njit(**_LEAF)
def _is_uniform(label, begin):
    """Whether a row of pixels has one label only."""
    _vectors()
    differs = np.int32(0)
    for p in range(begin, begin + TILE):
        differs |= label[p] ^ label[begin]
    return differs == 0


@numba.njit(**_LEAF)
def _list_few(label, none, first, size, few):
    """List the pixels with labels of at most FEW, and note the first row with each label; returns how many they are."""
    n = 0
    for r in range(TILE - 1, -1, -1):
        base = r * TILE
        if _is_uniform(label, base):
            first[label[base]] = r
            continue
        for p in range(base, base + TILE):
            k = label[p]
            first[k] = r
            few[n] = p
            n += 1 if size[0, k] <= FEW and k != none else 0
    return n


@numba.njit(**_LEAF)
def _score_pixel(form, x0, x1, x2, x3, x4):
    """The score of one pixel."""
    f = _numbers(form)
    y0 = _fused(f[0], x0, f[15])
    y1 = _fused(f[1], x0, _fused(f[2], x1, f[16]))
    y2 = _fused(f[5], x2, _fused(f[3], x0, _fused(f[4], x1, f[17])))
    y3 = _fused(f[9], x3, _fused(f[8], x2, _fused(f[6], x0, _fused(f[7], x1, f[18]))))
    y4 = _fused(f[14], x4, _fused(f[13], x3, _fused(f[12], x2, _fused(f[10], x0, _fused(f[11], x1, f[19])))))
    q = _fused(y4, y4, _fused(y3, y3, _fused(y2, y2, _fused(y1, y1, y0 * y0))))
    return form[_C] - (form[_POWER] * log1p32(q) if form[_POWER] > 0 else q)


@numba.njit(fastmath=_FAST, **_LEAF)
def _halve_few(px, subs, n, weight, room, out, moments):
    """Give n listed pixels, one by one, to the halves of their clusters, and add them to moments and to the rest's."""
    few, u, label, rest = room.few, room.u, room.label, room.rest
    for i in range(n):
        p = few[i]
        k = label[p]
        x0, x1, x2, x3, x4 = px[0, p], px[1, p], px[2, p], px[3, p], px[4, p]
        first = _score_pixel(subs[2 * k], x0, x1, x2, x3, x4)
        second = _score_pixel(subs[2 * k + 1], x0, x1, x2, x3, x4)
        j = 1 if second - first > u[p] else 0
        out[p] = 2 * k + j
        _add_pixel(x0, x1, x2, x3, x4, weight, moments[k, j])
        _add_pixel(x0, x1, x2, x3, x4, weight, rest)


@numba.njit(**_LEAF)
def _add_pixel(x0, x1, x2, x3, x4, weight, out):
    """Add weighted count, sum and lower triangle of second moments of one pixel to out (21,) float64."""
    _vectors()
    w = np.float64(weight)
    d0, d1, d2, d3, d4 = np.float64(x0), np.float64(x1), np.float64(x2), np.float64(x3), np.float64(x4)
    w0, w1, w2, w3, w4 = w * d0, w * d1, w * d2, w * d3, w * d4
    out[0], out[1], out[2] = out[0] + w, out[1] + w0, out[2] + w1
    out[3], out[4], out[5] = out[3] + w2, out[4] + w3, out[5] + w4
    out[6], out[7], out[8] = out[6] + w0 * d0, out[7] + w1 * d0, out[8] + w1 * d1
    out[9], out[10], out[11] = out[9] + w2 * d0, out[10] + w2 * d1, out[11] + w2 * d2
    out[12], out[13], out[14] = out[12] + w3 * d0, out[13] + w3 * d1, out[14] + w3 * d2
    out[15], out[16], out[17] = out[15] + w3 * d3, out[16] + w4 * d0, out[17] + w4 * d1
    out[18], out[19], out[20] = out[18] + w4 * d2, out[19] + w4 * d3, out[20] + w4 * d4


@numba.njit(fastmath=_FAST, **_LEAF)
def _take_sides(first, second, u, label, k, begin, end, out):
    """out[p] = 2 k + j for the pixels with label k, j the half with the better score; returns how many are in each."""
    _vectors()
    own = np.int32(0)
    other = np.int32(0)
    for p in range(_U(begin), _U(end)):
        mine = np.int32(1) if label[p] == np.int32(k) else np.int32(0)
        j = np.int32(1) if second[p] - first[p] > u[p] else np.int32(0)
        old = out[p]
        own = np.int32(own + mine)
        other = np.int32(other + mine * j)
        out[p] = np.int32(2 * k) + j if mine == 1 else old
    return np.int32(own - other), other


@numba.njit(**_LEAF)
def _halve(px, subs, k, begin, end, whole, weight, room, out, moments):
    """Give the pixels of a tile with label k, from begin to end, to the halves of the cluster, and add their moments.

    If the cluster is the last of the tile's, ``whole`` is the tile's moments, or else empty: the larger half then has
    what is left of them.
    """
    first, second, part, rest = room.first, room.second, room.part, room.rest
    _score_tile(px, subs[2 * k], begin, end, room.across, first)
    _score_tile(px, subs[2 * k + 1], begin, end, room.across, second)
    sizes = _take_sides(first, second, room.u, room.label, k, begin, end, out)
    last = -1
    if whole.shape[0] > 0:
        last = 0 if sizes[0] >= sizes[1] else 1
    for j in range(2):
        if sizes[j] > 0 and j != last:
            _moments(px, room.centre, out, 2 * k + j, begin, end, weight, part)
            _add(part, moments[j])
            _add(part, rest)
    if last >= 0:
        for e in range(PIXEL_P):
            moments[last, e] += whole[e] - rest[e]


@numba.njit(**_LEAF)
def _add(part, out):
    """out += part, rows of statistics."""
    _vectors()
    # Taken from the array, as a number the compiler does not know: it would write all of it out without vectors.
    for e in range(part.shape[0]):
        out[e] += part[e]


@numba.njit(**_LEAF)
def _clear(out):
    """out = 0, a row of statistics."""
    _vectors()
    for e in range(PIXEL_P):
        out[e] = 0.0


@numba.njit(**_LEAF)
def _hanging(tile_row, tile_column, rows, columns):
    """Whether a tile hangs over the picture's edge."""
    return (tile_row + 1) * TILE > rows or (tile_column + 1) * TILE > columns


@numba.njit(**_LEAF)
def _trim(tile_row, tile_column, rows, columns, label, value):
    """Give the pixels of a tile that hang over the picture's edge a label."""
    for i in range(TILE):
        for j in range(TILE):
            if tile_row * TILE + i >= rows or tile_column * TILE + j >= columns:
                label[i * TILE + j] = value


@numba.njit(**_LEAF)
def _largest_first(order, count, size):
    """Which clusters have pixels, of the first ``count`` of ``order``: the largest, then the others in ascending order.

    Sums then do not depend on the order in which clusters contended. Returns how many there are.
    """
    n = 0
    for i in range(count):
        k = order[i]
        if size[0, k] == 0:
            continue
        j = n
        while j > 0 and (order[j - 1] > k):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
        n += 1
    top = 0
    for i in range(1, n):
        if size[0, order[i]] > size[0, order[top]]:
            top = i
    k = order[top]
    for i in range(top, 0, -1):
        order[i] = order[i - 1]
    order[0] = k
    return n


@numba.njit(**_LEAF)
def _note_likely(order, count, size, likely):
    """The LIKELY largest of the first ``count`` clusters of ``order``, in descending order; -1 where there are none."""
    for j in range(LIKELY):
        likely[j] = -1
    for i in range(count):
        k = order[i]
        j = LIKELY
        while j > 0 and (likely[j - 1] < 0 or size[0, likely[j - 1]] < size[0, k]):
            if j < LIKELY:
                likely[j] = likely[j - 1]
            j -= 1
        if j < LIKELY:
            likely[j] = k


@numba.njit(**_LEAF)
def _disturb_halves(noise, start, K, u):
    """u[p] = by how much a pixel's second sub-cluster must be likelier, from two rows of noise beyond the clusters'."""
    _vectors()
    one = noise.values[_first_row(noise, start, K) * _U(TILE) :]
    other = noise.values[_first_row(noise, start, K + 1) * _U(TILE) :]
    for p in range(PIXELS):
        u[p] = one[p] - other[p]


class _Room(NamedTuple):
    """Memory to work in: for K clusters, for the pixels of a tile, and for the few of them that are gathered."""

    common: Any
    upper: Any
    order: Any
    first_of: Any
    last_of: Any
    size: Any
    across: Any
    line: Any
    bounds: Any
    worst: Any
    best: Any
    u: Any
    first: Any
    second: Any
    label: Any
    centre: Any
    few: Any
    part: Any
    rest: Any


@numba.njit(**_JIT)
def _room(K):
    """Allocated apart from the work, which then needs no counting of references (see `_LEAF`)."""
    return _Room(
        common=np.empty((COMMON, K), np.float32),
        upper=np.empty(K, np.float32),
        order=np.empty(K, np.int32),
        first_of=np.empty(K + 1, np.int64),
        last_of=np.empty(K + 1, np.int64),
        size=np.empty((2, K + 1), np.int64),
        across=np.empty((4, TILE), np.float32),
        line=np.empty(TILE, np.float32),
        bounds=np.empty(BANDS, np.float32),
        worst=np.empty(TILE, np.float32),
        best=np.empty(PIXELS, np.float32),
        u=np.empty(PIXELS, np.float32),
        first=np.empty(PIXELS, np.float32),
        second=np.empty(PIXELS, np.float32),
        label=np.empty(PIXELS, np.int32),
        centre=np.empty(PIXEL_D, np.float32),
        few=np.empty(PIXELS + 1, np.int64),
        part=np.empty(PIXEL_P, np.float64),
        rest=np.empty(PIXEL_P, np.float64),
    )


@numba.njit(**_JIT)
def label_tiles(
    queue, pixels, low, high, bands, likely, totals, rows, columns, weight,
    forms, table, subs, noise, key, prune, labels, touched, moments,
):  # fmt: skip
    """Label the pixels of the queue's rows of tiles with cluster and sub-cluster, and sum their statistics.

    pixels (tiles, 5, PIXELS), low, high (tiles, 5) as `fill_tiles` leaves them, of a rows x columns picture whose
    pixels weigh ``weight`` each. Clusters are forms (K, FORM), again in table (FORM, K); subs[2 k + j] are the
    sub-clusters. The best score wins, after it was disturbed by ``noise``, of which ``key`` tells each tile its part.
    Writes labels (tiles, PIXELS) = 2 k + j and moments (pieces, K or more, 2, 21) float64, these only of clusters with
    pixels in a piece: touched (pieces, K), all False before, says which they are.
    """
    room = _room(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        _label_tiles(
            pixels, low, high, bands, likely, totals, rows, columns, weight, queue.edges[piece], queue.edges[piece + 1],
            forms, table, subs, noise, key, prune, labels, touched[piece], moments[piece], room,
        )  # fmt: skip
        piece = next_piece(queue)


@numba.njit(**_LEAF)
def _label_tiles(
    pixels, low, high, bands, likely, totals, rows, columns, weight, first_row, last_row,
    forms, table, subs, noise, key, prune, labels, touched, moments, room,
):  # fmt: skip
    _vectors()
    order, label, centre = room.order, room.label, room.centre
    first_of, last_of, size = room.first_of, room.last_of, room.size
    K = forms.shape[0]
    across = (columns + TILE - 1) // TILE
    for tile_row in range(first_row, last_row):
        _prepare_bounds(low[tile_row * across], high[tile_row * across], table, room.common)
        for tile_column in range(across):
            t = tile_row * across + tile_column
            px = pixels[t]
            start = _start(noise, key, t, across)
            if prune:
                _bound_disturbed(low[t], high[t], table, room.common, noise, start, room.upper)
            else:
                # Brute force, which pruning must equal.
                for k in range(K):
                    room.upper[k] = np.float32(np.inf)
            count = _compete(px, bands[t], likely[t], forms, noise, start, room)
            _disturb_halves(noise, start, K, room.u)
            out = labels[t]
            hanging = _hanging(tile_row, tile_column, rows, columns)
            if hanging:
                _trim(tile_row, tile_column, rows, columns, label, K)
            for p in range(PIXELS):
                out[p] = -1
            _spread(label, order, count, last_of, size)
            count = _largest_first(order, count, size)
            for i in range(count):
                if not touched[order[i]]:
                    touched[order[i]] = True
                    _clear(moments[order[i], 0])
                    _clear(moments[order[i], 1])
            _note_likely(order, count, size, likely[t])
            n_few = _list_few(label, K, first_of, size, room.few)
            for d in range(PIXEL_D):
                centre[d] = np.float32(0.5) * (low[t, d] + high[t, d])
            _clear(room.rest)
            _halve_few(px, subs, n_few, weight, room, out, moments)
            for i in range(count - 1, -1, -1):
                k = order[i]
                if size[0, k] > FEW:
                    whole = totals[t] if i == 0 else totals[t, :0]
                    begin, end = first_of[k] * TILE, (last_of[k] + 1) * TILE
                    _halve(px, subs, k, begin, end, whole, weight, room, out, moments[k])
            if hanging:
                _trim(tile_row, tile_column, rows, columns, out, _ZERO)


@numba.njit(**_JIT)
def sum_touched(moments, touched):
    """Moments (K, 2, 21) of all pieces together, as `label_tiles` leaves them."""
    out = np.zeros((touched.shape[1], 2, PIXEL_P))
    for piece in range(touched.shape[0]):
        for k in range(touched.shape[1]):
            if touched[piece, k]:
                _add(moments[piece, k, 0], out[k, 0])
                _add(moments[piece, k, 1], out[k, 1])
    return out


@numba.njit(**_JIT)
def tile_uncertainty(queue, pixels, low, high, bands, likely, columns, forms, table, quiet, out):
    """out (tiles, PIXELS) = 1 - the posterior probability of each pixel's best cluster, in the queue's rows.

    quiet: a noise of zeros.
    """
    room = _room(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        first, last = queue.edges[piece], queue.edges[piece + 1]
        _tile_uncertainty(pixels, low, high, bands, likely, columns, first, last, forms, table, quiet, out, room)
        piece = next_piece(queue)


@numba.njit(fastmath=_FAST, **_LEAF)
def _tile_uncertainty(pixels, low, high, bands, likely, columns, first_row, last_row, forms, table, quiet, out, room):
    score, best = room.first, room.best
    across = (columns + TILE - 1) // TILE
    for t in range(first_row * across, last_row * across):
        if t % across == 0:
            _prepare_bounds(low[t], high[t], table, room.common)
        _bounds(low[t], high[t], table, room.common, room.upper)
        _compete(pixels[t], bands[t], likely[t], forms, quiet, _U(0), room)
        _bounds(low[t], high[t], table, room.common, room.upper)
        least = _smallest(room.worst) - np.float32(SAMPLING_NATS)
        total = out[t]
        for p in range(PIXELS):
            total[p] = np.float32(0.0)
        for k in range(forms.shape[0]):
            if room.upper[k] < least:
                continue
            _score_tile(pixels[t], forms[k], _ZERO, _ALL, room.across, score)
            for p in range(PIXELS):
                total[p] += exp32(max(score[p] - best[p], np.float32(-60.0)))
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


@numba.njit(**_LEAF)
def _cholesky(M):
    """Cholesky factor of M (D, D) in its lower triangle, in place; returns log det M.

    A pivot that rounding has made non-positive is lifted to a sliver of its diagonal entry.
    """
    D = M.shape[0]
    logdet = 0.0
    product = 1.0
    for j in range(D):
        v = M[j, j]
        for e in range(j):
            v -= M[j, e] * M[j, e]
        v = max(v, 1e-12 * M[j, j], 1e-300)
        # One logarithm serves many pivots, as long as their product keeps clear of the float's limits.
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


@numba.njit(**_LEAF)
def _invert_lower(C, out):
    """out = C^-1 for a lower triangular C (D, D); the upper triangle of out is left as it is."""
    D = C.shape[0]
    for i in range(D):
        inverse = 1.0 / C[i, i]
        for j in range(i):
            v = 0.0
            for e in range(j, i):
                v -= C[i, e] * out[e, j]
            out[i, j] = v * inverse
        out[i, i] = inverse


@numba.njit(**_LEAF)
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
        # Points only add to the prior's scatter; rounding may have taken more away than it has.
        scatter[i, i] = max(scatter[i, i], nu_psi[i, i])
    return kappa_n, nu + S[0]


@numba.njit(**_LEAF)
def _lgamma(x):
    """log Gamma(x), x > 0: Stirling's series where it is exact to double precision, libm's below."""
    if x < 12.0:
        return math.lgamma(x)
    r = 1.0 / x
    r2 = r * r
    series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series


@numba.njit(**_LEAF)
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


@numba.njit(**_LEAF)
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


@numba.njit(fastmath=_FAST, **_JIT)
def niw_mergeable(S, log_marginal, log_alpha, least, kappa, m, nu, nu_psi, eligible, pairs):
    """List the pairs whose merge may have a log Hastings ratio above ``least``; writes pairs (n, 2), returns n.

    S (K, P), log_marginal (K,), eligible (K,) bool. With a's posterior as b's prior, the scatter of the union is
    M_a + g d d' + scatter_b, d the distance between the means. Without scatter_b its determinant is
    |M_a| (1 + g d' M_a^-1 d), which bounds it from below, and so the union's marginal from above. Where that is not
    enough, scatter_b counts by Minkowski's inequality: |A + B|^(1/D) >= |A|^(1/D) + |B|^(1/D).
    """
    D = m.shape[0]
    K = S.shape[0]
    scatter = nu_psi.copy()
    no_prior = np.zeros_like(nu_psi)
    prior = 0.5 * nu * _cholesky(scatter) + 0.5 * D * math.log(kappa) - _log_multigamma(0.5 * nu, D)
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
        own[k] = log_marginal[k] + _lgamma(size[k])
        _niw_posterior(S[k], 0.0, m, 0.0, no_prior, mean, scatter)
        own_logdet[k] = _cholesky(scatter)
        for j in range(D):
            centre[j, k] = mean[j]
    for a in range(K):
        if not eligible[a]:
            continue
        kappa_a, _ = _niw_posterior(S[a], kappa, m, nu, nu_psi, mean, scatter)
        logdet_a = _cholesky(scatter)
        _invert_lower(scatter, inverse)
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
            tighter = _log_sum_roots(logdet[a, b], own_logdet[b], D)
            tighter = max(tighter, _log_sum_roots(logdet[b, a], own_logdet[a], D))
            beyond -= 0.5 * (nu + together) * (tighter - y[b])
            if beyond <= 0.0:
                continue
            most = max(0.5 * (nu + together), 2.0)
            beyond -= D * _lgamma_above(most, log64(most))
            for i in range(D):
                beyond += lgamma64(0.5 * (nu + together - i))
            if beyond > 0.0:
                pairs[n, 0] = b
                pairs[n, 1] = a
                n += 1
    return n


@numba.njit(**_LEAF)
def _log_sum_roots(a, b, D):
    """log (|A|^(1/D) + |B|^(1/D))^D of the logarithms of two determinants."""
    large, small = max(a, b), min(a, b)
    return large + D * math.log1p(math.exp((small - large) / D))


@numba.njit(fastmath=_FAST, **_LEAF)
def _union_logdets(centre, size, mean, inverse, kappa, logdet, y, out):
    """out (K,): log |M| (1 + g d' M^-1 d), lower bounds of the log determinants of the unions of a cluster with others.

    centre (D, K) and size (K,) of all clusters; the one's posterior mean (D,) and kappa, and M^-1 = inverse' inverse.
    y (K,) is overwritten.
    """
    _vectors()
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


@numba.njit(fastmath=_FAST, **_LEAF)
def _bound_unions(sizes, size, logdet, nu, D, out):
    """The part of the bound that takes logarithms, of the unions of a cluster of this size with each of the others."""
    _vectors()
    half_log_pi = 0.5 * D * math.log(math.pi)
    for b in range(out.shape[0]):
        together = size + sizes[b]
        log_together = log64(together)
        # Gamma rises from 1.5 on: first the largest of D different ones in place of each.
        degrees = 0.5 * (nu + together)
        most = degrees if degrees > 2.0 else 2.0
        # kappa, which would make it smaller still, is left out of the last logarithm.
        out[b] = (
            _lgamma_above(together, log_together)
            - half_log_pi * together
            - degrees * logdet[b]
            - 0.5 * D * log_together
            + D * _lgamma_above(most, log64(most))
        )


@numba.njit(inline="always", **_JIT)
def _lgamma_above(x, log_x):
    """An upper bound of log Gamma(x) for x >= 2, given log(x), no more than 1 / 24 too high: Stirling's formula."""
    return (x - 0.5) * log_x - x + (0.9189385332046727 + 1.0 / 24.0)


@numba.njit(fastmath=_FAST, **_JIT)
def gaussian_scores(XT, A, b, c, dof, first, last, out):
    """Scores of points [first, last) under each whitened Gaussian or Student t.

    XT (D, N), A (K, D, D), b (K, D), c (K,), dof (K,) float64; out (K, N) float64.
    """
    y = np.empty(last - first)
    for k in range(c.shape[0]):
        _score_points(XT, first, A[k], b[k], c[k], dof[k], y, out[k, first:last])


@numba.njit(fastmath=_FAST, **_LEAF)
def _score_points(XT, first, A, b, c, dof, y, q):
    """Scores q (n,) of n points from XT[:, first] on under one cluster; y (n,) is overwritten."""
    _vectors()
    D = XT.shape[0]
    for n in range(_U(q.shape[0])):
        y0 = b[0] + A[0, 0] * XT[0, _U(first) + n]
        q[n] = y0 * y0
    for i in range(1, D):
        for n in range(_U(q.shape[0])):
            y[n] = b[i] + A[i, 0] * XT[0, _U(first) + n]
        for j in range(1, i):
            for n in range(_U(q.shape[0])):
                y[n] += A[i, j] * XT[j, _U(first) + n]
        for n in range(_U(q.shape[0])):
            last = y[n] + A[i, i] * XT[i, _U(first) + n]
            q[n] += last * last
    if dof > 0:
        scale, inverse = 0.5 * (dof + D), 1.0 / dof
        for n in range(_U(q.shape[0])):
            q[n] = c - scale * log1p64(q[n] * inverse)
    else:
        for n in range(_U(q.shape[0])):
            q[n] = c - 0.5 * q[n]


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
            out[side, n] = c[k] - (0.5 * (dof[k] + D) * log1p64(q / dof[k]) if dof[k] > 0 else 0.5 * q)


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
def symmetric_eigen(M, V):
    """Eigenvalues of a symmetric M (D, D) on its diagonal, in place, and vectors in the columns of V: Jacobi's method.

    For the small matrices here it takes a tenth of the time that a call of LAPACK does.
    """
    D = M.shape[0]
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


@numba.njit(**_JIT)
def gaussian_axis(S, unit, normal, principal, out):
    """Normal out (D,) of a plane that cuts a cluster of statistics S (P,) in two, features measured in ``unit`` (D,).

    The principal axis, or one drawn in whitened space by normal (D,). Where there is hardly any spread there is nothing
    to cut but rounding errors.
    """
    D = unit.shape[0]
    M = np.empty((D, D))
    V = np.empty((D, D))
    n = max(S[0], 1e-300)
    e = 1 + D
    for i in range(D):
        for j in range(i + 1):
            M[i, j] = (S[e] / n - S[1 + i] / n * (S[1 + j] / n)) / (unit[i] * unit[j])
            M[j, i] = M[i, j]
            e += 1
    symmetric_eigen(M, V)
    top = 0
    for i in range(D):
        top = i if M[i, i] > M[top, top] else top
    for i in range(D):
        out[i] = V[i, top] / unit[i] if principal else 0.0
    if principal:
        return
    for j in range(D):
        if M[j, j] > 1e-6 * M[top, top]:
            for i in range(D):
                out[i] += V[i, j] * normal[j] / math.sqrt(M[j, j]) / unit[i]


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
    _vectors()
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
def dirichlet_shares(S, log_marginal, concentration, counts, total, share, own):
    """What each cluster gives to the bounds of unions with it, see `dirichlet_mergeable`.

    S (K, 1 + D); writes counts (2, K, D) float32, with the prior's and without; total, share and own (K,).
    """
    for k in range(S.shape[0]):
        total[k] = value = 0.0
        for j in range(concentration.shape[0]):
            x = concentration[j] + S[k, 1 + j]
            total[k] += x
            value += x * (log64(x) - 1.0)
            counts[0, k, j], counts[1, k, j] = x, S[k, 1 + j]
        share[k] = log_marginal[k] + lgamma64(total[k]) - value
        own[k] = log_marginal[k] + lgamma64(S[k, 0])


@numba.njit(fastmath=_FAST, **_JIT)
def dirichlet_mergeable(size, counts, total, share, own, prior, least, eligible, first, last, pairs):
    """List the pairs of eligible clusters whose log Hastings ratio of merging, less log alpha, may exceed ``least``.

    Because digamma(t) < log(t), log Gamma(x + y) < log Gamma(x) + G(x + y) - G(x) with G(t) = t log(t) - t: one
    logarithm a count instead of the dozens of operations of two log Gamma. Half the precision is enough for a bound.
    size (K,) of the clusters, prior the sum of the concentrations, the rest as `dirichlet_shares` has them. Writes
    those pairs (n, 2) whose first is one of the clusters [first, last); returns n.
    """
    n = 0
    for a in range(first, last):
        for b in range(a + 1, size.shape[0]):
            if not (eligible[a] and eligible[b]):
                continue
            value, scale = _sum_powers(counts[0, a], counts[1, b])
            union = value + 1e-5 * scale + 0.1 + min(share[a], share[b]) - lgamma64(total[a] + total[b] - prior)
            if lgamma64(size[a] + size[b]) + union - own[a] - own[b] > least:
                pairs[n, 0], pairs[n, 1] = a, b
                n += 1
    return n


@numba.njit(fastmath=_FAST, **_LEAF)
def _sum_powers(x, y):
    """Sum of t (log(t) - 1) over t = x + y > 0, of float32s, and the sum of its terms' absolute values."""
    _vectors()
    value = size = np.float32(0.0)
    for j in range(x.shape[0]):
        t = x[j] + y[j]
        bits = _float_bits(t)
        exponent = np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23)
        m = _bits_float(bits - (exponent << np.int32(23))) - np.float32(1.0)
        term = t * (_log_near_one(np.float32(exponent), m) - np.float32(1.0))
        value += term
        size += abs(term)
    return value, size


@numba.njit(fastmath=_FAST, **_JIT)
def rising_table(concentration, column, value, first, last, out):
    """out[u, k] = log Gamma(d + x) - log Gamma(d), d = concentration[column[u], k], x = value[u], u from first to last.

    concentration (D, K), so that the loop over clusters vectorises. A whole x up to 16 needs a product only.
    """
    _vectors()
    K = concentration.shape[1]
    product = np.empty(K)
    for u in range(first, last):
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
    _vectors()
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
def rising_own_scores(indptr, column, value, total, concentration, sums, c, labels, first, last, out):
    """Dirichlet-multinomial scores of points [first, last) under the two halves of their own cluster; out (2, N)."""
    for n in range(first, last):
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
    N, K = scores.shape
    top, second = np.empty(POINTS), np.empty(POINTS)
    best = np.empty(POINTS, np.int64)
    sums = np.empty(K)
    for first in range(0, N, POINTS):
        last = min(first + POINTS, N)
        # Whatever lies side by side is read so.
        if scores.strides[0] < scores.strides[1]:
            _best_scores(scores, first, last, top, second, best)
        else:
            for n in range(first, last):
                top[n - first], best[n - first] = _best_score(scores[n])
                second[n - first] = top[n - first]
        for n in range(first, last):
            i = n - first
            labels[n] = best[i]
            # Where no other cluster comes near, a draw would have no choice.
            if sampling and second[i] > top[i] - SAMPLING_NATS:
                labels[n] = _draw_label(scores[n], top[i], hash_uniform(key, n), sums)


@numba.njit(**_LEAF)
def _best_score(row):
    """The largest of a point's scores (K,), and the first cluster that has it."""
    _vectors()
    top = -np.inf
    for k in range(row.shape[0]):
        top = _larger(top, row[k])
    best = 0
    # To the last one at most: the scores of a point beyond all bounds may be nan.
    while best < row.shape[0] - 1 and row[best] != top:
        best += 1
    return top, best


@numba.njit(**_LEAF)
def _best_scores(scores, first, last, top, second, best):
    """The two largest scores of each point [first, last), and the first cluster that has the largest."""
    _vectors()
    size = _U(last - first)
    for i in range(size):
        top[i] = second[i] = -np.inf
        best[i] = 0
    for k in range(scores.shape[1]):
        for i in range(size):
            score, old, owner = scores[_U(first) + i, k], top[i], best[i]
            # By bits: a choice between storing and not storing would not vectorise.
            taken = np.int64(-1) if score > old else np.int64(0)
            best[i] = owner ^ ((owner ^ k) & taken)
            second[i] = _larger(second[i], _smaller(score, old))
            top[i] = _larger(score, old)


@numba.njit(**_LEAF)
def _draw_label(row, top, uniform, sums):
    """Draw a label in proportion to exp(score) of a row of scores (K,), of which top is the largest."""
    K = row.shape[0]
    total = 0.0
    for k in range(K):
        if row[k] > top - SAMPLING_NATS:
            total += math.exp(row[k] - top)
        sums[k] = total
    u = uniform * total
    k = 0
    while k < K - 1 and sums[k] <= u:
        k += 1
    return k


@numba.njit(**_JIT)
def label_halves(own, key, sampling, labels, out):
    """out[n] = 2 labels[n] + side, by the scores (2, N) of each point under the halves of its cluster, as above."""
    for n in range(labels.shape[0]):
        gain = own[1, n] - own[0, n]
        if sampling:
            # The second half with probability 1 / (1 + exp(-gain)).
            side = hash_uniform(key, n) * (1.0 + math.exp(min(-gain, 700.0))) < 1.0
        else:
            side = gain > 0.0
        out[n] = 2 * labels[n] + (1 if side else 0)


@numba.njit(**_JIT)
def drift(past, now, steady, fewest, out):
    """How far (M, D) groups with statistics past and now (M, P), each beginning with (n, sum of x), have moved.

    The less of a group there is now, the less is known of where it went: n / (n + steady) of the way is believed, and
    nothing if there are fewer than ``fewest`` for each point of the past.
    """
    for g in range(out.shape[0]):
        n, N = now[g, 0], past[g, 0]
        known = n > 0.0 and N > 0.0 and n >= fewest * N
        for i in range(out.shape[1]):
            out[g, i] = (now[g, 1 + i] / n - past[g, 1 + i] / N) * (n / (n + steady)) if known else 0.0


@numba.njit(**_JIT)
def gaussian_translate(records, n_records, way):
    """Move all parts of the first M groups by way (M, D), in the first n_records of (records, groups, parts, P)."""
    D = way.shape[1]
    for r in range(n_records):
        for g in range(way.shape[0]):
            for part in range(records.shape[2]):
                S = records[r, g, part]
                e = 1 + D
                for i in range(D):
                    for j in range(i + 1):
                        S[e] += way[g, i] * S[1 + j] + S[1 + i] * way[g, j] + S[0] * way[g, i] * way[g, j]
                        e += 1
                for i in range(D):
                    S[1 + i] += S[0] * way[g, i]


@numba.njit(**_JIT)
def weighted_sum(weights, records, out):
    """out = sum over r of weights[r] * records[r], in a fixed order.

    weights (R,), out (M,); records may have more rows and columns than are summed.
    """
    out[:] = 0.0
    for r in range(weights.shape[0]):
        for i in range(out.shape[0]):
            out[i] += weights[r] * records[r, i]
