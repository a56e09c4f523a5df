"""Record a live run: a worker thread writes its pictures and ids into a session without delaying the engine."""

from __future__ import annotations

import shutil
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING

from scstream import Event
from scstream_app.errors import SessionError, SourceError
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.reader import reporting_errors
from scstream_app.session.run_writer import inherited_births
from scstream_app.session.session import Session
from scstream_app.session.storage import files
from scstream_app.session.storage.manifest import SourceFacts
from scstream_app.session.storage.marks import Names
from scstream_app.session.storage.pictures import PICTURES, PictureFile
from scstream_app.settings import Settings
from scstream_app.sources import open_source

if TYPE_CHECKING:
    from scstream import VideoSegmenter

# Limits of the queue of unwritten frames: their number and their size in bytes.
_MOST_WAITING, _MOST_BYTES = 60, 256 << 20
# Number of frames between two snapshots of the model.
_MODEL_EVERY = 50


@dataclass(frozen=True, slots=True)
class RecordingResult:
    """Outcome of a recording: its path, its frames, the dropped frames, and an error message if it failed."""

    path: Path
    frames: int
    dropped: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _QueuedFrame:
    """A frame that waits to be written, with a copy of the model if a snapshot is due."""

    result: FrameResult
    model: VideoSegmenter | None


class LiveRecorder:
    """Writes results into a new session, and their pictures into a lossless movie inside it.

    Recorded frames are numbered from 0. The recorder writes the line of a frame only after its picture is in the
    movie, so that every frame of the session has a picture even if the process is killed. If the disk is too slow,
    frames are dropped from both; their events and edits are recorded with the next frame.

    Parameters
    ----------
    path : Path
        Path of the new session.
    source : SourceFacts
        The live source.
    settings : Settings
        The settings at the first frame.
    on_end : callable
        Called with the `RecordingResult` at the end, on the recorder's thread.

    Attributes
    ----------
    frames, dropped : int
        Number of recorded frames, and of dropped ones.
    seconds : float
        Time from the first frame to the last one.
    """

    def __init__(
        self, path: Path, source: SourceFacts, settings: Settings, on_end: Callable[[RecordingResult], None]
    ) -> None:
        self.path = path
        self.dropped = 0
        self.seconds = 0.0
        self._source = replace(source, address=PICTURES, length=None, live=False)
        self._settings, self._on_end = settings, on_end
        self._indices = array("q")
        self._begin = 0.0
        self._waiting: deque[_QueuedFrame] = deque()
        self._bytes = 0
        self._changed = Condition()
        self._stopped = self._failed = False
        self._marks: tuple[Names, tuple[MarkedObject, ...]] | None = None
        self._dropped_events: list[Event] = []
        self._dropped_edits: list[Edit] = []
        self._dropped_cut = False
        self._thread = Thread(target=self._run, name="scstream-recorder", daemon=True)
        self._thread.start()

    # --- called by the live run

    @property
    def frames(self) -> int:
        """Number of recorded frames."""
        return len(self._indices)

    @property
    def waiting(self) -> int:
        """Number of frames that are not written yet."""
        return len(self._waiting)

    def put(self, result: FrameResult, segmenter: VideoSegmenter | None = None) -> None:
        """Record a frame without blocking; every 50 frames also a snapshot of the segmenter that produced it."""
        with self._changed:
            if self._stopped or self._failed:
                return
            if len(self._waiting) >= _MOST_WAITING or self._bytes + result.nbytes > _MOST_BYTES:
                self.dropped += 1
                self._note_dropped(result)
                return
            due = segmenter is not None and self.frames % _MODEL_EVERY == 0
            model = segmenter.copy() if segmenter is not None and due else None
            self._waiting.append(_QueuedFrame(self._renumber(result), model))
            self._bytes += result.nbytes
            self._changed.notify_all()

    def set_marks(self, names: Names, objects: Iterable[MarkedObject]) -> None:
        """Write the user's marks soon; their frames are numbered as by `position_of`."""
        with self._changed:
            self._marks = names, tuple(objects)
            self._changed.notify_all()

    def position_of(self, index: int) -> tuple[int, int | None]:
        """Number in the recording of the source's frame ``index``, or of the next recorded frame after it.

        Also returns the source's index of that frame; None if it has not been recorded yet.
        """
        with self._changed:
            position = bisect_left(self._indices, index)
            return position, self._indices[position] if position < len(self._indices) else None

    def stop(self) -> None:
        """Accept no more frames; the recorder writes the waiting ones, then calls ``on_end``."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for the end; returns whether the recorder has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _renumber(self, result: FrameResult) -> FrameResult:
        """Turn a result of the live run into a frame of the recording."""
        if not self._indices:
            self._begin = result.time
            # Earlier events are not part of the recording: all segments of its first frame are born there.
            events = tuple(inherited_births(replace(result, events=())))
        else:
            events = (*self._dropped_events, *result.events)
        edits = (*self._dropped_edits, *result.edits) if self._indices else ()
        cut = (self._dropped_cut or result.cut) and bool(self._indices)
        number = len(self._indices)
        self._indices.append(result.index)
        self._dropped_events, self._dropped_edits, self._dropped_cut = [], [], False
        self.seconds = result.time - self._begin
        return replace(result, index=number, time=self.seconds, events=events, edits=edits, cut=cut)

    def _note_dropped(self, result: FrameResult) -> None:
        self._dropped_events.extend(result.events)
        self._dropped_edits.extend(result.edits)
        self._dropped_cut |= result.cut

    # --- on the recorder's thread

    def _run(self) -> None:
        failure, kept = "", 0
        try:
            with Session.create(self.path, self._source, self._settings, unsaved=True) as session:
                try:
                    self._record(session)
                finally:
                    kept = len(session)
                if kept:
                    session.finish()
        except SessionError as error:
            failure = str(error)
        except Exception as error:
            # No caller can catch an exception of this thread, so it has to be reported.
            failure = f"Cannot record: {type(error).__name__}: {error}."
        with self._changed:
            self._failed = bool(failure)
            self._waiting.clear()
        if not kept:
            shutil.rmtree(self.path, ignore_errors=True)
        self._on_end(RecordingResult(self.path, kept, self.dropped, failure))

    def _record(self, session: Session) -> None:
        facts, path, written = self._source, self.path / PICTURES, deque[_QueuedFrame]()
        with reporting_errors(f"Cannot write '{self.path}'"):
            pictures = PictureFile(path, facts.rate, (facts.height, facts.width))
            try:
                while (item := self._next(session)) is not None:
                    pictures.write(item.result.picture, item.result.time)
                    written.append(item)
                    _commit(session, written, pictures.safe)
                pictures.close()
            except BaseException:
                pictures.abandon()
                raise
            _commit(session, written, pictures.safe)
            if len(session):
                files.sync(path)

    def _next(self, session: Session) -> _QueuedFrame | None:
        """Wait for the next frame to write; None at the end. Writes new marks meanwhile."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped or self._marks is not None)
                marks, self._marks = self._marks, None
                item = self._waiting.popleft() if self._waiting else None
                self._bytes -= 0 if item is None else item.result.nbytes
                ended = item is None and self._stopped
            if marks is not None:
                session.names, session.objects = marks
            if item is not None or ended:
                return item


def repair_recording(session: Session) -> None:
    """Complete a recording that was interrupted: truncate it to the frames that have both a picture and ids.

    The session must be open for writing. Complete sessions and sessions that are not recordings stay unchanged. So does
    a recording whose movie cannot be read: the movie may have been moved, or become readable later.
    """
    if not session.recorded or session.manifest.complete:
        return
    try:
        with open_source(session.source_address) as source:
            count = source.count()
    except SourceError:
        return
    if not count and len(session):
        # The movie has no pictures: the ids are all that is left, so keep them.
        return
    session.truncate(count or 0)
    session.finish()


def _commit(session: Session, written: deque[_QueuedFrame], safe: int) -> None:
    """Append to the session the frames whose pictures are safely in the movie."""
    while written and written[0].result.index < safe:
        item = written.popleft()
        session.append(item.result)
        if item.model is not None:
            # A snapshot guarantees that all frames before it are on disk.
            files.sync(session.path / PICTURES)
            session.snapshot(item.model)
