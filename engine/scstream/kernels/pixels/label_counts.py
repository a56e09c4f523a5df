"""Count the pixels of each cluster in a labelled tile, and order the clusters for summing."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import leaf
from scstream.kernels.basics.intrinsics import count_bits, places_of
from scstream.kernels.basics.layout import LIKELY, PIXELS, TILE, uint


@leaf
def count_labels(label, order, count, size, begin, end):
    """Count the pixels of the clusters order[:count] in a tile, and note the rows that they are in.

    label (PIXELS,) and order (K,) int32; writes size (K,), the pixel begin (K,) that a cluster's first row starts with
    and the one end (K,) after its last row, all int64. begin >= end if there are none.
    """
    for i in range(uint(count)):
        k = order[i]
        n, first, last = np.int64(0), np.int64(PIXELS), np.int64(0)
        for row in range(0, PIXELS, TILE):
            places = places_of(k, label, uint(row))
            n += np.int64(count_bits(places))
            last = np.int64(row + TILE) if places != 0 else last
            first = np.int64(row) if places != 0 and row < first else first
        size[k], begin[k], end[k] = n, first, last


@leaf
def sort_largest_first(order, count, size):
    """Keep those of order[:count] that have pixels: the largest, then the others in ascending order; returns how many.

    Sums over clusters then do not depend on the order in which they contended. order (K,) int32, size (K,) int64.
    """
    n = 0
    for i in range(count):
        k = order[i]
        if size[k] == 0:
            continue
        j = n
        while j > 0 and (order[j - 1] > k):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
        n += 1
    top = 0
    for i in range(1, n):
        if size[order[i]] > size[order[top]]:
            top = i
    k = order[top]
    for i in range(top, 0, -1):
        order[i] = order[i - 1]
    order[0] = k
    return n


@leaf
def store_likely(order, count, size, likely):
    """Write the LIKELY largest clusters of order[:count] to likely (LIKELY,) int32, in descending order, then -1.

    order (K,) int32, size (K,) int64.
    """
    for j in range(LIKELY):
        likely[j] = -1
    for i in range(count):
        k = order[i]
        j = LIKELY
        while j > 0 and (likely[j - 1] < 0 or size[likely[j - 1]] < size[k]):
            if j < LIKELY:
                likely[j] = likely[j - 1]
            j -= 1
        if j < LIKELY:
            likely[j] = k
