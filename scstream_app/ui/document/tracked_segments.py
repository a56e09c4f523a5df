"""Segments of the frame shown for which an object's tracked mask differs from what the genealogy says."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from scstream_app.render import views
from scstream_app.ui.document.document import Document

#: A segment of which the mask covers less than this share can be added again.
_COVERED = 0.98


def lost_segments(document: Document, place: int, ids: Iterable[int]) -> frozenset[int]:
    """Return the segments that the mask of the object at ``place`` does not cover."""
    return frozenset(id for id, share in _shares(document, place, ids).items() if share < _COVERED)


def leaked_segments(document: Document, place: int, ids: Iterable[int]) -> frozenset[int]:
    """Return the segments that the mask of the object at ``place`` touches."""
    return frozenset(id for id, share in _shares(document, place, ids).items() if share > 0.0)


def segments_of_objects(document: Document) -> dict[str, frozenset[int]]:
    """Return the segments of the frame shown that each object has: those of which its mask covers at least half.

    Segments without statistics, those of a draft, do not count.
    """
    shown, masks = document.display.shown, document.display.masks()
    if shown is None or masks is None:
        return document.display.members()
    rows, kinds = shown.result.statistics, len(document.objects) + 1
    left, top, width, height = cv2.boundingRect(masks.numbers)
    part = slice(top, top + height), slice(left, left + width)
    # Pixels by segment and object; there is nothing of an object elsewhere.
    ids = np.maximum(shown.result.ids[part], 0)
    count = max(int(ids.max(initial=0)), int(rows["id"].max(initial=0))) + 1
    pairs = (ids * kinds + masks.numbers[part]).ravel()
    covered = np.bincount(pairs, minlength=count * kinds).reshape(count, kinds)[rows["id"]]
    most = (covered > 0) & (2 * covered >= rows["pixels"][:, None])
    return {
        object_.name: frozenset(rows["id"][most[:, place]].tolist())
        for place, object_ in enumerate(document.objects, 1)
    }


def share_of_object(document: Document, name: str, ids: Iterable[int]) -> float:
    """Return the share of an object on the frame shown that lies on these segments; 0 if there is nothing of it."""
    shown, masks = document.display.shown, document.display.masks()
    if shown is None or masks is None:
        return 0.0
    mask = masks.mask([object_.name for object_ in document.objects].index(name))
    on_segments = views.select(shown.result.ids, ids).view(bool) & mask
    return int(np.count_nonzero(on_segments)) / max(int(np.count_nonzero(mask)), 1)


def pixels_in_largest_piece(document: Document, name: str, ids: Iterable[int]) -> tuple[int, int]:
    """Return how many pixels of an object lie on these segments, and how many of them in its largest piece."""
    shown, masks = document.display.shown, document.display.masks()
    if shown is None or masks is None:
        return 0, 0
    mask = masks.mask([object_.name for object_ in document.objects].index(name))
    on_segments = views.select(shown.result.ids, ids).view(bool) & mask
    count, pieces, sizes, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=8)
    if count < 2:
        return 0, 0
    largest = 1 + int(np.argmax(sizes[1:, cv2.CC_STAT_AREA]))
    return int(np.count_nonzero(on_segments)), int(np.count_nonzero(on_segments & (pieces == largest)))


def _shares(document: Document, place: int, ids: Iterable[int]) -> dict[int, float]:
    """Return the share of each segment that the mask covers; empty if the frame shown has no tracked masks."""
    shown = document.display.shown
    if shown is None or shown.result.objects is None or shown.objects != document.objects:
        return {}
    mask = shown.result.objects.mask(place)
    shares = {}
    for id in ids:
        segment = shown.result.ids == id
        if segment.any():
            shares[id] = float(np.count_nonzero(segment & mask) / np.count_nonzero(segment))
    return shares
