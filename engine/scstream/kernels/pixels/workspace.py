"""Scratch memory for labelling tiles, allocated once per call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scstream.kernels._jit import kernel
from scstream.kernels.basics.layout import BANDS, PIXEL_D, PIXEL_P, PIXELS, ROW_TERMS, TILE


class Workspace(NamedTuple):
    """Scratch arrays of one thread, for K clusters and one tile.

    Attributes
    ----------
    row_terms : array (ROW_TERMS, K) float32
        Terms of the score bounds that all tiles of a row share; see `prepare_row_terms`.
    upper : array (K,) float32
        Upper bounds of the clusters' scores in the tile.
    order : array (K,) int32
        Clusters that contended for the tile.
    size, begin, end : array (K,) int64
        Pixels of each cluster in the tile, and between which pixels they are; see `count_labels`.
    column_terms : array (4, TILE) float32
        Terms of the whitened coordinates that all rows of a tile share; see `prepare_column_terms`.
    line : array (TILE,) float32
        Scores of one row of pixels.
    bounds : array (BANDS,) float32
        Upper bounds of one cluster's scores in the bands of the tile.
    worst : array (TILE,) float32
        Smallest best score of each row.
    best : array (PIXELS,) float32
        Best perturbed score of each pixel.
    margin : array (PIXELS,) float32
        Difference of scores from which on a pixel belongs to the second sub-cluster.
    first, second : array (PIXELS,) float32
        Scores under the two sub-clusters; ``first`` also holds squared distances.
    label : array (PIXELS,) int32
        Cluster of each pixel.
    centre : array (5,) float32
        Centre of the tile's bounding box.
    part, rest : array (21,) float64
        Statistics of one group, and of all groups summed so far.
    """

    row_terms: Any
    upper: Any
    order: Any
    size: Any
    begin: Any
    end: Any
    column_terms: Any
    line: Any
    bounds: Any
    worst: Any
    best: Any
    margin: Any
    first: Any
    second: Any
    label: Any
    centre: Any
    part: Any
    rest: Any


@kernel
def allocate_workspace(K):
    """Allocate the scratch arrays for K clusters. Leaf kernels allocate nothing; see `_jit.leaf`."""
    return Workspace(
        row_terms=np.empty((ROW_TERMS, K), np.float32),
        upper=np.empty(K, np.float32),
        order=np.empty(K, np.int32),
        size=np.empty(K, np.int64),
        begin=np.empty(K, np.int64),
        end=np.empty(K, np.int64),
        column_terms=np.empty((4, TILE), np.float32),
        line=np.empty(TILE, np.float32),
        bounds=np.empty(BANDS, np.float32),
        worst=np.empty(TILE, np.float32),
        best=np.empty(PIXELS, np.float32),
        margin=np.empty(PIXELS, np.float32),
        first=np.empty(PIXELS, np.float32),
        second=np.empty(PIXELS, np.float32),
        label=np.empty(PIXELS, np.int32),
        centre=np.empty(PIXEL_D, np.float32),
        part=np.empty(PIXEL_P, np.float64),
        rest=np.empty(PIXEL_P, np.float64),
    )
