"""Functions compiled by numba, one topic per file: scores, bounds, labelling, statistics, random numbers.

All kernels release the interpreter's lock and none uses numba's threading layer. Callers map them over independent
ranges with ordinary threads, or hand a `Queue` of pieces to several threads.

A Gaussian score, with drawn parameters or predictive, is always kept in *whitened form* ``(A, b, c, dof)``::

    q(x) = |A x + b|^2          A lower triangular, A' A the precision matrix
    score(x) = c - q / 2                                      dof = 0: a Gaussian with drawn parameters
    score(x) = c - (dof + D) / 2 * log(1 + q / dof)           dof > 0: a Student t, the posterior predictive

The log weight of the cluster is part of ``c``. Symmetric matrices are stored as their lower triangle, row by row.

For pixels a whitened form is one row of FORM float32s: the lower triangle of A, b, c and ``power``. A and b are scaled
so that the score is c - q (power 0), or c - power * log(1 + q) of a Student t. Kernels that loop over pixels take such
rows; kernels that loop over clusters take the transposed table.

Letters in shapes: N points, K clusters, D dimensions, P statistics of a group. A first dimension of 2 K belongs to
sub-clusters: those of cluster k are 2 k and 2 k + 1.

Folders::

    _jit            decorators: compile, and cache with a stamp of the whole package
    basics          layout, queue: sizes of tiles and forms, pieces of work
                    intrinsics, scalar_math, linalg, noise: LLVM operations, exp and log, small matrices, random numbers
    components      niw, niw_merge, gaussian, diagonal: points under Gaussians
                    blocks, gaussian_shares: points that lie together, and shared between Gaussians
                    dirichlet, counts: points that are counts
    sampler         points, sharing, seeds: labels, shares and nearest seeds from a table of scores
                    history, candidates: records of past batches, clusters that may be split or merged
    pixels          tiling, moments, images: frames into tiles, their statistics, pictures
                    pixel_scores, bounds, cluster_choice: scores, their bounds, the best cluster of each pixel
                    label_counts, halves, labelling: sizes in a tile, sub-clusters, a whole sweep over the tiles
                    workspace: scratch memory
    final_labels    motion, held_labels: motion between frames, labels that last
                    refined_borders: borders moved to where the brightness changes
                    connected_pieces, absorbed_pieces: pieces of one label, specks that neighbours absorb
                    changed_statistics: statistics of the pixels that all this has relabelled

Imports between folders and files go one way; pyproject.toml lists the layers.
"""

from __future__ import annotations

from scstream.kernels.basics.intrinsics import LANES, WINDOW
from scstream.kernels.basics.layout import BANDS, FORM, LIKELY, PIXEL_D, PIXEL_P, PIXELS, TILE
from scstream.kernels.basics.noise import Noise, key_from
from scstream.kernels.basics.queue import Queue
from scstream.kernels.components.blocks import SHARED_BLOCK, box_blocks, hilbert_places
from scstream.kernels.components.counts import (
    code_pairs,
    count_nonzeros,
    count_statistics,
    rising_own_scores,
    rising_table,
    sparse_rows,
    table_own_scores,
    table_scores,
)
from scstream.kernels.components.diagonal import diagonal_mergeable, diagonal_scores, diagonal_statistics
from scstream.kernels.components.dirichlet import dirichlet_log_marginal, dirichlet_mergeable, dirichlet_shares
from scstream.kernels.components.gaussian import (
    gaussian_axis,
    gaussian_cut,
    gaussian_halve,
    gaussian_own_scores,
    gaussian_scores,
    gaussian_statistics,
    gaussian_translate,
)
from scstream.kernels.components.gaussian_shares import gaussian_shares
from scstream.kernels.components.niw import niw_draw, niw_log_marginal, niw_predictive
from scstream.kernels.components.niw_merge import niw_merge_terms, niw_mergeable, niw_union_logdets
from scstream.kernels.final_labels.absorbed_pieces import absorb_left_over, absorb_pieces
from scstream.kernels.final_labels.changed_statistics import sum_changes
from scstream.kernels.final_labels.connected_pieces import RUN, Pieces, count_steps, find_runs, list_small_pieces
from scstream.kernels.final_labels.held_labels import find_places, hold_labels, sum_motion
from scstream.kernels.final_labels.motion import BLOCK, halve, match_coarse, match_fine, median_motion, shrink_luminance
from scstream.kernels.final_labels.refined_borders import refine_borders, weigh_pixels
from scstream.kernels.pixels.images import enlarge, shrink, translate_labels, untile
from scstream.kernels.pixels.labelling import label_tiles, sum_touched, tile_uncertainty
from scstream.kernels.pixels.pixel_scores import pack_forms
from scstream.kernels.pixels.tiling import fill_tiles
from scstream.kernels.sampler.candidates import merge_candidates, split_candidates
from scstream.kernels.sampler.history import drift, join_halves, store_halves, weighted_sum, weighted_sums_of
from scstream.kernels.sampler.points import label_halves, label_points
from scstream.kernels.sampler.seeds import join_seeds
from scstream.kernels.sampler.sharing import entropy_between, share_points

__all__ = [
    "BANDS", "BLOCK", "FORM", "LANES", "LIKELY", "PIXELS", "PIXEL_D", "PIXEL_P", "RUN", "SHARED_BLOCK", "TILE",
    "WINDOW", "Noise", "Pieces", "Queue", "absorb_left_over", "absorb_pieces", "box_blocks", "code_pairs",
    "count_nonzeros", "count_statistics", "count_steps", "diagonal_mergeable", "diagonal_scores", "diagonal_statistics",
    "dirichlet_log_marginal", "dirichlet_mergeable", "dirichlet_shares", "drift", "enlarge", "entropy_between",
    "fill_tiles", "find_places", "find_runs", "gaussian_axis", "gaussian_cut", "gaussian_halve", "gaussian_own_scores",
    "gaussian_scores", "gaussian_shares", "gaussian_statistics", "gaussian_translate", "halve", "hilbert_places",
    "hold_labels", "join_halves", "join_seeds", "key_from", "label_halves", "label_points", "label_tiles",
    "list_small_pieces", "match_coarse", "match_fine", "median_motion", "merge_candidates", "niw_draw",
    "niw_log_marginal", "niw_merge_terms", "niw_mergeable", "niw_predictive", "niw_union_logdets", "pack_forms",
    "refine_borders", "rising_own_scores", "rising_table", "share_points", "shrink", "shrink_luminance", "sparse_rows",
    "split_candidates", "store_halves", "sum_changes", "sum_motion", "sum_touched", "table_own_scores", "table_scores",
    "tile_uncertainty", "translate_labels", "untile", "weigh_pixels", "weighted_sum", "weighted_sums_of",
]  # fmt: skip
