"""In and out point as the limits of the segmentation."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.session import Session
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import GOING_ON, frames_left
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers.segmentation_worker import Task


class RunRange(QObject):
    """Keeps the range of the run equal to that of the player.

    The run ends at the out point. It begins at the in point if no frame is segmented yet. The session stores the range,
    and shows it as in and out point when it is opened before it is complete. ``message`` says that the run has ended at
    the out point.

    Parameters
    ----------
    document : Document
    player : Player
    parent : QObject, optional
    """

    message = Signal(str, str)

    def __init__(self, document: Document, player: Player, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._player = document, player
        # The session whose range the player has; its own reset for another clip is not a choice of the user.
        self._of: Session | None = None
        self._running = False
        document.opened.connect(self._on_opened)
        document.state_changed.connect(self._on_state)
        player.changed.connect(self._follow)

    @Slot()
    def _on_opened(self) -> None:
        session, player = self._document.session, self._player
        self._of, self._running = None, False
        if session is not None and not session.manifest.complete:
            start, stop = session.manifest.start, session.manifest.stop
            if start:
                player.set_in(start)
            if stop is not None:
                player.set_out(stop - 1)
        self._of = session
        self._set_frames()

    @Slot()
    def _follow(self) -> None:
        session = self._document.session
        if session is None or session is not self._of:
            return
        self._set_frames()
        if self._document.state in GOING_ON:
            self._document.run.limit(self._player.in_point, self._player.out_point)

    def _set_frames(self) -> None:
        out = self._player.out_point
        self._document.run.set_frames(self._player.in_point or 0, None if out is None else out + 1)

    @Slot()
    def _on_state(self) -> None:
        state, frames = self._document.state, self._document.summary.frames
        ended = self._running and state is State.DONE
        self._running = state in (State.SETTLING, State.SEGMENTING, State.PAUSED)
        if ended and frames_left(self._document):
            rest = BY_ID["segment_rest"].menu_path
            self.message.emit(f"Segmented up to the out point, frame {frames[-1]}. {rest} goes on.", "notice")

    @Slot()
    def segment_rest(self) -> None:
        """Go on with the segmentation after the range, up to a later out point or the end."""
        document, player = self._document, self._player
        session = document.session
        if session is None or document.state is not State.DONE or not frames_left(document):
            return
        last = document.summary.frames[-1]
        document.measure_worker.cancel()
        document.display.follow_newest = True
        document.run.start(Task(session.path, settings=document.settings, moved=True, extended=session))
        if player.out_point is not None and player.out_point <= last:
            player.clear_range()
        document.run.limit(None, player.out_point)
