"""Labels that agree with those of the frame before, along the motion."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.layout import TILE, uint
from scstream.kernels.moments import add_pixel
from scstream.kernels.pixel_scores import score_pixel_quickly
from scstream.kernels.queue import next_piece

#: Pixels of a row that share one displacement.
SPAN = 8


@kernel
def hold_labels(
    queue, motion, spacing, step, previous, table, new, old, group, pixels, forms, bonus, contrast, bare, out
):  # fmt: skip
    """Let pixels keep the label that they had in the frame before unless another scores clearly better.

    The label that a pixel had is found along the motion; with a bonus it must beat the label by score alone. The bonus
    is smaller where the picture has changed.

    Parameters
    ----------
    queue : Queue
        Rows of the frame.
    motion : array (rows, columns, 2) float32
        Displacement (y, x) in pixels of the frame, from each block of the frame to the frame before.
    spacing : float
        Distance between the centres of two blocks.
    step : int
        Side of the block of pixels that one pixel of ``new`` and ``old`` stands for.
    previous : array (H, W) int32
        Labels of the frame before.
    table : array (n,) int32
        Label of this frame for each of those labels, or -1.
    new, old : array (h, w) uint8
        Luminance of this frame and of the one before.
    group : array (K,) int32
        Labels of one group count as equal.
    pixels : array (tiles, 5, PIXELS) float32
    forms : array (K, FORM) float32
        Whitened forms of the clusters.
    bonus : float32
        Bonus where the luminance is unchanged, in nats.
    contrast : float32
        One over the squared difference of luminance at which the bonus is halved.
    bare : array (H, W) int32
        Labels by score alone.
    out : array (H, W) int32, updated
        Equal to ``bare`` on entry.
    """
    height, width = out.shape
    rows, columns = motion.shape[0], motion.shape[1]
    across = (width + TILE - 1) // TILE
    small = np.empty(max(width, height), np.int64)
    for x in range(small.shape[0]):
        small[x] = x // step
    line = np.empty((columns, 2), np.float32)
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            above, below, share = _between(y, spacing, rows)
            for j in range(columns):
                for c in range(2):
                    line[j, c] = motion[above, j, c] + share * (motion[below, j, c] - motion[above, j, c])
            brightness = new[small[y]]
            for begin in range(0, width, SPAN):
                end = min(begin + SPAN, width)
                left, right, share = _between(begin + SPAN // 2, spacing, columns)
                dy = line[left, 0] + share * (line[right, 0] - line[left, 0])
                dx = line[left, 1] + share * (line[right, 1] - line[left, 1])
                sy, shift = y + np.int64(np.floor(dy + np.float32(0.5))), np.int64(np.floor(dx + np.float32(0.5)))
                inside = 0 <= sy < height
                if not inside or begin + shift < 0 or end + shift > width:
                    continue
                for x in range(uint(begin), uint(end)):
                    label = bare[uint(y), x]
                    sx = x + uint(shift)
                    had = table[uint(previous[uint(sy), sx])]
                    if had < 0 or had == label or group[uint(had)] == group[uint(label)]:
                        continue
                    change = np.float32(brightness[small[x]]) - np.float32(old[small[uint(sy)], small[sx]])
                    held = bonus / (np.float32(1.0) + contrast * change * change)
                    if score_at(pixels, across, y, x, forms[uint(had)]) + held > score_at(
                        pixels, across, y, x, forms[uint(label)]
                    ):
                        out[uint(y), x] = had
        piece = next_piece(queue)


@leaf
def _between(x, spacing, n):
    """The two of n blocks that pixel x lies between, and its share of the way from the first to the second."""
    place = min(max((x + 0.5) / spacing - 0.5, 0.0), n - 1.0)
    first = min(int(place), max(n - 2, 0))
    return first, min(first + 1, n - 1), np.float32(place - first)


@kernel
def sum_motion(motion, spacing, previous, n_labels):
    """Sum of motion and number of samples (n_labels, 3) of each label of the frame before, on 4 x 4 samples a block.

    Arguments as in `hold_labels`; motion is summed from the frame before to this one.
    """
    height, width = previous.shape
    out = np.zeros((n_labels, 3))
    for i in range(motion.shape[0]):
        for j in range(motion.shape[1]):
            dy, dx = motion[i, j, 0], motion[i, j, 1]
            for s in range(16):
                y = int((i + (s // 4 + 0.5) / 4) * spacing + dy)
                x = int((j + (s % 4 + 0.5) / 4) * spacing + dx)
                if 0 <= y < height and 0 <= x < width:
                    row = out[previous[y, x]]
                    row[0] -= dy
                    row[1] -= dx
                    row[2] += 1
    return out


@leaf
def score_at(pixels, across, y, x, form):
    """Score (float32) of the pixel at (y, x) under one whitened form (FORM,); pixels (tiles, 5, PIXELS)."""
    px = pixels[uint((y // TILE) * across + x // TILE)]
    p = uint((y % TILE) * TILE + x % TILE)
    return score_pixel_quickly(form, px[0, p], px[1, p], px[2, p], px[3, p], px[4, p])


@kernel
def sum_changes(queue, pixels, bare, labels, out):
    """Change of the statistics out (pieces, K, 21) of each label from the labels ``bare`` to ``labels`` (H, W).

    out is zero on entry; pixels (tiles, 5, PIXELS) and the queue's rows of the frame as in `hold_labels`.
    """
    width = labels.shape[1]
    across = (width + TILE - 1) // TILE
    piece = next_piece(queue)
    while piece >= 0:
        total = out[piece]
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            for x in range(width):
                if labels[y, x] != bare[y, x]:
                    px = pixels[(y // TILE) * across + x // TILE]
                    p = (y % TILE) * TILE + x % TILE
                    add_pixel(px[0, p], px[1, p], px[2, p], px[3, p], px[4, p], 1.0, total[labels[y, x]])
                    add_pixel(px[0, p], px[1, p], px[2, p], px[3, p], px[4, p], -1.0, total[bare[y, x]])
        piece = next_piece(queue)
