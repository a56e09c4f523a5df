"""Video sources: video files and network streams."""

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

from scstream_app.addresses import public_address
from scstream_app.errors import SourceError, reason
from scstream_app.sources.base import DamagedFrame, Frame, Source, check_seekable
from scstream_app.sources.containers import network_reason, open_file, open_url, video_stream
from scstream_app.sources.decoder import Interrupted, MissingPicture
from scstream_app.sources.rgb_conversion import RgbConverter
from scstream_app.sources.seeking_decoder import Opened, SeekingDecoder, Step

#: Frame rate of a file that states none or an impossible one.
USUAL_RATE = 25.0
_HIGHEST_RATE = 1000.0
# Seconds that `close` waits for a `read` in another thread; a stream that sends nothing can block longer.
_CLOSING = 2.0
# Containers often state a few frames too many: up to this number, or one in this many, is tolerated.
_TOLERATED, _TOLERATED_SHARE = 8, 20


class Video(Source):
    """Any video that FFmpeg reads, in presentation order, rotated according to its metadata.

    Frame 0 is the first one that can be decoded. Every later frame of the file has an index, whether it can be decoded
    or not, as long as presentation times give the order. If they do not (raw H.264, some AVI), frames are counted, and
    every backward seek decodes from the start. Frames that the encoder dropped on purpose are skipped. A truncated file
    ends with its last whole frame; a file that is changed while it is read raises `SourceError`. A picture whose damage
    the decoder conceals is returned as it is.

    If presentation times are missing, frames are 1 / rate apart; a time that does not increase is replaced by that of
    the frame before plus 1 / rate. ``length`` is the number stated by the file until `count` is called or the end is
    reached.
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
        self._decoder = self._start_decoder(container, stream)
        self._begin = self._first_picture()

    @abstractmethod
    def _open(self) -> InputContainer:
        """Open the file or stream from its beginning."""

    def _is_live(self, duration: float | None) -> bool:
        return False

    def _check_whole(self, frames: int | None = None) -> None:
        """Raise `SourceError` if the file or stream has changed since it was opened.

        At the end, ``frames`` is the number of frames read.
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

    def _start_decoder(self, container: InputContainer, stream: VideoStream) -> SeekingDecoder:
        """Create the decoder; it starts with the container that is already open."""
        ready = [(container, stream)]
        try:
            return SeekingDecoder(lambda: ready.pop() if ready else self._opened(), self.live, self._check)
        except (av.error.FFmpegError, OSError) as error:
            raise SourceError(f"Cannot open '{self._shown}': {network_reason(error)}.") from error

    def _first_picture(self) -> int | None:
        first = self._decoder.first
        try:
            if first is not None:
                self.height, self.width = self._converter.rgb(first).shape[:2]
                return first.pts
        except av.error.FFmpegError as error:
            raise SourceError(f"Cannot open '{self._shown}': {reason(error)}.") from error
        raise SourceError(f"Cannot open '{self._shown}': it contains no frame that can be decoded.")

    # --- reading ----------------------------------------------------------------------------------------------

    def read(self) -> Frame | None:
        """See `Source`."""
        with self._lock:
            self._interrupted.clear()
            try:
                return self._next_frame()
            except Interrupted:
                return None
            finally:
                if self._closed:
                    self._decoder.close()

    def _next_frame(self) -> Frame | None:
        while not self._closed:
            step = self._step()
            if step is None:
                self._note_end()
                return None
            frame = self._frame_at(*step)
            if frame is not None:
                return frame
        return None

    def _step(self) -> Step | None:
        try:
            return self._decoder.next()
        except (av.error.FFmpegError, OSError) as error:
            raise SourceError(
                f"Cannot read '{self._shown}' after {self._latest[0] + 1} frames: {network_reason(error)}."
            ) from error

    def _frame_at(self, place: int, item: VideoFrame | MissingPicture) -> Frame | None:
        """The frame of a decoded picture; None before the seek target and for a frame without a picture."""
        time = self._time(place, item)
        self._latest = place, time
        if place < self._target:
            return None
        self._target = place + 1
        if isinstance(item, MissingPicture):
            if item.reason:
                raise self._damaged(place, item.reason)
            return None
        try:
            return Frame(place, time, self._converter.rgb(item))
        except av.error.FFmpegError as error:
            raise self._damaged(place, reason(error)) from error

    def _damaged(self, place: int, why: str) -> DamagedFrame:
        self._check_whole()
        return DamagedFrame(f"Cannot read frame {place} of '{self._shown}': {why}. The frame is damaged.", place)

    def _time(self, place: int, item: VideoFrame | MissingPicture) -> float:
        before, earliest = self._latest
        if isinstance(item, MissingPicture):
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
        """See `Source`. The next `read` does the work."""
        check_seekable(self, index)
        with self._lock:
            self._target = index
            self._decoder.seek(index)

    def count(self) -> int | None:
        """See `Source`; also None after `interrupt`."""
        with self._lock:
            self._interrupted.clear()
            if not self._counted and not self.live and not self._closed:
                try:
                    length = self._decoder.length()
                except Interrupted:
                    return None
                self.length, self._counted = length or self.length, length is not None
            return self.length if self._counted else None

    def interrupt(self) -> None:
        """See `Source`. Takes effect between two packets; a server that sends nothing can delay it by 10 seconds."""
        self._interrupted.set()

    def _check(self) -> None:
        if self._interrupted.is_set() or self._closed:
            raise Interrupted

    def close(self) -> None:
        """See `Source`. If a `read` in another thread blocks, that `read` closes the file when it returns."""
        self._closed = True
        if self._lock.acquire(timeout=_CLOSING):
            self._decoder.close()
            self._lock.release()


class VideoFile(Video):
    """A video file. See `Video`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file_state = _file_state(path)
        super().__init__(path.name, str(path.absolute()), str(path))

    def _open(self) -> InputContainer:
        try:
            return open_file(self.path)
        except SourceError:
            self._check_whole()
            raise

    def _check_whole(self, frames: int | None = None) -> None:
        now = _file_state(self.path)
        # A file that was deleted can still be read to its end.
        deleted = now is None and frames is not None and self._promise is not None and frames >= self._promise
        if now != self._file_state and not deleted:
            what = "deleted" if now is None else "changed"
            raise SourceError(f"Cannot read '{self._shown}' after {self._latest[0] + 1} frames: the file was {what}.")


class VideoUrl(Video):
    """A video at a network address; live if it states no duration. See `Video`.

    A live one returns every frame, however late; `LiveStream` returns the newest one.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        name = unquote(parts.path.rpartition("/")[2]) or parts.hostname or parts.scheme
        super().__init__(name, url, public_address(url))

    def _open(self) -> InputContainer:
        return open_url(self.address)

    def _check_whole(self, frames: int | None = None) -> None:
        if frames is not None and self._promise is not None and clearly_short(frames, self._promise):
            raise SourceError(
                f"Cannot read '{self._shown}' after {frames} of {self._promise} frames: the connection was closed."
            )

    def _is_live(self, duration: float | None) -> bool:
        return duration is None


def clearly_short(frames: int, promised: int) -> bool:
    """Whether fewer frames were read than promised, beyond the usual inaccuracy of containers.

    >>> clearly_short(95, 100), clearly_short(91, 100), clearly_short(950, 1000), clearly_short(940, 1000)
    (False, True, False, True)
    """
    return promised - frames > max(_TOLERATED, promised // _TOLERATED_SHARE)


def _file_state(path: Path) -> tuple[int, int] | None:
    """Size and modification time, which identify the state of a file; None if it cannot be accessed."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _promised(stream: VideoStream, duration: float | None, rate: float) -> int | None:
    """Number of frames that the file states, if it fits its duration: it may include frames removed by an edit list."""
    fits = duration is None or abs(stream.frames - duration * rate) < 1.0
    return stream.frames if stream.frames and fits else None


def _duration(container: InputContainer, stream: VideoStream) -> float | None:
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return container.duration / av.time_base if container.duration else None
