"""Video files and network streams as sources."""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from threading import Event, RLock
from urllib.parse import unquote, urlsplit

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from scstream_app.errors import SourceError, reason
from scstream_app.sources.addresses import without_password
from scstream_app.sources.base import DamagedFrame, Frame, Source, check_place
from scstream_app.sources.containers import network_reason, open_file, open_url, video_stream
from scstream_app.sources.decoder import Interrupted, Lost
from scstream_app.sources.rgb_conversion import RgbConverter
from scstream_app.sources.seeking_decoder import Opened, SeekingDecoder, Step

#: Frames a second where a file does not say, or says something impossible.
USUAL_RATE = 25.0
_HIGHEST_RATE = 1000.0
# Seconds that closing waits for a reading in another thread, which a silent stream can hold up for longer.
_CLOSING = 2.0
# So much may be missing of the frames that a container promises: so many, or one in so many.
_USUAL_LIE, _USUAL_LIE_SHARE = 8, 20


class Video(Source):
    """Anything that FFmpeg reads, in presentation order, turned upright as its metadata ask.

    Frame 0 is the first one that can be decoded. Every later frame of the file has its place, whether it can be
    decoded or not, as long as presentation times tell the order; if they do not (raw H.264, some AVI), places are
    counted and every jump backwards decodes from the start. A place that the encoder left empty is passed over.
    A file that was cut off ends with its last whole frame; reading one that is changed meanwhile fails. A picture that
    the decoder could mend is given as it is.

    Where presentation times are missing, frames are 1 / rate apart; one that does not increase is put 1 / rate after
    the frame before. ``length`` is what the file says until `count` is asked or the end is reached.
    """

    def __init__(self, name: str, address: str, shown: str) -> None:
        self.name, self.address, self._shown = name, address, shown
        self._lock = RLock()
        self._interrupted = Event()
        self._converter = RgbConverter()
        self._closed = self._counted = False
        self._target = 0
        self._latest = (-1, -1.0)
        container, stream = self._opened()
        self._describe(container, stream)
        self._playhead = self._set_out(container, stream)
        self._begin = self._first_picture()

    @abstractmethod
    def _open(self) -> InputContainer:
        """Open the file or stream from its beginning."""

    def _is_live(self, duration: float | None) -> bool:
        return False

    def _check_whole(self, frames: int | None = None) -> None:
        """Raise `SourceError` if something happened to the file or stream since it was opened.

        ``frames`` is how many there were, at the end.
        """
        return

    def _opened(self) -> Opened:
        container = self._open()
        return container, video_stream(container, self._shown)

    def _describe(self, container: InputContainer, stream: VideoStream) -> None:
        rate = float(stream.average_rate or stream.guessed_rate or stream.base_rate or 0)
        self.rate = rate if 0 < rate <= _HIGHEST_RATE else USUAL_RATE
        self._unit = float(stream.time_base or 0)
        self.duration = _duration(container, stream)
        self.live = self._is_live(self.duration)
        self.length = self._promise = None if self.live else _promised(stream, self.duration, rate)

    def _set_out(self, container: InputContainer, stream: VideoStream) -> SeekingDecoder:
        """A playhead that begins with what is open already."""
        ready = [(container, stream)]
        try:
            return SeekingDecoder(lambda: ready.pop() if ready else self._opened(), self.live, self._check)
        except (av.error.FFmpegError, OSError) as error:
            raise SourceError(f"Cannot open '{self._shown}': {network_reason(error)}.") from error

    def _first_picture(self) -> int | None:
        first = self._playhead.first
        try:
            if first is not None:
                self.height, self.width = self._converter.rgb(first).shape[:2]
                return first.pts
        except av.error.FFmpegError as error:
            raise SourceError(f"Cannot open '{self._shown}': {reason(error)}.") from error
        raise SourceError(f"Cannot open '{self._shown}': it holds no frame that can be decoded.")

    # --- reading ----------------------------------------------------------------------------------------------

    def read(self) -> Frame | None:
        """See `Source`."""
        with self._lock:
            self._interrupted.clear()
            try:
                return self._found()
            except Interrupted:
                return None
            finally:
                if self._closed:
                    self._playhead.close()

    def _found(self) -> Frame | None:
        while not self._closed:
            step = self._step()
            if step is None:
                self._note_end()
                return None
            frame = self._given(*step)
            if frame is not None:
                return frame
        return None

    def _step(self) -> Step | None:
        try:
            return self._playhead.next()
        except (av.error.FFmpegError, OSError) as error:
            raise SourceError(
                f"Cannot read '{self._shown}' after {self._latest[0] + 1} frames: {network_reason(error)}."
            ) from error

    def _given(self, place: int, item: VideoFrame | Lost) -> Frame | None:
        """The frame to hand out, if this is the one that is wanted and there is a picture."""
        time = self._time(place, item)
        self._latest = place, time
        if place < self._target:
            return None
        self._target = place + 1
        if isinstance(item, Lost):
            if item.reason:
                raise self._damaged(place, item.reason)
            return None
        try:
            return Frame(place, time, self._converter.rgb(item))
        except av.error.FFmpegError as error:
            raise self._damaged(place, reason(error)) from error

    def _damaged(self, place: int, why: str) -> DamagedFrame:
        self._check_whole()
        return DamagedFrame(f"Cannot read frame {place} of '{self._shown}': {why}. The file is damaged there.", place)

    def _time(self, place: int, item: VideoFrame | Lost) -> float:
        before, earliest = self._latest
        if isinstance(item, Lost):
            return earliest
        if item.pts is None or self._begin is None:
            time = place / self.rate
        else:
            time = (item.pts - self._begin) * self._unit
        return time if time > earliest or place != before + 1 else earliest + 1.0 / self.rate

    def _note_end(self) -> None:
        if not self.live:
            self._check_whole(self._latest[0] + 1)
            self.length, self._counted = self._latest[0] + 1, True

    # --- seeking ----------------------------------------------------------------------------------------------

    def seek(self, index: int) -> None:
        """See `Source`. The work is done when the frame is read."""
        check_place(self, index)
        with self._lock:
            self._target = index
            self._playhead.seek(index)

    def count(self) -> int | None:
        """See `Source`; None, too, when interrupted."""
        with self._lock:
            self._interrupted.clear()
            if not self._counted and not self.live and not self._closed:
                try:
                    length = self._playhead.length()
                except Interrupted:
                    return None
                self.length, self._counted = length or self.length, length is not None
            return self.length if self._counted else None

    def interrupt(self) -> None:
        """See `Source`. Heeded between two packets; a silent server can hold a packet up for 10 seconds."""
        self._interrupted.set()

    def _check(self) -> None:
        if self._interrupted.is_set() or self._closed:
            raise Interrupted

    def close(self) -> None:
        """See `Source`. If a reading in another thread holds it up, that one closes the file when it returns."""
        self._closed = True
        if self._lock.acquire(timeout=_CLOSING):
            self._playhead.close()
            self._lock.release()


class VideoFile(Video):
    """A video file. See `Video`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp = _stamp(path)
        super().__init__(path.name, str(path.absolute()), str(path))

    def _open(self) -> InputContainer:
        try:
            return open_file(self.path)
        except SourceError:
            self._check_whole()
            raise

    def _check_whole(self, frames: int | None = None) -> None:
        now = _stamp(self.path)
        # A file that was deleted can still be read to its end.
        deleted = now is None and frames is not None and self._promise is not None and frames >= self._promise
        if now != self._stamp and not deleted:
            what = "is gone" if now is None else "changed while it was being read"
            raise SourceError(f"Cannot read '{self._shown}' after {self._latest[0] + 1} frames: it {what}.")


class VideoUrl(Video):
    """A video at a network address; live if it does not say how long it is. See `Video`.

    A live one gives every frame that comes, however late; see `LiveStream` for the newest.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        name = unquote(parts.path.rpartition("/")[2]) or parts.hostname or parts.scheme
        super().__init__(name, url, without_password(url))

    def _open(self) -> InputContainer:
        return open_url(self.address)

    def _check_whole(self, frames: int | None = None) -> None:
        if frames is not None and self._promise is not None and clearly_short(frames, self._promise):
            raise SourceError(
                f"Cannot read '{self._shown}' after {frames} of {self._promise} frames: the connection ended there."
            )

    def _is_live(self, duration: float | None) -> bool:
        return duration is None


def clearly_short(frames: int, promised: int) -> bool:
    """Whether so many frames are fewer than what containers usually mean by a number.

    >>> clearly_short(95, 100), clearly_short(91, 100), clearly_short(950, 1000), clearly_short(940, 1000)
    (False, True, False, True)
    """
    return promised - frames > max(_USUAL_LIE, promised // _USUAL_LIE_SHARE)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of the last change, by which to know a file again; None if it cannot be looked at."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _promised(stream: VideoStream, duration: float | None, rate: float) -> int | None:
    """The number of frames that the file names, if it fits: it counts those, too, that an edit list takes away."""
    fits = duration is None or abs(stream.frames - duration * rate) < 1.0
    return stream.frames if stream.frames and fits else None


def _duration(container: InputContainer, stream: VideoStream) -> float | None:
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return container.duration / av.time_base if container.duration else None
