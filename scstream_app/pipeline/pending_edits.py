"""Edits that the user asked for and the run has not applied yet."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from scstream_app.pipeline.edits import Edit
from scstream_app.settings import Settings


@dataclass(frozen=True, slots=True)
class ModelState:
    """The settings of a model, its locked segments, and whether the user merged or split any."""

    settings: Settings
    locked: frozenset[int] = frozenset()
    shaped: frozenset[str] = frozenset()

    def after(self, edits: Iterable[Edit]) -> ModelState:
        """Return the state after some edits.

        >>> ModelState(Settings()).after([Edit("lock", (1, 2)), Edit("unlock", (2,))]).locked
        frozenset({1})
        >>> ModelState(Settings()).after([Edit("lock", (1, 2)), Edit("merge", (1, 2))]).shaped
        frozenset({'merge'})
        """
        settings, locked, shaped = self.settings, self.locked, self.shaped
        for edit in edits:
            settings = replace(settings, **edit.values)
            if edit.kind == "lock":
                locked |= set(edit.ids)
            elif edit.kind == "unlock":
                locked -= set(edit.ids)
            elif edit.kind in ("merge", "split"):
                shaped |= {edit.kind}
        return ModelState(settings, locked, shaped)


@dataclass(slots=True)
class AbandonedEdits:
    """A session that was closed, and the edits that were pending then.

    Attributes
    ----------
    path : Path
        Path of the session.
    address : str
        Address of its source.
    name : str
        Name of the source, for messages.
    edits : list of Edit
    """

    path: Path
    address: str
    name: str
    edits: list[Edit]

    def describe(self) -> str:
        """Describe that the edits are dropped."""
        return f"Pending changes in '{self.name}' ({kinds_text(self.edits)}) were not applied because it was closed."


@dataclass(slots=True)
class _Entry:
    edit: Edit
    by_user: bool = True
    taken: bool = False


class PendingEdits:
    """The queue of edits between the window, which adds and withdraws, and the worker, which takes and settles.

    All methods may be called from any thread. An edit stays in the queue until the run has made or refused it, so
    that a cancelled frame loses none. When a session closes, its edits are kept: they are queued again if the same
    session opens next, otherwise they are dropped, and `start` returns them.

    Parameters
    ----------
    settings : Settings
        Settings of the model before `set_model` is called.

    Examples
    --------
    >>> pending = PendingEdits(Settings())
    >>> pending.add(Edit("lock", (3,)))
    >>> pending.take() == pending.take() == (Edit("lock", (3,)),)
    True
    >>> pending.add(Edit("lock", (5,)))
    >>> pending.locked
    frozenset({3, 5})
    >>> pending.withdraw(Edit("lock", (5,))), pending.withdraw(Edit("lock", (3,)))
    (True, False)
    >>> pending.settle([Edit("lock", (3,))])
    >>> pending.take(), pending.locked
    ((), frozenset({3}))
    """

    def __init__(self, settings: Settings) -> None:
        self._lock = threading.Lock()
        self._model = ModelState(settings)
        self._entries: list[_Entry] = []
        self._abandoned: AbandonedEdits | None = None
        #: Edits queued again for a session that is not open yet.
        self._requeued: AbandonedEdits | None = None
        self._expected = self._model

    # --- the window

    @property
    def expected(self) -> ModelState:
        """The state of the model after all edits of the user are made."""
        return self._expected

    @property
    def locked(self) -> frozenset[int]:
        """Ids of the segments that are locked after all edits are made."""
        return self.expected.locked

    @property
    def shaped(self) -> frozenset[str]:
        """Which of "merge" and "split" the user has asked for."""
        return self.expected.shaped

    def add(self, edit: Edit, by_user: bool = True) -> None:
        """Queue an edit; `expected` ignores edits that the program makes on its own."""
        with self._lock:
            self._entries.append(_Entry(edit, by_user))
            self._expect()

    def withdraw(self, edit: Edit) -> bool:
        """Remove an edit, the last one of equal ones; return False if the run has taken it already."""
        with self._lock:
            for entry in reversed(self._entries):
                if entry.edit == edit and not entry.taken:
                    # By identity: equal entries may be in the queue.
                    self._entries = [other for other in self._entries if other is not entry]
                    self._expect()
                    return True
            return False

    def clear(self) -> list[Edit]:
        """Drop all edits because no frame follows; return those of the user."""
        with self._lock:
            entries, self._entries = self._entries, []
            self._expect()
            return [entry.edit for entry in entries if entry.by_user]

    def close(self, settings: Settings) -> None:
        """Drop all edits, and forget the model; keep edits of a session that was about to open again."""
        with self._lock:
            if self._requeued is not None:
                self._abandoned, self._requeued = self._requeued, None
            self._entries, self._model = [], ModelState(settings)
            self._expect()

    def close_session(self, settings: Settings, path: Path, address: str, name: str) -> None:
        """Close, but keep the user's edits in case the same session opens next; see `AbandonedEdits`."""
        with self._lock:
            edits = [entry.edit for entry in self._entries if entry.by_user]
            if edits:
                self._abandoned = AbandonedEdits(path, address, name, edits)
            self._entries, self._model = [], ModelState(settings)
            self._requeued = None
            self._expect()

    def start(self, path: Path, address: str | None = None, moved: bool = False) -> AbandonedEdits | None:
        """Prepare for the next run; return edits of another clip, which are dropped now.

        Edits of the session at ``path`` are queued again, and can be withdrawn until the run takes them. Edits are
        dropped without notice if their source starts anew, because the user wants that.

        Parameters
        ----------
        path : Path
            Path of the session.
        address : str, optional
            Address of the source for a new session; None: the session exists.
        moved : bool
            Whether it is the session of the run before, which was not closed but moved.
        """
        with self._lock:
            abandoned, self._abandoned = self._abandoned, None
            if not moved:
                self._entries, self._model = [], ModelState(self._model.settings)
            same = abandoned is not None and address is None and path == abandoned.path
            self._requeued = abandoned if same else None
            if abandoned is not None and same:
                self._entries = [_Entry(edit) for edit in abandoned.edits]
            for entry in self._entries:
                entry.taken = False
            self._expect()
            anew = abandoned is not None and address == abandoned.address
            return None if abandoned is None or same or anew or not abandoned.edits else abandoned

    # --- the worker

    def set_model(self, model: ModelState) -> None:
        """Set the state of the model at the start of a run."""
        with self._lock:
            self._model, self._requeued = model, None
            self._expect()

    def take(self) -> tuple[Edit, ...]:
        """Return all edits, the earliest first; they stay in the queue but can no longer be withdrawn."""
        with self._lock:
            for entry in self._entries:
                entry.taken = True
            return tuple(entry.edit for entry in self._entries)

    def settle(self, edits: Iterable[Edit]) -> None:
        """Remove edits that the run has made."""
        with self._lock:
            for edit in edits:
                entry = self._remove(edit)
                if entry is not None and entry.by_user:
                    self._model = self._model.after([edit])
            self._expect()

    def discard(self, edit: Edit) -> bool:
        """Remove an edit that the model refused; return whether it is one of the user's."""
        with self._lock:
            entry = self._remove(edit)
            self._expect()
            return entry is not None and entry.by_user

    def _expect(self) -> None:
        """Update `expected`, which panels read for every row of a table."""
        self._expected = self._model.after(entry.edit for entry in self._entries if entry.by_user)

    def _remove(self, edit: Edit) -> _Entry | None:
        """Remove the first of equal edits, or else of those of the session that was just closed."""
        for place, entry in enumerate(self._entries):
            if entry.edit == edit:
                return self._entries.pop(place)
        if self._abandoned is not None and edit in self._abandoned.edits:
            self._abandoned.edits.remove(edit)
        return None


def kinds_text(edits: Iterable[Edit]) -> str:
    """Describe edits by their kinds.

    >>> kinds_text([Edit("lock", (1,)), Edit("merge", (2, 3)), Edit("lock", (4,))])
    'lock, merge'
    """
    return ", ".join(dict.fromkeys(edit.kind for edit in edits))
