"""Thin parts of an object, such as lines and poles: tracked in the full picture by the ridges of its luminance.

Colours and segments say little about parts that are only a few pixels wide. Straight lines are tracked as wholes, other
thin parts pixel by pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.straight_lines import StraightLine, advance_lines, find_lines, lines_mask
from scstream_app.objects.tracking.working_frame import ReducedPicture, Region, box_around

#: Widths in reduced pixels: of what counts as thin, and of the area in which a thin part is sought in the next frame.
_THIN = 3.5
_SEARCH = 3.0
#: Share of a reduced pixel that a moved thin part must cover, so that it is sought around there.
_MOVED_SHARE = 0.3
#: Smallest length of a thin part when it is marked, and of a piece that is found again, in reduced pixels.
_LENGTH, _PIECE_LENGTH = 10.0, 7.5
#: Smallest number of full pixels of all thin parts together.
_FEWEST = 60
#: Smallest contrast of thin parts with their surroundings, in grey levels. Where a ridge stands out by more
#: than this share of what they do, it belongs to the object.
_CONTRAST = 4.0
_SHARE = 0.6

Mask = npt.NDArray[np.bool_]
Ridges = npt.NDArray[np.uint8]


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
    pieces : array (H, W) bool
        The thin parts that were found pixel by pixel.
    lines : tuple of StraightLine
        Those that were found as straight lines.
    """

    mask: Mask
    threshold: float
    ratio: float
    pieces: Mask
    lines: tuple[StraightLine, ...]

    @classmethod
    def of(cls, mask: Mask, picture: ReducedPicture, ratio: float) -> ThinParts | None:
        """The thin parts of a mask; None if there are none, or if they do not stand out from their surroundings.

        Parameters
        ----------
        mask : array (H, W) bool
        picture : ReducedPicture
        ratio : float
        """
        thin = _thin(mask, ratio)
        if thin.sum() < _FEWEST:
            return None
        region = box_around(thin, int(4.0 * _SEARCH * ratio) + 1)
        ridges = _ridges(picture, ratio, region)
        near = _widened(thin[region], 2.0 * _SEARCH * ratio) & ~_widened(thin[region], _THIN * ratio) & ~mask[region]
        inside = float(np.median(ridges[thin[region]]))
        outside = float(np.median(ridges[near])) if near.any() else 0.0
        if inside - outside < _CONTRAST:
            return None
        lines = find_lines(thin, ratio)
        pieces = thin & ~_widened(lines_mask(lines, thin.shape), _THIN * ratio)
        return cls(thin, outside + _SHARE * (inside - outside), ratio, pieces, lines)

    def advance(self, thick: Mask, picture: ReducedPicture, motion: Motion) -> ThinParts:
        """Find the parts again in the next frame.

        Parameters
        ----------
        thick : array (h, w) bool
            Where the other parts of the object are expected there, in the reduced picture.
        picture : ReducedPicture
            Of the frame.
        motion : Motion
            From the frame before.
        """
        if not self.mask.any():
            return self
        pieces, lines = self._pieces(thick, picture, motion), self._lines(thick, picture, motion.flow)
        mask = pieces | lines_mask(lines, pieces.shape) if lines else pieces
        return replace(self, mask=mask, pieces=pieces, lines=lines)

    def _pieces(self, thick: Mask, picture: ReducedPicture, motion: Motion) -> Mask:
        """The pieces near those of the frame before, beside or at the thick parts."""
        pieces = np.zeros_like(self.pieces)
        search = _search_area(self.pieces, motion)
        if search.any():
            region = _box_in_full(search, pieces.shape)
            near, inner = (_enlarged(mask, pieces.shape, region) for mask in (search, thick))
            thin = near & (_ridges(picture, self.ratio, region) > self.threshold) & ~inner
            pieces[region] = _longer(thin | (inner & near), _PIECE_LENGTH * self.ratio) & thin
        return pieces

    def _lines(self, thick: Mask, picture: ReducedPicture, flow: npt.NDArray[np.float32]) -> tuple[StraightLine, ...]:
        if not self.lines:
            return ()
        # The motion of the object along columns and rows, in reduced pixels.
        region = box_around(thick, 0)
        inside = flow[region][thick[region]].T.copy()
        shift = -np.median(inside, axis=1).astype(np.float64) if inside.size else np.zeros(2)

        def ridges(part: Region) -> Ridges:
            return _ridges(picture, self.ratio, part)

        return advance_lines(self.lines, ridges, self.mask.shape, shift * self.ratio, self.threshold, self.ratio)


def _thin(mask: Mask, ratio: float) -> Mask:
    """The long parts of a mask that are thinner than `_THIN`."""
    thick = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _disc(_THIN * ratio))
    return _longer(mask & ~_widened(thick > 0, 1.5 * ratio), _LENGTH * ratio)


def _ridges(picture: ReducedPicture, ratio: float, region: Region) -> Ridges:
    """How much each pixel of a region is brighter or darker than its neighbourhood on both sides, in grey levels."""
    disc = _disc(_THIN * ratio)
    # What pixels get depends on others up to twice the radius of the disc away.
    reach = len(disc) - 1
    first, here = zip(*(_widened_slice(part, reach) for part in region), strict=True)
    luminance = picture.luminance((first[0], first[1]))
    bright, dark = (cv2.morphologyEx(luminance, kind, disc) for kind in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT))
    return np.asarray(np.maximum(bright[here], dark[here]), np.uint8)


def _widened_slice(part: slice, reach: int) -> tuple[slice, slice]:
    """A slice, widened on both sides but not below 0, and where in it the original is."""
    begin = max(part.start - reach, 0)
    return slice(begin, part.stop + reach), slice(part.start - begin, part.stop - begin)


def _search_area(pieces: Mask, motion: Motion) -> Mask:
    """The surroundings (h, w) of where the flow moves thin parts of the frame before."""
    height, width = motion.before.shape
    if not pieces.any():
        return np.zeros((height, width), bool)
    small = np.asarray(cv2.resize(255 * pieces.view(np.uint8), (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    return _widened(motion.moved(small) > int(255.0 * _MOVED_SHARE), _SEARCH)


def _box_in_full(mask: Mask, shape: tuple[int, ...]) -> Region:
    """The rectangle around a reduced mask, in a picture of the given shape."""
    rows, columns = (
        # Rounded up: a full pixel belongs to the reduced one at its position times the ratio, rounded down.
        slice(-(-part.start * long // short), -(-part.stop * long // short))
        for part, long, short in zip(box_around(mask, 0), shape, mask.shape, strict=True)
    )
    return rows, columns


def _enlarged(mask: Mask, shape: tuple[int, ...], region: Region) -> Mask:
    """A region of a mask at a larger size (H, W)."""
    rows, columns = (
        np.arange(part.start, part.stop) * short // long
        for part, long, short in zip(region, shape, mask.shape, strict=True)
    )
    return np.asarray(mask.take(rows, axis=0).take(columns, axis=1))


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
