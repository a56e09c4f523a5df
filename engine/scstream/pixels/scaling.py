"""Pictures at another size: smaller to work on, and what was found as large as the frame again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.kernels import Queue
from scstream.threads import queue_of, share

# Rows are worked on in so many pieces.
_PIECES = 16


def scaled_size(shape: tuple[int, ...], scale: float) -> tuple[int, int]:
    """Height and width of a picture that is reduced by that factor: one pixel at least."""
    height, width = (max(1, round(n * scale)) for n in shape)
    return height, width


def shrunk(frame: npt.NDArray[np.uint8], shape: tuple[int, int], threads: int) -> npt.NDArray[np.uint8]:
    """A frame (H, W, 3) with fewer pixels (h, w, 3), each the mean of the block that it covers."""
    out = np.empty((*shape, 3), np.uint8)
    share(threads, _rows(shape[0]), lambda queue: kernels.shrink(queue, frame, out))
    return out


def enlarged(picture: npt.NDArray[Any], shape: tuple[int, ...], threads: int) -> npt.NDArray[Any]:
    """A picture (h, w) of ids or numbers at another size (H, W), by nearest neighbours; itself where that is its own.

    >>> enlarged(np.array([[1, 2]], np.int32), (2, 3), threads=1)
    array([[1, 1, 2],
           [1, 1, 2]], dtype=int32)
    """
    if picture.shape == tuple(shape):
        return picture
    out = np.empty(shape, picture.dtype)
    # Whatever they mean: one kernel for all kinds of numbers of one size.
    bits = f"i{picture.itemsize}"
    share(threads, _rows(shape[0]), lambda queue: kernels.enlarge(queue, picture.view(bits), out.view(bits)))
    return out


def _rows(n: int) -> Queue:
    return queue_of(np.linspace(0, n, _PIECES + 1).astype(int))
