"""Motion of a picture from one frame to the next, on a grid of blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.kernels import BLOCK, Queue
from scstream.threads import even_queue, run_queue

#: Approximate number of pixels of the pictures on which motion is found, for every frame size: about a ninth of
#: 854 x 480, and few enough that frames of 240 lines are reduced too.
_PIXELS = 45_000
#: Levels of the pyramid, each half as large as the one before; blocks of the finest do not overlap.
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
    levels = list(zip(_pyramid(new), _pyramid(old), strict=True))
    if not levels:
        return Motion(np.zeros((1, 1, 2), np.float32), float(max(new.shape) * step))
    vectors = None
    for level in reversed(range(len(levels))):
        vectors = _match(*levels[level], vectors, level == 0, threads)
    assert vectors is not None
    median = np.empty_like(vectors)
    rows = _rows(len(vectors))
    run_queue(threads, rows, lambda queue: kernels.median_motion(queue, vectors, np.float32(step), median))
    return Motion(median, float(BLOCK * step))


def _match(
    new: Luminance, old: Luminance, coarse: npt.NDArray[np.float32] | None, finest: bool, threads: int
) -> npt.NDArray[np.float32]:
    """Displacements (rows, columns, 2) of the blocks of one level, given those of the next coarser one."""
    spacing = BLOCK if finest else BLOCK // 2
    rows, columns = (max(1, n // spacing) for n in new.shape)
    out = np.empty((rows, columns, 2), np.float32)

    def work(queue: Queue) -> None:
        if coarse is None:
            kernels.match_coarse(queue, new, old, spacing, out)
        else:
            kernels.match_fine(queue, new, old, spacing, coarse, finest, out)

    run_queue(threads, _rows(rows), work)
    return out


def _pyramid(picture: Luminance) -> list[Luminance]:
    """The picture at full size, half, a quarter, as far as it has blocks."""
    levels: list[Luminance] = []
    while len(levels) < _LEVELS and min(picture.shape) >= BLOCK:
        levels.append(picture)
        picture = kernels.halve(picture)
    return levels


def _rows(n: int) -> Queue:
    return even_queue(n, min(n, _PIECES))
