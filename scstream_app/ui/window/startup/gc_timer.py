"""Garbage collection on the interface thread only, and without long pauses."""

from __future__ import annotations

import gc
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Slot

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

#: Milliseconds between collections, and the minimum pause as a multiple of the last collection's duration.
_INTERVAL, _REST = 1000, 1000.0
_LOADING = (State.EMPTY, State.OPENING, State.WARMING)


class GcTimer(QObject):
    """Timer that runs Python's garbage collector on the interface thread, instead of the automatic collection.

    Python collects on whatever thread allocates memory, and destroys widgets there. Qt's lock on a widget and the
    interpreter's lock can then deadlock, or the program crashes. There is one timer for the whole program, see `start`.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._due = 0.0
        timer = QTimer(self)
        timer.timeout.connect(self._collect)
        timer.start(_INTERVAL)

    @classmethod
    def start(cls, program: QObject) -> None:
        """Create the timer, which lives as long as the program's object."""
        gc.disable()
        if program.findChild(cls) is None:
            cls(program)

    @Slot()
    def _collect(self) -> None:
        begin = monotonic()
        # A collection while the program loads would delay it; see `freeze_loaded_objects`.
        if begin >= self._due and gc.get_freeze_count():
            gc.collect()
            end = monotonic()
            self._due = end + _REST * (end - begin)


def freeze_loaded_objects(document: Document) -> None:
    """Exclude the objects that are loaded with the first clip from garbage collection.

    They stay alive anyway, and collecting them takes a tenth of a second.
    """

    def freeze() -> None:
        if document.state not in _LOADING:
            document.state_changed.disconnect(freeze)
            gc.freeze()

    document.state_changed.connect(freeze)
