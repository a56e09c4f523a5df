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
    full : array (H, W, 3) uint8
        The picture.
    rgb : array (h, w, 3) uint8
        The reduced picture.
    grey : array (h, w) uint8
        Its luminance.
    """

    full: Picture
    rgb: Picture
    grey: Picture

    @classmethod
    def of(cls, picture: Picture) -> ReducedPicture:
        """Reduce a picture (H, W, 3)."""
        small = resized(picture, working_size(picture.shape[0], picture.shape[1]))
        return cls(picture, small, _grey(small))

    def luminance(self, region: Region = (slice(None), slice(None))) -> Picture:
        """Luminance of a region of the picture in full size."""
        return _grey(self.full[region])


@dataclass(frozen=True, slots=True)
class WorkingFrame:
    """A frame as the tracker needs it.

    Parameters
    ----------
    ids : array (H, W) int32
        The segments of the whole picture.
    picture : ReducedPicture
    segments : array (h, w) intp
        Segment of every reduced pixel.
    places : array intp
        Position in ``names`` of each of these.
    names : array (k,) intp
        Ids of the segments that the reduced picture shows, in ascending order.
    sizes : array (k,) float64
        Number of reduced pixels of each of them.
    """

    ids: IdMap
    picture: ReducedPicture
    segments: npt.NDArray[np.intp]
    places: npt.NDArray[np.intp]
    names: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.float64]

    @classmethod
    def of(cls, small: ReducedPicture, ids: IdMap) -> WorkingFrame:
        """Reduce the id map of a picture."""
        height, width = small.grey.shape
        # Converted once: to count and to look up, numpy needs whole words.
        segments = cv2.resize(ids, (width, height), interpolation=cv2.INTER_NEAREST_EXACT).astype(np.intp)
        counts = np.bincount(segments.ravel())
        names = np.flatnonzero(counts)
        places = np.cumsum(counts > 0) - 1
        return cls(ids, small, segments, places, names, counts[names].astype(np.float64))

    @property
    def size(self) -> Size:
        """Height and width of the reduced picture."""
        return self.segments.shape[0], self.segments.shape[1]

    @property
    def ratio(self) -> float:
        """Number of full pixels per reduced pixel, along rows."""
        return float(self.ids.shape[1] / self.segments.shape[1])

    def part(self, region: Region, codes: npt.NDArray[np.intp] | None = None) -> FramePart:
        """A rectangle of the frame; ``codes`` are its colour cells if they are known."""
        known = colour_model.codes(self.picture.rgb[region]) if codes is None else codes
        return FramePart(region, known, self.places[self.segments[region]].ravel())

    def reduced(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Reduce a mask (H, W) to the share (h, w) of it in every reduced pixel."""
        height, width = self.size
        return np.asarray(
            cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA), np.float32
        )


@dataclass(frozen=True, slots=True)
class FramePart:
    """A rectangle of a frame.

    Parameters
    ----------
    region : two slices
        In the reduced picture.
    codes : array (n, m) intp
        Colour cell of every pixel; see `colour_model.codes`.
    segments : array (n * m,) intp
        Segment of every pixel, as a position in the ``names`` of the frame.
    """

    region: Region
    codes: npt.NDArray[np.intp]
    segments: npt.NDArray[np.intp]


def _grey(picture: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)


def working_size(height: int, width: int) -> Size:
    """Height and width of the reduced picture of a frame.

    >>> working_size(480, 854), working_size(100, 200)
    ((240, 427), (100, 200))
    """
    factor = min(1.0, math.sqrt(PIXELS / (height * width)))
    return max(round(height * factor), 1), max(round(width * factor), 1)


def region_around(inside: npt.NDArray[np.bool_]) -> Region:
    """The rectangle around a mask in which its outline may be in the next frame; everything if the mask is empty."""
    if not inside.any():
        return slice(0, inside.shape[0]), slice(0, inside.shape[1])
    return box_around(inside, int(OUTLINE_UNIT * OUTLINE_REACH))


def box_around(mask: npt.NDArray[np.bool_], margin: int) -> Region:
    """The rectangle around a mask, widened on all sides as far as the picture reaches; empty if the mask is.

    >>> mask = np.zeros((10, 20), bool)
    >>> mask[5, 7:12] = True
    >>> box_around(mask, 6)
    (slice(0, 10, None), slice(1, 18, None))
    """
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    if not width:
        return slice(0, 0), slice(0, 0)
    return (
        slice(max(top - margin, 0), min(top + height + margin, mask.shape[0])),
        slice(max(left - margin, 0), min(left + width + margin, mask.shape[1])),
    )
