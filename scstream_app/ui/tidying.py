"""Deleting sessions of the library that nobody has saved: those that are old, or all when a person wants it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from scstream_app.library import Library
from scstream_app.ui.chores import Chores
from scstream_app.ui.questions import confirm

_DELETING, _COUNTING = "Deleting sessions that nobody has saved", "Looking for sessions that nobody has saved"


class Tidying(QObject):
    """``done`` comes when sessions have gone; ``said`` carries a line for people, and whether it is an error.

    Parameters
    ----------
    library : callable
        Gives the library at present.
    """

    done = Signal()
    said = Signal(str, str)

    def __init__(self, library: Callable[[], Library], chores: Chores, window: QWidget) -> None:
        super().__init__(window)
        self._library, self._chores, self._window = library, chores, window

    def clear_old(self, days: float) -> None:
        """Delete those that nobody has touched for so many days, without a word."""
        self._chores.do(partial(self._library().clear, days), lambda _count: self.done.emit(), what=_DELETING)

    def ask(self) -> None:
        """Delete all of them, if a person agrees when it is known how many there are."""
        library = self._library()
        self._chores.do(lambda: len(list(library.forgotten())), self._ask_to_clear, what=_COUNTING)

    def _ask_to_clear(self, count: int) -> None:
        question = f"Delete {_unsaved(count)} and what was marked there? The one that is open stays."
        if not count:
            self.said.emit("There are no unsaved sessions to delete.", "notice")
        elif confirm(self._window, question, "Delete"):
            self._chores.do(self._library().clear, self._tell, what=_DELETING)

    def _tell(self, count: int) -> None:
        self.said.emit(f"{_unsaved(count)} deleted.", "notice")
        self.done.emit()


def _unsaved(count: int) -> str:
    return "1 unsaved session" if count == 1 else f"{count} unsaved sessions"
