"""Straight lines of an object, such as ropes, poles and the lines of a kite.

A line is found again as a whole: by the mean height of the ridge along it, which stands out where single pixels of the
line do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.working_frame import Region

#: Lengths in reduced pixels: of the shortest line, of gaps within one, and of how far its ends may move across it in a
#: frame, beside the motion of the object.
_LENGTH, _GAP, _REACH = 45.0, 3.0, 5.0
#: Number of places along a line at which ridges are looked at.
_PLACES = 64
#: Largest number of lines, and the smallest number of pixels of the mask near a line, per pixel of its length.
_MOST_LINES = 12
_FILLED = 0.5
#: Width in reduced pixels within which pixels belong to a line when it is marked.
_WIDTH = 3.5
#: A line is found if its ridge rises above its surroundings by this share of what single pixels must.
_FOUND_SHARE = 0.35
#: Ridges count up to this multiple of that height; this share of it is the price of moving the ends as far as they may.
_HIGHEST, _PRICE = 2.0, 0.03
#: Number of frames for which a line that is not found moves along with the object; then it is gone.
_PATIENCE = 2
#: An end whose line leaves the frame within this distance, in full pixels, stays at the frame's edge.
_EDGE = 6.0
#: Share of a line that must be in the frame.
_VISIBLE = 0.3

Mask = npt.NDArray[np.bool_]
Ridges = npt.NDArray[np.float32]
Points = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StraightLine:
    """A line in one frame.

    Parameters
    ----------
    ends : array (2, 2)
        Column and row of both ends, in full pixels.
    width : float
        In full pixels.
    missed : int
        Number of frames since it was last found.
    """

    ends: Points
    width: float
    missed: int = 0

    def pixels(self, shape: tuple[int, int]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows and columns of its pixels in a frame of this shape."""
        begin, end = self.ends.tolist()
        along = end[0] - begin[0], end[1] - begin[1]
        length = math.hypot(*along)
        # Pixels near the line: those of a few rows in each of its columns, or the other way round if it is steep.
        # Across its columns, a line is wider than across itself: at most by the square root of two.
        steep = int(abs(along[1]) > abs(along[0]))
        slope = along[1 - steep] / along[steep] if along[steep] else 0.0
        first, last = sorted((begin[steep], end[steep]))
        main = np.arange(max(int(first - self.width) - 1, 0), min(int(last + self.width) + 2, shape[1 - steep]))[
            :, None
        ]
        middle = np.round(begin[1 - steep] + slope * (main - begin[steep])).astype(np.intp)
        reach = math.ceil(math.sqrt(0.5) * self.width + 0.5)
        other = middle + np.arange(-reach, reach + 1)
        rows, columns = (main, other) if steep else (other, main)
        east, south = columns - begin[0], rows - begin[1]
        across = -along[1] / max(length, 1.0), along[0] / max(length, 1.0)
        ahead = east * across[1] - south * across[0]
        inside = np.abs(east * across[0] + south * across[1]) <= 0.5 * self.width
        inside &= (ahead >= -0.5) & (ahead <= length + 0.5) & (other >= 0) & (other < shape[steep])
        chosen, other = np.nonzero(inside)[0], other[inside]
        return (main[chosen, 0], other) if steep else (other, main[chosen, 0])


def advance_lines(
    lines: Sequence[StraightLine],
    ridges: Callable[[Region], npt.NDArray[np.floating] | npt.NDArray[np.uint8]],
    shape: tuple[int, ...],
    shift: Points,
    threshold: float,
    ratio: float,
) -> tuple[StraightLine, ...]:
    """Find lines again in the next frame, without those that are gone.

    Parameters
    ----------
    lines : sequence of StraightLine
    ridges : callable
        Returns the height of ridges in a region of the next frame, in grey levels.
    shape : tuple of int
        Height and width of the frame.
    shift : array (2,)
        Motion of the object along columns and rows, in full pixels.
    threshold : float
        Height from which single pixels count as parts of the object.
    ratio : float
        Full pixels per reduced pixel.
    """
    if not lines:
        return ()
    expected, reach = np.stack([line.ends for line in lines]) + shift, _REACH * ratio
    # Offsets grow up to the reach and then once more by a quarter of it.
    region = _box(expected, 1.25 * reach + 2.0, shape)
    picture = _RidgePicture(ridges(region).astype(np.float32), region, shape)
    if not picture.heights.size:
        return ()
    across = _across(expected)
    # First in large steps, then in single pixels.
    coarse = _sought(picture, expected, across, np.zeros((len(lines), 2)), (reach / 4.0, reach), threshold, reach)
    fine = _sought(picture, expected, across, coarse.offsets, (1.0, reach / 4.0), threshold, reach)
    # Most lines that were tried lie beside the ridge: texture alone must not be taken for it.
    found = fine.heights - coarse.ground >= _FOUND_SHARE * np.maximum(threshold - coarse.ground, 1.0)
    ends = np.where(found[:, None, None], _moved_across(expected, fine.offsets, across), expected)
    kept = []
    for place in np.flatnonzero(fine.visible >= _VISIBLE).tolist():
        missed = 0 if found[place] else lines[place].missed + 1
        stretched = _stretched(ends[place], _at_edge(lines[place].ends, shape), shape)
        if missed <= _PATIENCE and stretched is not None:
            kept.append(StraightLine(stretched, lines[place].width, missed))
    return tuple(kept)


def find_lines(mask: Mask, ratio: float) -> tuple[StraightLine, ...]:
    """The straight lines of a mask, the longest first; ``ratio`` is the number of full pixels per reduced pixel.

    Examples
    --------
    >>> mask = np.zeros((120, 240), bool)
    >>> mask[40:43, 20:220] = True
    >>> line, = find_lines(mask, 2.0)
    >>> round(line.width), line.ends.round().tolist()
    (3, [[20.0, 41.0], [219.0, 41.0]])
    """
    left, lines = mask.astype(np.uint8), []
    shortest = _LENGTH * ratio
    for _ in range(_MOST_LINES):
        candidates = cv2.HoughLinesP(
            left, 1.0, np.pi / 360.0, int(0.6 * shortest), minLineLength=shortest, maxLineGap=_GAP * ratio
        )
        if candidates is None:
            break
        ends = candidates.reshape(-1, 2, 2)
        lengths = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
        longest = ends[lengths.argmax()]
        near = np.zeros_like(left)
        cv2.line(near, longest[0].tolist(), longest[1].tolist(), 1, max(int(_WIDTH * ratio), 3))
        rows, columns = np.nonzero(near & left)
        left[near > 0] = 0
        if len(rows) >= _FILLED * lengths.max():
            lines.append(_fitted(np.column_stack([columns, rows])))
    return tuple(lines)


def lines_mask(lines: Iterable[StraightLine], shape: tuple[int, int]) -> Mask:
    """The pixels of all lines in a frame of this shape."""
    mask = np.zeros(shape, bool)
    for line in lines:
        mask[line.pixels(shape)] = True
    return mask


def _fitted(points: npt.NDArray[np.intp]) -> StraightLine:
    """The line through pixels, given by column and row."""
    fit = cv2.fitLine(points.astype(np.float32), cv2.DIST_HUBER, 0.0, 0.01, 0.01).ravel().astype(np.float64)
    along, centre = fit[:2], fit[2:]
    places = (points - centre) @ along
    ends = centre + np.outer([places.min(), places.max()], along)
    return StraightLine(ends, max(len(points) / (places.max() - places.min() + 1.0), 1.0))


def _across(ends: Points) -> Points:
    """Unit vectors (..., 2) across lines (..., 2, 2)."""
    along = ends[..., 1, :] - ends[..., 0, :]
    length = np.maximum(np.hypot(along[..., 0], along[..., 1]), 1.0)
    return np.stack([-along[..., 1], along[..., 0]], axis=-1) / length[..., None]


def _moved_across(ends: Points, offsets: Points, across: Points) -> Points:
    """Lines (n, 2, 2) whose ends are moved by ``offsets`` (n, 2) along the unit vectors ``across`` (n, 2)."""
    return np.asarray(ends + offsets[..., None] * across[:, None], np.float64)


@lru_cache(4)
def _grid(step: float, span: float) -> Points:
    """Offsets (n, 2) of both ends across a line, up to ``span`` on either side. Cached: callers must not change it."""
    axis = np.arange(-round(span / step), round(span / step) + 1) * step
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def _box(ends: Points, margin: float, shape: tuple[int, ...]) -> Region:
    """The part of the frame that holds lines (n, 2, 2) and a margin around them; empty if they are outside."""
    least, most = (ends.min(axis=(0, 1)) - margin).tolist(), (ends.max(axis=(0, 1)) + margin).tolist()
    columns, rows = (
        slice(min(max(int(first), 0), length), max(min(int(last) + 2, length), 0))
        for first, last, length in zip(least, most, (shape[1], shape[0]), strict=True)
    )
    return rows, columns


@dataclass(frozen=True, slots=True)
class _RidgePicture:
    """Ridges in the part of a frame in which lines are sought.

    Parameters
    ----------
    heights : array
        Height of the ridges in the region.
    region : two slices
    shape : tuple of int
        Height and width of the frame.
    """

    heights: Ridges
    region: Region
    shape: tuple[int, ...]

    def along(self, ends: Points, across: Points, offsets: Points, highest: float) -> tuple[Points, Points]:
        """Mean height (n, m) of the ridge along lines, and the share of each line that is in the frame.

        Parameters
        ----------
        ends : array (n, 2, 2)
        across : array (n, 2)
            Unit vectors across the lines.
        offsets : array (m, 2)
            How far the ends of each line are moved across it.
        highest : float
            Largest height that counts.
        """
        share = np.linspace(0.0, 1.0, _PLACES)
        steps = (offsets[:, :1] + (offsets[:, 1:] - offsets[:, :1]) * share).astype(np.float32)
        first, along, across = ends[:, 0], ends[:, 1] - ends[:, 0], across.astype(np.float32)
        inside, places = np.ones((len(ends), len(offsets), _PLACES), bool), []
        for axis in (0, 1):
            begin, length = self.region[1 - axis].start, self.shape[1 - axis]
            middle = ((first[:, axis] - begin)[:, None] + along[:, axis, None] * share).astype(np.float32)
            place = middle[:, None] + across[:, axis, None, None] * steps
            inside &= (place >= -begin) & (place <= length - 1 - begin)
            places.append(place.reshape(-1, _PLACES))
        values = np.asarray(cv2.remap(self.heights, places[0], places[1], cv2.INTER_LINEAR), np.float32)
        counted = np.minimum(values, highest, out=values).reshape(inside.shape)
        counted *= inside
        count = np.count_nonzero(inside, axis=-1)
        return counted.sum(axis=-1, dtype=np.float64) / np.maximum(count, 1), count / _PLACES


class _Sought(NamedTuple):
    """Where lines fit best: offsets (n, 2) of their ends across them, and how well they fit there (n,).

    ``ground`` is the median height of all places that were tried, and ``visible`` the share of a line in the frame.
    """

    offsets: Points
    heights: Points
    visible: Points
    ground: Points


def _sought(
    picture: _RidgePicture,
    ends: Points,
    across: Points,
    offsets: Points,
    steps: tuple[float, float],
    threshold: float,
    reach: float,
) -> _Sought:
    """Move lines by ``offsets`` (n, 2) and seek each around there, in steps of a length and up to a distance."""
    grid, every = _grid(*steps), np.arange(len(ends))
    heights, visible = picture.along(_moved_across(ends, offsets, across), across, grid, _HIGHEST * threshold)
    tried = offsets[:, None] + grid
    price = _PRICE * _HIGHEST * threshold * np.hypot(tried[..., 0], tried[..., 1]) / reach
    best = (heights * visible - price).argmax(axis=1)
    return _Sought(tried[every, best], heights[every, best], visible[every, best], np.median(heights, axis=1))


def _at_edge(ends: Points, shape: tuple[int, ...]) -> tuple[bool, bool]:
    """Which ends are at the edge of the frame, with the line leading out of it."""
    (x0, y0), (x1, y1) = ends.tolist()
    scale = _EDGE / max(math.hypot(x1 - x0, y1 - y0), 1.0)
    along, down = scale * (x1 - x0), scale * (y1 - y0)

    def outside(column: float, row: float) -> bool:
        # A line along the edge does not lead out of the frame.
        return not (-1.0 <= column <= shape[1] and -1.0 <= row <= shape[0])

    return outside(x0 - along, y0 - down), outside(x1 + along, y1 + down)


def _stretched(ends: Points, at_edge: tuple[bool, bool], shape: tuple[int, ...]) -> Points | None:
    """Extend the ends that were at the frame's edge to the edge again; None if the line is outside the frame."""
    (x0, y0), (x1, y1) = ends.tolist()
    # Far enough to leave the frame on any side.
    scale = sum(shape) / max(math.hypot(x1 - x0, y1 - y0), 1.0)
    before, after = scale * at_edge[0], scale * at_edge[1]
    first = round(x0 - before * (x1 - x0)), round(y0 - before * (y1 - y0))
    last = round(x1 + after * (x1 - x0)), round(y1 + after * (y1 - y0))
    visible, *clipped = cv2.clipLine((0, 0, shape[1], shape[0]), first, last)
    return np.where(np.array(at_edge)[:, None], np.array(clipped, np.float64), ends) if visible else None
