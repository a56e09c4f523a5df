"""Drawing frames on a thread of its own: read from the session and its source, or as they come from the engine."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream.statistics import STATISTICS
from scstream_app.errors import StudioError
from scstream_app.results import FrameResult
from scstream_app.session import Session
from scstream_app.sources import Source, open_source
from scstream_app.ui.look import NO_ID, Look, Shown, draw
from scstream_app.ui.mailbox import Mailbox

_STOP_MILLISECONDS = 10_000


@dataclass(frozen=True, slots=True)
class Wish:
    """A frame to be shown: its index, or the result itself if it is at hand."""

    frame: int | FrameResult
    look: Look


class Renderer(QObject):
    """Draws what was wished for last; wishes that were overtaken are left out.

    ``drawn`` says that a `Shown` is in the mailbox `ready`; ``failed`` why there is none. ``colour`` is the colour
    space of results that are of no session.
    """

    drawn = Signal()
    failed = Signal(str)

    _wished = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.colour = "rgb"
        self.ready: Mailbox[Shown] = Mailbox()
        self._wishes: Mailbox[Wish] = Mailbox()
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._source: Source | None = None
        self._last: FrameResult | None = None
        self._thread = QThread()
        self._thread.setObjectName("rendering")
        self.moveToThread(self._thread)
        self._wished.connect(self._work)
        self._thread.start()

    # --- called from the window's thread

    def load(self, session: Session | None) -> None:
        """Read frames of this session from now on."""
        self._wishes.take()
        with self._lock:
            self._session, self._last = session, None
            if self._source is not None:
                self._source.close()
            self._source = None

    def wish(self, wish: Wish) -> None:
        """Draw this next, whatever was wished for before."""
        if self._wishes.put(wish):
            self._wished.emit()

    def shut_down(self) -> bool:
        """Stop for good; True if the thread has ended."""
        self._thread.quit()
        ended = self._thread.wait(_STOP_MILLISECONDS)
        self.load(None)
        return ended

    # --- on the renderer's thread

    @Slot()
    def _work(self) -> None:
        wish = self._wishes.take()
        if wish is None:
            return
        try:
            with self._lock:
                result = self._result(wish.frame)
            if result is None:
                return
            doubt = self._doubt(result) if wish.look.view == "uncertainty" else None
            shown = draw(result, wish.look, doubt)
        except StudioError as error:
            self.failed.emit(str(error))
            return
        except Exception as error:
            self.failed.emit(f"Cannot draw the frame: {type(error).__name__}: {error}.")
            return
        if self.ready.put(shown):
            self.drawn.emit()

    def _doubt(self, result: FrameResult) -> npt.NDArray[np.float32]:
        colour = self.colour if self._session is None else self._session.manifest.settings.colour
        # The engine takes a second or two to import, and the window need not wait for it.
        from scstream.video import uncertainty

        return uncertainty(result.picture, result.statistics, colour, os.cpu_count() or 1)

    def _result(self, frame: int | FrameResult) -> FrameResult | None:
        if isinstance(frame, FrameResult):
            self._last = frame
        elif self._last is None or self._last.index != frame:
            self._last = self._read(frame)
        return self._last

    def _read(self, index: int) -> FrameResult | None:
        session = self._session
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
