"""Carry an object of a session back from a frame: painted edits on earlier frames that hold up to that frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from scstream import metrics
from scstream_app.errors import SessionError
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.objects.backward import track_back
from scstream_app.objects.edits import Mask
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.session import Session
from scstream_app.sources import Source

#: Frames between two edits. The tracker fills the frames between them.
_EVERY = 8
#: Frames that are read at a time, as sources are read forwards only.
_BLOCK = 24


def carry_back(
    session: Session,
    source: Source,
    objects: Sequence[MarkedObject],
    place: int,
    index: int,
    cancel: threading.Event | None = None,
) -> tuple[MarkedObject, ...]:
    """Return the objects with the one at ``place`` carried back from a frame, as it is there.

    It goes back to the frame after its edit before, or to the first frame of the scene. The frame itself and later ones
    do not change, nor do pixels that other objects have on earlier frames. Returns the objects unchanged after
    ``cancel``.

    Parameters
    ----------
    session : Session
        It must have the objects' masks on that frame.
    source : Source
        Its source.
    objects : sequence of MarkedObject
    place : int
    index : int
        The frame.
    cancel : Event, optional
    """
    masks = session.read_object_masks(index, objects)
    if masks is None:
        raise SessionError(f"Frame {index} is not tracked yet: try again in a moment.")
    result = next(session.results(index, index + 1, source))
    first = max((edit.frame + 1 for edit in objects[place].edits if edit.frame < index), default=0)
    found: list[tuple[FrameResult, Mask]] = []
    for before, mask in track_back(masks.mask(place), result, _descending(session, source, first, index)):
        if cancel is not None and cancel.is_set():
            return tuple(objects)
        if found and (index - found[-1][0].index) % _EVERY:
            found.pop()
        found.append((before, mask))
    edits = [_edit(session, objects, place, before, mask, index) for before, mask in found]
    carried = objects[place].with_edits([*objects[place].edits, *edits])
    return *objects[:place], carried, *objects[place + 1 :]


def _descending(session: Session, source: Source, first: int, stop: int) -> Iterator[FrameResult]:
    """Frames stop - 1, ..., first with their pictures."""
    frames = session.frames
    indices = frames[(frames >= first) & (frames < stop)].tolist()
    while indices:
        block, indices = indices[-_BLOCK:], indices[:-_BLOCK]
        yield from reversed(list(session.results(block[0], block[-1] + 1, source)))


def _edit(
    session: Session, objects: Sequence[MarkedObject], place: int, result: FrameResult, mask: Mask, stop: int
) -> ObjectEdit:
    masks = session.read_object_masks(result.index, objects)
    if masks is not None:
        mask = mask & ~np.isin(masks.numbers, [number for number in range(1, len(objects) + 1) if number != place + 1])
    return ObjectEdit("painted", result.index, metrics.ids_inside(result.ids, mask), mask_to_png(mask), stop)
