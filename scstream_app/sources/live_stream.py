"""Live network stream, read by a separate thread so that a slow reader gets the newest frame, not a stale one."""

from __future__ import annotations

from threading import Thread

from scstream_app.sources.base import DamagedFrame, Source
from scstream_app.sources.live_source import LiveSource

# Seconds that `close` waits for the thread; a stream that sends nothing can block the thread for longer.
_CLOSING = 1.0


class LiveStream(LiveSource):
    """Delivers the newest frame of a live stream. Reading every frame in order would lag further and further behind.

    Times are those of the stream. Damaged frames are skipped.

    Parameters
    ----------
    stream : the source to read; this object closes it.
    """

    _advice = "Check that the sender is still running."

    def __init__(self, stream: Source) -> None:
        super().__init__()
        self.name, self.address, self.rate = stream.name, stream.address, stream.rate
        self.width, self.height = stream.width, stream.height
        self._stream = stream
        self._thread = Thread(target=self._grab, name="scstream-stream", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """See `Source`. If the stream blocks the thread, the thread closes the stream when it returns."""
        self._slot.close()
        self._stream.interrupt()
        self._thread.join(_CLOSING)
        if not self._thread.is_alive():
            self._stream.close()

    def _grab(self) -> None:
        failure: Exception | None = None
        try:
            while not self._slot.closed and self._grab_one():
                pass
        except Exception as error:
            # A decoder may raise anything; `read` raises it in the reader's thread.
            failure = error
        self._slot.end(failure)
        if self._slot.closed:
            self._stream.close()

    def _grab_one(self) -> bool:
        try:
            frame = self._stream.read()
        except DamagedFrame:
            return True
        if frame is not None:
            self._slot.put(frame.time, frame.rgb)
        return frame is not None
