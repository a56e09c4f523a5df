"""Motion of a picture from one frame to the next, on a grid of blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.kernels import BLOCK, Queue
from scstream.threads import queue_of, run_queue

#: Motion is found on pictures of about so many pixels, a ninth of 854 x 480, whatever the size of the frame.
_PIXELS = 45_547
#: Levels of the pyramid, each half as large as the one before; blocks of the coarsest are spaced twice as closely.
_LEVELS = 3
_PIECES = 16

Luminance = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Motion:
    """Displacements of the blocks of a frame to where they were in the frame before.

    Parameters
    ----------
    vectors : array (rows, columns, 2) float32
        Displacement (y, x) of each block, in pixels of the frame.
    spacing : float
        Distance between two blocks, in pixels of the frame; the first is centred at half of it.
    """

    vectors: npt.NDArray[np.float32]
    spacing: float


def luminance_step(shape: tuple[int, int]) -> int:
    """Side of the block of pixels of a frame (H, W) that one pixel of its `luminance` stands for."""
    return max(1, round(math.sqrt(math.prod(shape) / _PIXELS)))


def luminance_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width of the `luminance` of a frame (H, W)."""
    step = luminance_step(shape)
    return -(-shape[0] // step), -(-shape[1] // step)


def luminance(frame: npt.NDArray[np.uint8], threads: int) -> Luminance:
    """Return the luminance (h, w) uint8 of a frame (H, W, 3), reduced to the size at which motion is found."""
    step = luminance_step(frame.shape[:2])
    out = np.empty(luminance_shape(frame.shape[:2]), np.uint8)
    run_queue(threads, _rows(len(out)), lambda queue: kernels.shrink_luminance(queue, frame, step, out))
    return out


def find_motion(new: Luminance, old: Luminance, step: int, threads: int) -> Motion:
    """Return the motion from a frame to the one before, given their `luminance`; none if they are too small.

    Blocks are matched by their absolute differences: coarse ones in a window, finer ones around what was found, the
    finest to fractions of a pixel. A median over neighbours removes outliers.
    """
    news, olds = _pyramid(new), _pyramid(old)
    vectors: npt.NDArray[np.float32] | None = None
    for level in reversed(range(len(news))):
        spacing = BLOCK if level == 0 else BLOCK // 2
        # Half as many blocks on the coarsest level, where the whole window is searched.
        grid = _grid(news[level].shape, spacing)
        found = np.empty((*grid, 2), np.float32)
        if vectors is None:
            run_queue(
                threads,
                _rows(grid[0]),
                lambda queue: kernels.match_coarse(queue, news[level], olds[level], spacing, found),
            )
        else:
            start = vectors
            run_queue(
                threads,
                _rows(grid[0]),
                lambda queue: kernels.match_fine(
                    queue, news[level], olds[level], spacing, start, level == 0, found
                ),
            )
        vectors = found
    if vectors is None:
        return Motion(np.zeros((1, 1, 2), np.float32), float(max(new.shape) * step))
    return Motion(kernels.median_motion(vectors) * np.float32(step), float(BLOCK * step))


def _pyramid(picture: Luminance) -> list[Luminance]:
    """The picture at full size, half, a quarter, as far as it has blocks."""
    levels: list[Luminance] = []
    while len(levels) < _LEVELS and min(picture.shape) >= BLOCK:
        levels.append(picture)
        picture = kernels.halve(picture)
    return levels


def _grid(shape: tuple[int, ...], spacing: int) -> tuple[int, int]:
    rows, columns = (max(1, n // spacing) for n in shape)
    return rows, columns


def _rows(n: int) -> Queue:
    return queue_of(np.linspace(0, n, min(n, _PIECES) + 1).astype(int))
