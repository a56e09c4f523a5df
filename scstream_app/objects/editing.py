"""Edits as the user makes them: add segments of a frame to an object, remove them, or make a new object of them.

Edits of one frame are joined where possible, so that the list of edits stays short: adding twice gives one edit, and
adding and removing the same segments gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from scstream_app.objects.edits import ObjectEdit
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.objects.membership import Members

Objects = tuple[MarkedObject, ...]
#: Returns the segments of every object on a frame.
MembersAt = Callable[[Objects, int], Members]


def with_new(objects: Sequence[MarkedObject], new: MarkedObject) -> Objects:
    """The objects and a new one, which takes its segments from the others."""
    return *(_without_given(object_, new.ids, new.frame) for object_ in objects), new


def with_added(
    objects: Objects,
    place: int,
    ids: Collection[int],
    frame: int,
    members_at: MembersAt,
    lost: frozenset[int] = frozenset(),
) -> Objects:
    """The objects after segments of a frame were added to the one at ``place``.

    On a frame before the object's first one, the object begins with these segments, and later frames stay as they are.
    Segments that the object has but its tracked mask does not cover are ``lost``: to add them is an edit, too.
    """
    chosen = frozenset(ids)
    if chosen <= members_at(objects, frame)[place] - lost:
        return objects
    first = objects[place].frame
    changed = tuple(
        _without_removed(object_, chosen, frame) if n == place else _without_given(object_, chosen, frame)
        for n, object_ in enumerate(objects)
    )
    missing = chosen - (members_at(changed, frame)[place] - lost)
    if frame < first:
        return _with_edit(changed, place, ObjectEdit("made", frame, missing, stop=first))
    return _with_edit(changed, place, ObjectEdit("added", frame, missing, stop=_end(changed[place], frame)))


def with_removed(
    objects: Objects,
    place: int,
    ids: Collection[int],
    frame: int,
    members_at: MembersAt,
    leaked: frozenset[int] = frozenset(),
) -> Objects:
    """The objects after segments of a frame were removed from the one at ``place``.

    Segments that the object does not have but its tracked mask touches are ``leaked``: they can be removed, too.
    """
    chosen = frozenset(ids)
    changed = (*objects[:place], _without_added(objects[place], chosen, frame), *objects[place + 1 :])
    left = chosen & (members_at(changed, frame)[place] | leaked)
    return _with_edit(changed, place, ObjectEdit("removed", frame, left, stop=_end(changed[place], frame)))


def next_replacement(object_: MarkedObject, frame: int) -> ObjectEdit | None:
    """The first edit of a later frame that replaces all segments.

    An edit of ``frame`` ends there, so that segments that it took from other objects belong to those again.
    """
    return next((edit for edit in object_.edits if edit.frame > frame and edit.replaces), None)


def _end(object_: MarkedObject, frame: int) -> int | None:
    edit = next_replacement(object_, frame)
    return None if edit is None else edit.frame


def _with_edit(objects: Objects, place: int, new: ObjectEdit) -> Objects:
    """The objects with another edit of the one at ``place``, joined with the last one of that frame if possible."""
    if not new.ids:
        return objects
    before = [edit for edit in objects[place].edits if edit.frame <= new.frame]
    later = objects[place].edits[len(before) :]
    last = before[-1] if before else None
    if last is not None and (last.frame, last.stop) == (new.frame, new.stop) and _joins(last, new):
        before[-1] = last.with_ids(last.ids | new.ids)
    else:
        before.append(new)
    return *objects[:place], objects[place].with_edits([*before, *later]), *objects[place + 1 :]


def _joins(last: ObjectEdit, new: ObjectEdit) -> bool:
    return last.kind == new.kind or (last.kind == "made" and new.kind == "added")


def _without_given(object_: MarkedObject, ids: frozenset[int], frame: int) -> MarkedObject:
    """The object without these segments in what its edits of a frame give to it."""
    return _reduced(object_, ids, frame, ("made", "added", "painted"))


def _without_added(object_: MarkedObject, ids: frozenset[int], frame: int) -> MarkedObject:
    """As `_without_given`, except for painted edits: the segments of a mask can only be removed by another edit."""
    return _reduced(object_, ids, frame, ("made", "added"))


def _without_removed(object_: MarkedObject, ids: frozenset[int], frame: int) -> MarkedObject:
    """The object without these segments in what its edits of a frame remove."""
    return _reduced(object_, ids, frame, ("removed",))


def _reduced(object_: MarkedObject, ids: frozenset[int], frame: int, kinds: Collection[str]) -> MarkedObject:
    edits = []
    for edit in object_.edits:
        if edit.frame == frame and edit.kind in kinds and edit.ids & ids:
            edit = edit.without(ids)
            if not (edit.ids or edit.replaces):
                continue
        edits.append(edit)
    # An object cannot be without edits.
    return object_.with_edits(edits or [object_.edits[0].without(ids)])
