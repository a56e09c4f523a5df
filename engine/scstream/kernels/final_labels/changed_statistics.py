"""Statistics of the pixels whose final label is not the one by score alone."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import PIXEL_D, PIXEL_P, TILE, uint
from scstream.kernels.basics.queue import next_piece
from scstream.kernels.final_labels.held_labels import take_points, write_column_coordinates


@kernel
def sum_changes(queue, pixels, bare, labels, out):
    """Sum, per label, how the statistics change when ``labels`` replace ``bare``.

    Parameters
    ----------
    queue : Queue
        Rows of the frame.
    pixels : array (tiles, 5, PIXELS) float32
    bare, labels : array (H, W) int32
    out : array (pieces, K, 21) float64, output
        Zero on entry.
    """
    width = labels.shape[1]
    across = (width + TILE - 1) // TILE
    column, place = np.empty(width, np.float32), np.empty(width, np.int32)
    points, part = np.empty((PIXEL_D, width), np.float32), np.empty(PIXEL_P)
    write_column_coordinates(pixels, column)
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            changed = place[: _list_changed(bare[y], labels[y], place)]
            tiles = pixels[(y // TILE) * across : (y // TILE + 1) * across].reshape(-1)
            take_points(tiles, (y % TILE) * TILE, column, changed, points)
            _move_runs(changed, points, bare[y], labels[y], part, out[piece])
        piece = next_piece(queue)


@leaf
def _list_changed(bare, labels, place):
    """List the columns in which two rows (W,) of labels differ in place (W,) int32; returns how many."""
    n = uint(0)
    for x in range(uint(labels.shape[0])):
        # A branch would be mispredicted often: every pixel is written, and the next one replaces it.
        place[n] = np.int32(x)
        n += uint(labels[x] != bare[x])
    return n


@leaf
def _move_runs(place, points, bare, labels, part, out):
    """Move the statistics of listed pixels from labels in ``bare`` to those in ``labels``, run by run of one pair."""
    begin, n = uint(0), uint(place.shape[0])
    while begin < n:
        source, target = bare[uint(place[begin])], labels[uint(place[begin])]
        end = begin + uint(1)
        while end < n and (bare[uint(place[end])] == source) & (labels[uint(place[end])] == target):
            end += uint(1)
        _sum_run(points, begin, end, part)
        _move_statistics(part, out[uint(source)], out[uint(target)])
        begin = end


@leaf
def _sum_run(points, begin, end, out):
    """Statistics out (21,) float64 of points[:, begin:end] float32, which are all in one row."""
    x0, n = np.float64(points[0, begin]), np.float64(end - begin)
    s1 = s2 = s3 = s4 = m11 = m21 = m22 = m31 = m32 = m33 = m41 = m42 = m43 = m44 = 0.0
    for i in range(begin, end):
        x1, x2 = np.float64(points[1, i]), np.float64(points[2, i])
        x3, x4 = np.float64(points[3, i]), np.float64(points[4, i])
        s1 += x1
        s2 += x2
        s3 += x3
        s4 += x4
        m11 += x1 * x1
        m21 += x2 * x1
        m22 += x2 * x2
        m31 += x3 * x1
        m32 += x3 * x2
        m33 += x3 * x3
        m41 += x4 * x1
        m42 += x4 * x2
        m43 += x4 * x3
        m44 += x4 * x4
    out[0], out[1], out[2], out[3], out[4], out[5] = n, n * x0, s1, s2, s3, s4
    out[6], out[7], out[8] = n * x0 * x0, s1 * x0, m11
    out[9], out[10], out[11] = s2 * x0, m21, m22
    out[12], out[13], out[14], out[15] = s3 * x0, m31, m32, m33
    out[16], out[17], out[18], out[19], out[20] = s4 * x0, m41, m42, m43, m44


@leaf
def _move_statistics(part, source, target):
    """Move statistics part (21,) float64 from one label's to another's."""
    vectorise()
    for e in range(uint(part.shape[0])):
        source[e] -= part[e]
        target[e] += part[e]
