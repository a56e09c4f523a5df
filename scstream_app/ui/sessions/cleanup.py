"""Deleting sessions of the library that nobody has saved: those that are old, and all or one when a person wants it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.session import PICTURES
from scstream_app.session.library import Library, discard
from scstream_app.ui.qt.confirm import confirm
from scstream_app.ui.qt.job_queue import JobQueue

_DELETING, _COUNTING = "Deleting sessions that nobody has saved", "Looking for sessions that nobody has saved"


class Cleanup(QObject):
    """``done`` comes when sessions have gone; ``message`` carries a line for people, and whether it is an error.

    Parameters
    ----------
    library : callable
        Gives the library at present.
    """

    done = Signal()
    message = Signal(str, str)

    def __init__(self, library: Callable[[], Library], chores: JobQueue, window: QWidget) -> None:
        super().__init__(window)
        self._library, self._chores, self._window = library, chores, window

    def clear_old(self, days: float) -> None:
        """Delete those that nobody has touched for so many days, without a word."""
        self._chores.do(partial(self._library().delete_stale, days), lambda _count: self.done.emit(), what=_DELETING)

    def ask(self) -> None:
        """Delete all of them, if a person agrees when it is known how many there are."""
        library = self._library()
        self._chores.do(lambda: len(list(library.stale_sessions())), self._ask_to_clear, what=_COUNTING)

    def _ask_to_clear(self, count: int) -> None:
        question = f"Delete {_unsaved(count)} and what was marked there? The one that is open stays."
        if not count:
            self.message.emit("There are no unsaved sessions to delete.", "notice")
        elif confirm(self._window, question, "Delete"):
            self._chores.do(self._library().delete_stale, self._tell, what=_DELETING)

    @Slot(str, str)
    def ask_about(self, path: str, told: str) -> None:
        """Delete one of them, if a person agrees; ``told`` says which it is, its clip in the first line."""
        session = Path(path)
        asking = partial(self._ask_to_delete, session, told)
        self._chores.do((session / PICTURES).exists, asking, what=_COUNTING)

    def _ask_to_delete(self, path: Path, told: str, recorded: bool) -> None:
        name, _, more = told.partition("\n")
        which = f"'{name}' ({', '.join(more.splitlines())})" if more else f"'{name}'"
        besides = "its pictures, which are nowhere else" if recorded else "what was marked there"
        if confirm(self._window, f"Delete the unsaved session of {which} and {besides}?", "Delete"):
            self._chores.do(partial(_delete, path), partial(self._tell_one, name), what=_DELETING)

    def _tell_one(self, name: str, gone: bool) -> None:
        if gone:
            self.message.emit(f"The unsaved session of '{name}' is deleted.", "notice")
        else:
            self.message.emit(
                f"The session of '{name}' cannot be deleted: it is open elsewhere, or was saved.", "error"
            )
        self.done.emit()

    def _tell(self, count: int) -> None:
        self.message.emit(f"{_unsaved(count)} deleted.", "notice")
        self.done.emit()


def _delete(path: Path) -> bool:
    """Delete a session; whether it is gone."""
    discard(path)
    return not path.exists()


def _unsaved(count: int) -> str:
    return "1 unsaved session" if count == 1 else f"{count} unsaved sessions"
