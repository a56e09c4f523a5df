"""Connected pieces of a map of labels: neighbours absorb the small ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.held_labels import score_at
from scstream.kernels.layout import TILE, uint
from scstream.kernels.queue import next_piece

#: Neighbours that contend for a piece: there are hardly ever more.
_NEIGHBOURS = 8
#: A piece is long if the square of its extent is this many times its area.
_LONG = 3


class Pieces(NamedTuple):
    """Connected pieces of a map of labels, as runs of pixels along the rows.

    Attributes
    ----------
    row, start, stop : array (n,) int64
        Row, first column and end of each run.
    piece_of : array (H, W) int32
        Piece of each pixel: the number of its first run.
    size, length : array (n,) int64
        Pixels and extent of each piece, at its first run.
    small : array (m,) int64
        Pieces with fewer pixels than the limit.
    begin : array (m + 1,) int64
        Where the runs of each small piece begin in ``runs``.
    runs : array int64
        Runs of the small pieces, one piece after another.
    """

    row: Any
    start: Any
    stop: Any
    piece_of: Any
    size: Any
    length: Any
    small: Any
    begin: Any
    runs: Any


@kernel
def find_pieces(labels, group, limit):
    """`Pieces` of a map labels (H, W) int32: 4-connected pixels whose labels are of one group (K,) int32.

    Pieces of fewer pixels than ``limit`` are listed.
    """
    height, width = labels.shape
    first_run, start, parent = _runs(labels, group)
    n = start.shape[0]
    size, length = np.zeros(n, np.int64), np.zeros(n, np.int64)
    top, left, right = np.empty(n, np.int64), np.full(n, width, np.int64), np.zeros(n, np.int64)
    row, stop = np.empty(n, np.int64), np.empty(n, np.int64)
    piece_of = np.empty((height, width), np.int32)
    for y in range(height):
        for r in range(first_run[y], first_run[y + 1]):
            row[r] = y
            stop[r] = start[r + 1] if r + 1 < first_run[y + 1] else width
            root = _root(parent, r)
            parent[r] = root
            for x in range(uint(start[r]), uint(stop[r])):
                piece_of[uint(y), x] = root
            if root == r:
                top[root] = y
            size[root] += stop[r] - start[r]
            left[root], right[root] = min(left[root], start[r]), max(right[root], stop[r])
            length[root] = max(y - top[root] + 1, right[root] - left[root])
    number = np.full(n, -1, np.int64)
    small = np.empty(n, np.int64)
    m = 0
    for r in range(n):
        if parent[r] == r and size[r] < limit:
            number[r], small[m] = m, r
            m += 1
    begin = np.zeros(m + 1, np.int64)
    for r in range(n):
        if number[parent[r]] >= 0:
            begin[number[parent[r]] + 1] += 1
    for i in range(m):
        begin[i + 1] += begin[i]
    place, runs = begin[:-1].copy(), np.empty(begin[m], np.int64)
    for r in range(n):
        i = number[parent[r]]
        if i >= 0:
            runs[place[i]] = r
            place[i] += 1
    return Pieces(row, start, stop, piece_of, size, length, small[:m], begin, runs)


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
    part = next_piece(queue)
    while part >= 0:
        for i in range(queue.edges[part], queue.edges[part + 1]):
            piece = pieces.small[i]
            mine = pieces.runs[pieces.begin[i] : pieces.begin[i + 1]]
            size, length = pieces.size[piece], pieces.length[piece]
            is_line = length >= extent and length * length >= _LONG * size
            most = np.inf if size < tiny and not is_line else (0.5 * loss if is_line else loss) * size
            n = _neighbours(labels, pieces, mine, limit, near)
            left_over[i] = n == 0
            winner = _best(labels, pieces, mine, pixels, across, forms, near[:n], most)
            if winner >= 0:
                _fill(labels, pieces, mine, winner)
        part = next_piece(queue)


@kernel
def absorb_left_over(pieces, left_over, labels):
    """Give small pieces among small pieces the label of their largest neighbour, which may have been absorbed.

    Arguments as in `absorb_pieces`.
    """
    height, width = labels.shape
    for i in range(left_over.shape[0]):
        if not left_over[i]:
            continue
        mine = pieces.runs[pieces.begin[i] : pieces.begin[i + 1]]
        winner, largest = -1, 0
        for r in mine:
            y = pieces.row[r]
            for x in range(pieces.start[r], pieces.stop[r]):
                for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                    if 0 <= v < height and 0 <= u < width:
                        size = pieces.size[pieces.piece_of[v, u]]
                        if pieces.piece_of[v, u] != pieces.piece_of[y, x] and size > largest:
                            winner, largest = labels[v, u], size
        if winner >= 0:
            _fill(labels, pieces, mine, winner)


@kernel
def _runs(labels, group):
    """First run of each row (H + 1,), first column of each run, and a run of the same piece above or before (n,)."""
    height, width = labels.shape
    first_run = np.zeros(height + 1, np.int64)
    start = np.empty(1024, np.int64)
    parent = np.empty(1024, np.int64)
    n = 0
    for y in range(height):
        first_run[y] = n
        if n + width > start.shape[0]:
            start, parent = _longer(start, n + width), _longer(parent, n + width)
        above, end_above = (first_run[y - 1], n) if y > 0 else (0, 0)
        row = labels[y]
        x = 0
        while x < width:
            label = row[x]
            mine = group[label]
            start[n], parent[n] = x, n
            x += 1
            while x < width and (row[x] == label or group[row[x]] == mine):
                x += 1
            while above < end_above:
                stop = start[above + 1] if above + 1 < end_above else width
                if stop > start[n] and start[above] < x and group[labels[y - 1, start[above]]] == mine:
                    a, b = _root(parent, above), _root(parent, n)
                    if a < b:
                        parent[b] = a
                    else:
                        parent[a] = b
                if stop > x:
                    break
                above += 1
            n += 1
    first_run[height] = n
    return first_run, start[:n], parent[:n]


@kernel
def _longer(array, n):
    """Copy of an array with room for n and as many elements again."""
    out = np.empty(2 * n, array.dtype)
    out[: array.shape[0]] = array
    return out


@leaf
def _root(parent, r):
    """First run of the piece of run r; paths are halved on the way."""
    while parent[r] != r:
        parent[r] = parent[parent[r]]
        r = parent[r]
    return r


@leaf
def _best(labels, pieces, mine, pixels, across, forms, near, most):
    """The label in ``near`` that scores best on a piece; -1 if there is none or if it loses more than ``most``."""
    best, winner = -np.inf, -1
    for i in range(near.shape[0]):
        total = 0.0
        for r in mine:
            for x in range(pieces.start[r], pieces.stop[r]):
                total += score_at(pixels, across, pieces.row[r], x, forms[near[i]])
        if total > best:
            best, winner = total, near[i]
    if winner >= 0 and most < np.inf:
        total = 0.0
        for r in mine:
            y = pieces.row[r]
            for x in range(pieces.start[r], pieces.stop[r]):
                total += score_at(pixels, across, y, x, forms[labels[y, x]])
        if total - best > most:
            winner = -1
    return winner


@leaf
def _fill(labels, pieces, mine, label):
    """Give all pixels of a piece a label."""
    for r in mine:
        for x in range(pieces.start[r], pieces.stop[r]):
            labels[pieces.row[r], x] = label


@leaf
def _neighbours(labels, pieces, mine, least, near):
    """List the labels of pieces of at least so many pixels around a piece in ``near``; returns how many."""
    height, width = labels.shape
    n = 0
    for r in mine:
        y, start, stop = pieces.row[r], pieces.start[r], pieces.stop[r]
        if start > 0:
            n = _note(near, n, labels, pieces, y, start - 1, least)
        if stop < width:
            n = _note(near, n, labels, pieces, y, stop, least)
        for x in range(start, stop):
            if y > 0:
                n = _note(near, n, labels, pieces, y - 1, x, least)
            if y < height - 1:
                n = _note(near, n, labels, pieces, y + 1, x, least)
    return n


@leaf
def _note(near, n, labels, pieces, y, x, least):
    """Append the label at (y, x) to near[:n] if it is new and of a large piece; returns the new length."""
    if pieces.size[pieces.piece_of[y, x]] < least:
        return n
    for i in range(n):
        if near[i] == labels[y, x]:
            return n
    if n < near.shape[0]:
        near[n] = labels[y, x]
        return n + 1
    return n
