"""Undo commands for objects, the named sets of segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scstream_app.objects import editing
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
        """Replace edits of earlier frames by their outcome at this frame; see `undo_stack.RefersToFrames`."""
        summary = self._document.summary
        self._before, self._after = summary.objects_at(self._before, index), summary.objects_at(self._after, index)


def make_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Make an object of segments of a frame, by default the one shown."""
    red, green, blue = (int(level) for level in palette.colours(len(document.objects) + 1)[-1])
    made = MarkedObject.made(name, (red, green, blue), _frame(document, frame), frozenset(ids))
    _set_objects(document, editing.with_new(document.objects, made), f"Make object '{name}'", name)


def rename_object(document: Document, name: str, new: str) -> None:
    """Rename an object."""
    _replace(document, replace(_object(document, name), name=new), name, f"Rename object '{name}' to '{new}'")


def recolour_object(document: Document, name: str, colour: RGB) -> None:
    """Give an object another colour."""
    _replace(document, replace(_object(document, name), colour=colour), name, f"Recolour object '{name}'")


def add_to_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Add segments of a frame, by default the one shown, to an object, from that frame on."""
    chosen, place = frozenset(ids), document.objects.index(_object(document, name))
    members_at = document.summary.members
    after = editing.with_added(document.objects, place, chosen, _frame(document, frame), members_at)
    _set_objects(document, after, f"Add {segments_text(chosen)} to object '{name}'", name)


def remove_from_objects(document: Document, of: Mapping[str, frozenset[int]]) -> None:
    """Remove segments from objects, from the frame shown on; ``of`` maps names of objects to ids."""
    names, chosen = list(of), frozenset[int]().union(*of.values())
    where = f"object '{names[0]}'" if len(names) == 1 else f"{len(names)} objects"
    after, frame = document.objects, _frame(document, None)
    for place, object_ in enumerate(document.objects):
        if object_.name in of:
            after = editing.with_removed(after, place, of[object_.name], frame, document.summary.members)
    _set_objects(document, after, f"Remove {segments_text(chosen)} from {where}", names[-1])


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


def _frame(document: Document, frame: int | None) -> int:
    """Return the frame, by default the one shown."""
    shown = document.display.index or 0
    return shown if frame is None else frame


def _object(document: Document, name: str) -> MarkedObject:
    return next(object_ for object_ in document.objects if object_.name == name)


def _replace(document: Document, new: MarkedObject, name: str, text: str) -> None:
    objects = [new if object_.name == name else object_ for object_ in document.objects]
    _set_objects(document, objects, text, new.name)


def _set_objects(document: Document, objects: Sequence[MarkedObject], text: str, about: str) -> None:
    after = tuple(objects)
    if after != document.objects:
        document.undo.push(ObjectsCommand(document, text, after, about))
