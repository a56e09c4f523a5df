"""The outline of an object in the full picture: filters that follow the edges of the picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.working_frame import ReducedPicture, Region
from scstream_app.render.image_types import Picture

#: Radius in reduced pixels, and smoothness: a step of grey by the square root of it counts as an edge.
_RADIUS = 2
_SMOOTHNESS = 1e-3
#: The same for soft edges, in full pixels.
_SOFT_RADIUS = 4
_SOFT_SMOOTHNESS = 1e-4

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Guide:
    """A region of a picture whose edges scores shall follow.

    A guided filter: locally, scores become a linear function of the grey level (0 to 1), in the reduced picture and,
    with slope and offset enlarged, in the full one.

    Parameters
    ----------
    grey : array (h, w)
        Grey levels of the region in the reduced picture, from 0 to 1.
    mean, spread : arrays (h, w)
        Their mean in a window around each pixel, and their variance plus the smoothness.
    margin : four ints
        Number of pixels to add at the top, the bottom, the left and the right before scores are enlarged.
    levels : array (H, W)
        Grey levels from 0 to 255 of the region and its margin in the full picture.
    place : two slices
        Where these are.
    """

    grey: Scores
    mean: Scores
    spread: Scores
    margin: tuple[int, int, int, int]
    levels: Scores
    place: Region

    @classmethod
    def of(cls, picture: ReducedPicture, region: Region) -> Guide:
        """Prepare the filter: none of this depends on the scores."""
        grey = picture.grey[region].astype(np.float32)
        grey /= 255.0
        mean, spread = _moments(grey, _RADIUS, _SMOOTHNESS)
        margin, place = _surroundings(region, picture.grey.shape, picture.full.shape[:2])
        return cls(grey, mean, spread, margin, picture.luminance(place).astype(np.float32), place)

    def fit(self, scores: Scores) -> tuple[Scores, Scores]:
        """Slope and offset of the filter; the filtered scores in the reduced picture are slope * grey + offset."""
        return _linear_fit(scores, self.grey, self.mean, self.spread, _RADIUS)

    def enlarged(self, slope: Scores, offset: Scores, outside: float) -> Scores:
        """Filtered scores in the full picture; in the margin, the reduced picture has the score ``outside``."""
        height, width = self.levels.shape
        scores = _resize(_padded(slope, self.margin, 0.0) * np.float32(1.0 / 255.0), height, width)
        scores *= self.levels
        scores += _resize(_padded(offset, self.margin, outside), height, width)
        return scores


def soft_edges(mask: npt.NDArray[np.bool_], picture: Picture) -> npt.NDArray[np.float32]:
    """Opacity (H, W) from 0 to 1 that follows the edges of the picture near the outline of a mask.

    Examples
    --------
    >>> opacity = soft_edges(np.arange(30)[None, :].repeat(30, 0) < 15, np.zeros((30, 30, 3), np.uint8))
    >>> bool(opacity[15, 2] == 1.0), bool(0.2 < opacity[15, 15] < 0.8), bool(opacity[15, 28] == 0.0)
    (True, True, True)
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255.0
    slope, offset = _linear_fit(
        mask.astype(np.float32), grey, *_moments(grey, _SOFT_RADIUS, _SOFT_SMOOTHNESS), _SOFT_RADIUS
    )
    opacity = np.clip(slope * grey + offset, 0.0, 1.0)
    return np.asarray(np.where(opacity < 0.01, 0.0, np.where(opacity > 0.99, 1.0, opacity)), np.float32)


def _moments(grey: Scores, radius: int, smoothness: float) -> tuple[Scores, Scores]:
    """Mean of grey levels in a window around each pixel, and their variance plus the smoothness."""
    mean = _mean(grey, radius)
    return mean, _mean(grey * grey, radius) - mean * mean + np.float32(smoothness)


def _linear_fit(values: Scores, grey: Scores, mean: Scores, spread: Scores, radius: int) -> tuple[Scores, Scores]:
    """Slope and offset of the values as a function of the grey levels, each the mean over all windows with a pixel."""
    mean_values = _mean(values, radius)
    slope = np.asarray((_mean(grey * values, radius) - mean * mean_values) / spread, np.float32)
    return _mean(slope, radius), _mean(mean_values - slope * mean, radius)


def _mean(image: Scores, radius: int) -> Scores:
    return np.asarray(cv2.blur(image, (2 * radius + 1, 2 * radius + 1)), np.float32)


def _surroundings(
    region: Region, small: tuple[int, ...], large: tuple[int, ...]
) -> tuple[tuple[int, int, int, int], Region]:
    """Margin around a region of the reduced picture, and region and margin as a region of the full picture.

    A margin of one pixel makes the result in the region independent of what is further outside. Where the sizes are no
    multiples of each other, the pixels of a part would not have the places of those of the whole: the margin reaches
    to the frame's edge.
    """
    margin, place = [], []
    for part, short, long in zip(region, small, large, strict=True):
        first, last, _ = part.indices(short)
        ratio, rest = divmod(long, short)
        begin, end = (0, short) if rest else (max(first - 1, 0), min(last + 1, short))
        margin += [first - begin, end - last]
        place.append(slice(0, long) if rest else slice(begin * ratio, end * ratio))
    return (margin[0], margin[1], margin[2], margin[3]), (place[0], place[1])


def _padded(image: Scores, margin: tuple[int, int, int, int], value: float) -> Scores:
    return np.asarray(cv2.copyMakeBorder(image, *margin, cv2.BORDER_CONSTANT, value=value), np.float32)


def _resize(image: Scores, height: int, width: int) -> Scores:
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
