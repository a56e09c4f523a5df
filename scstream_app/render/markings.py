"""Objects and selected segments over a picture: their tints, and the outlines of areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture
from scstream_app.render.palette import RGB
from scstream_app.render.views import Mask, paint

#: Opacity of the tint of objects and of selected segments.
OBJECT_TINT, SELECTION_TINT = 0.3, 0.3
#: Colour of the tint of selected segments.
SELECTION_COLOUR: RGB = (64, 156, 255)
_FAINT_SELECTION = np.array((*SELECTION_COLOUR, round(255 * SELECTION_TINT)), np.uint8)
#: Tinted level of every level (1, 256, 4), by channel, the opacity included.
_SELECTION_TABLE = np.rint(
    (1.0 - SELECTION_TINT) * np.arange(256)[None, :, None] + SELECTION_TINT * np.array((*SELECTION_COLOUR, 255))
).astype(np.uint8)
#: Factor by which a mask is enlarged before its outline is traced, so that the line is near the edges of the pixels.
_FINER = 2

#: Closed lines: points (n, 2) as column and row, and whether each is joined to the next (n,).
Lines = tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]
_Box = tuple[slice, slice]


def tint_objects(picture: Picture, numbers: npt.NDArray[np.uint8], colours: Sequence[RGB]) -> Picture:
    """Tint the objects in their colours.

    Parameters
    ----------
    picture : array (H, W, 3)
        Several copies of a frame side by side or on top of each other are all tinted.
    numbers : array (H, W) uint8
        1 on the first object, 2 on the second, ..., 0 elsewhere.
    colours : sequence of RGB
        Colours of the objects.

    Returns
    -------
    array of the picture's shape, or the picture itself if there are no objects.
    """
    box = _bounds(numbers)
    if box is None:
        return picture
    inside = numbers[box]
    colour = paint(inside, np.array([(0, 0, 0), *colours], np.uint8))
    tinted = picture.copy()
    for tile in _tiles(tinted, numbers.shape):
        part = tile[box]
        cv2.copyTo(cv2.addWeighted(part, 1.0 - OBJECT_TINT, colour, OBJECT_TINT, 0.0), inside, part)
    return tinted


def object_outlines(numbers: npt.NDArray[np.uint8], colours: Sequence[RGB]) -> tuple[tuple[RGB, Lines], ...]:
    """Find the outlines of the objects, each with its colour; parameters as in `tint_objects`.

    The lines are the edges of pixels, each from one corner of the object to the next.

    >>> ((colour, lines),) = object_outlines(np.array([[0, 1, 1]], np.uint8), [(9, 9, 9)])
    >>> colour, lines[0].astype(int).tolist(), lines[1].tolist()
    ((9, 9, 9), [[1, 0], [1, 1], [3, 0], [3, 1], [1, 0], [3, 0], [1, 1], [3, 1]], [1, 0, 1, 0, 1, 0, 1, 0])
    """
    box = _bounds(numbers)
    if box is None:
        return ()
    masks = ((numbers[box] == number).view(np.int8) for number in range(1, len(colours) + 1))
    corner = (box[1].start, box[0].start)
    return tuple(
        (colour, (points + corner, np.tile(np.array([1, 0], np.int32), len(points) // 2)))
        for colour, points in zip(colours, map(_pixel_edges, masks), strict=True)
        if len(points)
    )


def _pixel_edges(mask: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Ends (2 n, 2) of the edges of a mask (H, W) of zeros and ones, as column and row: vertical ones first."""
    columns, rows = _vertical_edges(mask), _vertical_edges(mask.T)[:, ::-1]
    return np.concatenate([columns, rows]).astype(np.float64)


def _vertical_edges(mask: npt.NDArray[np.int8]) -> npt.NDArray[np.intp]:
    """Ends (2 n, 2) of the vertical edges of a mask, as column and row, the upper end of each first."""
    # On either side of an edge the mask differs, with a sign that changes where another edge begins.
    sides = np.diff(np.pad(mask.T, ((1, 1), (1, 1))), axis=0)
    steps = np.diff(sides, axis=1)
    begins = np.argwhere((steps != 0) & (sides[:, 1:] != 0))
    ends = np.argwhere((steps != 0) & (sides[:, :-1] != 0))
    return np.stack([begins, ends], axis=1).reshape(-1, 2)


def mark_selection(picture: Picture, mask: Mask) -> Picture:
    """Tint the selected segments, the mask (H, W), in a picture (H, W, 3) or (H, W, 4), or in several copies of it.

    Transparent pixels become as opaque as the tint.
    """
    box = _bounds(mask)
    if box is None:
        return picture
    marked = picture.copy()
    for tile in _tiles(marked, mask.shape):
        part = tile[box]
        tinted = cv2.LUT(part, _SELECTION_TABLE[:, :, : part.shape[2]])
        if part.shape[2] == 4:
            # A transparent pixel has no colour of its own to mix with.
            transparent = (part[..., 3] == 0).view(np.uint8)
            cv2.copyTo(np.full_like(part, _FAINT_SELECTION), transparent, tinted)
        cv2.copyTo(tinted, mask[box], part)
    return marked


def outline(mask: Mask) -> Lines | None:
    """Trace the outlines of a mask (H, W), holes included, in picture coordinates; None if the mask is empty.

    >>> points, joined = outline(np.array([[0, 255, 255, 0]], np.uint8))
    >>> points.min(axis=0).tolist(), points.max(axis=0).tolist(), joined.tolist()
    ([1.25, 0.25], [2.75, 0.75], [1, 1, 1, 1, 0])
    """
    box = _bounds(mask)
    if box is None:
        return None
    fine = cv2.resize(mask[box], None, fx=_FINER, fy=_FINER, interpolation=cv2.INTER_NEAREST)
    found, _ = cv2.findContours(fine, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    closed = [np.concatenate([contour[:, 0], contour[:1, 0]]) for contour in found]
    points = (np.concatenate(closed) + 0.5) / _FINER + (box[1].start, box[0].start)
    joined = np.ones(len(points), np.int32)
    joined[np.cumsum([len(contour) for contour in closed]) - 1] = 0
    return points, joined


def _bounds(mask: npt.NDArray[np.uint8]) -> _Box | None:
    """The part of a mask that is not empty; None if all is."""
    left, top, width, height = cv2.boundingRect(mask)
    if not width:
        return None
    return slice(top, top + height), slice(left, left + width)


def _tiles(picture: Picture, size: tuple[int, ...]) -> Iterator[Picture]:
    """Yield views of the copies of a frame of this height and width in a picture."""
    height, width = size
    for top in range(0, picture.shape[0] - height + 1, height):
        for left in range(0, picture.shape[1] - width + 1, width):
            yield picture[top : top + height, left : left + width]
