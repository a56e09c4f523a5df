"""Drawing frames on its own thread: frames read from a session and its source, or new ones from the engine."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Signal

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import StudioError
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.session import Session
from scstream_app.sources import Source, open_source
from scstream_app.ui.document.look import NO_ID, Look, Shown, draw, is_segmented
from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.qt.threads.mailbox import Mailbox

_logger = logging.getLogger(__name__)

_STOP_MILLISECONDS = 10_000


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """A frame to draw.

    Parameters
    ----------
    frame : int or FrameResult
        Index of a frame to read, or the result itself.
    look : Look
    colour : str
        Colour space in which the frame was segmented.
    following : bool
        Whether requests for newer frames, with the same look, follow as soon as these are segmented.
    objects : tuple of MarkedObject
        The objects, whose masks are drawn if the session has them.
    masks : ObjectMasks, optional
        Masks to draw if the session has none.
    """

    frame: int | FrameResult
    look: Look
    colour: str = "rgb"
    following: bool = False
    objects: tuple[MarkedObject, ...] = ()
    masks: ObjectMasks | None = None


class Renderer(BackgroundWorker[None]):
    """Draws the frame requested last; older requests are skipped.

    ``drawn`` says that a `Shown` is in the mailbox `ready`, ``failed`` why a frame cannot be drawn. Both concern only
    the session that was loaded last.
    """

    drawn = Signal()
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__("rendering", _STOP_MILLISECONDS, low_priority=False)
        self.ready: Mailbox[Shown] = Mailbox()
        self._requests: Mailbox[DrawRequest] = Mailbox()
        #: The last request while new frames are followed: the next one will be alike.
        self._followed: DrawRequest | None = None
        self._anticipated: DrawRequest | None = None
        #: Guards the requests and the loaded session; held only briefly.
        self._gate = threading.Lock()
        self._session: Session | None = None
        #: Number of calls of `load`, which tells loaded sessions apart.
        self._loaded = 0
        #: Held while frames are read, which may take seconds: the window's thread never waits for it.
        self._reading = threading.Lock()
        #: The value of ``_loaded`` to which the source and the last frame belong.
        self._held = 0
        self._source: Source | None = None
        self._last: FrameResult | None = None
        #: The objects whose masks the last frame has; None if they were not read yet.
        self._masked: tuple[MarkedObject, ...] | None = None
        self._start_thread()

    # --- on the window's thread

    def load(self, session: Session | None) -> None:
        """Read frames of this session from now on; requests and drawn frames of the one before are dropped."""
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
            # The renderer's thread closes the source afterwards.
            self._add(None)

    def request(self, request: DrawRequest) -> None:
        """Draw this next, instead of any earlier request."""
        with self._gate:
            anticipated, self._anticipated = self._anticipated, None
            self._followed = request if request.following else None
            if request.following and anticipated is not None and _index(anticipated) > _index(request):
                # A display that follows new frames must not go back to an older one.
                request, self._anticipated = replace(request, frame=anticipated.frame), anticipated
            added = not _same(request, anticipated) and self._requests.put(request)
        if added:
            self._add(None)

    @property
    def busy(self) -> bool:
        """Whether a frame is being read, which may take as long as the source does."""
        return self._reading.locked()

    def shut_down(self, patience: int | None = None) -> bool:
        """End the thread and close the source; return whether the thread ended within ``patience`` milliseconds."""
        ended = super().shut_down(patience)
        self.load(None)
        return ended

    # --- on the segmentation worker's thread

    def anticipate(self, result: FrameResult) -> None:
        """Draw a frame for which the window's request will follow, as it did for the frame before.

        The window may be busy for a while. If it then requests anything else, that is drawn instead.
        """
        with self._gate:
            if self._followed is None:
                return
            self._anticipated = replace(self._followed, frame=result)
            added = self._requests.put(self._anticipated)
        if added:
            self._add(None)

    # --- on the renderer's thread

    def _work(self, task: None, cancel: threading.Event) -> None:
        with self._gate:
            request, session, loaded = self._requests.take(), self._session, self._loaded
        shown, problem = None, ""
        try:
            shown = self._drawn(request, session, loaded)
        except StudioError as error:
            problem = str(error)
        except Exception as error:
            _logger.error("Drawing failed", exc_info=True)
            problem = f"Cannot draw the frame: {type(error).__name__}: {error}."
        with self._gate:
            if loaded != self._loaded:
                return
            added = shown is not None and self.ready.put(shown)
        if problem:
            self.failed.emit(problem)
        elif added:
            self.drawn.emit()

    def _drawn(self, request: DrawRequest | None, session: Session | None, loaded: int) -> Shown | None:
        with self._reading:
            if loaded != self._held:
                self._let_go()
                self._held = loaded
            result = None if request is None else self._result(request, session)
        if request is None or result is None:
            return None
        needed = "uncertainty" in request.look.drawn_view.needs
        uncertainty = _uncertainty(result, request.colour) if needed else None
        return replace(draw(result, request.look, uncertainty), objects=request.objects)

    def _let_go(self) -> None:
        source, self._source, self._last = self._source, None, None
        if source is not None:
            source.close()

    def _result(self, request: DrawRequest, session: Session | None) -> FrameResult | None:
        frame, before = request.frame, self._last
        if isinstance(frame, FrameResult):
            self._last = frame
        elif self._last is None or self._last.index != frame or not is_segmented(self._last):
            self._last = self._read(frame, session)
        if self._last is not before:
            self._masked = None
        if self._last is not None and session is not None:
            self._last = self._with_masks(self._last, request, session)
        return self._last

    def _with_masks(self, result: FrameResult, request: DrawRequest, session: Session) -> FrameResult:
        """Return the result with the stored masks of the objects, else with those of the request, if any."""
        if self._masked == request.objects and result.objects is not None:
            return result
        try:
            masks = session.read_object_masks(result.index, request.objects)
        except StudioError:
            # The segments of the objects are shown instead.
            masks = None
        # Masks of the request are replaced as soon as others are stored.
        self._masked = None if masks is None else request.objects
        masks = masks or request.masks
        return result if masks is result.objects else replace(result, objects=masks)

    def _read(self, index: int, session: Session | None) -> FrameResult | None:
        if session is None or session.manifest.source.live:
            return None
        if self._source is None:
            self._source = open_source(session.source_address)
        found = next(iter(session.results(index, index + 1, self._source)), None)
        return self._picture_alone(self._source, index) if found is None else found

    def _picture_alone(self, source: Source, index: int) -> FrameResult | None:
        """Return a frame that has not been segmented yet: its pixels have no ids."""
        source.seek(index)
        frame = source.read()
        if frame is None:
            return None
        nowhere = np.full(frame.rgb.shape[:2], NO_ID, np.int32)
        return FrameResult(frame.index, frame.time, frame.rgb, nowhere, (), np.empty(0, STATISTICS))


def _index(request: DrawRequest) -> int:
    return request.frame.index if isinstance(request.frame, FrameResult) else request.frame


def _same(request: DrawRequest, other: DrawRequest | None) -> bool:
    """Return whether two requests give the same picture; results are compared by identity."""
    if other is None or request.frame is not other.frame:
        return False
    return (request.look, request.colour, request.objects) == (other.look, other.colour, other.objects)


def _uncertainty(result: FrameResult, colour: str) -> npt.NDArray[np.float32]:
    # Importing the engine takes a while, for which the window need not wait.
    from scstream.pixels.uncertainty import uncertainty

    return uncertainty(result.picture, result.statistics, colour, os.cpu_count() or 1)
