"""What a person does to segments and objects, as commands that can be undone; see `Document.undo`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtGui import QUndoCommand

from scstream.sampler.genealogy import Kind
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.render import palette
from scstream_app.render.palette import RGB
from scstream_app.session import MarkedObject, Names
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.abstract_qt import AbstractQtMeta

#: What the model does: there has to be a next frame for it to be done before.
_BY_THE_MODEL = {"merge": "merged", "split": "split", "lock": "locked"}
#: What the selected segments are wanted for.
_WANTED = {
    "hide": "Select segments to hide them",
    "isolate": "Select segments to see them alone",
    "recolour": "Select segments to give them a colour",
    "rename": "Select one segment to rename it",
    "merge": "Select two segments or more to merge them (Ctrl+click adds one)",
    "split": "Select one segment to split it",
    "lock": "Select segments to lock them",
    "group": "Select segments to add them to an object",
    "ungroup": "Select segments to remove them from their object",
}
#: What is missing while the session is put elsewhere.
SAVING = "Wait until the session is saved"


def lacking(document: Document, what: str) -> str:
    """What is missing for this to be done to the selected segments, in words; nothing if it can be done."""
    count = len(document.display.selection)
    # Only what is written has to wait.
    if document.saving and what != "isolate":
        return SAVING
    if what in _BY_THE_MODEL and not can_edit(document):
        return f"Segments can be {_BY_THE_MODEL[what]} only while frames are being segmented{_way_out(document, what)}"
    if what == "isolate" and document.display.isolated:
        return ""
    if not count or (what == "merge" and count < 2) or (what == "rename" and count > 1):
        return _WANTED[what]
    if what == "group" and not can_group(document):
        return "Wait until this frame has settled: its segments are not final yet"
    if what == "ungroup" and not document.objects:
        return "There is no object yet"
    return ""


def _way_out(document: Document, what: str) -> str:
    """What to do where there is no next frame."""
    if document.session is None or document.state not in (State.DONE, State.STOPPED):
        return ""
    first = "add them to an object, or " if what == "merge" else ""
    return f": {first}choose {BY_ID['restart'].menu_path} and pause it"


def can_edit(document: Document) -> bool:
    """Whether there is a next frame for the model to be changed before."""
    return document.state in (State.SETTLING, State.SEGMENTING, State.PAUSED)


def can_group(document: Document) -> bool:
    """Whether objects can be made of the selection: ids are not final while a first frame settles."""
    index = document.display.index
    return bool(document.display.selection) and index is not None and document.summary.place(index) is not None


# --- names, colours, visibility


def rename(document: Document, id: int, name: str) -> None:
    """Give a segment a name; an empty one takes the name away."""
    names = {other: text for other, text in document.names.names.items() if other != id}
    if name:
        names[id] = name
    _change(document, replace(document.names, names=names), f"Rename segment {id}")


def recolour(document: Document, ids: Iterable[int], colour: RGB | None) -> None:
    """Give segments a colour of their own; None: that of the palette."""
    chosen = frozenset(ids)
    colours = {id: rgb for id, rgb in document.names.colours.items() if id not in chosen}
    if colour is not None:
        colours.update(dict.fromkeys(sorted(chosen), colour))
    _change(document, replace(document.names, colours=colours), f"Recolour {segments_text(chosen)}")


def set_hidden(document: Document, ids: Iterable[int], hidden: bool) -> None:
    """Take the tint off segments, or put it back."""
    chosen, now = frozenset(ids), document.names.hidden
    names = replace(document.names, hidden=now | chosen if hidden else now - chosen)
    _change(document, names, f"{'Hide' if hidden else 'Show'} {segments_text(chosen)}")


def isolate(document: Document, ids: Iterable[int]) -> None:
    """Dim everything but these segments; none of them, or those that are alone already: show all again."""
    chosen, now = frozenset(ids), document.display.isolated
    after = frozenset[int]() if chosen == now else chosen
    if after != now:
        text = f"Isolate {segments_text(after)}" if after else "Show all segments"
        document.undo.push(_Isolate(document, text, document.display.isolate, now, after))


def has_marked(document: Document) -> bool:
    """Whether a person did anything that is written, also if it was undone; isolating is only a way to look."""
    undo = document.undo
    return any(not isinstance(undo.command(place), _Isolate) for place in range(undo.count()))


def _change(document: Document, names: Names, text: str) -> None:
    if names != document.names:
        document.undo.push(_Swap(document, text, document.set_names, document.names, names))


# --- objects


def make_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Put segments of a frame, by default the one at hand, together under a name."""
    red, green, blue = (int(level) for level in palette.colours(len(document.objects) + 1)[-1])
    begin = document.display.index if frame is None else frame
    thing = MarkedObject(name, (red, green, blue), begin or 0, frozenset(ids))
    _regroup(document, (*document.objects, thing), f"Make object '{name}'", name)


def rename_object(document: Document, name: str, new: str) -> None:
    """Call an object something else."""
    _exchange(document, replace(_object(document, name), name=new), name, f"Rename object '{name}' to '{new}'")


def recolour_object(document: Document, name: str, colour: RGB) -> None:
    """Give an object another colour."""
    _exchange(document, replace(_object(document, name), colour=colour), name, f"Recolour object '{name}'")


def add_to_object(document: Document, name: str, ids: Iterable[int], frame: int | None = None) -> None:
    """Have segments of a frame, by default the one at hand, belong to an object."""
    thing, chosen = _object(document, name), frozenset(ids)
    begin = document.display.index if frame is None else frame
    wanted = document.display.members_of(thing, begin) | chosen
    made_up = _made_up(document, thing, thing.ids | chosen, wanted, begin)
    _exchange(document, made_up, name, f"Add {segments_text(chosen)} to object '{name}'")


def remove_from_objects(document: Document, of: Mapping[str, frozenset[int]]) -> None:
    """Have segments of the frame at hand no longer belong to objects; ``of`` gives those of each, by name."""
    names, chosen = list(of), frozenset[int]().union(*of.values())
    where = f"object '{names[0]}'" if len(names) == 1 else f"{len(names)} objects"
    left = [_without(document, thing, of.get(thing.name, frozenset())) for thing in document.objects]
    _regroup(document, left, f"Remove {segments_text(chosen)} from {where}", names[-1])


def _without(document: Document, thing: MarkedObject, ids: frozenset[int]) -> MarkedObject:
    """The object when segments of the frame at hand are taken out."""
    wanted = document.display.members_of(thing) - ids
    return _made_up(document, thing, thing.ids - ids, wanted, document.display.index) if ids else thing


def delete_object(document: Document, name: str) -> None:
    """Forget an object; its segments stay."""
    _regroup(document, [thing for thing in document.objects if thing.name != name], f"Delete object '{name}'", name)


def last_object(document: Document) -> str | None:
    """The name of the object that something was done to last, else of the last one there is."""
    there = [thing.name for thing in document.objects]
    for place in reversed(range(document.undo.index())):
        command = document.undo.command(place)
        if isinstance(command, _Regroup) and command.about in there:
            return command.about
    return there[-1] if there else None


def _made_up(
    document: Document, thing: MarkedObject, ids: frozenset[int], wanted: frozenset[int], index: int | None
) -> MarkedObject:
    """The object with ``wanted`` on a frame.

    Where ``ids`` on its own frame lead to just that, it keeps its past; else it begins anew on that frame.
    """
    kept = replace(thing, ids=ids)
    if index is None or (index >= thing.frame and document.display.members_of(kept, index) == wanted):
        return kept
    return replace(thing, frame=index, ids=wanted)


def _object(document: Document, name: str) -> MarkedObject:
    return next(thing for thing in document.objects if thing.name == name)


def _exchange(document: Document, thing: MarkedObject, name: str, text: str) -> None:
    _regroup(document, [thing if other.name == name else other for other in document.objects], text, thing.name)


def _regroup(document: Document, objects: Sequence[MarkedObject], text: str, about: str) -> None:
    after = tuple(objects)
    if after != document.objects:
        document.undo.push(_Regroup(document, text, after, about))


class _Swap(QUndoCommand):
    """One state of names, objects or what is isolated for another."""

    def __init__(self, document: Document, text: str, put: Callable[[Any], None], before: Any, after: Any) -> None:
        super().__init__(text)
        self._document, self._put, self._before, self._after = document, put, before, after

    def redo(self) -> None:
        self._try(self._after)

    def undo(self) -> None:
        self._try(self._before)

    def _try(self, state: Any) -> None:
        try:
            self._put(state)
        except StudioError as error:
            self.setObsolete(True)
            self._document.failed.emit(str(error))


class _Isolate(_Swap):
    """What is isolated for something else; nothing of it is written."""


class _Regroup(_Swap):
    """One state of the objects for another; see `document.HoldsPast`. ``about`` is the object it is done to."""

    def __init__(self, document: Document, text: str, after: tuple[MarkedObject, ...], about: str) -> None:
        super().__init__(document, text, document.set_objects, document.objects, after)
        self.about = about

    def begin_at(self, index: int) -> None:
        """Have objects begin at this frame where they would begin earlier."""
        summary = self._document.summary
        self._before, self._after = summary.objects_at(self._before, index), summary.objects_at(self._after, index)


# --- the model


def merge(document: Document, ids: Iterable[int]) -> str:
    """Have the model make segments one, and leave that alone; returns what is going to happen, in words."""
    command = _Merge(document, ids)
    document.undo.push(command)
    return command.promise


def split(document: Document, ids: Iterable[int]) -> str:
    """Have the model divide each segment into its sub-clusters, and leave that alone; returns what will happen."""
    command = _Split(document, ids)
    document.undo.push(command)
    return command.promise


def set_locked(document: Document, ids: Iterable[int], locked: bool) -> None:
    """Have the model leave segments alone, or no longer."""
    document.undo.push(_Lock(document, ids, locked))


def note_failed(document: Document, edit: Edit) -> None:
    """The model could not do this: what was locked for it is free again, and there is nothing to undo."""
    for place in reversed(range(document.undo.index())):
        command = document.undo.command(place)
        if isinstance(command, _ModelCommand) and command.sent == edit:
            command.fail()
            return


def keep_split(document: Document) -> None:
    """Lock the parts that have come of splits by hand: their ids are not known before."""
    for place in range(document.undo.index()):
        command = document.undo.command(place)
        if isinstance(command, _Split):
            command.lock_parts()


class _ModelCommand(QUndoCommand, metaclass=AbstractQtMeta):
    """An edit of the model.

    What still waits for the next frame is withdrawn. What has reached the model stays: undoing it is a second edit, on
    a later frame. ``sent`` is the edit, ``promise`` what it will do, in words; none and nothing if it was not sent.
    """

    # Of the segments ``_ids`` it goes by what was there of them, ``_there``, at the frame ``_frame``.

    def __init__(self, document: Document, text: str, ids: Iterable[int]) -> None:
        super().__init__(text)
        self._document, self._ids = document, tuple(sorted(ids))
        self._frame, self._there = _newest(document), frozenset(self._ids)
        self._locks: list[Edit] = []
        self._failed = False
        self.sent: Edit | None = None
        self.promise = ""

    def redo(self) -> None:
        self.sent, self._locks, self._failed = None, [], False
        if can_edit(self._document):
            self._do()
        else:
            self._give_up(f"All frames are segmented: '{self.text()}' cannot be done any more.")

    def undo(self) -> None:
        if self._failed:
            self._give_up(f"There is nothing to undo: '{self.text()}' could not be done.")
        elif self.sent is not None and self._document.withdraw(self.sent):
            self._unlock()
            self._note(f"'{self.text()}' is undone: the model had not heard of it yet.")
        elif can_edit(self._document):
            self._unlock()
            self._take_back()
        else:
            self._give_up(f"All frames are segmented: '{self.text()}' cannot be undone any more.")

    @abstractmethod
    def _do(self) -> None:
        """Send the edit."""

    @abstractmethod
    def _take_back(self) -> None:
        """Send what comes closest to undoing an edit that has been made, and say what that is."""

    def begin_at(self, index: int) -> None:
        """Go by what has become of the segments at this frame; see `document.HoldsPast`."""
        if self._frame < index:
            self._there = self._document.summary.followed(self._there, self._frame, index)
            self._frame = index

    def fail(self) -> None:
        """It turned out that it cannot be done."""
        self._failed = True
        self._unlock()

    def _send(self, edit: Edit) -> None:
        self._document.edit(edit)
        self.sent = edit

    def _send_locked(self, edit: Edit) -> None:
        """Have it done to segments that are locked: else the model may soon do the opposite."""
        self._lock(edit.ids)
        self._send(edit)

    def _lock(self, ids: Iterable[int]) -> None:
        free = tuple(id for id in ids if id not in self._document.pending.locked)
        if free:
            self._locks.append(Edit("lock", free))
            self._document.edit(self._locks[-1])

    def _unlock(self) -> None:
        """Free what was locked for this, and nothing else."""
        locks, self._locks = self._locks, []
        made = [lock for lock in locks if not self._document.withdraw(lock)]
        if made:
            self._document.edit(Edit("unlock", tuple(id for lock in made for id in lock.ids)))

    def _alive(self) -> tuple[int, ...]:
        """What has become of the segments meanwhile, parts included."""
        return tuple(sorted(self._document.summary.followed(self._there, self._frame, _newest(self._document))))

    def _note(self, text: str) -> None:
        self._document.noticed.emit(Notice("edit", _newest(self._document), text))

    def _give_up(self, text: str) -> None:
        self.setObsolete(True)
        self._note(text)


class _Merge(_ModelCommand):
    def __init__(self, document: Document, ids: Iterable[int]) -> None:
        chosen = tuple(ids)
        super().__init__(document, f"Merge {segments_text(chosen)} (undone by a split)", chosen)

    def _do(self) -> None:
        parts = self._alive()
        if len(parts) < 2:
            self._give_up(f"There is nothing left to merge of {segments_text(self._ids)}.")
        else:
            self._send_locked(Edit("merge", parts))
            self.promise = f"{segments_text(parts).capitalize()} become one from the next frame on, and stay locked."

    def _take_back(self) -> None:
        parts = self._alive()
        if not parts:
            self._give_up(f"The merge of {segments_text(self._ids)} cannot be undone: the segment is no longer there.")
            return
        whole = max(parts, key=self._size)
        self._document.edit(Edit("split", (whole,)))
        more = ", and into two parts only" if len(self._ids) > 2 else ""
        self._note(f"A merge cannot be unmade: segment {whole} is split instead; one part gets a new id{more}.")

    def _size(self, id: int) -> int:
        shown = self._document.display.shown
        rows = None if shown is None else shown.result.statistics
        return 0 if rows is None else int(rows["pixels"][rows["id"] == id].sum())


class _Split(_ModelCommand):
    def __init__(self, document: Document, ids: Iterable[int]) -> None:
        chosen = tuple(ids)
        super().__init__(document, f"Split {segments_text(chosen)} (undone by a merge)", chosen)
        self._awaited = self._forgotten = False

    def begin_at(self, index: int) -> None:
        # Else a later split would be taken for this one.
        if self._frame < index:
            self._awaited, self._forgotten = False, True
        super().begin_at(index)

    def _do(self) -> None:
        parts = tuple(id for id in self._ids if id in self._alive())
        if not parts:
            self._give_up(f"There is nothing left to split of {segments_text(self._ids)}.")
        else:
            self._frame, self._there = _newest(self._document), frozenset(parts)
            self._awaited, self._forgotten = True, False
            self._send_locked(Edit("split", parts))
            verbs = ("is", "stays") if len(parts) == 1 else ("are", "stay")
            self.promise = (
                f"{segments_text(parts).capitalize()} {verbs[0]} split from the next frame on, and {verbs[1]} locked."
            )

    def _take_back(self) -> None:
        if self._forgotten:
            self._give_up(
                f"The split of {segments_text(self._ids)} cannot be undone: it is too long ago to know its parts."
            )
            return
        alive = set(self._alive())
        pairs = [(whole, part) for whole, part in self._parts() if {whole, part} <= alive]
        if not pairs:
            self._give_up(
                f"There is nothing to undo: {segments_text(self._ids)} did not split, or no longer can be merged."
            )
            return
        for pair in pairs:
            self._document.edit(Edit("merge", pair))
        self._note(f"A split cannot be unmade: {_listed(pairs)} merged instead, from the next frame on.")

    def lock_parts(self) -> None:
        """Lock the new parts as well, once, when they are there."""
        if self._awaited and not self._failed and (pairs := self._parts()):
            self._awaited = False
            if not _near_end(self._document):
                self._lock(part for _, part in pairs)

    def _parts(self) -> list[tuple[int, int]]:
        """The first split of each segment since the command was given: the segment, and its new part."""
        found: dict[int, int] = {}
        for event in self._document.summary.events_between(self._frame, _newest(self._document)):
            if event.kind is Kind.SPLIT and event.ids[0] in self._ids:
                found.setdefault(event.ids[0], event.ids[1])
        return list(found.items())


class _Lock(_ModelCommand):
    def __init__(self, document: Document, ids: Iterable[int], locked: bool) -> None:
        # Those that are locked already stay so when this is undone.
        changed = tuple(id for id in ids if (id in document.pending.locked) != locked)
        super().__init__(document, f"{'Lock' if locked else 'Unlock'} {segments_text(changed)}", changed)
        self._locked = locked
        self.setObsolete(not changed)

    def _do(self) -> None:
        self._set(self._locked)

    def _take_back(self) -> None:
        self._set(not self._locked)

    def _set(self, locked: bool) -> None:
        if self._ids:
            self._send(Edit("lock" if locked else "unlock", self._ids))


# --- what commands go by


def segments_text(ids: Iterable[int]) -> str:
    """Segments in words.

    >>> segments_text([3]), segments_text([5, 3]), segments_text(range(9))
    ('segment 3', 'segments 3 and 5', '9 segments')
    """
    ordered = sorted(ids)
    if len(ordered) == 1:
        return f"segment {ordered[0]}"
    if not ordered or len(ordered) > 4:
        return f"{len(ordered)} segments"
    return f"segments {', '.join(map(str, ordered[:-1]))} and {ordered[-1]}"


def _listed(pairs: Sequence[tuple[int, int]]) -> str:
    parts = "; ".join(f"{whole} and {part}" for whole, part in pairs)
    return f"{parts} are"


def _near_end(document: Document) -> bool:
    """Whether what is asked for now comes too late: the frame after the newest may be on its way."""
    length = None if document.facts is None else document.facts.length
    return not can_edit(document) or (length is not None and _newest(document) + 2 >= length)


def _newest(document: Document) -> int:
    return document.summary.frames[-1] if len(document.summary) else -1
