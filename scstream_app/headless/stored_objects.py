"""Objects of a session: stored ones, those of an older session's mask, and those added, corrected or removed later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scstream_app.errors import SessionError, SourceError
from scstream_app.headless.object_prompts import with_prompts
from scstream_app.objects import MarkedObject
from scstream_app.objects.prompt import Prompt
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice
from scstream_app.session import Session
from scstream_app.sources import Source


def session_objects(session: Session) -> tuple[MarkedObject, ...]:
    """The objects of a session.

    An older session may hold a mask of its first frame instead, if it was interrupted before it stored the objects.
    """
    stored, masks = session.objects, session.masks
    if stored or masks is None or not len(session):
        return tuple(stored)
    values = np.unique(masks[masks > 0]).tolist()
    prompts = [
        Prompt("object" if len(values) == 1 else f"object {value}", mask=np.asarray(masks == value)) for value in values
    ]
    index = int(session.frames[0])
    return with_prompts((), prompts, next(session.results(index, index + 1)))


def store_objects(session: Session) -> None:
    """Store the objects of an older session's mask unless objects are stored already."""
    if not session.objects and (objects := session_objects(session)):
        session.objects = objects


def apply_stored_prompts(session: Session, source: Source, on_notice: Callable[[Notice], None]) -> tuple[Prompt, ...]:
    """Correct the objects by the stored prompts whose frames the session has; return the others."""
    frames, waiting = session.frames, session.waiting_prompts
    for index in sorted({_frame_of(prompt, frames) for prompt in waiting}):
        if index >= 0:
            waiting = apply_due_prompts(session, waiting, next(session.results(index, index + 1, source)), on_notice)
    return waiting


def _frame_of(prompt: Prompt, frames: npt.NDArray[np.int64]) -> int:
    """The frame to which a prompt applies: the next one if its own is damaged; -1 if that is still to come."""
    place = int(np.searchsorted(frames, prompt.frame or 0))
    return int(frames[place]) if place < len(frames) else -1


def apply_due_prompts(
    session: Session, waiting: tuple[Prompt, ...], result: FrameResult, on_notice: Callable[[Notice], None]
) -> tuple[Prompt, ...]:
    """Correct the objects by the prompts that apply to a frame or to damaged ones before it; return the others.

    Prompts of objects that the user has deleted or renamed meanwhile are dropped, and so are those that mean nothing on
    their frame, which is reported.
    """
    due = [prompt for prompt in waiting if (prompt.frame or 0) <= result.index]
    if not due:
        return waiting
    rest = tuple(prompt for prompt in waiting if (prompt.frame or 0) > result.index)
    objects = session.objects
    known = {one.name for one in objects}
    for prompt in due:
        if prompt.name in known:
            try:
                objects = with_prompts(objects, [prompt], result)
            except SourceError as error:
                on_notice(Notice("edit", result.index, str(error)))
    # First: if the process is killed in between, the prompts are only applied twice.
    session.objects = objects
    session.waiting_prompts = rest
    return rest


def replace_objects(session: Session, objects: tuple[MarkedObject, ...]) -> None:
    """Store other objects, for good: those of an older session's mask do not come back."""
    session.objects = objects
    if not objects:
        session.remove_masks()


def objects_without(session: Session, names: Sequence[str]) -> tuple[MarkedObject, ...]:
    """The objects of a session except those with these names, in capitals or small letters."""
    objects = session_objects(session)
    known = {one.name.casefold() for one in objects}
    for name in names:
        if name.casefold() not in known:
            its = ", ".join(f"'{one.name}'" for one in objects)
            raise SessionError(
                f"Cannot remove '{name}': '{session.path}' has no such object{f'; it has {its}' if its else ''}."
            )
    removed = {name.casefold() for name in names}
    return tuple(one for one in objects if one.name.casefold() not in removed)


def objects_with(
    session: Session, objects: tuple[MarkedObject, ...], prompts: Sequence[Prompt], source: Source | None
) -> tuple[MarkedObject, ...]:
    """Return ``objects`` with these additions and corrections on frames of a session.

    ``source`` is needed for boxes.
    """
    frames = session.frames.tolist()
    for prompt in sorted(prompts, key=lambda prompt: -1 if prompt.frame is None else prompt.frame):
        index = frames[0] if prompt.frame is None else prompt.frame
        if index not in frames:
            raise SessionError(f"Cannot correct '{prompt.name}': '{session.path}' has no frame {index}.")
        objects = with_prompts(objects, [prompt], next(session.results(index, index + 1, source)))
    return objects
