"""Convert tiles of labels to a picture, reduce frames, and enlarge id maps."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel
from scstream.kernels.basics.layout import TILE, uint
from scstream.kernels.basics.queue import next_piece


@kernel
def untile(queue, tiles, table, stride, out):
    """out[y, x] = table[tiles at the pixel that covers (y, x)] in the queue's rows of the picture.

    tiles (tiles, PIXELS) int32 are indices into table (n,), for a picture sampled every ``stride`` pixels; out (H, W)
    of the table's type.
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
                        part[x] = table[uint(row[x])]
                else:
                    for x in range(start, stop):
                        line[x] = table[tile[inner + (x - start) // stride]]
        piece = next_piece(queue)


@kernel
def translate_labels(queue, labels, table, out):
    """out[y, x] = table[labels[y, x]] in the queue's rows; labels (H, W) int32, table (n,) of out's type."""
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(uint(queue.edges[piece]), uint(queue.edges[piece + 1])):
            for x in range(uint(out.shape[1])):
                out[y, x] = table[uint(labels[y, x])]
        piece = next_piece(queue)


@kernel
def shrink(queue, frame, out):
    """Shrink a frame: out[i, j] = mean, rounded, of the block of frame that (i, j) covers, in the queue's rows of out.

    frame (H, W, 3) and out (h, w, 3) uint8, h <= H and w <= W.
    """
    height, width = frame.shape[0], frame.shape[1]
    rows, columns = out.shape[0], out.shape[1]
    sums = np.empty(3 * width, np.uint32)
    edges = np.empty(columns + 1, np.uint64)
    for j in range(columns + 1):
        edges[j] = 3 * (j * width // columns)
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            top, bottom = i * height // rows, (i + 1) * height // rows
            sums[:] = 0
            for y in range(top, bottom):
                line = frame[y].reshape(-1)
                for e in range(uint(sums.shape[0])):
                    sums[e] = np.uint32(sums[e] + line[e])
            for j in range(columns):
                left, right = edges[j], edges[j + 1]
                n = (bottom - top) * np.int64(right - left) // 3
                # As (total + n // 2) // n. The extra 0.5 keeps rounding errors of the product away from whole numbers.
                share, half = 1.0 / n, n // 2 + 0.5
                red = green = blue = np.uint32(0)
                for x in range(left, right, uint(3)):
                    red = np.uint32(red + sums[x])
                    green = np.uint32(green + sums[x + uint(1)])
                    blue = np.uint32(blue + sums[x + uint(2)])
                out[i, j, 0] = np.uint8((red + half) * share)
                out[i, j, 1] = np.uint8((green + half) * share)
                out[i, j, 2] = np.uint8((blue + half) * share)
        piece = next_piece(queue)


@kernel
def enlarge(queue, small, out):
    """Enlarge a picture: out[y, x] = small[y h // H, x w // W], small (h, w), in the queue's rows of out (H, W)."""
    height, width = out.shape
    rows, columns = small.shape
    place = np.empty(width, np.uint64)
    for x in range(width):
        place[x] = x * columns // width
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            if y > queue.edges[piece] and y * rows // height == (y - 1) * rows // height:
                # One by one: to assign a row, numba would compile an error message about shapes for a second.
                for x in range(width):
                    out[y, x] = out[y - 1, x]
                continue
            line = small[y * rows // height]
            for x in range(width):
                out[y, x] = line[place[x]]
        piece = next_piece(queue)
