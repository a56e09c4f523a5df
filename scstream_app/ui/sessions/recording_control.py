"""Recording a live source, as a person meets it: one button, a question before anything else ends it, and a report."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.errors import StudioError
from scstream_app.session import RecordingResult
from scstream_app.session.library import Library
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.qt.confirm import confirm
from scstream_app.ui.qt.message_bar import MessageBar


class RecordingControl(QObject):
    """Begins and ends recordings. ``wanted`` carries the path of one that a person wants to see.

    Parameters
    ----------
    library : callable
        Gives the library where recordings go.
    message : MessageBar
        Where it is said what became of them.
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
        """Begin, or end."""
        facts = self._document.facts
        if self._feed.recorder is not None:
            self._feed.stop()
        elif facts is not None and self._document.live:
            try:
                self._feed.record(self._library().new_path(facts.name))
            except StudioError as error:
                self._message.show_message(f"Cannot record. {error}", "error")

    def may_end(self, deed: str) -> bool:
        """Whether what ends a recording, if one is being made, may be done; ``deed`` is what the button says of it."""
        question = "A recording is being made, and would end here. What has been recorded is kept."
        return not self._feed.recording or confirm(self._window, question, f"Stop Recording and {deed}")

    def end(self, deed: str) -> bool:
        """Ask as `may_end` does, and end it; False if it is to go on."""
        may = self.may_end(deed)
        if may:
            self._feed.stop()
        return may

    @Slot(object)
    def _on_recorded(self, recorded: RecordingResult) -> None:
        left_out = f" {recorded.dropped} frames came too fast to be written and were left out." * bool(recorded.dropped)
        open_ = ("Open It", lambda: self.wanted.emit(recorded.path)) if recorded.frames else None
        if recorded.failure:
            kept = f" Its {recorded.frames} frames are kept." * bool(recorded.frames)
            self._message.show_message(f"Recording has stopped. {recorded.failure}{kept}{left_out}", "error", open_)
        elif open_ is None:
            self._message.show_message("Nothing was recorded: no frame came.", "notice")
        else:
            text = f"{recorded.frames} frames were recorded in '{recorded.path}'.{left_out}"
            self._message.show_message(text, "notice", open_)
