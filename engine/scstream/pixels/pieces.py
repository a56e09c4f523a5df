"""Connected pieces of a map of labels, found on several threads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.kernels import RUN, Pieces
from scstream.threads import queue_of, run_queue, split_evenly

#: Bands of rows that threads take.
_BANDS = 32


def find_pieces(labels: npt.NDArray[np.int32], group: npt.NDArray[np.int32], limit: float, threads: int = 1) -> Pieces:
    """Return the `Pieces` of a map labels (H, W): 4-connected pixels whose labels are of one group (K,).

    Pieces of fewer pixels than ``limit`` are listed. Bands of rows are searched on their own, then joined: the result
    does not depend on the number of threads.
    """
    edges = split_evenly(len(labels), _BANDS)
    first = np.zeros(len(labels) + 1, np.int64)
    run_queue(threads, queue_of(edges), lambda queue: kernels.count_steps(queue, labels, first[1:]))
    np.cumsum(first, out=first)
    runs = np.empty((first[-1], RUN), np.int32)
    run_queue(threads, queue_of(edges), lambda queue: kernels.find_runs(queue, labels, group, first, runs))
    pieces: Pieces = kernels.list_small_pieces(edges, group, limit, first, runs)
    return pieces
