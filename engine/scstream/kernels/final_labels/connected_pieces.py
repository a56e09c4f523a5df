"""Connected pieces of a map of labels, as runs of equal labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scstream.kernels._jit import kernel, leaf
from scstream.kernels.basics.intrinsics import changes_after, lowest_bit, vectorise
from scstream.kernels.basics.layout import TILE, uint
from scstream.kernels.basics.queue import next_piece

#: Fields of a run: its row, first column, end and label; an earlier run of the same piece (a piece's first run is its
#: own parent); the first runs that touch it in the row above and below; at a piece's first run, pixels and extent.
ROW, START, STOP, LABEL, PARENT, ABOVE, BELOW, SIZE, LEFT, RIGHT, BOTTOM = range(11)
RUN = 11


class Pieces(NamedTuple):
    """Connected pieces of a map of labels, as runs of equal labels along the rows.

    Attributes
    ----------
    first : array (H + 1,) int64
        Number of the first run of each row.
    runs : array (n, RUN) int32
        Runs in the order of their pixels.
    small, length : array (m,) int32
        First runs of the pieces with fewer pixels than the limit, and the extent of these pieces.
    begin : array (m + 1,) int32
        Where the runs of each small piece begin in ``listed``.
    listed : array int32
        Runs of the small pieces, one piece after another.
    """

    first: Any
    runs: Any
    small: Any
    length: Any
    begin: Any
    listed: Any


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
def find_runs(queue, labels, group, first, runs):
    """Find the runs (n, RUN) of a map labels (H, W) int32 in the queue's bands of rows, and the pieces in each band.

    Pixels are connected if they are 4-neighbours whose labels are of one group (K,) int32. first (H + 1,) int64 is the
    number of the first run of each row.
    """
    piece = next_piece(queue)
    while piece >= 0:
        top, end = queue.edges[piece], queue.edges[piece + 1]
        for y in range(top, end):
            _find_runs_of_row(labels[y], y, first[y], runs)
            _join_along(group, first[y], first[y + 1], runs)
            if y > top:
                _join_across(group, first, y, False, runs)
        _measure(first[top], first[end], runs)
        piece = next_piece(queue)


@leaf
def _measure(begin, end, runs):
    """Make each piece's first run the parent of its runs, and sum up the sizes of the pieces of runs[begin:end]."""
    for r in range(uint(begin), uint(end)):
        run = runs[r]
        root = runs[uint(run[PARENT]), PARENT]
        run[PARENT] = root
        if uint(root) == r:
            run[SIZE], run[LEFT], run[RIGHT] = run[STOP] - run[START], run[START], run[STOP]
        else:
            whole = runs[uint(root)]
            whole[SIZE] += run[STOP] - run[START]
            whole[LEFT] = min(whole[LEFT], run[START])
            whole[RIGHT] = max(whole[RIGHT], run[STOP])
        runs[uint(root), BOTTOM] = run[ROW]


@leaf
def _find_runs_of_row(row, y, n, runs):
    """Write the runs of row y from the n-th on; each is a piece of its own."""
    width = uint(row.shape[0])
    start, x = uint(0), uint(0)
    n = uint(n)
    while x + uint(TILE) < width:
        bits = changes_after(row, x)
        while bits != 0:
            stop = x + uint(lowest_bit(bits)) + uint(1)
            bits &= bits - np.int32(1)
            _write_run(runs[n], y, start, stop, row[start], n)
            start = stop
            n += uint(1)
        x += uint(TILE)
    x += uint(1)
    while x <= width:
        if x == width or row[x] != row[x - uint(1)]:
            _write_run(runs[n], y, start, x, row[start], n)
            start = x
            n += uint(1)
        x += uint(1)


@leaf
def _write_run(run, y, start, stop, label, n):
    """Write the n-th run."""
    run[ROW], run[START], run[STOP], run[LABEL], run[PARENT] = y, start, stop, label, n


@leaf
def _join_along(group, begin, end, runs):
    """Join neighbours among runs[begin:end], those of a row, whose labels are of one group."""
    for r in range(uint(begin + 1), uint(end)):
        before = r - uint(1)
        if group[uint(runs[r, LABEL])] == group[uint(runs[before, LABEL])]:
            runs[r, PARENT] = runs[before, PARENT]


@leaf
def _join_across(group, first, y, adding, runs):
    """Join the runs of row y with those of the row above, and note which touch.

    With ``adding``, the sizes and extents of pieces that become one are added.
    """
    above, r = uint(first[y - 1]), uint(first[y])
    end_above, end = uint(first[y]), uint(first[y + 1])
    runs[above, BELOW], runs[r, ABOVE] = r, above
    while True:
        upper, lower = runs[above], runs[r]
        if group[uint(upper[LABEL])] == group[uint(lower[LABEL])] and upper[PARENT] != lower[PARENT]:
            _join(runs, above, r, adding)
        down, up = upper[STOP] <= lower[STOP], lower[STOP] <= upper[STOP]
        above += uint(down)
        r += uint(up)
        if above == end_above or r == end:
            break
        if down:
            runs[above, BELOW] = r
        if up:
            runs[r, ABOVE] = above


@leaf
def _join(runs, above, r, adding):
    """Join the pieces of two runs; see `_join_across`."""
    a, b = _root(runs, above), _root(runs, r)
    if a == b:
        return
    if a > b:
        a, b = b, a
    first, second = runs[a], runs[b]
    second[PARENT] = a
    if adding:
        first[SIZE] += second[SIZE]
        first[LEFT] = min(first[LEFT], second[LEFT])
        first[RIGHT] = max(first[RIGHT], second[RIGHT])
        first[BOTTOM] = max(first[BOTTOM], second[BOTTOM])


@leaf
def _root(runs, r):
    """First run of the piece of run r; paths are halved on the way."""
    while uint(runs[r, PARENT]) != r:
        runs[r, PARENT] = runs[uint(runs[r, PARENT]), PARENT]
        r = uint(runs[r, PARENT])
    return r


@kernel
def list_small_pieces(edges, group, limit, first, runs):
    """Join the pieces of all bands of rows [edges[i], edges[i + 1]) and list those of fewer pixels than ``limit``.

    Arguments as in `find_runs`; returns `Pieces`.
    """
    _join_bands(edges, group, first, runs)
    n, total = _count_small(limit, runs)
    small, length, begin = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int32)
    listed = np.empty(total, np.int32)
    _list_small(limit, runs, small, length, begin, listed)
    return Pieces(first, runs, small, length, begin, listed)


@leaf
def _join_bands(edges, group, first, runs):
    """Join the pieces that touch between two bands of rows."""
    for i in range(1, edges.shape[0] - 1):
        if 0 < edges[i] < edges[i + 1]:
            _join_across(group, first, edges[i], True, runs)


@leaf
def _count_small(limit, runs):
    """Make each piece's first run the parent of its runs; returns the numbers of small pieces and of their runs."""
    n = total = 0
    for r in range(uint(runs.shape[0])):
        root = uint(runs[uint(runs[r, PARENT]), PARENT])
        runs[r, PARENT] = root
        if runs[root, SIZE] < limit:
            total += 1
            n += 1 if root == r else 0
    return n, total


@leaf
def _list_small(limit, runs, small, length, begin, listed):
    """Fill the arrays of `Pieces`."""
    m = 0
    begin[0] = 0
    for r in range(uint(runs.shape[0])):
        whole = runs[uint(runs[r, PARENT])]
        if whole[SIZE] < limit:
            if uint(runs[r, PARENT]) == r:
                small[m] = r
                length[m] = max(whole[BOTTOM] - whole[ROW] + 1, whole[RIGHT] - whole[LEFT])
                whole[LEFT] = m
                m += 1
                begin[m] = 0
            begin[whole[LEFT] + 1] += 1
    total = 0
    for i in range(m):
        count = begin[i + 1]
        begin[i + 1] = total
        total += count
    for r in range(uint(runs.shape[0])):
        whole = runs[uint(runs[r, PARENT])]
        if whole[SIZE] < limit:
            k = whole[LEFT] + 1
            listed[begin[k]] = r
            begin[k] += 1
