"""Python's searches for garbage: on the window's thread alone, and through little."""

from __future__ import annotations

import gc
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Slot

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

#: Milliseconds between searches; one is followed by a rest at least so many times as long as itself.
_INTERVAL, _REST = 1000, 1000.0
_LOADING = (State.EMPTY, State.OPENING, State.WARMING)


class GcTimer(QObject):
    """Searches for garbage now and then, and keeps Python from doing it by itself.

    Python searches on whatever thread happens to need memory. Widgets that it finds there are destroyed there, beside
    the window's thread: Qt's lock on a widget and the interpreter's lock then wait for one another, forever, if it does
    not crash. There is one for the whole program, see `start`.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._due = 0.0
        timer = QTimer(self)
        timer.timeout.connect(self._look)
        timer.start(_INTERVAL)

    @classmethod
    def start(cls, program: QObject) -> None:
        """Have it done for as long as the program's object lives."""
        gc.disable()
        if program.findChild(cls) is None:
            cls(program)

    @Slot()
    def _look(self) -> None:
        begin = monotonic()
        # While all is still being loaded, a search would hold everything up; see `spare_searches`.
        if begin >= self._due and gc.get_freeze_count():
            gc.collect()
            end = monotonic()
            self._due = end + _REST * (end - begin)


def spare_searches(document: Document) -> None:
    """Leave what has been loaded when the first clip is there out of searches for garbage.

    It stays anyway, and one search through all of it holds everything up for a tenth of a second.
    """

    def freeze() -> None:
        if document.state not in _LOADING:
            document.state_changed.disconnect(freeze)
            gc.freeze()

    document.state_changed.connect(freeze)
