"""Deletion of unsaved sessions: automatically when they are old, or by the user."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.plural import counted
from scstream_app.session import PICTURES
from scstream_app.session.library import Library, discard
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.qt.threads.job_queue import JobQueue

_DELETING, _COUNTING = "Deleting unsaved sessions", "Looking for unsaved sessions"


class Cleanup(QObject):
    """Deletes unsaved sessions on a background thread.

    ``done`` is emitted after a deletion; ``message`` carries a text for the user and its kind, "error" or "notice".

    Parameters
    ----------
    library : callable
        Returns the current library.
    """

    done = Signal()
    message = Signal(str, str)

    def __init__(self, library: Callable[[], Library], jobs: JobQueue, window: QWidget) -> None:
        super().__init__(window)
        self._library, self._jobs, self._window = library, jobs, window

    def clear_old(self, days: float) -> None:
        """Delete unsaved sessions that were not changed for this many days."""
        self._jobs.do(partial(self._library().delete_stale, days), lambda _count: self.done.emit(), what=_DELETING)

    def ask(self) -> None:
        """Delete all unsaved sessions except recordings after the user confirms their number."""
        library = self._library()
        self._jobs.do(lambda: len(list(library.stale_sessions())), self._ask_to_clear, what=_COUNTING)

    def _ask_to_clear(self, count: int) -> None:
        question = (
            f"Delete {counted(count, 'unsaved session')} with all marks? The open session and recordings are kept."
        )
        if not count:
            self.message.emit(
                "There are no unsaved sessions to delete. Recordings are only deleted one by one.", "notice"
            )
        elif confirm(self._window, question, "Delete"):
            self._jobs.do(self._library().delete_stale, self._report, what=_DELETING)

    @Slot(str, str)
    def ask_about(self, path: str, description: str) -> None:
        """Delete one unsaved session after the user confirms; ``description`` is its list entry, clip name first."""
        session = Path(path)
        asking = partial(self._ask_to_delete, session, description)
        self._jobs.do((session / PICTURES).exists, asking, what=_COUNTING)

    def _ask_to_delete(self, path: Path, description: str, recorded: bool) -> None:
        name, _, more = description.partition("\n")
        which = f"'{name}' ({', '.join(more.splitlines())})" if more else f"'{name}'"
        content = "its recorded pictures, which exist nowhere else" if recorded else "its marks"
        if confirm(self._window, f"Delete the unsaved session of {which} and {content}?", "Delete"):
            self._jobs.do(partial(discard, path), partial(self._report_one, name), what=_DELETING)

    def _report_one(self, name: str, gone: bool) -> None:
        if gone:
            self.message.emit(f"Deleted the unsaved session of '{name}'.", "notice")
        else:
            self.message.emit(f"Cannot delete the session of '{name}': it is open elsewhere, or was saved.", "error")
        self.done.emit()

    def _report(self, count: int) -> None:
        self.message.emit(f"Deleted {counted(count, 'unsaved session')}.", "notice")
        self.done.emit()
