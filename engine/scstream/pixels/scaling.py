"""Other sizes: frames are reduced before segmentation, results enlarged after it, models continue at another size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components import PixelGaussian
from scstream.sampler.sampler import Sampler
from scstream.threads import even_queue, run_queue, threads_for

# Number of pieces that the rows of a picture are divided into.
_PIECES = 16


def scaled_size(shape: tuple[int, ...], scale: float) -> tuple[int, int]:
    """Height and width of a picture reduced by a factor, at least one pixel each."""
    height, width = (max(1, round(n * scale)) for n in shape)
    return height, width


def reduce_frame(frame: npt.NDArray[np.uint8], scale: float, threads: int) -> npt.NDArray[np.uint8]:
    """Return a contiguous frame (H, W, 3) reduced by a factor; not copied if it is contiguous and the factor is 1."""
    frame = np.ascontiguousarray(frame)
    return frame if scale == 1.0 else shrink(frame, scaled_size(frame.shape[:2], scale), threads)


def shrink(frame: npt.NDArray[np.uint8], shape: tuple[int, int], threads: int) -> npt.NDArray[np.uint8]:
    """Return a frame (H, W, 3) at a smaller size (h, w, 3): each pixel is the mean of the block that it covers."""
    out = np.empty((*shape, 3), np.uint8)
    threads = threads_for(math.prod(shape), threads)
    run_queue(threads, even_queue(shape[0], _PIECES), lambda queue: kernels.shrink(queue, frame, out))
    return out


def enlarge(picture: npt.NDArray[Any], shape: tuple[int, ...], threads: int) -> npt.NDArray[Any]:
    """Return a picture (h, w) of ids or numbers at another size (H, W), by nearest neighbours; not copied if it fits.

    >>> enlarge(np.array([[1, 2]], np.int32), (2, 3), threads=1)
    array([[1, 1, 2],
           [1, 1, 2]], dtype=int32)
    """
    if picture.shape == tuple(shape):
        return picture
    out = np.empty(shape, picture.dtype)
    # As integers of the same size, so that one kernel serves ids, bools and floats.
    bits = f"i{picture.itemsize}"
    threads = threads_for(math.prod(shape), threads)
    run_queue(
        threads, even_queue(shape[0], _PIECES), lambda queue: kernels.enlarge(queue, picture.view(bits), out.view(bits))
    )
    return out


def resize_model(sampler: Sampler, before: tuple[int, int], after: tuple[int, int]) -> None:
    """Let a model of frames with one size (h, w) continue with another: counts and the prior's weight are scaled."""
    factor = math.prod(after) / math.prod(before)
    assert isinstance(sampler.component, PixelGaussian)
    sampler.rescale(factor)
    sampler.component = sampler.component.reweighted(factor)
