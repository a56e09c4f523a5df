"""Dense optical flow between reduced pictures, from a frame back to the one before."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture

#: OpenCV refuses smaller pictures.
_SMALLEST_SIDE = 12


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

    @classmethod
    def between(cls, before: Picture, grey: Picture) -> Motion:
        """Compute the flow between two reduced pictures by the method DIS; it is zero for tiny ones."""
        if min(grey.shape) < _SMALLEST_SIDE:
            return cls(before, np.zeros((*grey.shape, 2), np.float32))
        method = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
        # Without an array for the result OpenCV makes one, and estimates the flow anew.
        no_array: np.ndarray = None  # type: ignore[assignment]
        return cls(before, np.asarray(method.calc(grey, before, no_array), np.float32))
