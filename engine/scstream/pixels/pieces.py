"""Connected pieces of a map of labels, found on several threads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.kernels import Pieces, Runs
from scstream.threads import queue_of, run_queue, split_evenly

#: Bands of rows that threads take.
_BANDS = 32


def find_pieces(labels: npt.NDArray[np.int32], group: npt.NDArray[np.int32], limit: float, threads: int = 1) -> Pieces:
    """Return the `Pieces` of a map labels (H, W): 4-connected pixels whose labels are of one group (K,).

    Pieces of fewer pixels than ``limit`` are listed. Bands of rows are searched on their own, then joined: the result
    does not depend on the number of threads.
    """
    height, width = labels.shape
    edges = split_evenly(height, _BANDS)
    steps = np.empty(height, np.int64)
    run_queue(threads, queue_of(edges), lambda queue: kernels.count_steps(queue, labels, steps))
    ends = np.cumsum(steps)
    n = int(ends[-1])
    row, start, stop, parent, size, left, right, bottom, listed = np.empty((9, n), np.int64)
    piece_of, n_listed = np.empty((height, width), np.int32), np.empty(len(edges) - 1, np.int64)
    first, count = ends - steps, steps
    runs = Runs(first, count, row, start, stop, parent, size, left, right, bottom, piece_of, listed, n_listed)
    run_queue(threads, queue_of(edges), lambda queue: kernels.find_runs(queue, labels, group, runs))
    kernels.join_bands(edges, labels, group, runs)
    run_queue(threads, queue_of(edges), lambda queue: kernels.mark_pieces(queue, limit, runs))
    pieces: Pieces = kernels.list_small_pieces(edges, runs)
    return pieces
