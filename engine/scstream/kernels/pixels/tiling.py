"""Cut a frame into tiles; each pixel has five features (position and colour), each tile a bounding box."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import bits_to_float, float_to_bits, larger, smaller, vectorise
from scstream.kernels.basics.layout import (
    ALL_PIXELS,
    BANDS,
    ONE,
    PIXEL_D,
    PIXELS,
    TILE,
    ZERO,
    fill_overhang,
    overhangs,
    uint,
)
from scstream.kernels.basics.queue import next_piece
from scstream.kernels.pixels.moments import group_moments, tile_moments


@kernel(fastmath=FAST)
def fill_tiles(queue, frame, table, lab, stride, placed, pixels, low, high, bands, totals):
    """Cut rows of tiles out of a frame, with each tile's bounding box and statistics.

    A pixel is (row / H, column / W, two chroma axes, lightness). This order and the rotated colour axes do not change
    the model, but make the boxes, and so the bounds over them, much tighter than (R, G, B, row, column) would.

    Parameters
    ----------
    queue : Queue
        Rows of tiles.
    frame : array (H, 3 W) uint8
        R, G, B of the pixels of each row, side by side.
    table : array (256,) float32
        Value of each byte of a channel: byte / 255, or linear light for Lab.
    lab : bool
        Convert linear RGB to CIE Lab.
    stride : int
        Take every stride-th pixel in both directions, from the middle of its block.
    placed : bool
        The positions pixels[:, :2] are already there; write the colours only.
    pixels : array (tiles, 5, PIXELS) float32, output
        A tile that overhangs the picture's edge repeats the last pixel.
    low, high : array (tiles, 5) float32, output
        Bounding box of each tile.
    bands : array (tiles, 2, 5, BANDS) float32, output
        Centre and half width of the boxes of each tile's bands.
    totals : array (tiles, 21) float64, output
        Statistics of all pixels of each tile, weighted by stride^2.
    """
    vectorise()
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
                        _copy_row(line[3 * left :], min(TILE, width - left), table[1], px, base)
                    else:
                        for j in range(TILE):
                            x = 3 * source[left + j]
                            px[2, base + j] = table[line[x]]
                            px[3, base + j] = table[line[x + 1]]
                            px[4, base + j] = table[line[x + 2]]
                if lab:
                    _convert_to_lab(px)
                elif not plain:
                    _rotate_colours(px)
                _bounding_boxes(px, low[t], high[t], bands[t])
                for d in range(PIXEL_D):
                    centre[d] = np.float32(0.5) * (low[t, d] + high[t, d])
                if overhangs(tile_row, tile_column, rows, columns):
                    inside[:] = 0
                    fill_overhang(tile_row, tile_column, rows, columns, inside, ONE)
                    group_moments(px, centre, inside, ZERO, ZERO, ALL_PIXELS, np.float32(stride * stride), totals[t])
                else:
                    tile_moments(px, centre, stride * stride, totals[t])
        piece = next_piece(queue)


@leaf
def _copy_row(line, n, unit, px, base):
    """Write the colours of n pixels of a frame's row into a tile, from its pixel ``base`` on.

    line (3 n or more,) uint8 holds R, G, B side by side; a channel's value is unit * byte, unit a float32.
    px (5, PIXELS) float32.
    """
    vectorise()
    for j in range(uint(n)):
        p = uint(base) + j
        r = unit * np.float32(line[uint(3) * j])
        g = unit * np.float32(line[uint(3) * j + uint(1)])
        b = unit * np.float32(line[uint(3) * j + uint(2)])
        px[2, p], px[3, p], px[4, p] = _opponent(r, g, b)


@leaf
def _bounding_boxes(px, low, high, bands):
    """Bounding box low, high (5,) of a tile px (5, PIXELS), and of its bands; all float32.

    bands (2, 5, BANDS): centres (low + high) / 2 and half widths (high - low) / 2.
    """
    vectorise()
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
            low[d] = smaller(low[d], least)
            high[d] = larger(high[d], most)


@leaf
def _extremes(values, begin, end):
    """Smallest and largest of values[begin:end], float32 without nan."""
    vectorise()
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for p in range(uint(begin), uint(end)):
        low = smaller(low, values[p])
        high = larger(high, values[p])
    return low, high


@leaf
def _rotate_colours(px):
    """Convert R, G, B in px[2:], px (5, PIXELS) float32, to opponent colours in place."""
    vectorise()
    for p in range(PIXELS):
        px[2, p], px[3, p], px[4, p] = _opponent(px[2, p], px[3, p], px[4, p])


@inlined
def _opponent(r, g, b):
    """Opponent colours of float32s r, g, b, an orthonormal rotation of the axes.

    (r - b) / sqrt(2), (r - 2 g + b) / sqrt(6), (r + g + b) / sqrt(3): red - blue, magenta - green, lightness.
    """
    return (
        np.float32(0.70710678) * (r - b),
        np.float32(0.40824829) * (r - g - g + b),
        np.float32(0.57735027) * (r + g + b),
    )


@leaf(fastmath=FAST)
def _convert_to_lab(px):
    """Convert linear RGB in px[2:], px (5, PIXELS) float32, to CIE a, b, L (D65), each divided by 100, in place.

    With X, Y, Z relative to the white point and f the `_lab_curve`: a = 5 (f(X) - f(Y)), b = 2 (f(Y) - f(Z)) and
    L = 1.16 f(Y) - 0.16.
    """
    for p in range(PIXELS):
        r, g, b = px[2, p], px[3, p], px[4, p]
        x = np.float32(0.43395) * r + np.float32(0.37622) * g + np.float32(0.18983) * b
        y = np.float32(0.21267) * r + np.float32(0.71516) * g + np.float32(0.07217) * b
        z = np.float32(0.01776) * r + np.float32(0.10946) * g + np.float32(0.87278) * b
        fx, fy, fz = _lab_curve(x), _lab_curve(y), _lab_curve(z)
        px[2, p] = np.float32(5.0) * (fx - fy)
        px[3, p] = np.float32(2.0) * (fy - fz)
        px[4, p] = np.float32(1.16) * fy - np.float32(0.16)


@inlined(fastmath=FAST)
def _lab_curve(t):
    """CIE Lab's curve of a float32: t^(1/3) above 0.008856, else 7.787 t + 16 / 116."""
    safe = max(t, np.float32(1e-6))
    # A third of the exponent bits approximates the cube root; Newton's steps refine it to float32 precision.
    r = bits_to_float(float_to_bits(safe) // np.int32(3) + np.int32(709921077))
    for _ in range(3):
        r = np.float32(0.33333334) * (np.float32(2.0) * r + safe / (r * r))
    return r if t > np.float32(0.008856452) else np.float32(7.787037) * t + np.float32(0.13793103)
