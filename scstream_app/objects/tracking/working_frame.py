"""The reduced picture of a frame, on which objects are tracked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking import colour_model
from scstream_app.render.image_types import IdMap, Picture, Size, resized

#: Number of pixels of the reduced picture: a quarter of those of 854 x 480.
PIXELS = 102_480


@dataclass(frozen=True, slots=True)
class ReducedPicture:
    """A picture in the size of the tracker, which takes no segments to compute.

    Parameters
    ----------
    picture : array (H, W, 3) uint8
        The whole picture.
    grey : array (h, w) uint8
        Luminance of the reduced picture.
    codes : array (h, w) int32
        Colour cell of every reduced pixel; see `colour_model.codes`.
    """

    picture: Picture
    grey: Picture
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, picture: Picture) -> ReducedPicture:
        """Reduce a picture."""
        small = resized(picture, working_size(picture.shape[0], picture.shape[1]))
        return cls(picture, np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8), colour_model.codes(small))


@dataclass(frozen=True, slots=True)
class WorkingFrame:
    """A frame as the tracker needs it.

    Parameters
    ----------
    picture : array (H, W, 3) uint8
        The whole picture.
    ids : array (H, W) int32
        Its segments.
    grey, codes : array (h, w)
        As in `ReducedPicture`.
    segments : array (h, w) int32
        Segment of every reduced pixel, as a position in ``names``.
    names : array (k,) int32
        Ids of the segments that the reduced picture shows, in ascending order.
    sizes : array (k,) float64
        Number of reduced pixels of each of them.
    """

    picture: Picture
    ids: IdMap
    grey: Picture
    codes: npt.NDArray[np.int32]
    segments: npt.NDArray[np.int32]
    names: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.float64]

    @classmethod
    def of(cls, small: ReducedPicture, ids: IdMap) -> WorkingFrame:
        """Reduce the id map of a picture."""
        height, width = small.grey.shape
        reduced = np.asarray(cv2.resize(ids, (width, height), interpolation=cv2.INTER_NEAREST_EXACT), np.int32)
        counts = np.bincount(reduced.ravel())
        names = np.flatnonzero(counts)
        place = np.zeros(len(counts), np.int32)
        place[names] = np.arange(len(names), dtype=np.int32)
        return cls(
            small.picture,
            ids,
            small.grey,
            small.codes,
            place.take(reduced),
            names.astype(np.int32),
            counts[names].astype(np.float64),
        )

    @property
    def size(self) -> Size:
        """Height and width of the reduced picture."""
        return self.grey.shape[0], self.grey.shape[1]

    @property
    def ratio(self) -> float:
        """Number of full pixels per reduced pixel, along rows."""
        return float(self.ids.shape[1] / self.grey.shape[1])

    def reduced(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Reduce a mask (H, W) to the share (h, w) of it in every reduced pixel."""
        height, width = self.size
        return np.asarray(
            cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA), np.float32
        )


def working_size(height: int, width: int) -> Size:
    """Height and width of the reduced picture of a frame.

    >>> working_size(480, 854), working_size(100, 200)
    ((240, 427), (100, 200))
    """
    factor = min(1.0, math.sqrt(PIXELS / (height * width)))
    return max(round(height * factor), 1), max(round(width * factor), 1)
