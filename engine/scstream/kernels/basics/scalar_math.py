"""exp, log and log Gamma of single numbers, written so that loops over them vectorise."""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, inlined, leaf
from scstream.kernels.basics.intrinsics import bits_to_double, bits_to_float, double_to_bits, float_to_bits, muladd

#: Largest x that `log1p_tiny` takes.
LOG1P_TINY_MAX = 0.0625
#: Below this x, log(1 + x) is expanded around 1 without rounding 1 + x first.
_SMALL = 0.25


@inlined(fastmath=FAST)
def log1p32(x):
    """log(1 + x) of a float32 x >= 0 to about 5 ulp, also for small x; vectorises, which a libm call does not."""
    bits = float_to_bits(np.float32(1.0) + x)
    # Centre the mantissa on 1, in [sqrt(1/2), sqrt(2)). numba subtracts two int32s into an int64, of which a vector
    # holds half as many: the cast undoes that.
    exponent = np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23)
    m = bits_to_float(bits - (exponent << np.int32(23))) - np.float32(1.0)
    # For small x use x as m: 1 + x has rounded the low bits of x away.
    return log_from_parts32(np.float32(exponent), x if x < np.float32(_SMALL) else m)


@inlined(fastmath=FAST)
def log_from_parts32(exponent, m):
    """log(2^exponent (1 + m)) of float32s, for m in [sqrt(1/2) - 1, sqrt(2) - 1].

    log(1 + m) = 2 atanh(s) with s = m / (2 + m), as a polynomial in s^2.
    """
    s = m / (np.float32(2.0) + m)
    z = s * s
    p = np.float32(0.24279079)
    p = p * z + np.float32(0.28498787)
    p = p * z + np.float32(0.40000972)
    p = p * z + np.float32(0.66666665)
    return muladd(exponent, np.float32(0.6931472), s * (np.float32(2.0) + z * p))


@inlined
def log1p_tiny(x):
    """log(1 + x) of a float32 x in [0, LOG1P_TINY_MAX], to about 2 ulp: x - x^2 / 2 + x^3 / 3 - x^4 / 4 + x^5 / 5."""
    p = muladd(np.float32(0.2), x, np.float32(-0.25))
    p = muladd(p, x, np.float32(0.33333333))
    p = muladd(p, x, np.float32(-0.5))
    return muladd(p, x * x, x)


@inlined(fastmath=FAST)
def exp32(x):
    """exp(x) of a float32 x in [-87, 87], to about 2 ulp; vectorises.

    exp(x) = 2^n exp(r) with n = round(x / log(2)) and |r| <= log(2) / 2; exp(r) is a polynomial.
    """
    # A float of this size has no fraction bits: adding it rounds x / log(2) to a whole number, which stands in the last
    # bits. n is read from the bits because the compiler may cancel an addition against a subtraction.
    large = np.float32(12582912.0)
    n = np.int32(float_to_bits(x * np.float32(1.4426950408889634) + large) - float_to_bits(large))
    r = muladd(np.float32(n), np.float32(2.12194440e-4), muladd(np.float32(n), np.float32(-0.693359375), x))
    # Pairs of terms are independent of each other, so the processor computes them in parallel.
    square = r * r
    y = np.float32(0.0082903146) * r + np.float32(0.04189793)
    y = y * square + (np.float32(0.16667636) * r + np.float32(0.4999915))
    y = y * square + (np.float32(0.99999971) * r + np.float32(1.0))
    return bits_to_float(float_to_bits(y) + (n << np.int32(23)))


@inlined
def exp64(x):
    """exp(x) of a float64 x in [-700, 700] to about 1e-15; vectorises. See `exp32`."""
    large = 6755399441055744.0
    n = double_to_bits(x * 1.4426950408889634 + large) - double_to_bits(large)
    r = x - np.float64(n) * 0.6931471803691238 - np.float64(n) * 1.9082149292705877e-10
    # Taylor's series up to r^13, pairs of terms first.
    square = r * r
    y = 1.6059043836821613e-10 * r + 2.08767569878681e-09
    y = y * square + (2.505210838544172e-08 * r + 2.755731922398589e-07)
    y = y * square + (2.7557319223985893e-06 * r + 2.48015873015873e-05)
    y = y * square + (0.0001984126984126984 * r + 0.001388888888888889)
    y = y * square + (0.008333333333333333 * r + 0.041666666666666664)
    y = y * square + (0.16666666666666666 * r + 0.5)
    y = y * square + (r + 1.0)
    return bits_to_double(double_to_bits(y) + (n << np.int64(52)))


@inlined(fastmath=FAST)
def log1p64(x):
    """log(1 + x) of a float64 x >= 0 to about 1e-15; vectorises. See `log1p32`."""
    bits = double_to_bits(1.0 + x)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    m = bits_to_double(bits - (exponent << np.int64(52))) - 1.0
    return _log_from_parts64(exponent, x if x < 0.25 else m)


@inlined(fastmath=FAST)
def log64(x):
    """log(x) of a positive, normal float64 to about 1e-15; vectorises."""
    bits = double_to_bits(x)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    return _log_from_parts64(exponent, bits_to_double(bits - (exponent << np.int64(52))) - 1.0)


@inlined(fastmath=FAST)
def _log_from_parts64(exponent, m):
    """log(2^exponent (1 + m)) in float64, for an int64 exponent and m in [sqrt(1/2) - 1, sqrt(2) - 1].

    log(1 + m) = 2 atanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...) with s = m / (2 + m).
    """
    s = m / (2.0 + m)
    z = s * s
    # 1 / 3 + z / 5 + z^2 / 7 + ..., fitted to this range of s: one term fewer for the same precision.
    p = 0.07308224842521702
    p = p * z + 0.07665860800278021
    p = p * z + 0.09091444562630861
    p = p * z + 0.1111110556739754
    p = p * z + 0.14285714312987743
    p = p * z + 0.19999999999949752
    p = p * z + 0.3333333333333335
    return np.float64(exponent) * 0.6931471805599453 + 2.0 * s * (1.0 + z * p)


@inlined(fastmath=FAST)
def lgamma64(x):
    """log Gamma(x) of a float64 x > 0 to about 1e-13; vectorises.

    Stirling's series. Below 1e6 it is taken at x + 8:
    log Gamma(x) = log Gamma(x + 8) - log(x (x + 1) ... (x + 7)).
    """
    small = x < 1e6
    y = x + 8.0 if small else x
    product = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) * (x + 5.0) * (x + 6.0) * (x + 7.0)
    product = product if small else 1.0
    r = 1.0 / y
    r2 = r * r
    series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))))
    return (y - 0.5) * log64(y) - y + 0.9189385332046727 + series - log64(product)


@leaf
def lgamma(x):
    """log Gamma(x) of a float64 x > 0: Stirling's series from 12 on, exact in double precision there; else libm."""
    if x < 12.0:
        return math.lgamma(x)
    r = 1.0 / x
    r2 = r * r
    series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series


@inlined
def lgamma_bound(x, log_x):
    """Upper bound of log Gamma(x) for x >= 2, given log(x), at most 1 / 24 too high: Stirling's formula."""
    return (x - 0.5) * log_x - x + (0.9189385332046727 + 1.0 / 24.0)
