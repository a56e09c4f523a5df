"""Straight lines of an object, such as ropes, poles and the lines of a kite.

A line is found again as a whole: by the mean height of the ridge along it, which stands out where single pixels of the
line do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

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
        along = self.ends[1] - self.ends[0]
        length = float(np.hypot(*along))
        # Pixels near the line: those of a few rows in each of its columns, or the other way round if it is steep.
        steep = int(abs(along[1]) > abs(along[0]))
        slope = along[1 - steep] / along[steep] if along[steep] else 0.0
        first, last = np.sort(self.ends[:, steep])
        main = np.arange(max(int(first - self.width) - 1, 0), min(int(last + self.width) + 2, shape[1 - steep]))
        middle = np.round(self.ends[0, 1 - steep] + slope * (main - self.ends[0, steep])).astype(np.intp)
        reach = int(self.width) + 2
        other = (middle[:, None] + np.arange(-reach, reach + 1)).ravel()
        main = main.repeat(2 * reach + 1)
        rows, columns = (main, other) if steep else (other, main)
        east, south = columns - self.ends[0, 0], rows - self.ends[0, 1]
        across = _across(self.ends)
        ahead = east * across[1] - south * across[0]
        inside = np.abs(east * across[0] + south * across[1]) <= 0.5 * self.width
        inside &= (ahead >= -0.5) & (ahead <= length + 0.5) & (other >= 0) & (other < shape[steep])
        return rows[inside], columns[inside]


def advance_lines(
    lines: Sequence[StraightLine], ridges: Ridges, shift: Points, threshold: float, ratio: float
) -> tuple[StraightLine, ...]:
    """Find lines again in the next frame, without those that are gone.

    Parameters
    ----------
    lines : sequence of StraightLine
    ridges : array (H, W)
        Height of ridges in the next frame, in grey levels.
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
    across = _across(expected)
    every, offsets, grounds = np.arange(len(lines)), np.zeros((len(lines), 2)), []
    # First in large steps, then in single pixels.
    for step, span in ((reach / 4.0, reach), (1.0, reach / 4.0)):
        tried = offsets[:, None] + _grid(step, span)
        heights, visible = _heights(ridges, _moved_across(expected[:, None], tried, across[:, None]), threshold)
        price = _PRICE * _HIGHEST * threshold * np.hypot(tried[..., 0], tried[..., 1]) / reach
        best = (heights * visible - price).argmax(axis=1)
        offsets = tried[every, best]
        grounds.append(np.median(heights, axis=1))
    # Most lines that were tried lie beside the ridge: texture alone must not be taken for it.
    found = heights[every, best] - grounds[0] >= _FOUND_SHARE * np.maximum(threshold - grounds[0], 1.0)
    ends = np.where(found[:, None, None], _moved_across(expected, offsets, across), expected)
    kept = []
    for place in np.flatnonzero(visible[every, best] >= _VISIBLE).tolist():
        missed = 0 if found[place] else lines[place].missed + 1
        stretched = _stretched(ends[place], _at_edge(lines[place].ends, ridges.shape), ridges.shape)
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
    """Lines (..., 2, 2) whose ends are moved across them by ``offsets`` (..., 2)."""
    return np.asarray(ends + offsets[..., None] * across[..., None, :], np.float64)


def _grid(step: float, span: float) -> Points:
    """Offsets (n, 2) of both ends across a line, up to ``span`` on either side."""
    axis = np.arange(-round(span / step), round(span / step) + 1) * step
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def _heights(ridges: Ridges, ends: Points, threshold: float) -> tuple[Points, Points]:
    """Mean height of the ridge along lines (n, m, 2, 2), and the share of each line that is in the frame."""
    share = np.linspace(0.0, 1.0, _PLACES)
    first, last = ends[..., 0, :, None], ends[..., 1, :, None]
    places = (first + (last - first) * share).astype(np.float32)
    columns, rows = places[..., 0, :], places[..., 1, :]
    inside = (columns >= 0) & (columns <= ridges.shape[1] - 1) & (rows >= 0) & (rows <= ridges.shape[0] - 1)
    values = cv2.remap(ridges, columns.reshape(-1, _PLACES), rows.reshape(-1, _PLACES), cv2.INTER_LINEAR)
    counted = np.where(inside, np.minimum(values.reshape(inside.shape), _HIGHEST * threshold), 0.0)
    count = inside.sum(axis=-1)
    return counted.sum(axis=-1) / np.maximum(count, 1), count / _PLACES


def _at_edge(ends: Points, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Which ends are at the edge of the frame, with the line leading out of it."""
    across, largest = _across(ends), np.array([shape[1], shape[0]]) - 1.0
    along = _EDGE * np.array([across[1], -across[0]])
    beyond = ends + np.array([-along, along])
    # A line along the edge does not lead out of the frame.
    return np.asarray(((beyond < -1.0) | (beyond > largest + 1.0)).any(axis=1))


def _stretched(ends: Points, at_edge: npt.NDArray[np.bool_], shape: tuple[int, ...]) -> Points | None:
    """Extend the ends that were at the frame's edge to the edge again; None if the line is outside the frame."""
    along = ends[1] - ends[0]
    # Far enough to leave the frame on any side.
    far = along * (sum(shape) / max(float(np.hypot(*along)), 1.0))
    long = np.where(at_edge[:, None], ends + np.array([-far, far]), ends)
    visible, first, last = cv2.clipLine((0, 0, shape[1], shape[0]), *np.round(long).astype(int).tolist())
    clipped = np.array([first, last], np.float64)
    return np.where(at_edge[:, None], clipped, ends) if visible else None
