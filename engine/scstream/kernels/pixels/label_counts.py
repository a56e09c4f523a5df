"""Count the pixels of each cluster in a labelled tile, and order the clusters for summing."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import FEW, LIKELY, PIXELS, TILE


@leaf
def count_labels(label, order, count, last, size):
    """Count the pixels of each label in size[0], and note the last row with each label in ``last``.

    label (PIXELS,) int32 holds clusters among order[:count] or size.shape[1] - 1, pixels outside the picture;
    size (2, K + 1) and last (K + 1,) int64. A row with a single label counts as PIXELS pixels, which puts its cluster
    beyond FEW. Even and odd pixels are counted apart, so that one count need not wait for the other.
    """
    vectorise()
    none = size.shape[1] - 1
    size[0, none] = size[1, none] = 0
    for i in range(count):
        size[0, order[i]] = size[1, order[i]] = 0
    for r in range(TILE):
        base = r * TILE
        if _is_uniform(label, base):
            size[0, label[base]] += PIXELS
            last[label[base]] = r
            continue
        for p in range(base, base + TILE, 2):
            size[0, label[p]] += 1
            size[1, label[p + 1]] += 1
            last[label[p]] = r
            last[label[p + 1]] = r
    for i in range(count):
        size[0, order[i]] += size[1, order[i]]


@leaf
def list_pixels_of_small(label, none, first, size, few):
    """List the pixels of clusters with at most FEW pixels, and note the first row with each label; returns how many.

    label (PIXELS,) int32, ``none`` the label of pixels outside the picture, size (2, K + 1) as `count_labels` writes
    it; writes first (K + 1,) and few (PIXELS + 1,) int64.
    """
    n = 0
    for r in range(TILE - 1, -1, -1):
        base = r * TILE
        if _is_uniform(label, base):
            first[label[base]] = r
            continue
        for p in range(base, base + TILE):
            k = label[p]
            first[k] = r
            few[n] = p
            n += 1 if size[0, k] <= FEW and k != none else 0
    return n


@leaf
def _is_uniform(label, begin):
    """Whether the row of a tile that starts at pixel ``begin`` has one label only; label (PIXELS,) int32."""
    vectorise()
    differs = np.int32(0)
    for p in range(begin, begin + TILE):
        differs |= label[p] ^ label[begin]
    return differs == 0


@leaf
def sort_largest_first(order, count, size):
    """Keep those of order[:count] that have pixels: the largest, then the others in ascending order; returns how many.

    Sums over clusters then do not depend on the order in which they contended. order (K,) int32, size (2, K + 1) int64.
    """
    n = 0
    for i in range(count):
        k = order[i]
        if size[0, k] == 0:
            continue
        j = n
        while j > 0 and (order[j - 1] > k):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
        n += 1
    top = 0
    for i in range(1, n):
        if size[0, order[i]] > size[0, order[top]]:
            top = i
    k = order[top]
    for i in range(top, 0, -1):
        order[i] = order[i - 1]
    order[0] = k
    return n


@leaf
def store_likely(order, count, size, likely):
    """Write the LIKELY largest clusters of order[:count] to likely (LIKELY,) int32, in descending order, then -1.

    order (K,) int32, size (2, K + 1) int64.
    """
    for j in range(LIKELY):
        likely[j] = -1
    for i in range(count):
        k = order[i]
        j = LIKELY
        while j > 0 and (likely[j - 1] < 0 or size[0, likely[j - 1]] < size[0, k]):
            if j < LIKELY:
                likely[j] = likely[j - 1]
            j -= 1
        if j < LIKELY:
            likely[j] = k
