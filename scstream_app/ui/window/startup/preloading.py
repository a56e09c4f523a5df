"""Loads the engine while the user chooses what to open."""

from __future__ import annotations

import logging
import threading

from PySide6.QtCore import QObject, QTimer, Slot

#: Milliseconds for the window to appear first.
_DELAY = 300


class EnginePreloader(QObject):
    """Imports the engine on a thread soon after the start, and compiles it if that was never done.

    A clip that is opened meanwhile waits for what is left.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # A daemon: nothing can interrupt the compiler, and the program must be able to end.
        self._thread = threading.Thread(target=_load, name="engine preloader", daemon=True)
        QTimer.singleShot(_DELAY, self, self._start)

    @Slot()
    def _start(self) -> None:
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether the engine is being loaded."""
        return self._thread.is_alive()


def _load() -> None:
    try:
        # Takes seconds to import.
        import scstream

        scstream.warm_up()
    except Exception:
        # Whoever needs the engine meets the error again, and says so.
        logging.getLogger(__name__).exception("The engine was not loaded in advance")
