"""Label tiles of pixels with clusters and sub-clusters; uncertainty of the labels."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import FAST, kernel, leaf
from scstream.kernels.basics.intrinsics import vectorise
from scstream.kernels.basics.layout import (
    ALL_PIXELS,
    PIXEL_D,
    PIXEL_P,
    PIXELS,
    SAMPLING_NATS,
    TILE,
    ZERO,
    fill_overhang,
    overhangs,
    uint,
)
from scstream.kernels.basics.noise import tile_noise_row
from scstream.kernels.basics.queue import next_piece
from scstream.kernels.basics.scalar_math import exp32
from scstream.kernels.pixels.bounds import bound_scores, prepare_row_terms
from scstream.kernels.pixels.cluster_choice import assign_clusters, bound_perturbed_scores, smallest
from scstream.kernels.pixels.halves import assign_halves, draw_margins
from scstream.kernels.pixels.label_counts import count_labels, sort_largest_first, store_likely
from scstream.kernels.pixels.moments import add_row, clear_row
from scstream.kernels.pixels.pixel_scores import score_tile
from scstream.kernels.pixels.workspace import allocate_workspace


@kernel
def label_tiles(
    queue, pixels, low, high, bands, likely, totals, rows, columns, weight,
    forms, table, subs, noise, key, prune, labels, touched, moments,
):  # fmt: skip
    """Label the pixels in the queue's rows of tiles with cluster and sub-cluster, and sum their statistics.

    A pixel goes to the cluster with the best score + noise, then to one of its sub-clusters in the same way.

    Parameters
    ----------
    queue : Queue
        Rows of tiles.
    pixels, low, high, bands, totals : arrays
        Tiles of the picture, as `fill_tiles` writes them.
    likely : array (tiles, LIKELY) int32, updated
        Largest clusters of each tile in the last sweep, or -1.
    rows, columns : int
        Size of the picture.
    weight : float32
        Weight of a pixel.
    forms : array (K, FORM) float32
        Whitened forms of the clusters.
    table : array (FORM, K) float32
        Transpose of ``forms``.
    subs : array (2 K, FORM) float32
        Whitened forms of the sub-clusters; those of cluster k are 2 k and 2 k + 1.
    noise : Noise
    key : uint32
        Selects the part of the noise that each tile takes.
    prune : bool
        False lets all clusters contend for all pixels. The labels are the same.
    labels : array (tiles, PIXELS) int32, output
        2 k + j of cluster k and sub-cluster j.
    touched : array (pieces, K) bool, output
        Which clusters have pixels in a piece; all False on entry.
    moments : array (pieces, K or more, 2, 21) float64, output
        Statistics of the sub-clusters in each piece, where touched.
    """
    workspace = allocate_workspace(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        _label_rows(
            pixels, low, high, bands, likely, totals, rows, columns, weight, queue.edges[piece], queue.edges[piece + 1],
            forms, table, subs, noise, key, prune, labels, touched[piece], moments[piece], workspace,
        )  # fmt: skip
        piece = next_piece(queue)


@leaf
def _label_rows(
    pixels, low, high, bands, likely, totals, rows, columns, weight, first_row, last_row,
    forms, table, subs, noise, key, prune, labels, touched, moments, workspace,
):  # fmt: skip
    """Label the tiles in the rows [first_row, last_row); arguments as in `label_tiles`.

    touched (K,) and moments (K or more, 2, 21) are those of one piece.
    """
    vectorise()
    order, label, centre = workspace.order, workspace.label, workspace.centre
    size, begin, end = workspace.size, workspace.begin, workspace.end
    K = forms.shape[0]
    across = (columns + TILE - 1) // TILE
    for tile_row in range(first_row, last_row):
        prepare_row_terms(low[tile_row * across], high[tile_row * across], table, workspace.row_terms)
        for tile_column in range(across):
            t = tile_row * across + tile_column
            px = pixels[t]
            start = tile_noise_row(noise, key, t, across)
            if prune:
                bound_perturbed_scores(low[t], high[t], table, workspace.row_terms, noise, start, workspace.upper)
            else:
                # Brute force: pruning must give the same labels.
                for k in range(K):
                    workspace.upper[k] = np.float32(np.inf)
            count = assign_clusters(px, bands[t], likely[t], forms, noise, start, workspace)
            draw_margins(noise, start, K, workspace.margin)
            out = labels[t]
            hanging = overhangs(tile_row, tile_column, rows, columns)
            if hanging:
                fill_overhang(tile_row, tile_column, rows, columns, label, K)
            for p in range(PIXELS):
                out[p] = -1
            count_labels(label, order, count, size, begin, end)
            count = sort_largest_first(order, count, size)
            for i in range(count):
                if not touched[order[i]]:
                    touched[order[i]] = True
                    clear_row(moments[order[i], 0])
                    clear_row(moments[order[i], 1])
            store_likely(order, count, size, likely[t])
            for d in range(PIXEL_D):
                centre[d] = np.float32(0.5) * (low[t, d] + high[t, d])
            clear_row(workspace.rest)
            for i in range(count - 1, -1, -1):
                k = order[i]
                whole = totals[t] if i == 0 else totals[t, :0]
                assign_halves(px, subs, k, begin[k], end[k], whole, weight, workspace, out, moments[k])
            if hanging:
                fill_overhang(tile_row, tile_column, rows, columns, out, ZERO)


@kernel
def sum_touched(moments, touched):
    """Sum over pieces of the statistics that `label_tiles` wrote: (K, 2, 21) float64.

    Also returns which labels have a pixel (2 K,), and how many clusters each piece has (pieces,) int64.
    """
    out = np.zeros((touched.shape[1], 2, PIXEL_P))
    n_clusters = np.zeros(touched.shape[0], np.int64)
    for piece in range(touched.shape[0]):
        for k in range(touched.shape[1]):
            if touched[piece, k]:
                n_clusters[piece] += 1
                add_row(moments[piece, k, 0], out[k, 0])
                add_row(moments[piece, k, 1], out[k, 1])
    used = np.empty(2 * len(out), np.bool_)
    for k in range(len(out)):
        used[2 * k], used[2 * k + 1] = out[k, 0, 0] > 0, out[k, 1, 0] > 0
    return out, used, n_clusters


@kernel
def tile_uncertainty(queue, pixels, low, high, bands, likely, columns, forms, table, owner, quiet, out):
    """out = 1 - the posterior probability of the owner of each pixel's best cluster, in the queue's rows of tiles.

    The probability is the share of the clusters with that owner in sum_k exp(score_k - best score); out (tiles, PIXELS)
    float32. ``owner`` (K,) int32 is the same for clusters of one segment, ``quiet`` a `Noise` of zeros; the other
    arguments are those of `label_tiles`.
    """
    workspace = allocate_workspace(forms.shape[0])
    piece = next_piece(queue)
    while piece >= 0:
        first, last = queue.edges[piece], queue.edges[piece + 1]
        _uncertainty_of_rows(
            pixels, low, high, bands, likely, columns, first, last, forms, table, owner, quiet, out, workspace
        )
        piece = next_piece(queue)


@leaf(fastmath=FAST)
def _uncertainty_of_rows(
    pixels, low, high, bands, likely, columns, first_row, last_row, forms, table, owner, quiet, out, workspace
):
    """Uncertainty of the tiles in the rows [first_row, last_row); arguments as in `tile_uncertainty`."""
    score, best, own, mine = workspace.first, workspace.best, workspace.second, workspace.label
    across = (columns + TILE - 1) // TILE
    for t in range(first_row * across, last_row * across):
        if t % across == 0:
            prepare_row_terms(low[t], high[t], table, workspace.row_terms)
        bound_scores(low[t], high[t], table, workspace.row_terms, workspace.upper)
        assign_clusters(pixels[t], bands[t], likely[t], forms, quiet, uint(0), workspace)
        bound_scores(low[t], high[t], table, workspace.row_terms, workspace.upper)
        least = smallest(workspace.worst) - np.float32(SAMPLING_NATS)
        total = out[t]
        for p in range(PIXELS):
            total[p] = own[p] = np.float32(0.0)
            mine[p] = owner[mine[p]]
        for k in range(forms.shape[0]):
            if workspace.upper[k] < least:
                continue
            score_tile(pixels[t], forms[k], ZERO, ALL_PIXELS, workspace.column_terms, score)
            for p in range(PIXELS):
                share = exp32(max(score[p] - best[p], np.float32(-60.0)))
                total[p] += share
                own[p] += share if mine[p] == owner[k] else np.float32(0.0)
        for p in range(PIXELS):
            total[p] = max(np.float32(1.0) - own[p] / total[p], np.float32(0.0))
