"""Small connected pieces of a map of labels, absorbed by their neighbours."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.layout import PIXEL_D, TILE, uint
from scstream.kernels.basics.queue import next_piece
from scstream.kernels.final_labels.connected_pieces import ABOVE, BELOW, LABEL, PARENT, ROW, SIZE, START, STOP
from scstream.kernels.final_labels.held_labels import LANES, score_points

#: Neighbours that contend for a piece: there are hardly ever more.
_NEIGHBOURS = 8
#: A piece is long if the square of its extent is this many times its area.
_LONG = 3


@kernel
def absorb_pieces(queue, pieces, labels, pixels, forms, limit, tiny, extent, loss, left_over):
    """Give small pieces to the neighbouring label that scores best on their pixels.

    Only labels of pieces that are not small are candidates, so that the order of the pieces does not matter.

    Parameters
    ----------
    queue : Queue
        Ranges of ``pieces.small``.
    pieces : Pieces
    labels : array (H, W) int32, updated
    pixels : array (tiles, 5, PIXELS) float32
    forms : array (K, FORM) float32
    limit : float
        Pieces of fewer pixels are small.
    tiny : float
        A piece of fewer pixels is always absorbed.
    extent : float
        A piece that is at least so long, and thin, counts as a line: it is not tiny, and half of ``loss`` is enough.
    loss : float
        A piece stays if the best neighbour scores lower by more than this for each of its pixels.
    left_over : array (m,) bool, output
        Small pieces that have small neighbours only.
    """
    across = (labels.shape[1] + TILE - 1) // TILE
    near = np.empty(_NEIGHBOURS, np.int32)
    room = min(int(limit), labels.size) + LANES + 1
    points, scores = np.zeros((PIXEL_D, room), np.float32), np.empty(room, np.float32)
    part = next_piece(queue)
    while part >= 0:
        for i in range(queue.edges[part], queue.edges[part + 1]):
            mine = pieces.listed[pieces.begin[i] : pieces.begin[i + 1]]
            left_over[i] = _absorb(
                pieces.first, pieces.runs, mine, pieces.length[i], labels, pixels, across, forms, limit, tiny, extent,
                loss, near, points, scores,
            )  # fmt: skip
        part = next_piece(queue)


@leaf
def _absorb(first, runs, mine, length, labels, pixels, across, forms, limit, tiny, extent, loss, near, points, scores):
    """Give one small piece, the runs mine (n,), to a neighbour; returns whether it has small neighbours only."""
    size = runs[uint(mine[0]), SIZE]
    is_line = length >= extent and length * length >= _LONG * size
    most = np.inf if size < tiny and not is_line else (0.5 * loss if is_line else loss) * size
    n = _neighbours(first, runs, mine, labels.shape[1], limit, near)
    # Most tiny pieces have one neighbour, which needs no scores.
    winner = near[0]
    if n != 1 or most < np.inf:
        winner = _best(runs, mine, pixels, across, forms, near[:n], most, points, scores)
    if winner >= 0:
        _fill(labels, runs, mine, winner)
    return n == 0


@leaf
def _neighbours(first, runs, mine, width, least, near):
    """List in ``near`` the labels around a piece whose own pieces have ``least`` pixels or more; returns how many."""
    n = 0
    end = 0
    while end < mine.shape[0]:
        begin = uint(mine[end])
        last = begin
        end += 1
        while (
            end < mine.shape[0] and uint(mine[end]) == last + uint(1) and runs[uint(mine[end]), ROW] == runs[begin, ROW]
        ):
            last += uint(1)
            end += 1
        y, start, stop = runs[begin, ROW], runs[begin, START], runs[last, STOP]
        if start > 0:
            n = _note(runs, begin - uint(1), least, near, n)
        if stop < width:
            n = _note(runs, last + uint(1), least, near, n)
        above, below = runs[begin, ABOVE], runs[begin, BELOW]
        x = start
        while x < stop:
            up = down = stop
            if y > 0:
                n = _note(runs, uint(above), least, near, n)
                up = runs[uint(above), STOP]
            if y + 2 < first.shape[0]:
                n = _note(runs, uint(below), least, near, n)
                down = runs[uint(below), STOP]
            x = min(up, down)
            above += np.int32(up == x)
            below += np.int32(down == x)
    return n


@leaf
def _note(runs, r, least, near, n):
    """Append the label of run r to near[:n] if it is new and of a large piece; returns the new length."""
    if runs[uint(runs[r, PARENT]), SIZE] < least:
        return n
    label = runs[r, LABEL]
    for i in range(n):
        if near[i] == label:
            return n
    if n < near.shape[0]:
        near[n] = label
        return n + 1
    return n


@leaf
def _best(runs, mine, pixels, across, forms, near, most, points, scores):
    """The label in ``near`` that scores best on a piece; -1 if there is none or if it loses more than ``most``."""
    best, winner = -np.inf, -1
    n = _take_points(runs, mine, pixels, across, points)
    for i in range(near.shape[0]):
        score_points(forms[uint(near[i])], uint(0), n, points, scores)
        total = _total(n, scores)
        if total > best:
            best, winner = total, near[i]
    if winner >= 0 and most < np.inf:
        begin = uint(0)
        for r in mine:
            end = begin + uint(runs[r, STOP] - runs[r, START])
            score_points(forms[uint(runs[r, LABEL])], begin, end, points, scores)
            begin = end
        if _total(n, scores) - best > most:
            winner = -1
    return winner


@leaf
def _take_points(runs, mine, pixels, across, points):
    """Copy the pixels of a piece to points (5, n or more); returns n."""
    n = uint(0)
    for r in mine:
        y = uint(runs[uint(r), ROW])
        for x in range(uint(runs[uint(r), START]), uint(runs[uint(r), STOP])):
            px = pixels[(y // uint(TILE)) * uint(across) + x // uint(TILE)]
            p = (y % uint(TILE)) * uint(TILE) + x % uint(TILE)
            for d in range(uint(PIXEL_D)):
                points[d, n] = px[d, p]
            n += uint(1)
    return n


@leaf
def _total(n, scores):
    """Sum in double precision of scores[:n], in their order."""
    total = 0.0
    for i in range(n):
        total += scores[i]
    return total


@leaf
def _fill(labels, runs, mine, label):
    """Give all pixels of a piece a label."""
    for r in mine:
        line = labels[runs[uint(r), ROW]]
        for x in range(uint(runs[uint(r), START]), uint(runs[uint(r), STOP])):
            line[x] = label


@kernel
def absorb_left_over(pieces, left_over, labels):
    """Give small pieces among small pieces the label of their largest neighbour, which may have been absorbed.

    Arguments as in `absorb_pieces`.
    """
    for i in range(left_over.shape[0]):
        if left_over[i]:
            mine = pieces.listed[pieces.begin[i] : pieces.begin[i + 1]]
            winner = _label_of_largest(pieces.first, pieces.runs, mine, labels)
            if winner >= 0:
                _fill(labels, pieces.runs, mine, winner)


@leaf
def _label_of_largest(first, runs, mine, labels):
    """Label of the first pixel around a piece that belongs to its largest neighbour; -1 if it has none."""
    height, width = labels.shape
    winner, largest = np.int32(-1), np.int32(0)
    piece = runs[uint(mine[0]), PARENT]
    for r in mine:
        y, above, below = np.int64(runs[r, ROW]), runs[r, ABOVE], runs[r, BELOW]
        for x in range(np.int64(runs[r, START]), np.int64(runs[r, STOP])):
            if y > 0:
                above += np.int32(runs[above, STOP] == x)
            if y < height - 1:
                below += np.int32(runs[below, STOP] == x)
            before = r - np.int32(x == runs[r, START])
            after = r + np.int32(x + 1 == runs[r, STOP])
            for v, u, other in ((y - 1, x, above), (y + 1, x, below), (y, x - 1, before), (y, x + 1, after)):
                if 0 <= v < height and 0 <= u < width and runs[other, PARENT] != piece:
                    size = runs[runs[other, PARENT], SIZE]
                    if size > largest:
                        winner, largest = labels[v, u], size
    return winner
