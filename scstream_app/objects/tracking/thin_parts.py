"""Thin parts of an object, such as lines and poles: tracked in the full picture by the ridges of its luminance.

Colours and segments say little about parts that are only a few pixels wide. Straight lines are tracked as wholes, other
thin parts pixel by pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.straight_lines import StraightLine, advance_lines, find_lines, lines_mask
from scstream_app.render.image_types import Picture

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
    def of(cls, mask: Mask, luminance: Picture, ratio: float) -> ThinParts | None:
        """The thin parts of a mask; None if there are none, or if they do not stand out from their surroundings.

        Parameters
        ----------
        mask : array (H, W) bool
        luminance : array (H, W) uint8
            Of the picture.
        ratio : float
        """
        thin = _thin(mask, ratio)
        if thin.sum() < _FEWEST:
            return None
        region = _around(thin, 4.0 * _SEARCH * ratio)
        ridges = _ridges(luminance[region], ratio)
        near = _widened(thin[region], 2.0 * _SEARCH * ratio) & ~_widened(thin[region], _THIN * ratio) & ~mask[region]
        inside = float(np.median(ridges[thin[region]]))
        outside = float(np.median(ridges[near])) if near.any() else 0.0
        if inside - outside < _CONTRAST:
            return None
        lines = find_lines(thin, ratio)
        pieces = thin & ~_widened(lines_mask(lines, thin.shape), _THIN * ratio)
        return cls(thin, outside + _SHARE * (inside - outside), ratio, pieces, lines)

    def advance(self, thick: Mask, luminance: Picture, flow: npt.NDArray[np.float32]) -> ThinParts:
        """Find the parts again in the next frame.

        Parameters
        ----------
        thick : array (h, w) bool
            Where the other parts of the object are expected there, in the reduced picture.
        luminance : array (H, W) uint8
            Of the frame.
        flow : array (h, w, 2)
            Where its reduced pixels were in the frame before.
        """
        if not self.mask.any():
            return self
        # Lines may be long: they are sought in the whole picture.
        ridges = _ridges(luminance, self.ratio) if self.lines else None
        pieces = np.zeros_like(self.pieces)
        search = _search_area(self.pieces, flow)
        if search.any():
            region = _around(search, _LENGTH * self.ratio)
            heights = _ridges(luminance[region], self.ratio) if ridges is None else ridges[region]
            pieces[region] = self._pieces(search[region], _enlarged(thick, search.shape)[region], heights)
        lines = () if ridges is None else self._lines(thick, ridges, flow)
        return replace(self, mask=pieces | lines_mask(lines, pieces.shape), pieces=pieces, lines=lines)

    def _pieces(self, near: Mask, thick: Mask, ridges: Ridges) -> Mask:
        """The pieces in an area ``near`` those of the frame before, beside or at the thick parts."""
        thin = near & (ridges > self.threshold) & ~thick
        return _longer(thin | (thick & near), _PIECE_LENGTH * self.ratio) & thin

    def _lines(self, thick: Mask, ridges: Ridges, flow: npt.NDArray[np.float32]) -> tuple[StraightLine, ...]:
        # The motion of the object along columns and rows, in reduced pixels.
        shift = -np.median(flow[thick], axis=0).astype(np.float64) if thick.any() else np.zeros(2)
        heights = ridges.astype(np.float32)
        return advance_lines(self.lines, heights, shift * self.ratio, self.threshold, self.ratio)


def _thin(mask: Mask, ratio: float) -> Mask:
    """The long parts of a mask that are thinner than `_THIN`."""
    thick = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _disc(_THIN * ratio))
    return _longer(mask & ~_widened(thick > 0, 1.5 * ratio), _LENGTH * ratio)


def _ridges(luminance: Picture, ratio: float) -> Ridges:
    """How much each pixel is brighter or darker than its neighbourhood on both sides, in grey levels."""
    disc = _disc(_THIN * ratio)
    bright, dark = (cv2.morphologyEx(luminance, kind, disc) for kind in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT))
    return np.asarray(np.maximum(bright, dark), np.uint8)


def _search_area(pieces: Mask, flow: npt.NDArray[np.float32]) -> Mask:
    """The surroundings of where the flow moves thin parts of the frame before."""
    if not pieces.any():
        return pieces
    rows, columns = (np.arange(n, dtype=np.float32) for n in flow.shape[:2])
    small = cv2.resize(255 * pieces.view(np.uint8), (len(columns), len(rows)), interpolation=cv2.INTER_AREA)
    moved = cv2.remap(
        small, columns + flow[..., 0], rows[:, None] + flow[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT
    )
    near = _widened(moved > 255.0 * _MOVED_SHARE, _SEARCH)
    return _enlarged(near, pieces.shape)


def _enlarged(mask: Mask, shape: tuple[int, int]) -> Mask:
    """A mask at a larger size (H, W)."""
    large = cv2.resize(mask.view(np.uint8), shape[::-1], interpolation=cv2.INTER_NEAREST)
    return np.asarray(large, np.uint8).view(bool)


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
