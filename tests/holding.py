"""A worker in the midst of a clip, however slow or fast the machine is."""

from __future__ import annotations

from threading import Event

from PySide6.QtCore import Qt

from scstream_app.session import FrameRecord
from scstream_app.ui.worker import Worker


class Holding:
    """Keeps a worker from going on after so many frames, until it is let go, paused, or told to stop."""

    def __init__(self, worker: Worker, frames: int) -> None:
        self._worker, self._frames, self._go = worker, frames, Event()
        worker.noted.connect(self._wait, Qt.ConnectionType.DirectConnection)

    def let_go(self) -> None:
        """It goes on to the end."""
        self._go.set()

    def _wait(self, record: FrameRecord) -> None:
        if record.index + 1 < self._frames:
            return
        while not (self._go.wait(0.002) or self._worker.paused or self._worker._cancel.is_set()):
            pass
        self._go.set()


def pause_after_each(worker: Worker) -> None:
    """Have it wait after every frame until somebody has it go on."""
    worker.noted.connect(lambda _record: worker.pause(True), Qt.ConnectionType.DirectConnection)
