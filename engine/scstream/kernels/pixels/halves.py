"""Assign each pixel to one of the two sub-clusters of its cluster, and sum their statistics."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import PIXEL_P, PIXELS, TILE, uint
from scstream.kernels.basics.noise import cluster_noise_row
from scstream.kernels.pixels.moments import add_row, group_moments
from scstream.kernels.pixels.pixel_scores import score_tile


@leaf
def draw_margins(noise, start, K, margin):
    """Draw margin (PIXELS,) float32: pixel p goes to the second sub-cluster if it scores more than margin[p] better.

    The difference of two Gumbel variates, from the rows of noise after those of the K clusters.
    """
    vectorise()
    one = noise.values[cluster_noise_row(noise, start, K) * uint(TILE) :]
    other = noise.values[cluster_noise_row(noise, start, K + 1) * uint(TILE) :]
    for p in range(PIXELS):
        margin[p] = one[p] - other[p]


@leaf
def assign_halves(px, subs, k, begin, end, whole, weight, workspace, out, moments):
    """Assign the pixels of cluster k in [begin, end) to its sub-clusters, and add their statistics to moments (2, 21).

    If the cluster is the last of its tile, whole (21,) holds the tile's statistics: the larger half then gets these
    less the statistics of all other groups, which spares a sum. Otherwise ``whole`` is empty.

    Parameters
    ----------
    px : array (5, PIXELS) float32
    subs : array (2 K, FORM) float32
        Whitened forms of the sub-clusters.
    k, begin, end : int
    whole : array (21,) or (0,) float64
    weight : float32
        Weight of a pixel.
    workspace : Workspace
        ``label``, ``margin`` and ``centre`` are inputs; ``rest`` sums the statistics of all groups of the tile so far.
    out : array (PIXELS,) int32, updated
        2 k + j, j the sub-cluster.
    moments : array (2, 21) float64, updated
    """
    first, second, part, rest = workspace.first, workspace.second, workspace.part, workspace.rest
    score_tile(px, subs[2 * k], begin, end, workspace.column_terms, first)
    score_tile(px, subs[2 * k + 1], begin, end, workspace.column_terms, second)
    sizes = _choose_halves(first, second, workspace.margin, workspace.label, k, begin, end, out)
    last = -1
    if whole.shape[0] > 0:
        last = 0 if sizes[0] >= sizes[1] else 1
    for j in range(2):
        if sizes[j] > 0 and j != last:
            group_moments(px, workspace.centre, out, 2 * k + j, begin, end, weight, part)
            add_row(part, moments[j])
            add_row(part, rest)
    if last >= 0:
        for e in range(PIXEL_P):
            moments[last, e] += whole[e] - rest[e]


@leaf(fastmath=FAST)
def _choose_halves(first, second, margin, label, k, begin, end, out):
    """out[p] = 2 k + j for the pixels in [begin, end) with label k, j = 1 if second[p] - first[p] > margin[p], else 0.

    first, second, margin (PIXELS,) float32, label, out (PIXELS,) int32. Returns how many pixels are in each half.
    """
    vectorise()
    own = np.int32(0)
    other = np.int32(0)
    for p in range(uint(begin), uint(end)):
        mine = np.int32(1) if label[p] == np.int32(k) else np.int32(0)
        j = np.int32(1) if second[p] - first[p] > margin[p] else np.int32(0)
        old = out[p]
        own = np.int32(own + mine)
        other = np.int32(other + mine * j)
        out[p] = np.int32(2 * k) + j if mine == 1 else old
    return np.int32(own - other), other
