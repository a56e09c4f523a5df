"""Edits with a reach, and changes of edits that exist: move one to another frame, delete it, change its reach."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from scstream_app.errors import InvalidData
from scstream_app.objects.editing import MembersAt, Objects, with_added, with_new, with_removed
from scstream_app.objects.edits import ObjectEdit
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.objects.reach import History, Reach, Stretch, moved, scene_start, stretches


def with_new_held(
    objects: Objects, new: MarkedObject, reach: Reach, history: History, members_at: MembersAt
) -> Objects:
    """The objects and a new one, made of segments of a frame, that holds as far as ``reach`` says."""
    if reach is Reach.ONWARD:
        return with_new(objects, new)
    first = scene_start(history, new.frame)
    parts = _some(stretches(history, new.ids, new.frame, reach, first), new.frame)
    made = new.with_edits([ObjectEdit("made", parts[0].start, parts[0].ids, stop=parts[0].stop)])
    return _held((*objects, made), len(objects), "added", parts, history, members_at)


def with_added_held(
    objects: Objects,
    place: int,
    ids: Collection[int],
    frame: int,
    reach: Reach,
    history: History,
    members_at: MembersAt,
    lost: frozenset[int] = frozenset(),
) -> Objects:
    """The objects after segments were added to the one at ``place``, as far as ``reach`` says."""
    if reach is Reach.ONWARD:
        return with_added(objects, place, ids, frame, members_at, lost)
    parts = _some(stretches(history, ids, frame, reach, _first(objects[place].edits, frame, history)), frame)
    return _held(objects, place, "added", parts, history, members_at, lost)


def with_removed_held(
    objects: Objects,
    place: int,
    ids: Collection[int],
    frame: int,
    reach: Reach,
    history: History,
    members_at: MembersAt,
    leaked: frozenset[int] = frozenset(),
) -> Objects:
    """The objects after segments were removed from the one at ``place``, as far as ``reach`` says."""
    if reach is Reach.ONWARD:
        return with_removed(objects, place, ids, frame, members_at, leaked)
    parts = stretches(history, ids, frame, reach, _first(objects[place].edits, frame, history))
    return _held(objects, place, "removed", parts, history, members_at, leaked)


def with_moved(objects: Objects, place: int, edit: ObjectEdit, frame: int, history: History) -> Objects:
    """The objects after an edit of the one at ``place`` was moved to another frame.

    Its segments follow the genealogy to that frame; a painted mask stays as it is.

    Raises
    ------
    InvalidData
        If the frame is not segmented, the edit ends before it, or its segments do not exist there.
    """
    if frame not in history.frames:
        raise InvalidData(f"frame {frame} is not segmented")
    stop = frame + 1 if edit.stop == edit.frame + 1 else edit.stop
    if stop is not None and stop <= frame:
        raise InvalidData(f"the edit holds up to frame {stop - 1}; move it to a frame before that")
    if edit.mask is not None:
        ids = history.followed(edit.ids, edit.frame, frame) if frame > edit.frame else frozenset[int]()
    else:
        ids = moved(history, edit.ids, edit.frame, frame)
    if edit.ids and not ids and edit.mask is None:
        raise InvalidData(f"nothing is left of the segments of this edit on frame {frame}")
    left = _without(objects[place], edit)
    return _with_object(objects, place, [*left, replace(edit, frame=frame, ids=ids, stop=stop)])


def with_deleted(objects: Objects, place: int, edit: ObjectEdit) -> Objects:
    """The objects without an edit of the one at ``place``, or without that object if no edit gives it anything."""
    left = _without(objects[place], edit)
    if not any(other.gives for other in left):
        return *objects[:place], *objects[place + 1 :]
    return _with_object(objects, place, left)


def with_reach(
    objects: Objects, place: int, edit: ObjectEdit, reach: Reach, history: History, members_at: MembersAt
) -> Objects:
    """The objects after an edit of the one at ``place`` got another reach, seen from its frame.

    Raises
    ------
    InvalidData
        If its segments do not exist before its frame, or if a mask would have to hold there.
    """
    if reach in (Reach.ONWARD, Reach.FRAME):
        changed = replace(edit, stop=edit.frame + 1 if reach is Reach.FRAME else None)
        edits = [changed if other is edit else other for other in objects[place].edits]
        return _with_object(objects, place, edits)
    if edit.mask is not None:
        raise InvalidData("a painted mask holds from its frame on")
    left = _without(objects[place], edit)
    parts = _some(stretches(history, edit.ids, edit.frame, reach, _first(left, edit.frame, history)), edit.frame)
    if edit.kind == "made" or not left:
        # In front: other edits of the same frames change what the object is made of, as before.
        made = [ObjectEdit(edit.kind, part.start, part.ids, stop=part.stop) for part in parts]
        return _with_object(objects, place, [*made, *left])
    return _held(_with_object(objects, place, left), place, edit.kind, parts, history, members_at)


def reach_of(edit: ObjectEdit) -> Reach | None:
    """The reach of an edit, seen from its frame; None if it ends at a later frame.

    >>> reach_of(ObjectEdit("removed", 20, {3})), reach_of(ObjectEdit("removed", 0, {3}, stop=20))
    (<Reach.ONWARD: 'onward'>, None)
    """
    if edit.stop is None:
        return Reach.ONWARD
    return Reach.FRAME if edit.stop == edit.frame + 1 else None


def _first(edits: Iterable[ObjectEdit], frame: int, history: History) -> int:
    """First frame of a change that reaches back: that of the object or, before the object begins, of the scene."""
    earlier = [edit.frame for edit in edits if edit.frame < frame]
    return min(earlier, default=scene_start(history, frame))


def _some(parts: list[Stretch], frame: int) -> list[Stretch]:
    if not parts:
        raise InvalidData(f"these segments do not exist before frame {frame}")
    return parts


def _held(
    objects: Objects,
    place: int,
    kind: str,
    parts: Iterable[Stretch],
    history: History,
    members_at: MembersAt,
    differing: frozenset[int] = frozenset(),
) -> Objects:
    """The objects after each part was added to, or removed from, the one at ``place``, over all of its frames.

    Other edits that begin or end within a part may undo the change from there on, so that it is repeated if necessary.
    ``differing`` are segments that are lost or have leaked on the frame of the edit; see `with_added`.
    """
    for part in parts:
        end = float("inf") if part.stop is None else part.stop
        moments = {moment for one in objects for edit in one.edits for moment in (edit.frame, edit.stop or 0)}
        objects = _changed(objects, place, kind, part, members_at, differing)
        for frame in sorted(moment for moment in moments if part.start < moment < end):
            there = Stretch(frame, history.followed(part.ids, part.start, frame), part.stop)
            objects = _changed(objects, place, kind, there, members_at)
    return objects


def _changed(
    objects: Objects,
    place: int,
    kind: str,
    part: Stretch,
    members_at: MembersAt,
    differing: frozenset[int] = frozenset(),
) -> Objects:
    adds = kind == "added"
    if part.stop is None:
        change = with_added if adds else with_removed
        return change(objects, place, part.ids, part.start, members_at, differing)
    own = members_at(objects, part.start)[place]
    ids = part.ids - (own - differing) if adds else part.ids & (own | differing)
    if not ids:
        return objects
    edit = ObjectEdit(kind, part.start, ids, stop=part.stop)
    objects = _with_object(objects, place, [*objects[place].edits, edit])
    # Edits of one frame apply in turn, and another object may have had more turns.
    while adds and not part.ids <= members_at(objects, part.start)[place]:
        objects = _with_object(objects, place, [*objects[place].edits, edit])
    return objects


def _without(object_: MarkedObject, edit: ObjectEdit) -> list[ObjectEdit]:
    return [other for other in object_.edits if other is not edit]


def _with_object(objects: Objects, place: int, edits: Collection[ObjectEdit]) -> Objects:
    return *objects[:place], objects[place].with_edits(edits), *objects[place + 1 :]
