"""Random numbers: counter-based uniforms for points, and shared Gumbel noise for tiles of pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scstream.kernels._jit import inlined
from scstream.kernels.basics.layout import TILE, uint

#: Rows of noise reserved for one row of tiles; wide pictures take more.
_STRETCH = 2048


#: Difference of the hashes' arguments of two neighbouring points.
_STRIDE = 0x9E3779B1


def key_from(key: np.uint32, first: int) -> np.uint32:
    """Key with which the points 0, 1, ... draw what the points first, first + 1, ... draw with ``key``."""
    return np.uint32((int(key) + first * _STRIDE) & 0xFFFFFFFF)


@inlined
def _hash(key, index):
    """Random uint32, a function of a uint32 key and an integer index alone (multiply-xorshift)."""
    # numba multiplies two uint32s into a uint64: each step casts back.
    h = np.uint32(np.uint32(index) * np.uint32(_STRIDE) + key)
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x21F0AAAD))
    h = np.uint32(h ^ (h >> np.uint32(15)))
    h = np.uint32(h * np.uint32(0xD35A2D97))
    return np.uint32(h ^ (h >> np.uint32(15)))


@inlined
def hash_uniform(key, index):
    """Uniform float32 in (0, 1), a function of a uint32 key and the point's index alone."""
    h = _hash(key, index)
    return (np.float32(np.int32(h >> np.uint32(9))) + np.float32(0.5)) * np.float32(1.0 / 8388608.0)


class Noise(NamedTuple):
    """Noise that perturbs the scores of pixels.

    With Gumbel variates, the cluster of the best perturbed score is a draw in proportion to exp(score). A tile takes
    TILE rows of noise for each cluster, one cluster after another, from a random row on. Beyond the last row the first
    one follows.

    Attributes
    ----------
    values : array ((n + 1) PIXELS,) float32
        Rows of TILE numbers; n is a power of two. The last PIXELS values repeat the first ones.
    rows : array ((n + 1) TILE,) float32
        Largest value of each row, for pruning.
    tiles : array (TILE, n) float32
        tiles[i, j] is the largest value of the TILE rows from TILE j + i on, for pruning.
    """

    values: Any
    rows: Any
    tiles: Any


@inlined
def tile_noise_row(noise, key, t, across):
    """First row of noise (uint64) of tile t, in a picture that is ``across`` tiles wide.

    A hash of the uint32 key and t picks the row within a stretch that belongs to the tile's row of tiles. The noise of
    neighbouring tiles then fits into the processor's cache.
    """
    stretch = max(uint(TILE) * uint(across), uint(_STRETCH))
    place = uint(_hash(key, -1)) + uint(t) // uint(across) * stretch + uint(_hash(key, t)) % stretch
    return place % uint(noise.tiles.size)


@inlined
def cluster_noise_row(noise, start, k):
    """First row of noise (uint64) of cluster k in a tile whose noise for cluster 0 starts at row ``start``."""
    n = uint(noise.tiles.shape[1])
    return (((uint(start) // uint(TILE) + uint(k)) & (n - uint(1))) * uint(TILE)) + uint(start) % uint(TILE)
