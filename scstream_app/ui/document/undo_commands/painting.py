"""Undo commands for painted edits of objects: strokes, boxes and mask files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from scstream_app.errors import InvalidData
from scstream_app.objects import painting
from scstream_app.objects.edits import Mask
from scstream_app.objects.painting import Change
from scstream_app.objects.tracker import MOST_OBJECTS
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.objects import ObjectsCommand

_TEXTS = {"add": "Paint object '{}'", "remove": "Erase from object '{}'", "replace": "Draw object '{}'"}


@dataclass(frozen=True, slots=True)
class PaintedFrame:
    """A frame that the user paints: its segments, and its objects with their masks before the change."""

    result: FrameResult
    objects: tuple[MarkedObject, ...]
    masks: ObjectMasks

    @classmethod
    def shown(cls, document: Document) -> PaintedFrame | None:
        """The frame on the screen; None if none is shown."""
        shown, masks = document.display.shown, document.display.masks()
        return None if shown is None or masks is None else cls(shown.result, document.objects, masks)

    def with_objects_of(self, document: Document) -> PaintedFrame | None:
        """The same frame with the objects that the document has now; None if their masks are unknown."""
        index = self.result.index
        if document.objects == self.objects:
            return self
        if document.display.index == index:
            return self.shown(document)
        masks = document.display.expected.find(document.objects, index)
        return None if masks is None else replace(self, objects=document.objects, masks=masks)


@dataclass(frozen=True, slots=True)
class PaintedChange:
    """A change of the objects by painting, to be pushed on the undo stack.

    Parameters
    ----------
    frame : PaintedFrame
        The frame before the change.
    objects : tuple of MarkedObject
        The objects after the change.
    masks : ObjectMasks
        Their masks on the frame.
    about : str
        Name of the object that changes.
    text : str
        Describes the change.
    """

    frame: PaintedFrame
    objects: tuple[MarkedObject, ...]
    masks: ObjectMasks
    about: str
    text: str


def painted_change(frame: PaintedFrame, name: str | None, stroke: Mask, change: Change) -> PaintedChange | None:
    """Change the mask of an object on a frame by a stroke; takes a while in large frames.

    Parameters
    ----------
    frame : PaintedFrame
    name : str or None
        Name of the object; None: a new one.
    stroke : array (H, W) bool
    change : str
        Whether the stroke is added to the mask, taken away from it, or replaces it.

    Returns
    -------
    PaintedChange or None
        None if nothing changes.
    """
    place = next((n for n, object_ in enumerate(frame.objects) if object_.name == name), None)
    if place is None:
        new = painting.free_names(frame.objects)[0]
        made = change != "remove" and stroke.any()
        return loaded_change(frame, {new: stroke}, _TEXTS[change].format(new)) if made else None
    before = frame.masks.mask(place)
    after = painting.changed_mask(before, stroke, change)
    if np.array_equal(before, after):
        return None
    result, about = frame.result, frame.objects[place].name
    objects = painting.with_painted(frame.objects, place, after, result.index, result.ids, frame.masks)
    masks = painting.masks_after(frame.masks, place, after)
    return PaintedChange(frame, objects, masks, about, _TEXTS[change].format(about))


def loaded_change(frame: PaintedFrame, masks: Mapping[str, Mask], text: str) -> PaintedChange:
    """Make objects of masks (H, W) of a frame, by their names; takes a while in large frames."""
    if len(frame.objects) + len(masks) > MOST_OBJECTS:
        raise InvalidData(f"There can be at most {MOST_OBJECTS} objects.")
    grown, result = frame, frame.result
    for name, mask in masks.items():
        objects = painting.with_new_painted(grown.objects, name, mask, result.index, result.ids, grown.masks)
        grown = replace(grown, objects=objects, masks=painting.masks_after(grown.masks, len(grown.objects), mask))
    return PaintedChange(frame, grown.objects, grown.masks, list(masks)[-1], text)


def push_painted(document: Document, change: PaintedChange) -> None:
    """Change the objects, which must be those of the frame before the change."""
    frame, index = change.frame, change.frame.result.index
    # Known before the tracker stores them, also after an undo.
    document.display.expected.note(frame.objects, index, frame.masks)
    document.display.expected.note(change.objects, index, change.masks)
    document.undo.push(ObjectsCommand(document, change.text, change.objects, change.about))
