"""A clip that is played as if it came from a camera: its frames arrive in real time, at the clip's own rate."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from time import monotonic

from scstream_app.addresses import ONCE, REPEATED
from scstream_app.errors import SourceError
from scstream_app.sources.base import DamagedFrame, Frame, Source
from scstream_app.sources.live_source import LiveSource

# Seconds that `close` waits for the thread.
_CLOSING = 1.0


class LiveClip(LiveSource):
    """Delivers the newest frame of a clip that is playing. A slow reader misses frames, as it does with a camera.

    Times are those of the clip. They go on increasing when the clip is repeated.

    Parameters
    ----------
    clip : the source to play, which has an end; this object closes it.
    repeat : whether the clip starts again at its end; otherwise the live source ends there.
    clock : returns the current time in seconds.
    wait : waits for a number of seconds; by default it returns early when the source is closed.
    """

    _advice = "Check that its file can still be read."

    def __init__(
        self,
        clip: Source,
        repeat: bool = False,
        *,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        if clip.live:
            clip.close()
            raise SourceError(f"Cannot play '{clip.name}' as a camera: it is a live source already.")
        super().__init__()
        self.name, self.rate = clip.name, clip.rate
        self.address = f"{REPEATED if repeat else ONCE}{clip.address}"
        self.width, self.height = clip.width, clip.height
        self._clip, self._repeat = clip, repeat
        self._clock, self._wait = clock, wait or self._wait_for_close
        self._thread = Thread(target=self._play, name="scstream-live-clip", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """See `Source`. If the clip blocks the thread, the thread closes the clip when it returns."""
        self._slot.close()
        self._clip.interrupt()
        self._thread.join(_CLOSING)
        if not self._thread.is_alive():
            self._clip.close()

    # --- called by the thread

    def _play(self) -> None:
        failure: Exception | None = None
        try:
            self._play_all()
        except Exception as error:
            # A decoder may raise anything; `read` raises it in the reader's thread.
            failure = error
        self._slot.end(failure)
        if self._slot.closed:
            self._clip.close()

    def _play_all(self) -> None:
        start, offset = self._clock(), 0.0
        while (end := self._play_once(start, offset)) is not None and self._repeat:
            self._clip.seek(0)
            offset = end

    def _play_once(self, start: float, offset: float) -> float | None:
        """Play the clip; return the time at which it ends, or None if it has no frames or the source is closed."""
        end = None
        while not self._slot.closed:
            try:
                frame = self._clip.read()
            except DamagedFrame:
                continue
            if frame is None:
                return None if self._slot.closed else end
            self._deliver(frame, start, offset)
            end = offset + frame.time + 1.0 / self.rate
        return None

    def _deliver(self, frame: Frame, start: float, offset: float) -> None:
        time = offset + frame.time
        rest = start + time - self._clock()
        if rest > 0.0:
            self._wait(rest)
        if not self._slot.closed:
            self._slot.put(time, frame.rgb)

    def _wait_for_close(self, seconds: float) -> None:
        with self._slot.changed:
            self._slot.changed.wait_for(lambda: self._slot.closed, seconds)
