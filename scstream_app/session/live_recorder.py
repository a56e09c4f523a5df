"""Recording a live run: its pictures and its ids together, on a thread of its own, without holding the engine up."""

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
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.inherited_births import inherited_births
from scstream_app.session.reader import reporting_errors
from scstream_app.session.session import Session
from scstream_app.session.storage import files
from scstream_app.session.storage.manifest import SourceFacts
from scstream_app.session.storage.marks import MarkedObject, Names
from scstream_app.session.storage.pictures import PICTURES, PictureFile
from scstream_app.settings import Settings
from scstream_app.sources import open_source

if TYPE_CHECKING:
    from scstream import VideoSegmenter

# Frames, and bytes of them, that may wait to be written.
_MOST_WAITING, _MOST_BYTES = 60, 256 << 20
# Frames from one model that is kept to the next.
_MODEL_EVERY = 50


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a recording: where it is, its frames, those that had to be left out, and why it failed, if so."""

    path: Path
    frames: int
    dropped: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Item:
    """A frame on its way to the disk, and the model after it where that is to be kept."""

    result: FrameResult
    model: VideoSegmenter | None


class LiveRecorder:
    """Writes results into a new session, and their pictures into a lossless movie beside the ids.

    Frames are numbered from 0 as they are recorded. A frame's line is written when its picture is in the file, so that
    every frame of the session has one, also if the process is killed. If the disk cannot keep up, frames are left out
    of both; what happened to segments and model in them is told with the next one.

    Parameters
    ----------
    path : Path
        Of the session.
    source : SourceFacts
        Of the live source.
    settings : Settings
        Those in force at the first frame.
    on_end : callable
        Hears what became of it, on the recorder's thread.

    Attributes
    ----------
    frames, dropped : int
        How many frames were taken, and how many had to be left out.
    seconds : float
        From the first frame to the last one.
    """

    def __init__(self, path: Path, source: SourceFacts, settings: Settings, on_end: Callable[[Recorded], None]) -> None:
        self.path = path
        self.dropped = 0
        self.seconds = 0.0
        self._source = replace(source, address=PICTURES, length=None, live=False)
        self._settings, self._on_end = settings, on_end
        self._indices = array("q")
        self._begin = 0.0
        self._waiting: deque[_Item] = deque()
        self._bytes = 0
        self._changed = Condition()
        self._stopped = self._failed = False
        self._marks: tuple[Names, tuple[MarkedObject, ...]] | None = None
        # Of frames that were left out.
        self._events: list[Event] = []
        self._edits: list[Edit] = []
        self._cut = False
        self._thread = Thread(target=self._run, name="scstream-recorder", daemon=True)
        self._thread.start()

    # --- for the one who records

    @property
    def frames(self) -> int:
        """See above."""
        return len(self._indices)

    @property
    def waiting(self) -> int:
        """How many frames are still to be written."""
        return len(self._waiting)

    def put(self, result: FrameResult, segmenter: VideoSegmenter | None = None) -> None:
        """Record a frame; never waits. The segmenter that has just made it is kept now and then."""
        with self._changed:
            if self._stopped or self._failed:
                return
            if len(self._waiting) >= _MOST_WAITING or self._bytes + result.nbytes > _MOST_BYTES:
                self.dropped += 1
                self._note_left_out(result)
                return
            due = segmenter is not None and self.frames % _MODEL_EVERY == 0
            model = segmenter.copy() if segmenter is not None and due else None
            self._waiting.append(_Item(self._numbered(result), model))
            self._bytes += result.nbytes
            self._changed.notify_all()

    def set_marks(self, names: Names, objects: Iterable[MarkedObject]) -> None:
        """What a person marked, with frames as `place` gives them; written soon."""
        with self._changed:
            self._marks = names, tuple(objects)
            self._changed.notify_all()

    def place(self, index: int) -> tuple[int, int | None]:
        """Which frame of the recording the source's frame ``index`` is, or the next one after it.

        Also which of the source's frames that is; None if it is still to come.
        """
        with self._changed:
            place = bisect_left(self._indices, index)
            return place, self._indices[place] if place < len(self._indices) else None

    def stop(self) -> None:
        """Take no more frames; those that wait are still written, and ``on_end`` is called then."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self, seconds: float) -> bool:
        """Wait for the end; True if it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _numbered(self, result: FrameResult) -> FrameResult:
        """The result as a frame of the recording."""
        if not self._indices:
            self._begin = result.time
            # What happened to segments before is no part of it.
            events = tuple(inherited_births(replace(result, events=())))
        else:
            events = (*self._events, *result.events)
        edits = (*self._edits, *result.edits) if self._indices else ()
        cut = (self._cut or result.cut) and bool(self._indices)
        number = len(self._indices)
        self._indices.append(result.index)
        self._events, self._edits, self._cut = [], [], False
        self.seconds = result.time - self._begin
        return replace(result, index=number, time=self.seconds, events=events, edits=edits, cut=cut)

    def _note_left_out(self, result: FrameResult) -> None:
        self._events.extend(result.events)
        self._edits.extend(result.edits)
        self._cut |= result.cut

    # --- on its thread

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
            # Whatever happens here, somebody has to hear of it.
            failure = f"Cannot record: {type(error).__name__}: {error}."
        with self._changed:
            self._failed = bool(failure)
            self._waiting.clear()
        if not kept:
            shutil.rmtree(self.path, ignore_errors=True)
        self._on_end(Recorded(self.path, kept, self.dropped, failure))

    def _record(self, session: Session) -> None:
        facts, path, written = self._source, self.path / PICTURES, deque[_Item]()
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

    def _next(self, session: Session) -> _Item | None:
        """The next frame to write; None at the end. What a person marked meanwhile is written on the way."""
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


def mend(session: Session) -> None:
    """Bring a recording that was cut off to its end: the frames of which both the picture and the ids are there.

    For sessions that are open for writing; those that are whole, or no recordings, stay as they are. So does one whose
    movie cannot be read: it may only be somewhere else, or be readable again another day.
    """
    if not session.recorded or session.manifest.complete:
        return
    try:
        with open_source(session.source_address) as source:
            count = source.count()
    except SourceError:
        return
    if not count and len(session):
        # A movie without pictures tells nothing about the ids, which are all that is left.
        return
    session.keep_first(count or 0)
    session.finish()


def _commit(session: Session, written: deque[_Item], safe: int) -> None:
    """Append the frames whose pictures are in the file for certain."""
    while written and written[0].result.index < safe:
        item = written.popleft()
        session.append(item.result)
        if item.model is not None:
            # A model vouches for all frames before it.
            files.sync(session.path / PICTURES)
            session.snapshot(item.model)
