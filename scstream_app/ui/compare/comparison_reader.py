"""Read and draw frames of two runs on a thread."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import Signal

from scstream_app.errors import SessionError, StudioError
from scstream_app.evaluation.run_statistics import same_clip
from scstream_app.render.palette import Colouring
from scstream_app.session import Session
from scstream_app.sources import Source, open_source
from scstream_app.ui.compare.compared_frame import ComparedFrame, FramePair, draw
from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.qt.threads.mailbox import Mailbox

_logger = logging.getLogger(__name__)

_STOP_MILLISECONDS = 10_000


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """A frame to draw: its index, the view, the opacity of the overlay and the colours of the first run."""

    index: int
    view: str = "overlay"
    opacity: float = 0.5
    colouring: Colouring = field(default_factory=Colouring)


class ComparisonReader(BackgroundWorker[None]):
    """Draws the frame requested last in both runs; older requests are skipped.

    ``drawn`` says that a `ComparedFrame` is in the mailbox `ready`, ``failed`` why a frame cannot be compared. Both
    concern only the runs that were loaded last.
    """

    drawn = Signal()
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__("comparing", _STOP_MILLISECONDS)
        self.ready: Mailbox[ComparedFrame] = Mailbox()
        self._requests: Mailbox[CompareRequest] = Mailbox()
        #: Guards the two runs; held only briefly.
        self._gate = threading.Lock()
        self._runs: tuple[Session, Path] | None = None
        #: What the thread has open, and the runs to which it belongs.
        self._held: tuple[Session, Path] | None = None
        self._second: Session | None = None
        self._source: Source | None = None
        self._pair: FramePair | None = None

    # --- on the window's thread

    def load(self, first: Session | None, second: Path | None = None) -> None:
        """Compare these runs from now on; requests and drawn frames of the ones before are dropped."""
        with self._gate:
            self._runs = None if first is None or second is None else (first, second)
            self._requests.take()
            self.ready.take()
        if self._thread.isRunning():
            # It closes the source of the runs before.
            self._add(None)

    def request(self, request: CompareRequest) -> None:
        """Draw this next, instead of any earlier request."""
        if self._requests.put(request):
            self._add(None)

    # --- on the reader's thread

    def _work(self, task: None, cancel: threading.Event) -> None:
        with self._gate:
            request, runs = self._requests.take(), self._runs
        drawn, problem = None, ""
        try:
            self._hold(runs)
            if request is not None and runs is not None:
                drawn = self._drawn(request, runs[0])
        except StudioError as error:
            problem = str(error)
        except Exception as error:
            _logger.error("Comparing runs failed", exc_info=True)
            problem = f"Cannot compare the frame: {type(error).__name__}: {error}."
        with self._gate:
            if runs is not self._runs:
                return
            added = drawn is not None and self.ready.put(drawn)
        if problem:
            self.failed.emit(problem)
        elif added:
            self.drawn.emit()

    def _hold(self, runs: tuple[Session, Path] | None) -> None:
        """Open what is needed for the runs, and close what was needed before."""
        if runs is self._held:
            return
        source, self._source, self._second, self._pair, self._held = self._source, None, None, None, None
        if source is not None:
            source.close()
        if runs is not None:
            second = Session.open(runs[1])
            if not same_clip(runs[0].manifest, second.manifest):
                raise SessionError(f"'{second.path.name}' is not a run of this clip: it segments another one.")
            self._source = open_source(runs[0].source_address)
            self._second, self._held = second, runs

    def _drawn(self, request: CompareRequest, first: Session) -> ComparedFrame:
        if self._pair is None or self._pair.index != request.index:
            self._pair = self._read(request.index, first)
        return draw(self._pair, request.view, request.opacity, request.colouring)

    def _read(self, index: int, first: Session) -> FramePair:
        assert self._second is not None
        for session, which in ((first, "this run"), (self._second, "the other run")):
            if not _has(session, index):
                raise SessionError(f"Frame {index} is not segmented in {which}.")
        result = next(iter(first.results(index, index + 1, self._source)))
        return FramePair.of(index, result.picture, result.ids, self._second.ids(index))


def _has(session: Session, index: int) -> bool:
    frames = session.frames
    place = int(np.searchsorted(frames, index))
    return place < len(frames) and int(frames[place]) == index
