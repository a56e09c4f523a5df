"""Connected pieces of a map of labels: neighbours absorb the small ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.held_labels import score_at
from scstream.kernels.intrinsics import vectorise
from scstream.kernels.layout import TILE, uint
from scstream.kernels.queue import next_piece

#: Neighbours that contend for a piece: there are hardly ever more.
_NEIGHBOURS = 8
#: A piece is long if the square of its extent is this many times its area.
_LONG = 3


class Runs(NamedTuple):
    """Runs of pixels of one group along the rows of a map of labels, and the pieces that they make up.

    The arrays of a run have room for n of them; those of row y are first[y] ... first[y] + count[y] - 1.

    Attributes
    ----------
    first, count : array (H,) int64
        First run of each row, and the number of its runs.
    row, start, stop : array (n,) int64
        Row, first column and end of each run.
    parent : array (n,) int64
        An earlier run of the same piece; a piece's first run is its own parent.
    size, left, right, bottom : array (n,) int64
        Pixels and extent of each piece, at its first run.
    piece_of : array (H, W) int32
        Piece of each pixel: the number of its first run.
    listed : array (n,) int64
        Runs of small pieces, from first[y] on for the first row y of each band.
    n_listed : array (bands,) int64
    """

    first: Any
    count: Any
    row: Any
    start: Any
    stop: Any
    parent: Any
    size: Any
    left: Any
    right: Any
    bottom: Any
    piece_of: Any
    listed: Any
    n_listed: Any


class Pieces(NamedTuple):
    """Connected pieces of a map of labels, as runs of pixels along the rows.

    Attributes
    ----------
    row, start, stop : array (n,) int64
        Row, first column and end of each run.
    piece_of : array (H, W) int32
        Piece of each pixel: the number of its first run.
    size : array (n,) int64
        Pixels of each piece, at its first run.
    small, length : array (m,) int64
        Pieces with fewer pixels than the limit, and their extent.
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
    small: Any
    length: Any
    begin: Any
    runs: Any


@kernel
def count_steps(queue, labels, out):
    """out[y] = number of stretches of equal labels (H, W) int32 in each of the queue's rows; out (H,) int64."""
    vectorise()
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            before, after = labels[y, :-1], labels[y, 1:]
            n = np.int32(1)
            for x in range(uint(before.shape[0])):
                n = np.int32(n + np.int32(before[x] != after[x]))
            out[y] = n
        piece = next_piece(queue)


@kernel
def find_runs(queue, labels, group, runs):
    """Find the runs of a map labels (H, W) int32 in the queue's bands of rows, and the pieces within each band.

    Pixels are connected if they are 4-neighbours whose labels are of one group (K,) int32. ``runs.first`` is given.
    """
    piece = next_piece(queue)
    while piece >= 0:
        top, end = queue.edges[piece], queue.edges[piece + 1]
        for y in range(top, end):
            _find_runs_of_row(labels, group, y, y > top, runs)
        for y in range(top, end):
            for r in range(runs.first[y], runs.first[y] + runs.count[y]):
                root = _root(runs.parent, r)
                runs.parent[r] = root
                if root == r:
                    runs.size[r], runs.left[r], runs.right[r] = 0, runs.start[r], runs.stop[r]
                runs.size[root] += runs.stop[r] - runs.start[r]
                runs.left[root] = min(runs.left[root], runs.start[r])
                runs.right[root] = max(runs.right[root], runs.stop[r])
                runs.bottom[root] = y
        piece = next_piece(queue)


@kernel
def join_bands(edges, labels, group, runs):
    """Join the pieces that touch between two bands of rows [edges[i], edges[i + 1]); see `find_runs`."""
    for i in range(1, edges.shape[0] - 1):
        y = edges[i]
        if y == 0 or y == edges[i + 1]:
            continue
        above, end_above = runs.first[y - 1], runs.first[y - 1] + runs.count[y - 1]
        for r in range(runs.first[y], runs.first[y] + runs.count[y]):
            above = _connect(labels, group, y, r, above, end_above, True, runs)


@kernel
def mark_pieces(queue, limit, runs):
    """Write ``runs.piece_of`` in the queue's bands of rows and list the runs of pieces of fewer pixels than limit."""
    piece = next_piece(queue)
    while piece >= 0:
        top, end = queue.edges[piece], queue.edges[piece + 1]
        n = 0
        for y in range(top, end):
            line = runs.piece_of[y]
            for r in range(runs.first[y], runs.first[y] + runs.count[y]):
                root = runs.parent[r]
                # Other threads read these parents, so paths are not halved.
                while runs.parent[root] != root:
                    root = runs.parent[root]
                for x in range(uint(runs.start[r]), uint(runs.stop[r])):
                    line[x] = root
                if runs.size[root] < limit:
                    runs.listed[runs.first[top] + n] = r
                    n += 1
        runs.n_listed[piece] = n
        piece = next_piece(queue)


@kernel
def list_small_pieces(edges, runs):
    """`Pieces` from the runs that `mark_pieces` has listed in the bands of rows [edges[i], edges[i + 1])."""
    total = 0
    for i in range(runs.n_listed.shape[0]):
        total += runs.n_listed[i]
    # The numbers of small pieces overwrite what only joining needed.
    number = runs.left
    small, length, begin = np.empty(total, np.int64), np.empty(total, np.int64), np.zeros(total + 1, np.int64)
    m = 0
    for i in range(runs.n_listed.shape[0]):
        for e in range(runs.n_listed[i]):
            r = runs.listed[runs.first[edges[i]] + e]
            root = runs.parent[r]
            while runs.parent[root] != root:
                root = runs.parent[root]
            if root == r:
                small[m] = r
                length[m] = max(runs.bottom[r] - runs.row[r] + 1, runs.right[r] - runs.left[r])
                number[r] = m
                m += 1
            # From here on the piece's number is one step away.
            runs.parent[r] = root
            begin[number[root] + 1] += 1
    for i in range(m):
        begin[i + 1] += begin[i]
    place, sorted_runs = begin[:m].copy(), np.empty(total, np.int64)
    for i in range(runs.n_listed.shape[0]):
        for e in range(runs.n_listed[i]):
            r = runs.listed[runs.first[edges[i]] + e]
            k = number[runs.parent[r]]
            sorted_runs[place[k]] = r
            place[k] += 1
    return Pieces(
        runs.row, runs.start, runs.stop, runs.piece_of, runs.size, small[:m], length[:m], begin[: m + 1], sorted_runs
    )


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
            size, length = pieces.size[piece], pieces.length[i]
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


@leaf
def _find_runs_of_row(labels, group, y, joined, runs):
    """Find the runs of row y and, if ``joined``, connect them with those of the row above; see `find_runs`."""
    width = labels.shape[1]
    row = labels[y]
    n = runs.first[y]
    above = end_above = 0
    if joined:
        above, end_above = runs.first[y - 1], runs.first[y - 1] + runs.count[y - 1]
    x = 0
    while x < width:
        label = row[x]
        mine = group[label]
        runs.row[n], runs.start[n], runs.parent[n] = y, x, n
        x += 1
        while x < width and (row[x] == label or group[row[x]] == mine):
            x += 1
        runs.stop[n] = x
        above = _connect(labels, group, y, n, above, end_above, False, runs)
        n += 1
    runs.count[y] = n - runs.first[y]


@leaf
def _connect(labels, group, y, r, above, end_above, adding, runs):
    """Connect run r of row y with the runs of the row above, from ``above`` on; returns where the next run begins.

    With ``adding``, the sizes and extents of pieces that become one are added.
    """
    mine = group[labels[y, runs.start[r]]]
    while above < end_above:
        if (
            runs.stop[above] > runs.start[r]
            and runs.start[above] < runs.stop[r]
            and group[labels[y - 1, runs.start[above]]] == mine
        ):
            a, b = _root(runs.parent, above), _root(runs.parent, r)
            if a != b:
                first, second = min(a, b), max(a, b)
                runs.parent[second] = first
                if adding:
                    runs.size[first] += runs.size[second]
                    runs.left[first] = min(runs.left[first], runs.left[second])
                    runs.right[first] = max(runs.right[first], runs.right[second])
                    runs.bottom[first] = max(runs.bottom[first], runs.bottom[second])
        if runs.stop[above] > runs.stop[r]:
            break
        above += 1
    return above


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
