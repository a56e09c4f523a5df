"""Painted edits as the user makes them: strokes that change the mask of an object on a frame.

All strokes on one frame are one painted edit, which replaces the other edits of that object on the frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import numpy as np

from scstream import metrics
from scstream_app.objects.edits import Mask, ObjectEdit, mask_to_png
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.render import palette
from scstream_app.render.image_types import IdMap
from scstream_app.render.views import select

#: What a stroke does to the mask of its object.
Change = Literal["add", "remove", "replace"]


def changed_mask(before: Mask, stroke: Mask, change: Change) -> Mask:
    """The mask of an object after a stroke.

    >>> before, stroke = np.array([True, True, False]), np.array([False, True, True])
    >>> [changed_mask(before, stroke, change).astype(int).tolist() for change in ("add", "remove", "replace")]
    [[1, 1, 1], [1, 0, 0], [0, 1, 1]]
    """
    match change:
        case "add":
            return before | stroke
        case "remove":
            return before & ~stroke
        case "replace":
            return stroke


def with_painted(
    objects: Sequence[MarkedObject], place: int, mask: Mask, frame: int, ids: IdMap, shown: ObjectMasks
) -> tuple[MarkedObject, ...]:
    """The objects after the one at ``place`` was painted on a frame.

    The object is this mask on the frame and is tracked from there, up to the next edit that replaces it. On a frame
    before its first one, the object begins there, and later frames stay as they are. Other objects lose the pixels.

    Parameters
    ----------
    objects : sequence of MarkedObject
    place : int
        Place of the painted object.
    mask : array (H, W) bool
    frame : int
    ids : array (H, W) int32
        Segments of the frame.
    shown : ObjectMasks
        Masks of the objects on the frame, before the change.
    """
    changed = _without_pixels(objects, place, mask, frame, ids, shown)
    return *changed[:place], _repainted(objects[place], mask, frame, ids), *changed[place + 1 :]


def with_new_painted(
    objects: Sequence[MarkedObject], name: str, mask: Mask, frame: int, ids: IdMap, shown: ObjectMasks
) -> tuple[MarkedObject, ...]:
    """The objects and a new one, painted on a frame, in the next colour."""
    new = MarkedObject(name, palette.colour(len(objects)), (_edit(mask, frame, ids, None),))
    return *_without_pixels(objects, len(objects), mask, frame, ids, shown), new


def masks_after(shown: ObjectMasks, place: int, mask: Mask) -> ObjectMasks:
    """The masks of a frame after the object at ``place``, or a new one behind the last, was painted there."""
    numbers = np.where(shown.numbers == place + 1, np.uint8(0), shown.numbers)
    numbers[mask] = place + 1
    return ObjectMasks(numbers, (*shown.confidences[:place], 1.0, *shown.confidences[place + 1 :]))


def free_names(objects: Iterable[MarkedObject], count: int = 1, stem: str = "object") -> list[str]:
    """The first names "object N" that are free, whatever the case of the letters.

    >>> free_names([MarkedObject.made("Object 2", (0, 0, 0), 0, {3})], 2)
    ['object 1', 'object 3']
    """
    taken = {object_.name.casefold() for object_ in objects}
    names: list[str] = []
    number = 1
    while len(names) < count:
        name = f"{stem} {number}"
        names += [] if name.casefold() in taken else [name]
        number += 1
    return names


def segments_mask(ids: IdMap, chosen: Collection[int]) -> Mask:
    """Mask (H, W) of whole segments."""
    return np.asarray(select(ids, chosen) > 0)


def snapped(ids: IdMap, mask: Mask) -> Mask:
    """Mask (H, W) of the segments that lie mostly inside a mask."""
    return segments_mask(ids, metrics.ids_inside(ids, mask))


def _edit(mask: Mask, frame: int, ids: IdMap, stop: int | None) -> ObjectEdit:
    return ObjectEdit("painted", frame, metrics.ids_inside(ids, mask), mask_to_png(mask), stop)


def _repainted(object_: MarkedObject, mask: Mask, frame: int, ids: IdMap) -> MarkedObject:
    """The object with a painted edit in place of its edits of a frame."""
    others = [edit for edit in object_.edits if edit.frame != frame]
    later = (edit.frame for edit in others if edit.frame > frame and edit.replaces)
    return object_.with_edits([*others, _edit(mask, frame, ids, next(later, None))])


def _without_pixels(
    objects: Sequence[MarkedObject], place: int, mask: Mask, frame: int, ids: IdMap, shown: ObjectMasks
) -> tuple[MarkedObject, ...]:
    """The objects where those with edits on a frame, other than the one at ``place``, lose the pixels of a mask.

    Edits of one frame apply in the order of the objects: one that comes later would take its pixels back.
    """
    changed = []
    for number, object_ in enumerate(objects):
        own = shown.mask(number)
        edited = number != place and any(edit.frame == frame for edit in object_.edits)
        changed.append(_repainted(object_, own & ~mask, frame, ids) if edited and (own & mask).any() else object_)
    return tuple(changed)
