"""Shapes that the user draws on a frame, as masks: brush strokes, lassos and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.edits import Mask
from scstream_app.objects.painting import segments_mask
from scstream_app.render.image_types import IdMap

#: A point of a frame: column and row, where whole numbers are the edges of pixels.
Point = tuple[float, float]
#: Rows and columns of a part of a frame.
Part = tuple[slice, slice]
#: Binary digits of the fractions of points that `cv2.fillPoly` gets.
_SHIFT = 4


class BrushStroke:
    """The pixels under a round brush that was moved over a frame, or the segments that it takes.

    Parameters
    ----------
    ids : array (H, W) int32
        Segments of the frame.
    snap : bool
        Whether the stroke takes whole segments: those of which it covers more than half, and those that the brush's
        centre touches.

    Attributes
    ----------
    pixels : array (H, W) uint8
        255 under the brush, else 0.
    snap : bool
        As given.

    Examples
    --------
    >>> stroke = BrushStroke(np.array([[0, 0, 0, 1, 1, 1]], np.int32), snap=True)
    >>> part = stroke.extend((1.5, 0.5), (3.2, 0.5), 1)
    >>> stroke.pixels.tolist(), stroke.segments
    ([[0, 255, 255, 255, 0, 0]], frozenset({0, 1}))
    """

    def __init__(self, ids: IdMap, snap: bool) -> None:
        self._ids, self.snap = ids, snap
        self.pixels: npt.NDArray[np.uint8] = np.zeros(ids.shape, np.uint8)
        # Pixels without a segment, of id -1, are counted at index 0.
        self._sizes = np.bincount((ids + 1).ravel()) if snap else np.zeros(0, np.int64)
        self._covered = np.zeros_like(self._sizes)
        self._touched: set[int] = set()

    def extend(self, start: Point, end: Point, size: float) -> Part:
        """Move the brush, of a diameter in pixels, from one point to another; returns the part of the frame it covers.

        A pixel is covered if its centre is; the pixel under the brush's centre always is.
        """
        part = self._around(start, end, 0.5 * size)
        columns = np.arange(part[1].start, part[1].stop) + 0.5
        rows = np.arange(part[0].start, part[0].stop) + 0.5
        covered = _distances(columns[None, :], rows[:, None], start, end) <= (0.5 * size) ** 2
        for column, row in _line(start, end):
            if 0 <= row < self.pixels.shape[0] and 0 <= column < self.pixels.shape[1]:
                covered[row - part[0].start, column - part[1].start] = True
                self._touched.add(int(self._ids[row, column]))
        new = covered & (self.pixels[part] == 0)
        if self.snap:
            self._covered += np.bincount(self._ids[part][new] + 1, minlength=len(self._covered))
        self.pixels[part][new] = 255
        return part

    def _around(self, start: Point, end: Point, radius: float) -> Part:
        height, width = self.pixels.shape
        reach = int(np.ceil(radius)) + 1
        columns, rows = (sorted((start[axis], end[axis])) for axis in (0, 1))
        left, right = (min(max(int(x) + d, 0), width) for x, d in zip(columns, (-reach, reach + 1), strict=True))
        top, bottom = (min(max(int(y) + d, 0), height) for y, d in zip(rows, (-reach, reach + 1), strict=True))
        return slice(top, bottom), slice(left, right)

    @property
    def segments(self) -> frozenset[int]:
        """Segments that the stroke takes, if it takes whole ones."""
        mostly = np.flatnonzero(2 * self._covered > self._sizes) - 1
        return frozenset(id for id in (*mostly.tolist(), *self._touched) if id >= 0)

    def mask(self) -> Mask:
        """Mask (H, W) of what the stroke takes."""
        return segments_mask(self._ids, self.segments) if self.snap else np.asarray(self.pixels > 0)


def _distances(
    columns: npt.NDArray[np.floating[Any]], rows: npt.NDArray[np.floating[Any]], start: Point, end: Point
) -> npt.NDArray[np.float64]:
    """Squared distances of points from a line between two points."""
    x, y = end[0] - start[0], end[1] - start[1]
    length = x * x + y * y
    along = ((columns - start[0]) * x + (rows - start[1]) * y) / length if length else 0.0
    along = np.clip(along, 0.0, 1.0)
    return np.asarray((columns - start[0] - along * x) ** 2 + (rows - start[1] - along * y) ** 2)


def _line(start: Point, end: Point) -> list[tuple[int, int]]:
    """Columns and rows of the pixels on a line."""
    count = int(max(abs(end[0] - start[0]), abs(end[1] - start[1]))) + 2
    columns = np.floor(np.linspace(start[0], end[0], count)).astype(int)
    rows = np.floor(np.linspace(start[1], end[1], count)).astype(int)
    return list(dict.fromkeys(zip(columns.tolist(), rows.tolist(), strict=True)))


def polygon_mask(points: Sequence[Point], shape: tuple[int, int]) -> Mask:
    """Mask (H, W) of the pixels inside a closed line.

    >>> polygon_mask([(1, 1), (3, 1), (3, 3), (1, 3)], (4, 4)).astype(int).tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    mask = np.zeros(shape, np.uint8)
    # Points are at edges of pixels, those of OpenCV at centres.
    corners = np.rint((np.array(points) - 0.5) * (1 << _SHIFT)).astype(np.int32)
    outer = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [corners], 255, shift=_SHIFT)
    # OpenCV also fills the pixels on the line; those whose centres are outside are removed.
    cv2.polylines(outer, [corners], True, 255, shift=_SHIFT)
    line = corners.astype(np.float32) / (1 << _SHIFT)
    for row, column in np.argwhere((outer > 0) & (mask > 0)).tolist():
        if cv2.pointPolygonTest(line, (float(column), float(row)), False) < 0:
            mask[row, column] = 0
    return np.asarray(mask > 0)


def box_between(start: Point, end: Point, shape: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Box (left, top, width, height) of whole pixels between two corners, inside the frame; None if it is empty.

    >>> box_between((5.4, 3.0), (1.6, -2.0), (4, 10))
    (2, 0, 3, 3)
    """
    (left, right), (top, bottom) = (
        sorted(min(max(round(point[axis]), 0), shape[1 - axis]) for point in (start, end)) for axis in (0, 1)
    )
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None
