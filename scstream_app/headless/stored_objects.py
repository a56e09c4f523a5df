"""Objects of a session: stored ones, those of an older session's mask, and those added, corrected or removed later."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scstream_app.errors import SessionError
from scstream_app.headless.object_prompts import Prompt, with_prompts
from scstream_app.objects import MarkedObject
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
