"""Connected pieces of the segments of a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scstream.metrics.id_maps import IdMap


def pieces(ids: IdMap) -> int:
    """Number of connected pieces of an id map: pixels are connected with equal ones above, below, left and right.

    Examples
    --------
    >>> pieces(np.array([[1, 2, 2], [2, 1, 1], [2, 2, 1]]))
    4
    """
    id_map = np.asarray(ids)
    if id_map.ndim != 2 or id_map.size == 0:
        raise ValueError(f"ids must be an image, got shape {id_map.shape}")
    # Imported on first use because they are slow to import.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_runs, above, below = _linked_runs(id_map)
    links = coo_array((np.ones(above.size, np.int8), (above, below)), shape=(n_runs, n_runs))
    n_pieces, _ = connected_components(links.tocsr(), directed=False)
    return int(n_pieces)


def _linked_runs(ids: IdMap) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Number of runs of equal pixels in rows, and the runs that touch an equal one below, with that one.

    Runs are numbered in reading order. A graph of runs is several times smaller than one of pixels.
    """
    starts = np.ones(ids.shape, bool)
    np.not_equal(ids[:, 1:], ids[:, :-1], out=starts[:, 1:])
    run = np.cumsum(starts.ravel(), dtype=np.int32).reshape(ids.shape) - np.int32(1)
    linked = ids[1:] == ids[:-1]
    # Two runs may touch along many pixels: the first of them is enough.
    repeated = linked[:, :-1] & ~starts[1:, 1:] & ~starts[:-1, 1:]
    linked[:, 1:] &= ~repeated
    return int(run[-1, -1]) + 1, run[:-1][linked], run[1:][linked]
