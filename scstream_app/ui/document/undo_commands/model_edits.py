"""Undo commands for merging, splitting and locking segments, which take effect on the next frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from PySide6.QtGui import QUndoCommand

from scstream.sampler.genealogy import Kind
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.ui.document.action_availability import can_edit
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.text import segments_text
from scstream_app.ui.qt.abstract_qt import AbstractQtMeta


def merge(document: Document, ids: Iterable[int]) -> str:
    """Merge segments and lock the result; return a text that describes what will happen."""
    command = _Merge(document, ids)
    document.undo.push(command)
    return command.effect


def split(document: Document, ids: Iterable[int]) -> str:
    """Split each segment into its sub-clusters and lock the parts; return a text that describes what will happen."""
    command = _Split(document, ids)
    document.undo.push(command)
    return command.effect


def set_locked(document: Document, ids: Iterable[int], locked: bool) -> None:
    """Lock or unlock segments: the model neither merges nor splits locked ones."""
    document.undo.push(_Lock(document, ids, locked))


def note_failed(document: Document, edit: Edit) -> None:
    """Note that the model refused an edit: release its locks, and have nothing to undo."""
    for place in reversed(range(document.undo.index())):
        command = document.undo.command(place)
        if isinstance(command, ModelEditCommand) and command.sent == edit:
            command.fail()
            return


def keep_split(document: Document) -> None:
    """Lock the new parts of splits by hand, whose ids are known only after the next frame."""
    for place in range(document.undo.index()):
        command = document.undo.command(place)
        if isinstance(command, _Split):
            command.lock_parts()


class ModelEditCommand(QUndoCommand, metaclass=AbstractQtMeta):
    """An edit of the model.

    Undoing withdraws an edit that is still pending. An edit that has reached the model stays: undoing it is a second
    edit, on a later frame.

    Attributes
    ----------
    sent : Edit or None
        The edit; None if it was not sent.
    effect : str
        Describes what the edit will do; empty if it was not sent.
    """

    # The segments ``_ids`` are followed from the frame ``_frame``, on which they were ``_there``.

    def __init__(self, document: Document, text: str, ids: Iterable[int]) -> None:
        super().__init__(text)
        self._document, self._ids = document, tuple(sorted(ids))
        self._frame, self._there = _newest(document), frozenset(self._ids)
        self._locks: list[Edit] = []
        self._failed = False
        self.sent: Edit | None = None
        self.effect = ""

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
            self._note(f"'{self.text()}' is undone; it had not reached the model yet.")
        elif can_edit(self._document):
            self._unlock()
            self._reverse()
        else:
            self._give_up(f"All frames are segmented: '{self.text()}' cannot be undone any more.")

    @abstractmethod
    def _do(self) -> None:
        """Send the edit."""

    @abstractmethod
    def _reverse(self) -> None:
        """Send the edit that comes closest to undoing one that was made, and describe it in a notice."""

    def forget_before(self, index: int) -> None:
        """Follow the segments from this frame on instead of from an earlier one; see `undo_stack.RefersToFrames`."""
        if self._frame < index:
            self._there = self._document.summary.followed(self._there, self._frame, index)
            self._frame = index

    def fail(self) -> None:
        """Note that the model refused the edit."""
        self._failed = True
        self._unlock()

    def _send(self, edit: Edit) -> None:
        self._document.edit(edit)
        self.sent = edit

    def _send_locked(self, edit: Edit) -> None:
        """Send an edit and lock its segments, because the model may otherwise soon reverse it."""
        self._lock(edit.ids)
        self._send(edit)

    def _lock(self, ids: Iterable[int]) -> None:
        free = tuple(id for id in ids if id not in self._document.pending.locked)
        if free:
            self._locks.append(Edit("lock", free))
            self._document.edit(self._locks[-1])

    def _unlock(self) -> None:
        """Unlock the segments that this command locked, and no others."""
        locks, self._locks = self._locks, []
        made = [lock for lock in locks if not self._document.withdraw(lock)]
        if made:
            self._document.edit(Edit("unlock", tuple(id for lock in made for id in lock.ids)))

    def _alive(self) -> tuple[int, ...]:
        """Return what the segments have become on the newest frame, parts included."""
        return tuple(sorted(self._document.summary.followed(self._there, self._frame, _newest(self._document))))

    def _note(self, text: str) -> None:
        self._document.noticed.emit(Notice("edit", _newest(self._document), text))

    def _give_up(self, text: str) -> None:
        self.setObsolete(True)
        self._note(text)


class _Merge(ModelEditCommand):
    def __init__(self, document: Document, ids: Iterable[int]) -> None:
        chosen = tuple(ids)
        super().__init__(document, f"Merge {segments_text(chosen)} (undone by a split)", chosen)

    def _do(self) -> None:
        parts = self._alive()
        if len(parts) < 2:
            self._give_up(f"There is nothing left to merge of {segments_text(self._ids)}.")
        else:
            self._send_locked(Edit("merge", parts))
            self.effect = f"{segments_text(parts).capitalize()} become one from the next frame on, and stay locked."

    def _reverse(self) -> None:
        parts = self._alive()
        if not parts:
            self._give_up(f"The merge of {segments_text(self._ids)} cannot be undone: the segment is no longer there.")
            return
        whole = max(parts, key=self._size)
        self._document.edit(Edit("split", (whole,)))
        more = ", and into two parts only" if len(self._ids) > 2 else ""
        self._note(f"A merge cannot be reversed: segment {whole} is split instead; one part gets a new id{more}.")

    def _size(self, id: int) -> int:
        shown = self._document.display.shown
        rows = None if shown is None else shown.result.statistics
        return 0 if rows is None else int(rows["pixels"][rows["id"] == id].sum())


class _Split(ModelEditCommand):
    def __init__(self, document: Document, ids: Iterable[int]) -> None:
        chosen = tuple(ids)
        super().__init__(document, f"Split {segments_text(chosen)} (undone by a merge)", chosen)
        self._awaited = self._forgotten = False

    def forget_before(self, index: int) -> None:
        # Otherwise a later split would be taken for this one.
        if self._frame < index:
            self._awaited, self._forgotten = False, True
        super().forget_before(index)

    def _do(self) -> None:
        parts = tuple(id for id in self._ids if id in self._alive())
        if not parts:
            self._give_up(f"There is nothing left to split of {segments_text(self._ids)}.")
        else:
            self._frame, self._there = _newest(self._document), frozenset(parts)
            self._awaited, self._forgotten = True, False
            self._send_locked(Edit("split", parts))
            verbs = ("is", "stays") if len(parts) == 1 else ("are", "stay")
            self.effect = (
                f"{segments_text(parts).capitalize()} {verbs[0]} split from the next frame on, and {verbs[1]} locked."
            )

    def _reverse(self) -> None:
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
        self._note(f"A split cannot be reversed: {_pairs_text(pairs)} are merged instead, from the next frame on.")

    def lock_parts(self) -> None:
        """Lock the new parts as well, once, when they exist."""
        if self._awaited and not self._failed and (pairs := self._parts()):
            self._awaited = False
            if not near_end(self._document):
                self._lock(part for _, part in pairs)

    def _parts(self) -> list[tuple[int, int]]:
        """Return the first split of each segment since the command was given: the segment, and its new part."""
        found: dict[int, int] = {}
        for event in self._document.summary.events_between(self._frame, _newest(self._document)):
            if event.kind is Kind.SPLIT and event.ids[0] in self._ids:
                found.setdefault(event.ids[0], event.ids[1])
        return list(found.items())


class _Lock(ModelEditCommand):
    def __init__(self, document: Document, ids: Iterable[int], locked: bool) -> None:
        # Undoing leaves segments as they are that were locked before.
        changed = tuple(id for id in ids if (id in document.pending.locked) != locked)
        super().__init__(document, f"{'Lock' if locked else 'Unlock'} {segments_text(changed)}", changed)
        self._locked = locked
        self.setObsolete(not changed)

    def _do(self) -> None:
        self._set(self._locked)

    def _reverse(self) -> None:
        self._set(not self._locked)

    def _set(self, locked: bool) -> None:
        if self._ids:
            self._send(Edit("lock" if locked else "unlock", self._ids))


def _pairs_text(pairs: Sequence[tuple[int, int]]) -> str:
    return "; ".join(f"{whole} and {part}" for whole, part in pairs)


def near_end(document: Document) -> bool:
    """Return whether an edit now may come too late, because the last frame may be under way."""
    length = None if document.facts is None else document.facts.length
    return not can_edit(document) or (length is not None and _newest(document) + 2 >= length)


def _newest(document: Document) -> int:
    return document.summary.frames[-1] if len(document.summary) else -1
