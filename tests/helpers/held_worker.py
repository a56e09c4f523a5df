"""A worker in the midst of a clip, however slow or fast the machine is."""

from __future__ import annotations

from time import sleep

from PySide6.QtCore import Qt

from scstream_app.session import FrameRecord
from scstream_app.ui.document.workers.segmentation_worker import SegmentationWorker


class Holding:
    """Blocks a worker after a number of frames, until it is released, paused or cancelled."""

    def __init__(self, worker: SegmentationWorker, frames: int) -> None:
        self._worker, self._frames, self._over = worker, frames, False
        pause = worker.pause

        def release_and_pause(paused: bool) -> None:
            # A pause that ends at once would be missed by a look at the worker now and then.
            self._over = self._over or paused
            pause(paused)

        worker.pause = release_and_pause
        # A bound method would be forgotten along with this object; a lambda keeps both.
        worker.noted.connect(lambda record: self._wait(record), Qt.ConnectionType.DirectConnection)

    def release(self) -> None:
        """Let the worker go on, for good."""
        self._over = True

    def _wait(self, record: FrameRecord) -> None:
        if record.index + 1 < self._frames:
            return
        while not (self._over or self._worker.cancelled):
            sleep(0.002)
        self._over = True


def pause_after_each(worker: SegmentationWorker) -> None:
    """Pause the worker after every frame."""
    worker.noted.connect(lambda _record: worker.pause(True), Qt.ConnectionType.DirectConnection)
