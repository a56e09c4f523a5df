"""A worker in the midst of a clip, however slow or fast the machine is."""

from __future__ import annotations

from time import sleep

from PySide6.QtCore import Qt

from scstream_app.session import FrameRecord
from scstream_app.ui.document.workers.segmentation_worker import SegmentationWorker


class Holding:
    """Blocks a worker after a number of frames, until it is paused or cancelled."""

    def __init__(self, worker: SegmentationWorker, frames: int) -> None:
        self._worker, self._frames, self._over = worker, frames, False
        worker.noted.connect(self._wait, Qt.ConnectionType.DirectConnection)

    def _wait(self, record: FrameRecord) -> None:
        if self._over or record.index + 1 < self._frames:
            return
        while not (self._worker.paused or self._worker.cancelled):
            sleep(0.002)
        self._over = True


def pause_after_each(worker: SegmentationWorker) -> None:
    """Pause the worker after every frame."""
    worker.noted.connect(lambda _record: worker.pause(True), Qt.ConnectionType.DirectConnection)
