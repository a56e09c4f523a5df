"""Things outlined on the first frame, as objects that are followed to the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scstream import metrics
from scstream_app.errors import SourceError, reason
from scstream_app.export import ExportObject
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import palette
from scstream_app.render.masks import read_label_image
from scstream_app.session import MarkedObject, Session
from scstream_app.sources import Source

Masks = npt.NDArray[np.uint8]


def read_masks(path: Path, source: Source) -> Masks:
    """A mask of the first frame: 0 is background, every other value an object of its own; see `LabelImage.objects`."""
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
            f"Cannot use '{path}': it has {labels.max()} colours; a mask has one for each object. "
            "If it has few, save it as PNG: JPEG makes new ones."
        )
    return labels.astype(np.uint8)


def names_in(masks: Masks | None) -> dict[int, str]:
    """What the object of each value of the masks is called."""
    numbers = [] if masks is None else [int(number) for number in np.unique(masks) if number]
    return {number: "object" if len(numbers) == 1 else f"object {number}" for number in numbers}


def catch(masks: Masks | None, first: FrameResult) -> list[MarkedObject]:
    """The segments of the first frame that each mask mostly covers, as objects."""
    if masks is None:
        return []
    names, things = names_in(masks), []
    for (number, name), colour in zip(names.items(), palette.colours(len(names)), strict=True):
        ids = metrics.ids_inside(first.ids, np.equal(masks, number))
        if not ids:
            raise SourceError(
                f"Cannot follow '{name}': its mask catches no segment of frame {first.index}. "
                "Draw it larger, or work on larger frames (--scale)."
            )
        things.append(MarkedObject(name, (int(colour[0]), int(colour[1]), int(colour[2])), first.index, ids))
    return things


def objects_of(session: Session) -> Sequence[MarkedObject]:
    """The session's objects; those of its masks also where a run was killed before they were noted."""
    noted, masks = session.objects, session.masks
    if noted or masks is None or not len(session):
        return noted
    index = int(session.frames[0])
    return catch(masks, next(session.results(index, index + 1)))


def mark_objects(session: Session) -> None:
    """Note the objects of the session's masks, unless that was done before."""
    if not session.objects and (objects := objects_of(session)):
        session.objects = objects


def objects_before(session: Session, start: int) -> tuple[ExportObject, ...]:
    """The session's objects for an export that begins at frame ``start``."""
    things = []
    for thing in objects_of(session):
        ids = thing.ids
        if thing.frame < start:
            last = deque(session.members(thing, thing.frame, start), maxlen=1)
            ids = last[0][1] if last else ids
        things.append(ExportObject(thing.name, ids, thing.frame))
    return tuple(things)
