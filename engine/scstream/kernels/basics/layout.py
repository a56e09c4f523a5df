"""Constants: sizes of tiles, pixels and score parameters; and which pixels of a tile lie outside the picture."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import leaf

#: Side of a square tile of pixels, and the number of pixels in it.
TILE = 16
PIXELS = TILE * TILE
#: Bands of rows in a tile that have bounding boxes of their own.
BANDS = 4
#: Dimensions of a pixel (row, column, three colours) and of its statistics (count, sum, lower triangle of x x').
PIXEL_D = 5
PIXEL_P = 1 + PIXEL_D + PIXEL_D * (PIXEL_D + 1) // 2
#: Length of a pixel's whitened form, and the positions of c and power in it.
FORM = PIXEL_D * (PIXEL_D + 1) // 2 + PIXEL_D + 2
FORM_C, FORM_POWER = FORM - 2, FORM - 1
#: Terms of a cluster's score bound that all tiles of a row share.
ROW_TERMS = 15
#: A score this many nats below the best one has no weight: a float32 uniform cannot resolve its probability.
SAMPLING_NATS = 17.0
#: Clusters, the largest of a tile in the last sweep, that contend for the tile first in the next sweep.
LIKELY = 6

#: Type of indices: a signed index costs a test for negative values, and loops over it do not vectorise.
uint = np.uint64
#: Typed constants for arguments: numba would compile a callee once more for each literal.
ZERO, ONE, ALL_PIXELS = np.int64(0), np.int64(1), np.int64(PIXELS)


@leaf
def overhangs(tile_row, tile_column, rows, columns):
    """Whether tile (tile_row, tile_column) extends beyond the edge of a rows x columns picture."""
    return (tile_row + 1) * TILE > rows or (tile_column + 1) * TILE > columns


@leaf
def fill_overhang(tile_row, tile_column, rows, columns, label, value):
    """Set label[p] = value for the pixels of a tile outside a rows x columns picture; label (PIXELS,) int32."""
    for i in range(TILE):
        for j in range(TILE):
            if tile_row * TILE + i >= rows or tile_column * TILE + j >= columns:
                label[i * TILE + j] = value
