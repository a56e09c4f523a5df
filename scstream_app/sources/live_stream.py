"""A network stream without end, read by a thread of its own: a slow reader gets the newest frame, not a stale one."""

from __future__ import annotations

from threading import Thread

from scstream_app.sources.base import DamagedFrame, Source
from scstream_app.sources.newest_frame import LiveSource

# Seconds that closing waits for the thread, which a silent stream can hold up for longer.
_CLOSING = 1.0


class LiveStream(LiveSource):
    """The newest frame of a live source that would otherwise give one after another, late and ever later.

    Times are those of the stream. Damaged frames are passed over.

    Parameters
    ----------
    stream : the source; it belongs to this one from now on.
    """

    _remedy = "Is its sender still there?"

    def __init__(self, stream: Source) -> None:
        super().__init__()
        self.name, self.address, self.rate = stream.name, stream.address, stream.rate
        self.width, self.height = stream.width, stream.height
        self._stream = stream
        self._thread = Thread(target=self._grab, name="scstream-stream", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """See `Source`. A stream that is silent is left to the thread that waits for it."""
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
            # Whatever a decoder raises: the reader has to hear of it.
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
