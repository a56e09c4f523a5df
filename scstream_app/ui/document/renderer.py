"""Drawing frames on a thread of its own: read from the session and its source, or as they come from the engine."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import StudioError
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Session
from scstream_app.sources import Source, open_source
from scstream_app.ui.document.look import NO_ID, Look, Shown, draw
from scstream_app.ui.qt.mailbox import Mailbox

_STOP_MILLISECONDS = 10_000


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """A frame to be shown: its index, or the result itself if it is at hand.

    ``colour`` is the colour space that it was segmented in. ``following`` says that newer frames, as they come, are
    going to be wished for alike.
    """

    frame: int | FrameResult
    look: Look
    colour: str = "rgb"
    following: bool = False


class Renderer(QObject):
    """Draws what was wished for last; requests that were overtaken are left out.

    ``drawn`` says that a `Shown` is in the mailbox `ready`; ``failed`` why there is none. Neither is ever about another
    session than the one that was loaded last.
    """

    drawn = Signal()
    failed = Signal(str)

    _requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.ready: Mailbox[Shown] = Mailbox()
        self._requests: Mailbox[DrawRequest] = Mailbox()
        #: The last request while the newest frames are followed, by which the next one can be guessed.
        self._followed: DrawRequest | None = None
        self._anticipated: DrawRequest | None = None
        #: Held for moments only, by both threads.
        self._gate = threading.Lock()
        self._session: Session | None = None
        self._loaded = 0
        #: Held while frames are read, which may take seconds: the window's thread never waits for it.
        self._reading = threading.Lock()
        self._held = 0
        self._source: Source | None = None
        self._last: FrameResult | None = None
        self._thread = QThread()
        self._thread.setObjectName("rendering")
        self.moveToThread(self._thread)
        self._requested.connect(self._work)
        self._thread.start()

    # --- called from the window's thread

    def load(self, session: Session | None) -> None:
        """Read frames of this session from now on; what was wished for, or drawn, of another is forgotten."""
        with self._gate:
            self._session = session
            self._loaded += 1
            self._followed = self._anticipated = None
            self._requests.take()
            self.ready.take()
        if self._reading.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._reading.release()
        else:
            # Whoever reads lets go of the source afterwards.
            self._requested.emit()

    def request(self, request: DrawRequest) -> None:
        """Draw this next, whatever was wished for before."""
        with self._gate:
            coming, self._anticipated = self._anticipated, None
            self._followed = request if request.following else None
            if request.following and coming is not None and _index(coming) > _index(request):
                # Who follows the newest frames is not to go back to an older one.
                request, self._anticipated = replace(request, frame=coming.frame), coming
            fresh = not _same(request, coming) and self._requests.put(request)
        if fresh:
            self._requested.emit()

    @property
    def busy(self) -> bool:
        """Whether a frame is being read, which may take as long as the source does."""
        return self._reading.locked()

    def shut_down(self, patience: int = _STOP_MILLISECONDS) -> bool:
        """Stop for good; True if the thread has ended within so many milliseconds."""
        self._thread.quit()
        ended = self._thread.wait(patience)
        self.load(None)
        return ended

    # --- called from the worker's thread

    def anticipate(self, result: FrameResult) -> None:
        """Draw a frame that the window will request for in a moment, as for the one before: it may be busy until then.

        If it requests for anything else, that is drawn in its place.
        """
        with self._gate:
            if self._followed is None:
                return
            self._anticipated = replace(self._followed, frame=result)
            fresh = self._requests.put(self._anticipated)
        if fresh:
            self._requested.emit()

    # --- on the renderer's thread

    @Slot()
    def _work(self) -> None:
        with self._gate:
            request, session, loaded = self._requests.take(), self._session, self._loaded
        shown, trouble = None, ""
        try:
            shown = self._drawn(request, session, loaded)
        except StudioError as error:
            trouble = str(error)
        except Exception as error:
            trouble = f"Cannot draw the frame: {type(error).__name__}: {error}."
        with self._gate:
            if loaded != self._loaded:
                return
            fresh = shown is not None and self.ready.put(shown)
        if trouble:
            self.failed.emit(trouble)
        elif fresh:
            self.drawn.emit()

    def _drawn(self, request: DrawRequest | None, session: Session | None, loaded: int) -> Shown | None:
        with self._reading:
            if loaded != self._held:
                self._let_go()
                self._held = loaded
            result = None if request is None else self._result(request.frame, session)
        if request is None or result is None:
            return None
        doubt = _doubt(result, request.colour) if request.look.view == "uncertainty" else None
        return draw(result, request.look, doubt)

    def _let_go(self) -> None:
        source, self._source, self._last = self._source, None, None
        if source is not None:
            source.close()

    def _result(self, frame: int | FrameResult, session: Session | None) -> FrameResult | None:
        if isinstance(frame, FrameResult):
            self._last = frame
        elif self._last is None or self._last.index != frame:
            self._last = self._read(frame, session)
        return self._last

    def _read(self, index: int, session: Session | None) -> FrameResult | None:
        if session is None or session.manifest.source.live:
            return None
        if self._source is None:
            self._source = open_source(session.source_address)
        found = next(iter(session.results(index, index + 1, self._source)), None)
        return self._picture_alone(self._source, index) if found is None else found

    def _picture_alone(self, source: Source, index: int) -> FrameResult | None:
        """A frame that has not been segmented yet: none of its pixels has an id."""
        source.seek(index)
        frame = source.read()
        if frame is None:
            return None
        nowhere = np.full(frame.rgb.shape[:2], NO_ID, np.int32)
        return FrameResult(frame.index, frame.time, frame.rgb, nowhere, (), np.empty(0, STATISTICS))


def _index(request: DrawRequest) -> int:
    return request.frame.index if isinstance(request.frame, FrameResult) else request.frame


def _same(request: DrawRequest, other: DrawRequest | None) -> bool:
    """Whether there is nothing more to draw; results are told apart by what they are, not by what is in them."""
    if other is None or request.frame is not other.frame:
        return False
    return (request.look, request.colour) == (other.look, other.colour)


def _doubt(result: FrameResult, colour: str) -> npt.NDArray[np.float32]:
    # The engine takes a while to import, and the window need not wait for it.
    from scstream.pixels.uncertainty import uncertainty

    return uncertainty(result.picture, result.statistics, colour, os.cpu_count() or 1)
