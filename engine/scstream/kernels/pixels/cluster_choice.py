"""Choose the cluster of each pixel of a tile: the best score plus noise, skipping clusters that cannot win."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import inlined, leaf
from scstream.kernels.basics.intrinsics import larger, lowest_bit, min_difference, muladd, smaller, vectorise
from scstream.kernels.basics.layout import BANDS, FORM_C, FORM_POWER, LIKELY, ONE, PIXELS, TILE, ZERO, uint
from scstream.kernels.basics.noise import cluster_noise_row
from scstream.kernels.basics.scalar_math import LOG1P_TINY_MAX, log1p32, log1p_tiny
from scstream.kernels.pixels.bounds import bound_band_scores, bound_scores
from scstream.kernels.pixels.pixel_scores import (
    coefficients,
    prepare_column_terms,
    squared_distance,
    whitened_coordinates,
)

#: After the likely clusters, this many others contend in descending order of their bounds; then the rest.
_SORTED = 2
#: Contenders after the first _SURE are bounded per band before scoring.
_SURE = 2


@leaf
def bound_perturbed_scores(low, high, table, row_terms, noise, start, upper):
    """Upper bounds upper (K,) of the perturbed scores over a tile's box.

    `bound_scores` plus the largest noise of each cluster in the tile. low, high (5,), table (FORM, K),
    row_terms (ROW_TERMS, K), upper (K,) float32; ``start`` is the tile's first row of ``noise``.
    """
    bound_scores(low, high, table, row_terms, upper)
    peaks = noise.tiles[uint(start) % uint(TILE)]
    first, last = uint(start) // uint(TILE), uint(peaks.shape[0]) - uint(1)
    for k in range(uint(upper.shape[0])):
        upper[k] += peaks[(first + k) & last]


@leaf
def assign_clusters(px, bands, likely, forms, noise, start, workspace):
    """Assign each pixel of a tile to the cluster with the best perturbed score; returns how many clusters contended.

    Clusters contend until no upper bound reaches the smallest best score. Writes ``label``, ``best`` and ``worst`` of
    the workspace, lists the contenders in ``order``, and overwrites the bounds ``upper``.

    Parameters
    ----------
    px : array (5, PIXELS) float32
        Pixels of the tile.
    bands : array (2, 5, BANDS) float32
        Boxes of the tile's bands.
    likely : array (LIKELY,) int32
        Clusters that probably win pixels, or -1. They contend first: the sooner the best scores are known, the fewer
        other clusters have to contend.
    forms : array (K, FORM) float32
        Whitened forms of the clusters.
    noise : Noise
    start : uint64
        First row of noise of the tile.
    workspace : Workspace
        ``upper`` holds upper bounds of the perturbed scores.
    """
    upper, order = workspace.upper, workspace.order
    best, label, worst = workspace.best, workspace.label, workspace.worst
    bounds, column_terms = workspace.bounds, workspace.column_terms
    least = np.float32(-3e38)
    count = 0
    k, turn = _next_contender(upper, least, likely, ZERO, -ONE)
    for p in range(PIXELS):
        best[p] = np.float32(-np.inf)
        label[p] = k
    for r in range(TILE):
        worst[r] = np.float32(-np.inf)
    while k >= 0:
        first = cluster_noise_row(noise, start, k)
        if count < _SURE or upper[k] == np.float32(np.inf):
            bound = upper[k] - noise.tiles[first % uint(TILE), first // uint(TILE)]
            for b in range(BANDS):
                bounds[b] = bound
        else:
            bound_band_scores(bands, forms[k], bounds)
        if forms[k, FORM_POWER] > 0:
            _contend_predictive(
                px, forms[k], k, bounds, noise, first, column_terms, workspace.first, workspace.line, best, label, worst
            )
        else:
            _contend_drawn(px, forms[k], k, bounds, noise, first, count >= _SURE, column_terms, best, label, worst)
        upper[k] = np.float32(-np.inf)
        least = smallest(worst)
        order[count] = k
        count += 1
        k, turn = _next_contender(upper, least, likely, turn, k)
    return count


@leaf
def _next_contender(upper, least, likely, turn, k):
    """Next cluster whose upper bound reaches ``least``, or -1, and the number of turns so far.

    k is the last contender, ``turn`` the number of turns before. The likely clusters come first, then the _SORTED ones
    with the largest bounds, then all others in ascending order. upper (K,) float32 holds -inf for clusters that have
    contended; likely (LIKELY,) int32.
    """
    vectorise()
    K = upper.shape[0]
    while turn < LIKELY:
        guess = np.int64(likely[turn])
        turn += 1
        if 0 <= guess < K and upper[guess] >= least:
            return guess, turn
    turn += 1
    if turn <= LIKELY + _SORTED:
        largest = _largest(upper)
        if largest < least:
            return -1, turn
        where = np.int32(K - 1)
        for i in range(np.int32(K)):
            here = np.int32(i) if upper[i] == largest else np.int32(K - 1)
            where = here if here < where else where
        return np.int64(where), turn
    for i in range(0 if turn == LIKELY + _SORTED + 1 else k + 1, K):
        if upper[i] >= least:
            return i, turn
    return -1, turn


@leaf
def _contend_drawn(px, form, k, bounds, noise, start, late, column_terms, best, label, worst):
    """Let cluster k, a Gaussian with drawn parameters, contend for a tile.

    A pixel goes to the cluster if c - q + noise beats its best perturbed score. Rows that the cluster cannot win are
    skipped.

    Parameters
    ----------
    px : array (5, PIXELS) float32
    form : array (FORM,) float32
    k : int
    bounds : array (BANDS,) float32
        Upper bounds of the cluster's scores, without noise, in the bands.
    noise : Noise
    start : uint64
        First row of noise of the cluster.
    late : bool
        Other clusters have already taken most pixels: test rows pixel by pixel before scoring them.
    column_terms : array (4, TILE) float32, scratch
    best : array (PIXELS,) float32, label : array (PIXELS,) int32, worst : array (TILE,) float32, updated
        Best perturbed score and cluster of each pixel, smallest best score of each row.
    """
    vectorise()
    f = coefficients(form)
    top = form[FORM_C]
    k = np.int32(k)
    at = start * uint(TILE)
    rows = _rows_in_reach(bounds, noise, start, worst)
    if late:
        rows = _rows_with_pixels_in_reach(rows, bounds, noise, start, best)
    if rows == 0:
        return
    prepare_column_terms(f, px, column_terms)
    while rows != 0:
        r = uint(lowest_bit(rows))
        rows = np.int32(rows & (rows - np.int32(1)))
        base = r * uint(TILE)
        x0 = px[0, base]
        y0 = muladd(f[0], x0, f[15])
        most = top - y0 * y0
        lowest = np.float32(np.inf)
        for j in range(uint(TILE)):
            p = base + j
            y1, y2, y3, y4 = whitened_coordinates(f, x0, column_terms, j, px[2, p], px[3, p], px[4, p])
            score = muladd(-y1, y1, most + noise.values[at + p])
            score = muladd(-y4, y4, muladd(-y3, y3, muladd(-y2, y2, score)))
            lowest = smaller(lowest, _contend_for_pixel(score, k, p, best, label))
        worst[r] = lowest


@leaf
def _contend_predictive(px, form, k, bounds, noise, start, column_terms, distance, line, best, label, worst):
    """Let cluster k, a Student t, contend for a tile: the score is c - power log(1 + q).

    Arguments as in `_contend_drawn`; distance (PIXELS,) and line (TILE,) float32 are scratch too.
    """
    vectorise()
    f = coefficients(form)
    top, power = form[FORM_C], form[FORM_POWER]
    # The slack covers rounding.
    most, fall = top + np.float32(0.01) + np.float32(1e-5) * abs(top), np.float32(0.9999) * power
    half_fall = np.float32(0.5) * fall
    k = np.int32(k)
    at = start * uint(TILE)
    rows = _rows_in_reach(bounds, noise, start, worst)
    if rows == 0:
        return
    prepare_column_terms(f, px, column_terms)
    # q - q^2 / 2 <= log(1 + q) spares most rows the logarithm. All rows are tested before the first one is scored, so
    # that a branch that the processor mispredicts does not hold up the test of the next row.
    left = tiny = np.int32(0)
    while rows != 0:
        r = uint(lowest_bit(rows))
        bit = np.int32(np.int32(1) << np.int32(r))
        rows = np.int32(rows ^ bit)
        base = r * uint(TILE)
        x0 = px[0, base]
        needed, largest = np.float32(np.inf), np.float32(0.0)
        for j in range(uint(TILE)):
            p = base + j
            q = squared_distance(f, x0, column_terms, j, px[2, p], px[3, p], px[4, p])
            distance[p] = q
            needed = smaller(needed, muladd(-half_fall, q * q, muladd(fall, q, best[p])))
            largest = larger(largest, q)
        left |= bit if most + noise.rows[start + r] >= needed else np.int32(0)
        tiny |= bit if largest < np.float32(LOG1P_TINY_MAX) else np.int32(0)
    while left != 0:
        r = uint(lowest_bit(left))
        bit = np.int32(np.int32(1) << np.int32(r))
        left = np.int32(left ^ bit)
        base = r * uint(TILE)
        if np.int32(tiny & bit) != 0:
            for j in range(uint(line.shape[0])):
                line[j] = muladd(-power, log1p_tiny(distance[base + j]), top)
        else:
            for j in range(uint(line.shape[0])):
                line[j] = muladd(-power, log1p32(distance[base + j]), top)
        lowest = np.float32(np.inf)
        for j in range(uint(line.shape[0])):
            p = base + j
            lowest = smaller(lowest, _contend_for_pixel(line[j] + noise.values[at + p], k, p, best, label))
        worst[r] = lowest


@leaf
def _rows_in_reach(bounds, noise, start, worst):
    """Rows of a tile, as bits of an int32, in which a cluster may win: bound + largest noise >= smallest best score.

    bounds (BANDS,) float32 of the cluster's scores; ``start`` its first row of noise; worst (TILE,) float32.
    """
    vectorise()
    peaks = noise.rows[start : start + uint(TILE)]
    rows = np.int32(0)
    # The length comes from the array: the compiler would unroll a loop of known length instead of vectorising it.
    for r in range(uint(worst.shape[0])):
        rows |= np.int32(1) << np.int32(r) if bounds[r // uint(TILE // BANDS)] + peaks[r] >= worst[r] else np.int32(0)
    return rows


@leaf
def _rows_with_pixels_in_reach(rows, bounds, noise, start, best):
    """Those of the rows, as bits of an int32, in which a cluster may win some pixel: bound + noise >= best score.

    Arguments as in `_rows_in_reach`; best (PIXELS,) float32.
    """
    vectorise()
    left = np.int32(0)
    while rows != 0:
        r = uint(lowest_bit(rows))
        bit = np.int32(rows & -rows)
        rows = np.int32(rows ^ bit)
        base = r * uint(TILE)
        gap = min_difference(best, base, noise.values, start * uint(TILE) + base)
        left |= bit if bounds[r // uint(TILE // BANDS)] >= gap else np.int32(0)
    return left


@inlined
def _contend_for_pixel(score, k, p, best, label):
    """Assign pixel p to cluster k (int32) if its score is the best so far, and return the best score (float32).

    On a tie the lower index wins. best (PIXELS,) float32 and label (PIXELS,) int32 are updated.
    """
    old, owner = best[p], label[p]
    more = np.int32(1) if score > old else np.int32(0)
    equal = np.int32(1) if score == old else np.int32(0)
    first = np.int32(1) if k < owner else np.int32(0)
    larger = score if score > old else old
    best[p] = larger
    label[p] = k if np.int32(more | (equal & first)) == 1 else owner
    return larger


@leaf
def _largest(values):
    """Largest of values (n,) float32 without nan; -inf if there are none."""
    vectorise()
    largest = np.float32(-np.inf)
    for n in range(values.shape[0]):
        largest = larger(largest, values[n])
    return largest


@leaf
def smallest(values):
    """Smallest of values (n,) float32 without nan; inf if there are none."""
    vectorise()
    smallest = np.float32(np.inf)
    for n in range(values.shape[0]):
        smallest = smaller(smallest, values[n])
    return smallest
