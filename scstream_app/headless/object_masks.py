"""Objects given by a mask of the first frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scstream import metrics
from scstream_app.errors import SourceError, reason
from scstream_app.objects import MarkedObject, Membership
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import palette
from scstream_app.render.label_images import read_label_image
from scstream_app.session import Session
from scstream_app.sources import Source

Masks = npt.NDArray[np.uint8]


def read_masks(path: Path, source: Source) -> Masks:
    """Read a mask of the first frame: 0 is background, every other value is one object; see `LabelImage.objects`."""
    try:
        still = read_label_image(path)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    height, width = still.values.shape[:2]
    if (height, width) != (source.height, source.width):
        raise SourceError(
            f"Cannot use '{path}': it is {width} x {height}, "
            f"the frames of '{source.name}' are {source.width} x {source.height}."
        )
    labels = still.objects()
    if not labels.any():
        raise SourceError(f"Cannot use '{path}': the mask is empty.")
    if labels.max() > 255:
        raise SourceError(
            f"Cannot use '{path}': it has {labels.max()} colours; a mask has one colour per object. "
            "Save it as PNG: JPEG compression adds colours."
        )
    return labels.astype(np.uint8)


def mask_names(masks: Masks | None) -> dict[int, str]:
    """Map each value of the masks to the name of its object."""
    numbers = [] if masks is None else [int(number) for number in np.unique(masks) if number]
    return {number: "object" if len(numbers) == 1 else f"object {number}" for number in numbers}


def objects_from_masks(masks: Masks | None, first: FrameResult) -> list[MarkedObject]:
    """For each mask, the object formed by the segments of the first frame that the mask mostly covers."""
    if masks is None:
        return []
    names, objects = mask_names(masks), []
    for (number, name), colour in zip(names.items(), palette.colours(len(names)), strict=True):
        ids = metrics.ids_inside(first.ids, np.equal(masks, number))
        if not ids:
            raise SourceError(
                f"Cannot follow '{name}': its mask covers no segment of frame {first.index}. "
                "Draw a larger mask, or increase the processing size (--scale)."
            )
        objects.append(MarkedObject.made(name, (int(colour[0]), int(colour[1]), int(colour[2])), first.index, ids))
    return objects


def session_objects(session: Session) -> Sequence[MarkedObject]:
    """The objects of a session, computed from its masks if the run was killed before it stored them."""
    stored, masks = session.objects, session.masks
    if stored or masks is None or not len(session):
        return stored
    index = int(session.frames[0])
    return objects_from_masks(masks, next(session.results(index, index + 1)))


def store_objects(session: Session) -> None:
    """Store the objects of the session's masks unless objects are stored already."""
    if not session.objects and (objects := session_objects(session)):
        session.objects = objects


def objects_for_export(session: Session, start: int) -> tuple[MarkedObject, ...]:
    """The objects of a session for an export that starts at frame ``start``.

    Edits of earlier frames are replaced by the segments that the objects have just before ``start``.
    """
    objects = tuple(session_objects(session))
    first = min((marked.frame for marked in objects), default=start)
    if first >= start:
        return objects
    membership = Membership(objects)
    for record in session.records(first, start):
        membership.advance(record.index, record.events, record.cut)
    membership.advance(start - 1)
    return membership.collapsed()
