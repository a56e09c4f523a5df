"""Dense optical flow between reduced pictures, from a frame back to the one before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.working_frame import box_around
from scstream_app.render.image_types import Picture

#: Rounds of refinement; OpenCV's five take half of the time, and with three no object is tracked worse.
_REFINEMENTS = 3
#: OpenCV refuses smaller pictures.
_SMALLEST_SIDE = 12

# OpenCV's types do not tell where it takes None.
_NO_ARRAY: np.ndarray = None  # type: ignore[assignment]
_Number = TypeVar("_Number", np.uint8, np.float32)


@dataclass(frozen=True, slots=True)
class Motion:
    """What moved between two frames.

    Parameters
    ----------
    before : array (h, w) uint8
        The reduced picture of the earlier frame.
    flow : array (h, w, 2) float32
        Displacement along columns and rows from each pixel of the later frame to where it was, in reduced pixels.
    """

    before: Picture
    flow: npt.NDArray[np.float32]

    def moved(self, image: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """An image (h, w) of the earlier frame, not negative, moved to the later one; what enters the frame is 0."""
        moved = np.zeros_like(image)
        # Where an image is not 0 is often a small part of it, and it moves no further than the largest displacement.
        region = box_around(image > 0, int(cv2.norm(self.flow, cv2.NORM_INF)) + 2)
        if not moved[region].size:
            return moved
        places = cv2.add(self.flow[region], _grid(*image.shape)[region])
        moved[region] = cv2.remap(
            image, places, _NO_ARRAY, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0.0
        )
        return moved

    @classmethod
    def between(cls, before: Picture, grey: Picture) -> Motion:
        """Compute the flow between two reduced pictures by the method DIS; it is zero for tiny ones."""
        if min(grey.shape) < _SMALLEST_SIDE:
            return cls(before, np.zeros((*grey.shape, 2), np.float32))
        method = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
        method.setVariationalRefinementIterations(_REFINEMENTS)
        # Without an array for the result OpenCV makes one, and estimates the flow anew.
        return cls(before, np.asarray(method.calc(grey, before, _NO_ARRAY), np.float32))


@lru_cache(4)
def _grid(height: int, width: int) -> npt.NDArray[np.float32]:
    """Column and row of every pixel (height, width, 2). Cached: callers must not change it."""
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return np.stack([columns, rows], axis=-1)
