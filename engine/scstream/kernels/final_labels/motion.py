"""Motion between two pictures: blocks of the newer one are found again in the older one, from coarse to fine."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.queue import next_piece

#: Side of a block, and half the distance of coarse blocks' search, in pixels of the level.
BLOCK = 8
REACH = 5
#: A displacement must lower the sum of absolute differences by so much for each pixel that it is longer: flat areas
#: stand still.
_STILL = 4.0


@kernel
def shrink_luminance(queue, frame, step, out):
    """out = luminance of the blocks of ``step`` x ``step`` pixels of a frame, in the queue's rows of out.

    frame (H, W, 3) uint8, out (h, w) uint8. Luminance is (R + 2 G + B) / 4, the mean of 2 x 2 pixels in the middle of
    the block: the mean of all would take as long as finding the motion.
    """
    last_row, last_column = frame.shape[0] - 1, frame.shape[1] - 1
    middle = (step - 1) // 2
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            y = min(i * step + middle, last_row)
            above, below = frame[y], frame[min(y + 1, last_row)]
            for j in range(out.shape[1]):
                x = min(j * step + middle, last_column)
                u = min(x + 1, last_column)
                total = np.int32(above[x, 0]) + above[u, 0] + below[x, 0] + below[u, 0]
                total += 2 * (np.int32(above[x, 1]) + above[u, 1] + below[x, 1] + below[u, 1])
                total += np.int32(above[x, 2]) + above[u, 2] + below[x, 2] + below[u, 2]
                out[i, j] = (total + 8) // 16
        piece = next_piece(queue)


@kernel
def halve(picture):
    """Picture (h, w) uint8 of half the size: each pixel is the mean of 2 x 2; an odd last row or column is dropped."""
    out = np.empty((picture.shape[0] // 2, picture.shape[1] // 2), np.uint8)
    for i in range(out.shape[0]):
        above, below = picture[2 * i], picture[2 * i + 1]
        for j in range(out.shape[1]):
            total = np.int32(above[2 * j]) + above[2 * j + 1] + below[2 * j] + below[2 * j + 1]
            out[i, j] = (total + 2) // 4
    return out


@leaf
def _difference(new, old, y, x, dy, dx, enough):
    """Sum (int32) of absolute differences of the block of ``new`` at (y, x) and that of ``old`` at (y + dy, x + dx).

    Rows from where the sum reaches ``enough`` on are left out.
    """
    vectorise()
    total = np.int32(0)
    row, column, there, across = uint(y), uint(x), uint(y + dy), uint(x + dx)
    for i in range(uint(BLOCK)):
        for j in range(uint(BLOCK)):
            total = np.int32(total + abs(np.int32(new[row + i, column + j]) - np.int32(old[there + i, across + j])))
        if total >= enough:
            break
    return total


@leaf
def _cost(new, old, y, x, dy, dx, enough):
    """Difference of two blocks plus a charge for the length of the displacement; inf if it leads outside.

    Costs of ``enough`` or more are not exact.
    """
    if y + dy < 0 or x + dx < 0 or y + dy > old.shape[0] - BLOCK or x + dx > old.shape[1] - BLOCK:
        return np.float32(np.inf)
    return np.float32(_difference(new, old, y, x, dy, dx, enough)) + np.float32(_STILL) * np.float32(abs(dy) + abs(dx))


@kernel
def match_coarse(queue, new, old, spacing, out):
    """Displacements out (rows, columns, 2) float32 of blocks of ``new`` in ``old``, the best within REACH pixels.

    Block (i, j) is centred at (spacing (i + 1/2), spacing (j + 1/2)) as far as it fits; the queue has rows of blocks.
    """
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            for j in range(out.shape[1]):
                y, x = _corner(i, spacing, new.shape[0]), _corner(j, spacing, new.shape[1])
                best, by, bx = _cost(new, old, y, x, 0, 0, np.inf), 0, 0
                for dy in range(-REACH, REACH + 1):
                    for dx in range(-REACH, REACH + 1):
                        cost = _cost(new, old, y, x, dy, dx, best)
                        if cost < best:
                            best, by, bx = cost, dy, dx
                out[i, j, 0], out[i, j, 1] = by, bx
        piece = next_piece(queue)


@kernel
def match_fine(queue, new, old, spacing, coarse, subpixel, out):
    """Displacements out (rows, columns, 2) float32 of blocks, sought around twice those of a coarser level.

    Each block tries the displacements ``coarse`` (r, c, 2) of the coarse blocks around it and none at all, then the
    eight pixels around the best; ``subpixel`` refines that by a parabola.
    """
    rows, columns = coarse.shape[0], coarse.shape[1]
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            for j in range(out.shape[1]):
                y, x = _corner(i, spacing, new.shape[0]), _corner(j, spacing, new.shape[1])
                best, by, bx = _cost(new, old, y, x, 0, 0, np.inf), 0, 0
                ci, cj = i * rows // out.shape[0], j * columns // out.shape[1]
                for ni in range(max(ci - 1, 0), min(ci + 2, rows)):
                    for nj in range(max(cj - 1, 0), min(cj + 2, columns)):
                        if ni != ci and nj != cj:
                            continue
                        dy, dx = int(2.0 * coarse[ni, nj, 0]), int(2.0 * coarse[ni, nj, 1])
                        cost = _cost(new, old, y, x, dy, dx, best)
                        if cost < best:
                            best, by, bx = cost, dy, dx
                sy, sx = by, bx
                for dy in range(sy - 1, sy + 2):
                    for dx in range(sx - 1, sx + 2):
                        cost = _cost(new, old, y, x, dy, dx, best)
                        if cost < best:
                            best, by, bx = cost, dy, dx
                out[i, j, 0], out[i, j, 1] = by, bx
                if subpixel:
                    out[i, j, 0] += _vertex(
                        _cost(new, old, y, x, by - 1, bx, np.inf), best, _cost(new, old, y, x, by + 1, bx, np.inf)
                    )
                    out[i, j, 1] += _vertex(
                        _cost(new, old, y, x, by, bx - 1, np.inf), best, _cost(new, old, y, x, by, bx + 1, np.inf)
                    )
        piece = next_piece(queue)


@leaf
def _corner(i, spacing, length):
    """First row or column of the i-th block."""
    return min(max(i * spacing + spacing // 2 - BLOCK // 2, 0), length - BLOCK)


@leaf
def _vertex(before, here, after):
    """Place of a parabola's minimum, from -1/2 to 1/2, given its values at -1, 0 and 1; 0 if there is none."""
    bend = before + after - np.float32(2.0) * here
    if not np.isfinite(bend) or bend <= 0:
        return np.float32(0.0)
    return min(max(np.float32(0.5) * (before - after) / bend, np.float32(-0.5)), np.float32(0.5))


@kernel
def median_motion(queue, motion, step, out):
    """Median of each component over a block and its neighbours, times step (float32), in the queue's rows of blocks.

    motion and out (rows, columns, 2) float32.
    """
    rows, columns = motion.shape[0], motion.shape[1]
    near = np.empty(9, np.float32)
    piece = next_piece(queue)
    while piece >= 0:
        for i in range(queue.edges[piece], queue.edges[piece + 1]):
            for j in range(columns):
                for c in range(2):
                    n = 0
                    for y in range(max(i - 1, 0), min(i + 2, rows)):
                        for x in range(max(j - 1, 0), min(j + 2, columns)):
                            value, place = motion[y, x, c], n
                            while place > 0 and near[place - 1] > value:
                                near[place] = near[place - 1]
                                place -= 1
                            near[place] = value
                            n += 1
                    out[i, j, c] = near[n // 2] * step
        piece = next_piece(queue)
