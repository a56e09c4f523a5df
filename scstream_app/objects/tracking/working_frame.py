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
#: Distance from the outline that counts one unit, and largest distance at which pixels are considered, in units.
OUTLINE_UNIT = 12.0
OUTLINE_REACH = 4.0

Region = tuple[slice, slice]


@dataclass(frozen=True, slots=True)
class ReducedPicture:
    """A picture in the size of the tracker, which takes no segments to compute.

    Parameters
    ----------
    luminance : array (H, W) uint8
        Of the whole picture.
    brightness : array (H, W) float32
        The same from 0 to 1.
    grey : array (h, w) uint8
        Luminance of the reduced picture.
    codes : array (h, w) int32
        Colour cell of every reduced pixel; see `colour_model.codes`.
    """

    luminance: Picture
    brightness: npt.NDArray[np.float32]
    grey: Picture
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, picture: Picture) -> ReducedPicture:
        """Reduce a picture (H, W, 3)."""
        small = resized(picture, working_size(picture.shape[0], picture.shape[1]))
        luminance, grey = (np.asarray(cv2.cvtColor(one, cv2.COLOR_RGB2GRAY), np.uint8) for one in (picture, small))
        return cls(luminance, luminance.astype(np.float32) / 255.0, grey, colour_model.codes(small))


@dataclass(frozen=True, slots=True)
class WorkingFrame:
    """A frame as the tracker needs it.

    Parameters
    ----------
    ids : array (H, W) int32
        The segments of the whole picture.
    luminance, brightness, grey, codes : arrays
        As in `ReducedPicture`.
    segments : array (h, w) int32
        Segment of every reduced pixel, as a position in ``names``.
    names : array (k,) int32
        Ids of the segments that the reduced picture shows, in ascending order.
    sizes : array (k,) float64
        Number of reduced pixels of each of them.
    """

    ids: IdMap
    luminance: Picture
    brightness: npt.NDArray[np.float32]
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
            ids,
            small.luminance,
            small.brightness,
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


def region_around(inside: npt.NDArray[np.bool_]) -> Region:
    """The rectangle around a mask in which its outline may be in the next frame; everything if the mask is empty."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows):
        return slice(0, inside.shape[0]), slice(0, inside.shape[1])
    reach = int(OUTLINE_UNIT * OUTLINE_REACH)
    return (
        slice(max(int(rows[0]) - reach, 0), int(rows[-1]) + reach + 1),
        slice(max(int(columns[0]) - reach, 0), int(columns[-1]) + reach + 1),
    )
