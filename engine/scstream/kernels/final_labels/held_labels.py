"""Labels that agree with those of the frame before, along the motion."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import muladd, vectorise
from scstream.kernels.basics.layout import FORM_C, FORM_POWER, PIXEL_D, PIXELS, TILE, uint
from scstream.kernels.basics.queue import next_piece
from scstream.kernels.basics.scalar_math import LOG1P_TINY_MAX, log1p32, log1p_tiny
from scstream.kernels.pixels.pixel_scores import coefficients

#: Pixels of a row that share one displacement.
SPAN = 8
#: Points that are scored together; arrays of points have so much room behind the last one.
LANES = 8


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
    out : array (H, W) int32, output
    """
    height, width = out.shape
    across, spans = (width + TILE - 1) // TILE, (width + SPAN - 1) // SPAN
    small = np.empty(max(width, height), np.int32)
    for x in range(small.shape[0]):
        small[x] = x // step
    bonus_of = np.empty(256, np.float32)
    for change in range(256):
        bonus_of[change] = bonus / (np.float32(1.0) + contrast * np.float32(change) * np.float32(change))
    group_of = np.empty(table.shape[0], np.int32)
    for label in range(table.shape[0]):
        group_of[label] = group[table[label]] if table[label] >= 0 else -1
    left, right, share = np.empty(spans, np.int32), np.empty(spans, np.int32), np.empty(spans, np.float32)
    for s in range(spans):
        left[s], right[s], share[s] = _between(s * SPAN + SPAN // 2, spacing, motion.shape[1])
    column = np.empty(width, np.float32)
    write_column_coordinates(pixels, column)
    line, moves = np.empty((2, motion.shape[1]), np.float32), np.empty((2, spans), np.int32)
    place, had, now, was, winner = np.empty((5, width + LANES), np.int32)
    points, bonuses = np.zeros((PIXEL_D, width + LANES), np.float32), np.zeros(width + LANES, np.float32)
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            out[y] = bare[y]
            _find_moves(motion, spacing, y, left, right, share, line, moves)
            n = _list_contested(
                y, moves, previous, table, group_of, group, small, old.shape[1], bare[y], place, had, now, was
            )
            tiles = pixels[(y // TILE) * across : (y // TILE + 1) * across].reshape(-1)
            take_points(tiles, (y % TILE) * TILE, column, place[:n], points)
            _find_bonuses(place[:n], was, small, new[small[y]], old.reshape(-1), bonus_of, bonuses)
            _choose(forms, had, now, n, points, bonuses, winner)
            _write(place[:n], winner, out[y])
        piece = next_piece(queue)


@leaf
def _find_moves(motion, spacing, y, left, right, share, line, moves):
    """Displacements moves (2, spans) int32 of the spans of row y, in whole pixels; line (2, columns) is scratch.

    left, right, share (spans,): the two blocks that each span lies between; see `_between`.
    """
    above, below, part = _between(y, spacing, motion.shape[0])
    for c in range(2):
        for j in range(line.shape[1]):
            line[c, j] = motion[above, j, c] + part * (motion[below, j, c] - motion[above, j, c])
        for s in range(moves.shape[1]):
            first, second = line[c, uint(left[s])], line[c, uint(right[s])]
            moves[c, s] = np.int32(np.floor(first + share[s] * (second - first) + np.float32(0.5)))


@leaf
def _list_contested(y, moves, previous, table, group_of, group, small, across, bare, place, had, now, was):
    """List the pixels of row y that had a label of another group than that by score alone; returns how many.

    Columns go to place, the labels to had and now, and where the pixel was in the luminance of the frame before, which
    is ``across`` pixels wide, to was. group_of (n,) int32 is the group of each label of the frame before, or -1.
    """
    height, width = previous.shape
    n = uint(0)
    for s in range(moves.shape[1]):
        begin, end = s * SPAN, min((s + 1) * SPAN, width)
        from_row, shift = y + moves[0, s], np.int64(moves[1, s])
        if from_row < 0 or from_row >= height or begin + shift < 0 or end + shift > width:
            continue
        source = previous[uint(from_row)]
        if end - begin == SPAN:
            changed = np.int32(0)
            for j in range(uint(SPAN)):
                changed |= table[uint(source[uint(begin + shift) + j])] ^ bare[uint(begin) + j]
            if changed == 0:
                continue
        base = small[uint(from_row)] * across
        for x in range(uint(begin), uint(end)):
            before, label = uint(source[x + uint(shift)]), bare[x]
            # A branch would be mispredicted often: every pixel is written, and the next one replaces it.
            place[n], had[n], now[n], was[n] = x, table[before], label, base + small[x + uint(shift)]
            n += uint((group_of[before] >= 0) & (group_of[before] != group[uint(label)]))
    return n


@leaf
def write_column_coordinates(pixels, out):
    """Column coordinates out (W,) of the pixels (tiles, 5, PIXELS) of a row; they are the same in all rows."""
    for x in range(out.shape[0]):
        out[x] = pixels[x // TILE, 1, x % TILE]


@leaf
def take_points(tiles, inner, column, place, points):
    """Copy the pixels at the columns place (n,) of a row to points (5, n or more).

    tiles are the flattened pixels of a row of tiles, ``inner`` is where the row begins in each tile.
    """
    for i in range(uint(place.shape[0])):
        x = uint(place[i])
        p = (x // uint(TILE)) * uint(PIXEL_D * PIXELS) + uint(inner) + x % uint(TILE)
        points[0, i] = tiles[uint(inner)]
        points[1, i] = column[x]
        points[2, i] = tiles[p + uint(2 * PIXELS)]
        points[3, i] = tiles[p + uint(3 * PIXELS)]
        points[4, i] = tiles[p + uint(4 * PIXELS)]


@leaf
def _find_bonuses(place, was, small, brightness, old, bonus_of, out):
    """Bonus out (n or more,) of each listed pixel, from bonus_of (256,) by its change of luminance."""
    for i in range(uint(place.shape[0])):
        change = abs(np.int32(brightness[uint(small[uint(place[i])])]) - np.int32(old[uint(was[i])]))
        out[i] = bonus_of[uint(change)]


@leaf
def _choose(forms, had, now, n, points, bonuses, winner):
    """Winner (n or more,) of had and now at each of n points; stretches with the same two labels are scored at once."""
    begin = uint(0)
    while begin < n:
        first, second = had[begin], now[begin]
        end = begin + uint(1)
        while end < n and (had[end] == first) & (now[end] == second):
            end += uint(1)
        _choose_between(first, second, forms[uint(first)], forms[uint(second)], begin, end, points, bonuses, winner)
        begin = end


@leaf
def _choose_between(had, now, held_form, form, begin, end, points, bonuses, winner):
    """Winner of two labels at points[:, begin:end]; up to LANES - 1 entries behind the end are overwritten."""
    vectorise()
    f, top, power = coefficients(held_form), held_form[FORM_C], held_form[FORM_POWER]
    g, other_top, other_power = coefficients(form), form[FORM_C], form[FORM_POWER]
    for base in range(begin, end, uint(LANES)):
        for j in range(uint(LANES)):
            i = base + j
            x0, x1, x2, x3, x4 = points[0, i], points[1, i], points[2, i], points[3, i], points[4, i]
            held = _score_point(f, top, power, x0, x1, x2, x3, x4) + bonuses[i]
            winner[i] = had if held > _score_point(g, other_top, other_power, x0, x1, x2, x3, x4) else now


@leaf
def _write(place, winner, out):
    """out[place[i]] = winner[i]."""
    for i in range(uint(place.shape[0])):
        out[uint(place[i])] = winner[i]


@leaf
def score_points(form, begin, end, points, out):
    """Scores out[begin:end] of points[:, begin:end] under one whitened form, to a few ulp.

    form (FORM,), points (5, n) and out (n,) float32. Up to LANES - 1 entries behind the end are overwritten.
    """
    vectorise()
    f, top, power = coefficients(form), form[FORM_C], form[FORM_POWER]
    for base in range(begin, end, uint(LANES)):
        for j in range(uint(LANES)):
            i = base + j
            out[i] = _score_point(
                f, top, power, points[0, i], points[1, i], points[2, i], points[3, i], points[4, i]
            )  # fmt: skip


@inlined
def _score_point(f, top, power, x0, x1, x2, x3, x4):
    """Score (float32) of one point without branches, so that loops over it vectorise; f are `coefficients`."""
    y0 = muladd(f[0], x0, f[15])
    y1 = muladd(f[1], x0, muladd(f[2], x1, f[16]))
    y2 = muladd(f[5], x2, muladd(f[3], x0, muladd(f[4], x1, f[17])))
    y3 = muladd(f[9], x3, muladd(f[8], x2, muladd(f[6], x0, muladd(f[7], x1, f[18]))))
    y4 = muladd(f[14], x4, muladd(f[13], x3, muladd(f[12], x2, muladd(f[10], x0, muladd(f[11], x1, f[19])))))
    q = muladd(y4, y4, muladd(y3, y3, muladd(y2, y2, muladd(y1, y1, y0 * y0))))
    near, far = log1p_tiny(q), log1p32(q)
    log = near if q < np.float32(LOG1P_TINY_MAX) else far
    return top - (power * log if power > 0 else q)


@leaf
def _between(x, spacing, n):
    """The two of n blocks that pixel x lies between, and its share of the way from the first to the second."""
    place = min(max((x + 0.5) / spacing - 0.5, 0.0), n - 1.0)
    first = min(int(place), max(n - 2, 0))
    return first, min(first + 1, n - 1), np.float32(place - first)


@kernel
def find_places(ids, wanted):
    """Index (m,) int32 into ids (n,) int64 of each of the wanted ids (m,) int64, or -1.

    The order of clusters changes little: each search begins after the id that was found before.
    """
    n = ids.shape[0]
    out = np.full(wanted.shape[0], -1, np.int32)
    start = 0
    for i in range(wanted.shape[0]):
        for j in range(n):
            place = start + j if start + j < n else start + j - n
            if ids[place] == wanted[i]:
                out[i] = start = place
                break
    return out


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
