"""Thread that reads the small pictures of clips for lists."""

from __future__ import annotations

import threading

from PySide6.QtCore import Signal

from scstream_app import thumbnails
from scstream_app.ui.qt.threads.background import BackgroundWorker

_STOP_MILLISECONDS = 2_000


class ThumbnailLoader(BackgroundWorker[str]):
    """Reads thumbnails one after another; ``loaded`` carries an address and its picture (H, W, 3)."""

    loaded = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("thumbnails", _STOP_MILLISECONDS)

    def load(self, address: str) -> None:
        """Read the picture of a clip or a session; ``loaded`` follows if it has one."""
        self._add(address)

    def _work(self, task: str, cancel: threading.Event) -> None:
        picture = None if cancel.is_set() else thumbnails.thumbnail(task)
        if picture is not None and not cancel.is_set():
            self.loaded.emit(task, picture)
