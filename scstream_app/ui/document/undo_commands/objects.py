"""Undo commands for objects, the named sets of segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scstream_app.render import palette
from scstream_app.render.palette import RGB
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.swap import SwapCommand
from scstream_app.ui.document.undo_commands.text import segments_text


class ObjectsCommand(SwapCommand):
    """Replaces the objects. ``about`` is the name of the object that changes."""

    def __init__(self, document: Document, text: str, after: tuple[MarkedObject, ...], about: str) -> None:
        super().__init__(document, text, document.set_objects, document.objects, after)
        self.about = about

    def forget_before(self, index: int) -> None:
        """Have objects of earlier frames begin at this frame; see `undo_stack.RefersToFrames`."""
        summary = self._document.summary
        self._before, self._after = summary.objects_at(self._before, index), summary.objects_at(self._after, index)


def make_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Make an object of segments of a frame, by default the one shown."""
    red, green, blue = (int(level) for level in palette.colours(len(document.objects) + 1)[-1])
    first = document.display.index if frame is None else frame
    made = MarkedObject(name, (red, green, blue), first or 0, frozenset(ids))
    _set_objects(document, (*document.objects, made), f"Make object '{name}'", name)


def rename_object(document: Document, name: str, new: str) -> None:
    """Rename an object."""
    _replace(document, replace(_object(document, name), name=new), name, f"Rename object '{name}' to '{new}'")


def recolour_object(document: Document, name: str, colour: RGB) -> None:
    """Give an object another colour."""
    _replace(document, replace(_object(document, name), colour=colour), name, f"Recolour object '{name}'")


def add_to_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Add segments of a frame, by default the one shown, to an object."""
    object_, chosen = _object(document, name), frozenset(ids)
    index = document.display.index if frame is None else frame
    wanted = document.display.members_of(object_, index) | chosen
    changed = _with_members(document, object_, object_.ids | chosen, wanted, index)
    _replace(document, changed, name, f"Add {segments_text(chosen)} to object '{name}'")


def remove_from_objects(document: Document, of: Mapping[str, frozenset[int]]) -> None:
    """Remove segments of the frame shown from objects; ``of`` maps names of objects to ids."""
    names, chosen = list(of), frozenset[int]().union(*of.values())
    where = f"object '{names[0]}'" if len(names) == 1 else f"{len(names)} objects"
    left = [_without(document, object_, of.get(object_.name, frozenset())) for object_ in document.objects]
    _set_objects(document, left, f"Remove {segments_text(chosen)} from {where}", names[-1])


def delete_object(document: Document, name: str) -> None:
    """Delete an object; its segments stay."""
    left = [object_ for object_ in document.objects if object_.name != name]
    _set_objects(document, left, f"Delete object '{name}'", name)


def last_object(document: Document) -> str | None:
    """Return the name of the object changed last, else of the last object; None without objects."""
    names = [object_.name for object_ in document.objects]
    for place in reversed(range(document.undo.index())):
        command = document.undo.command(place)
        if isinstance(command, ObjectsCommand) and command.about in names:
            return command.about
    return names[-1] if names else None


def _without(document: Document, object_: MarkedObject, ids: frozenset[int]) -> MarkedObject:
    """Return the object without these segments of the frame shown."""
    wanted = document.display.members_of(object_) - ids
    return _with_members(document, object_, object_.ids - ids, wanted, document.display.index) if ids else object_


def _with_members(
    document: Document, object_: MarkedObject, ids: frozenset[int], wanted: frozenset[int], index: int | None
) -> MarkedObject:
    """Return the object with the segments ``wanted`` on a frame.

    If ``ids`` on the object's first frame lead to exactly these, the object keeps that frame; else it begins at
    ``index``.
    """
    kept = replace(object_, ids=ids)
    if index is None or (index >= object_.frame and document.display.members_of(kept, index) == wanted):
        return kept
    return replace(object_, frame=index, ids=wanted)


def _object(document: Document, name: str) -> MarkedObject:
    return next(object_ for object_ in document.objects if object_.name == name)


def _replace(document: Document, new: MarkedObject, name: str, text: str) -> None:
    objects = [new if object_.name == name else object_ for object_ in document.objects]
    _set_objects(document, objects, text, new.name)


def _set_objects(document: Document, objects: Sequence[MarkedObject], text: str, about: str) -> None:
    after = tuple(objects)
    if after != document.objects:
        document.undo.push(ObjectsCommand(document, text, after, about))
