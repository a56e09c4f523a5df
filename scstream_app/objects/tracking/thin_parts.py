"""Thin parts of an object, such as lines and poles: tracked in the full picture by the ridges of its luminance.

Colours and segments say little about parts that are only a few pixels wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture

#: Widths in reduced pixels: of what counts as thin, and of the area in which a thin part is sought in the next frame.
_THIN = 3.5
_SEARCH = 4.5
#: Smallest length of a thin part when it is marked, and of a piece that is found again, in reduced pixels.
_LENGTH, _PIECE_LENGTH = 10.0, 7.5
#: Smallest number of full pixels of all thin parts together.
_FEWEST = 60
#: Smallest contrast of thin parts with their surroundings, in grey levels. Where a ridge stands out by more
#: than this share of what they do, it belongs to the object.
_CONTRAST = 4.0
_SHARE = 0.6

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ThinParts:
    """Thin parts of an object after a frame.

    Parameters
    ----------
    mask : array (H, W) bool
    threshold : float
        Height of a ridge in grey levels from which it belongs to the object.
    ratio : float
        Full pixels per reduced pixel.
    """

    mask: Mask
    threshold: float
    ratio: float

    @classmethod
    def of(cls, mask: Mask, picture: Picture, ratio: float) -> ThinParts | None:
        """The thin parts of a mask; None if there are none, or if they do not stand out from their surroundings."""
        thin = _thin(mask, ratio)
        if thin.sum() < _FEWEST:
            return None
        region = _around(thin, 4.0 * _SEARCH * ratio)
        ridges = _ridges(picture[region], ratio)
        near = _widened(thin[region], 2.0 * _SEARCH * ratio) & ~_widened(thin[region], _THIN * ratio) & ~mask[region]
        inside = float(np.median(ridges[thin[region]]))
        outside = float(np.median(ridges[near])) if near.any() else 0.0
        if inside - outside < _CONTRAST:
            return None
        return cls(thin, outside + _SHARE * (inside - outside), ratio)

    def advance(self, thick: Mask, picture: Picture, flow: npt.NDArray[np.float32]) -> ThinParts:
        """Find the parts again in the next frame.

        Parameters
        ----------
        thick : array (H, W) bool
            The other parts of the object there.
        picture : array (H, W, 3)
            The frame.
        flow : array (h, w, 2)
            Where its reduced pixels were in the frame before.
        """
        if not self.mask.any():
            return self
        region = _around(self.mask, 4.0 * _SEARCH * self.ratio + float(np.abs(flow).max()) * self.ratio)
        search = _widened(_moved(self.mask, flow, self.ratio, region), _SEARCH * self.ratio)
        ridges = search & (_ridges(picture[region], self.ratio) > self.threshold) & ~thick[region]
        found = np.zeros_like(self.mask)
        found[region] = _longer(ridges | (thick[region] & search), _PIECE_LENGTH * self.ratio) & ridges
        return replace(self, mask=found)


def _thin(mask: Mask, ratio: float) -> Mask:
    """The long parts of a mask that are thinner than `_THIN`."""
    thick = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _disc(_THIN * ratio))
    return _longer(mask & ~_widened(thick > 0, 1.5 * ratio), _LENGTH * ratio)


def _ridges(picture: Picture, ratio: float) -> npt.NDArray[np.uint8]:
    """How much each pixel is brighter or darker than its neighbourhood on both sides, in grey levels."""
    grey, disc = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), _disc(_THIN * ratio)
    bright, dark = (cv2.morphologyEx(grey, kind, disc) for kind in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT))
    return np.asarray(np.maximum(bright, dark), np.uint8)


def _moved(mask: Mask, flow: npt.NDArray[np.float32], ratio: float, region: tuple[slice, slice]) -> Mask:
    """A mask of the frame before, moved along the flow, in a region."""
    height, width = mask.shape
    full = cv2.resize(flow, (width, height), interpolation=cv2.INTER_LINEAR)[region] * np.float32(ratio)
    rows, columns = (np.arange(n, dtype=np.float32)[part] for n, part in zip(mask.shape, region, strict=True))
    moved = cv2.remap(
        mask.astype(np.float32), columns + full[..., 0], rows[:, None] + full[..., 1], cv2.INTER_LINEAR, borderValue=0.0
    )
    return np.asarray(moved > 0.3)


def _longer(mask: Mask, length: float) -> Mask:
    """The connected parts of a mask with at least this extent along rows or columns."""
    _, parts, boxes, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    extent = np.maximum(boxes[:, cv2.CC_STAT_WIDTH], boxes[:, cv2.CC_STAT_HEIGHT])
    keep = extent >= length
    keep[0] = False
    return np.asarray(keep[parts])


def _widened(mask: Mask, width: float) -> Mask:
    return np.asarray(cv2.dilate(mask.astype(np.uint8), _disc(width)) > 0)


def _disc(width: float) -> npt.NDArray[np.uint8]:
    """A disc of about this width, which is odd."""
    odd = max(2 * round((width - 1.0) / 2.0) + 1, 3)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (odd, odd)), np.uint8)


def _around(mask: Mask, reach: float) -> tuple[slice, slice]:
    """The rectangle around a mask that is not empty, widened on all sides."""
    margin = int(reach) + 1
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (
        slice(max(int(rows[0]) - margin, 0), int(rows[-1]) + margin + 1),
        slice(max(int(columns[0]) - margin, 0), int(columns[-1]) + margin + 1),
    )
