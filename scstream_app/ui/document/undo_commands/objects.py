"""Undo commands for objects, the named sets of segments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from scstream_app.objects import ObjectEdit, key_editing
from scstream_app.objects.painting import masks_after
from scstream_app.objects.reach import Reach
from scstream_app.render import palette, views
from scstream_app.render.palette import RGB
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.tracked_segments import leaked_segments, lost_segments
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


def make_object(
    document: Document, name: str, ids: Iterable[int], frame: int | None = None, reach: Reach = Reach.ONWARD
) -> None:
    """Make an object of segments of a frame, by default the one shown.

    Raises InvalidData if the segments do not exist on the frames that ``reach`` names; so do the other functions.
    """
    colour = palette.colour(len(document.objects))
    made = MarkedObject.made(name, colour, _frame(document, frame), frozenset(ids))
    summary = document.summary
    after = key_editing.with_new_held(document.objects, made, reach, summary, summary.members)
    _expect(document, after, len(document.objects), made.ids, reach, gives=True)
    _set_objects(document, after, f"Make object '{name}'", name)


def rename_object(document: Document, name: str, new: str) -> None:
    """Rename an object."""
    _replace(document, replace(_object(document, name), name=new), name, f"Rename object '{name}' to '{new}'")


def recolour_object(document: Document, name: str, colour: RGB) -> None:
    """Give an object another colour."""
    _replace(document, replace(_object(document, name), colour=colour), name, f"Recolour object '{name}'")


def add_to_object(
    document: Document, name: str, ids: Iterable[int], frame: int | None = None, reach: Reach = Reach.ONWARD
) -> None:
    """Add segments of a frame, by default the one shown, to an object."""
    chosen, place, summary = frozenset(ids), _place(document, name), document.summary
    at = _frame(document, frame)
    lost = lost_segments(document, place, chosen) if at == document.display.index else frozenset[int]()
    after = key_editing.with_added_held(document.objects, place, chosen, at, reach, summary, summary.members, lost)
    _expect(document, after, place, chosen, reach, gives=True)
    _set_objects(document, after, f"Add {segments_text(chosen)} to object '{name}'", name)


def remove_from_objects(document: Document, of: Mapping[str, frozenset[int]], reach: Reach = Reach.ONWARD) -> None:
    """Remove segments of the frame shown from objects; ``of`` maps names of objects to ids."""
    names, chosen = list(of), frozenset[int]().union(*of.values())
    where = f"object '{names[0]}'" if len(names) == 1 else f"{len(names)} objects"
    after = document.objects
    for name, ids in of.items():
        after = _without_members(document, after, _place(document, name), ids, reach)
    if len(of) == 1:
        _expect(document, after, _place(document, names[0]), chosen, reach, gives=False)
    _set_objects(document, after, f"Remove {segments_text(chosen)} from {where}", names[-1])


def members_within(document: Document, name: str, ids: Iterable[int], reach: Reach) -> frozenset[int]:
    """Return those of the segments of the frame shown that an object has on a frame within the reach."""
    objects, place = document.objects, _place(document, name)
    return frozenset(id for id in ids if _without_members(document, objects, place, {id}, reach) != objects)


def move_edit(document: Document, name: str, edit: ObjectEdit, frame: int) -> None:
    """Move an edit of an object to another frame."""
    after = key_editing.with_moved(document.objects, _place(document, name), edit, frame, document.summary)
    _set_objects(document, after, f"Move edit of object '{name}' to frame {frame}", name)


def delete_edit(document: Document, name: str, edit: ObjectEdit) -> None:
    """Delete an edit of an object, and the object with the last edit that gives it anything."""
    after = key_editing.with_deleted(document.objects, _place(document, name), edit)
    _set_objects(document, after, f"Delete edit of object '{name}' on frame {edit.frame}", name)


def set_reach(document: Document, name: str, edit: ObjectEdit, reach: Reach) -> None:
    """Change the frames at which an edit of an object holds."""
    place, summary = _place(document, name), document.summary
    after = key_editing.with_reach(document.objects, place, edit, reach, summary, summary.members)
    _set_objects(document, after, f"Change reach of edit of object '{name}'", name)


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


def _place(document: Document, name: str) -> int:
    return document.objects.index(_object(document, name))


def _without_members(
    document: Document, objects: tuple[MarkedObject, ...], place: int, ids: Collection[int], reach: Reach
) -> tuple[MarkedObject, ...]:
    """Return the objects after segments of the frame shown were removed from one of them."""
    frame, summary, leaked = _frame(document, None), document.summary, leaked_segments(document, place, ids)
    return key_editing.with_removed_held(objects, place, ids, frame, reach, summary, summary.members, leaked)


def _expect(
    document: Document,
    after: tuple[MarkedObject, ...],
    place: int,
    ids: Collection[int],
    reach: Reach,
    *,
    gives: bool,
) -> None:
    """Note the masks that objects will have on the frame shown: until they are tracked, they would be segments only."""
    shown, masks = document.display.shown, document.display.masks()
    if shown is None or masks is None or not shown.segmented:
        return
    index = shown.result.index
    document.display.expected.note(document.objects, index, masks)
    if reach is not Reach.BEFORE:
        region, before = views.select(shown.result.ids, ids) > 0, masks.mask(place)
        masks = masks_after(masks, place, before | region if gives else before & ~region)
    document.display.expected.note(after, index, masks)


def _replace(document: Document, new: MarkedObject, name: str, text: str) -> None:
    objects = [new if object_.name == name else object_ for object_ in document.objects]
    _set_objects(document, objects, text, new.name)


def _set_objects(document: Document, objects: Sequence[MarkedObject], text: str, about: str) -> None:
    after = tuple(objects)
    if after != document.objects:
        document.undo.push(ObjectsCommand(document, text, after, about))
