"""Clips with an object that the segments do not separate from its surroundings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from helpers.export_scenes import result
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Session

SHAPE = (48, 72)
SIDE = 16
Mask = npt.NDArray[np.bool_]


def square_at(index: int, row: int = 12) -> Mask:
    """The square on a frame: it moves by a pixel with every other frame, and comes back after 80 frames."""
    left = 4 + abs((index // 2 + 40) % 80 - 40)
    mask = np.zeros(SHAPE, bool)
    mask[row : row + SIDE, left : left + SIDE] = True
    return mask


def unseparated(count: int) -> list[FrameResult]:
    """A red square moves over a grey texture; there is one segment, of all pixels."""
    texture = np.random.default_rng(3).integers(70, 150, (SHAPE[0] // 4, SHAPE[1] // 4), np.uint8)
    ground = np.repeat(texture.repeat(4, 0).repeat(4, 1)[..., None], 3, axis=2)
    results = []
    for index in range(count):
        rgb = np.where(square_at(index)[..., None], np.array([210, 60, 50], np.uint8), ground)
        results.append(result(index, np.zeros(SHAPE, np.int32), rgb=np.asarray(rgb, np.uint8)))
    return results


def painted(name: str, *frames: int, mask: Callable[[int], Mask] = square_at) -> MarkedObject:
    """An object whose mask is painted on these frames."""
    edits = tuple(ObjectEdit("painted", frame, frozenset(), mask_to_png(mask(frame))) for frame in frames)
    return MarkedObject(name, (230, 160, 0), edits)


def mask_files(session: Session) -> dict[int, bytes]:
    """Content of the files with masks, by frame."""
    return {int(path.stem): path.read_bytes() for path in sorted(Path(session.path, "object_masks").glob("*.mask"))}
