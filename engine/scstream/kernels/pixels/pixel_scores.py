"""Scores of pixels in Gaussian or Student t clusters, given in whitened form (see `scstream.kernels`).

Products are fused as they are written, not as the compiler likes: a pixel's score must not depend on the loop around
it. The position comes first, then the colours.
"""

from __future__ import annotations

import math

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import larger, muladd, vectorise
from scstream.kernels.basics.layout import FORM_C, FORM_POWER, PIXEL_D, TILE, uint
from scstream.kernels.basics.scalar_math import LOG1P_TINY_MAX, log1p32, log1p_tiny


@kernel
def pack_forms(A, b, c, dof, log_weight, out):
    """Pack whitened forms and log weights into rows out (M, FORM) float32 for the pixel kernels.

    A (M, 5, 5), b (M, 5), c, dof, log_weight (M,) float64. A row is (lower triangle of s A, s b, c + log_weight, power)
    with s = sqrt(1 / dof), power = (dof + 5) / 2 of a Student t, and s = sqrt(1 / 2), power = 0 of a Gaussian (dof 0).
    """
    for k in range(out.shape[0]):
        scale = math.sqrt(1.0 / dof[k] if dof[k] > 0 else 0.5)
        e = 0
        for i in range(PIXEL_D):
            for j in range(i + 1):
                out[k, e] = scale * A[k, i, j]
                e += 1
        for i in range(PIXEL_D):
            out[k, e + i] = scale * b[k, i]
        out[k, FORM_C] = c[k] + log_weight[k]
        out[k, FORM_POWER] = 0.5 * (dof[k] + PIXEL_D) if dof[k] > 0 else 0.0


@inlined
def coefficients(form):
    """A and b of a whitened form (FORM,) as a tuple of 20 float32s, which stay in registers."""
    return (
        form[0], form[1], form[2], form[3], form[4], form[5], form[6], form[7], form[8], form[9],
        form[10], form[11], form[12], form[13], form[14], form[15], form[16], form[17], form[18], form[19],
    )  # fmt: skip


@inlined
def prepare_column_terms(f, px, column_terms):
    """Write the terms of the whitened coordinates that depend on a pixel's column alone.

    column_terms (4, TILE) float32: b_i + A_i1 x_1 for i = 1 ... 4. All rows of a tile px (5, PIXELS) have the same
    column coordinates x_1, so these are computed once per tile; f are the form's `coefficients`.
    """
    # The length comes from the array: the compiler would unroll a loop of known length instead of vectorising it.
    for j in range(column_terms.shape[1]):
        x1 = px[1, j]
        column_terms[0, j] = muladd(f[2], x1, f[16])
        column_terms[1, j] = muladd(f[4], x1, f[17])
        column_terms[2, j] = muladd(f[7], x1, f[18])
        column_terms[3, j] = muladd(f[11], x1, f[19])


@inlined
def whitened_coordinates(f, x0, column_terms, j, x2, x3, x4):
    """Whitened coordinates y_1 ... y_4 of y = A x + b of the pixel in column j, a tuple of float32s.

    f are the form's `coefficients`; x0, x2, x3, x4 the pixel's row and colours; column_terms (4, TILE) as
    `prepare_column_terms` writes them.
    """
    y1 = muladd(f[1], x0, column_terms[0, j])
    y2 = muladd(f[5], x2, muladd(f[3], x0, column_terms[1, j]))
    y3 = muladd(f[9], x3, muladd(f[8], x2, muladd(f[6], x0, column_terms[2, j])))
    y4 = muladd(f[14], x4, muladd(f[13], x3, muladd(f[12], x2, muladd(f[10], x0, column_terms[3, j]))))
    return y1, y2, y3, y4


@inlined
def squared_distance(f, x0, column_terms, j, x2, x3, x4):
    """q = |A x + b|^2 (float32) of the pixel in column j; arguments as in `whitened_coordinates`."""
    y0 = muladd(f[0], x0, f[15])
    y1, y2, y3, y4 = whitened_coordinates(f, x0, column_terms, j, x2, x3, x4)
    return muladd(y4, y4, muladd(y3, y3, muladd(y2, y2, muladd(y1, y1, y0 * y0))))


@leaf
def score_tile(px, form, begin, end, column_terms, out):
    """Scores out[begin:end] of whole rows of a tile under one whitened form.

    out = c - q, or c - power log(1 + q) of a Student t, with q = |A x + b|^2. px (5, PIXELS), form (FORM,) and
    out (PIXELS,) float32; column_terms (4, TILE) float32 is scratch.
    """
    vectorise()
    f = coefficients(form)
    # c - q of a Gaussian, q of a Student t.
    sign, shift = (np.float32(1.0), np.float32(0.0)) if form[FORM_POWER] > 0 else (np.float32(-1.0), form[FORM_C])
    prepare_column_terms(f, px, column_terms)
    for base in range(uint(begin), uint(end), uint(TILE)):
        x0 = px[0, base]
        for j in range(uint(TILE)):
            p = base + j
            out[p] = muladd(sign, squared_distance(f, x0, column_terms, j, px[2, p], px[3, p], px[4, p]), shift)
    if form[FORM_POWER] > 0:
        _student_scores(form, begin, end, out)


@leaf(fastmath=FAST)
def _student_scores(form, begin, end, out):
    """Replace q by c - power log(1 + q) in out[begin:end]; form (FORM,) and out (PIXELS,) float32."""
    vectorise()
    top, power = form[FORM_C], form[FORM_POWER]
    largest = np.float32(0.0)
    for p in range(uint(begin), uint(end)):
        largest = larger(largest, out[p])
    if largest < np.float32(LOG1P_TINY_MAX):
        for p in range(uint(begin), uint(end)):
            out[p] = muladd(-power, log1p_tiny(out[p]), top)
    else:
        for p in range(uint(begin), uint(end)):
            out[p] = muladd(-power, log1p32(out[p]), top)
