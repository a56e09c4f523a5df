"""Masks as compressed COCO run lengths, for the formats of COCO and MOTS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pycocotools import mask as coco_mask  # type: ignore[import-untyped]

from scstream_app.render.image_types import IdMap

#: pycocotools counts the masks of one call in eight bits.
_CHUNK = 200


class Shape(NamedTuple):
    """The mask of one track: area in pixels, bounding box (left, top, width, height), compressed run lengths."""

    track: int
    area: int
    left: float
    top: float
    width: float
    height: float
    counts: bytes

    @property
    def box(self) -> list[float]:
        """The bounding box as COCO writes it."""
        return [self.left, self.top, self.width, self.height]


def track_shapes(tracks: IdMap) -> list[Shape]:
    """The shape of every track in a frame (H, W), computed from one pass over the runs of equal values."""
    height, width = tracks.shape
    # COCO runs go down the columns and continue from the bottom of one column at the top of the next.
    flat = tracks.ravel(order="F")
    begin = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
    end = np.append(begin[1:], flat.size)
    order = np.argsort(flat[begin], kind="stable")
    begin, end, owner = begin[order], end[order], flat[begin[order]]
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    pieces = [
        (int(owner[a]), {"size": [height, width], "counts": _counts(begin[a:b], end[a:b], flat.size)})
        for a, b in zip(starts, np.append(starts[1:], len(owner)), strict=True)
        if owner[a] >= 0
    ]
    encoded = coco_mask.frPyObjects([piece for _, piece in pieces], height, width) if pieces else []
    return _measured([track for track, _ in pieces], encoded)


def _counts(begin: npt.NDArray[np.intp], end: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.uint32]:
    """Alternating lengths of runs outside and inside the mask; the first, outside, may be 0."""
    edges = np.empty(2 * len(begin) + 1, np.intp)
    edges[0], edges[1::2], edges[2::2] = 0, begin, end
    return np.diff(edges if end[-1] == size else np.append(edges, size)).astype(np.uint32)


def _measured(tracks: list[int], encoded: list[dict[str, Any]]) -> list[Shape]:
    shapes: list[Shape] = []
    for start in range(0, len(tracks), _CHUNK):
        some = encoded[start : start + _CHUNK]
        areas, boxes = coco_mask.area(some).tolist(), coco_mask.toBbox(some).tolist()
        rows = zip(tracks[start : start + _CHUNK], areas, boxes, some, strict=True)
        shapes += [Shape(track, area, x, y, w, h, rle["counts"]) for track, area, (x, y, w, h), rle in rows]
    return shapes
