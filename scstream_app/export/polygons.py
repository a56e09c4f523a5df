"""Outlines of masks as polygons, for the formats of YOLO and LabelMe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from scstream_app.render.image_types import IdMap

#: Points (n, 2) as column and row of pixels.
Points = npt.NDArray[np.int32]
#: Parts with fewer points are compared with all others directly, which is faster than to build a tree.
_FEW = 32


@dataclass(frozen=True, slots=True)
class Part:
    """A connected part of a track: its outline and those of its holes.

    An outline goes through the centres of the outermost pixels of the part, also around holes. It has one point for a
    single pixel and two for a straight line. ``track`` is the mask of the whole track in its bounding box, whose first
    column and row are ``corner``.
    """

    outline: Points
    holes: tuple[Points, ...]
    track: npt.NDArray[np.bool_]
    corner: tuple[int, int]

    def cut_out(self) -> tuple[int, int, npt.NDArray[np.bool_]]:
        """The mask of the part with its holes, in its bounding box, after the box's first column and row."""
        contour = self.outline - np.array(self.corner, np.int32)
        x, y, width, height = cv2.boundingRect(contour)
        # The box may hold other parts, even within a hole of this one.
        _, pieces = cv2.connectedComponents(self.track[y : y + height, x : x + width].astype(np.uint8), connectivity=8)
        column, row = contour[0]
        return self.corner[0] + x, self.corner[1] + y, np.asarray(pieces == pieces[row - y, column - x])


def track_parts(tracks: IdMap) -> Iterator[tuple[int, list[Part]]]:
    """Yield every track of a frame (H, W) with its parts, which are connected also over corners."""
    for track, box in enumerate(ndimage.find_objects(tracks + 1)):
        if box is not None:
            yield track, _parts(tracks[box] == track, (box[1].start, box[0].start))


def _parts(mask: npt.NDArray[np.bool_], corner: tuple[int, int]) -> list[Part]:
    contours, hierarchy = cv2.findContours(mask.view(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    holes: dict[int, list[Points]] = {place: [] for place in range(len(contours))}
    outlines = [np.asarray(contour, np.int32).reshape(-1, 2) + np.array(corner, np.int32) for contour in contours]
    # The last column is the contour around a hole; -1 for the outlines of parts.
    around = hierarchy[0, :, 3].tolist() if outlines else []
    for outline, outer in zip(outlines, around, strict=True):
        if outer >= 0:
            holes[outer].append(outline)
    return [
        Part(outline, tuple(holes[place]), mask, corner)
        for place, (outline, outer) in enumerate(zip(outlines, around, strict=True))
        if outer < 0
    ]


def join(outlines: Sequence[Points]) -> Points:
    """Join outlines to one polygon, by bridges of no width between the closest points of neighbours.

    Outlines of holes can be joined too: drawn by the even-odd rule or by winding numbers, the hole stays empty. The
    bridges are those of a minimum spanning tree: the next outline is always the one closest to what is joined already.
    The polygon goes over a bridge, around the outline, and back over the same bridge.
    """
    order = sorted(range(len(outlines)), key=lambda place: -len(outlines[place]))
    joined = outlines[order[0]]
    rest = order[1:]
    if not rest:
        return joined
    points = np.concatenate([outlines[place] for place in rest])
    owner = np.repeat(np.arange(len(rest)), [len(outlines[place]) for place in rest])
    distance = np.full(len(points), np.inf)
    anchor = np.zeros((len(points), 2), np.int32)
    newest = joined
    while len(points):
        near, place = _nearest(newest, points)
        closer = near < distance
        distance[closer], anchor[closer] = near[closer], newest[place[closer]]
        chosen = int(distance.argmin())
        mine = owner == owner[chosen]
        newest = points[mine]
        joined = _inserted(joined, anchor[chosen], np.roll(newest, -int(np.flatnonzero(mine).searchsorted(chosen)), 0))
        points, owner, distance, anchor = points[~mine], owner[~mine], distance[~mine], anchor[~mine]
    return joined


def _nearest(targets: Points, points: Points) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """For each of the points, the distance to the closest target and its place."""
    if len(targets) > _FEW:
        distance, place = KDTree(targets).query(points)
        return np.asarray(distance), np.asarray(place)
    table = cdist(targets, points)
    place = table.argmin(axis=0)
    return table[place, np.arange(len(points))], place


def _inserted(polygon: Points, anchor: npt.NDArray[np.int32], part: Points) -> Points:
    """The polygon with a bridge from the anchor, one of its points, to the first point of the part, and back."""
    place = int(np.flatnonzero((polygon == anchor).all(axis=1))[0])
    # Back at the anchor, the polygon goes on with the point after it.
    return np.concatenate([polygon[: place + 1], part, part[:1], polygon[place:]])
