"""Commands that start and stop the recording of a live source."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.errors import StudioError
from scstream_app.plural import counted
from scstream_app.session import RecordingResult
from scstream_app.session.library import Library
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.qt.message_bar import MessageBar


class RecordingControl(QObject):
    """Starts and stops recordings. ``wanted`` carries the path of a recording that the user wants to open.

    Parameters
    ----------
    library : callable
        Returns the library for new recordings.
    message : MessageBar
        Reports finished and failed recordings.
    """

    wanted = Signal(object)

    def __init__(
        self, document: Document, feed: LiveFeed, library: Callable[[], Library], message: MessageBar, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._feed, self._library = document, feed, library
        self._message, self._window = message, window
        feed.recorded.connect(self._on_recorded)

    def toggle(self) -> None:
        """Start or stop recording."""
        facts = self._document.facts
        if self._feed.recorder is not None:
            self._feed.stop()
        elif facts is not None and self._document.live:
            try:
                self._feed.record(self._library().new_path(facts.name))
            except StudioError as error:
                self._message.show_message(f"Cannot record. {error}", "error")

    def may_end(self, action: str) -> bool:
        """Ask before an action that ends a running recording; ``action`` is the verb on the button."""
        question = "This ends the running recording. The recorded frames are kept."
        return not self._feed.recording or confirm(self._window, question, f"Stop Recording and {action}")

    def end(self, action: str) -> bool:
        """Ask as `may_end` does, then stop recording; False if the user cancels."""
        may = self.may_end(action)
        if may:
            self._feed.stop()
        return may

    @Slot(object)
    def _on_recorded(self, recorded: RecordingResult) -> None:
        count = counted(recorded.dropped, "frame")
        dropped = f" Dropped {count} that came too fast to be written." * bool(recorded.dropped)
        open_ = ("Open Recording", lambda: self.wanted.emit(recorded.path)) if recorded.frames else None
        if recorded.failure:
            kept = f" {counted(recorded.frames, 'recorded frame')} kept." * bool(recorded.frames)
            self._message.show_message(
                f"Recording stopped. {recorded.failure}{kept}{dropped}", "error", open_, kept=True
            )
        elif open_ is None:
            self._message.show_message("Nothing was recorded because no frame arrived.", "notice")
        else:
            text = f"Recorded {counted(recorded.frames, 'frame')} in '{recorded.path}'.{dropped}"
            self._message.show_message(text, "notice", open_, kept=True)
