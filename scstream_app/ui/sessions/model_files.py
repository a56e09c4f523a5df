"""Menu commands for portable models: save the model of a session, segment another clip with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.errors import StudioError
from scstream_app.session import model_transfer
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.dialogs.folders import folder_of, own_folder, usable
from scstream_app.ui.sessions.opening.clip_chooser import VIDEO_FILTER

if TYPE_CHECKING:
    from scstream import VideoSegmenter

SUFFIX = ".npz"
_FILTER = f"Models (*{SUFFIX});;All files (*)"


class ModelFiles(QObject):
    """Menu commands that save a model, or segment another clip with it.

    ``wanted`` carries the address of a clip and the model to segment it with; ``message`` a text for the user and its
    kind, "error" or "notice".
    """

    wanted = Signal(str, object)
    message = Signal(str, str)

    def __init__(self, document: Document, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._window = document, window

    def save(self) -> None:
        """Ask for a file and save the newest model of the open session."""
        session, facts = self._document.session, self._document.facts
        if session is None or facts is None:
            return
        folder = folder_of(facts.address)
        suggested = (folder if usable(folder) else own_folder()) / f"{Path(facts.name).stem}_model{SUFFIX}"
        path, _ = QFileDialog.getSaveFileName(self._window, "Save Model", str(suggested), _FILTER)
        if not path:
            return
        target = Path(path) if Path(path).suffix else Path(path).with_suffix(SUFFIX)
        try:
            frame, segmenter = model_transfer.newest(session)
            model_transfer.save(segmenter, target)
        except StudioError as error:
            self.message.emit(str(error), "error")
            return
        size = target.stat().st_size / 1024.0
        self.message.emit(f"Saved the model after frame {frame} in '{target}' ({size:.0f} KB).", "notice")

    def use_this(self) -> None:
        """Ask for a clip and segment it with the newest model of the open session."""
        session = self._document.session
        if session is not None:
            try:
                self._ask_clip(model_transfer.newest(session)[1])
            except StudioError as error:
                self.message.emit(str(error), "error")

    def use_file(self) -> None:
        """Ask for a model file and a clip, and segment the clip with the model."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open Model", str(Path.home()), _FILTER)
        if path:
            try:
                self._ask_clip(model_transfer.load(Path(path)))
            except StudioError as error:
                self.message.emit(str(error), "error")

    def _ask_clip(self, segmenter: VideoSegmenter) -> None:
        title = "Video to Segment with the Model"
        path, _ = QFileDialog.getOpenFileName(self._window, title, str(Path.home()), VIDEO_FILTER)
        if path:
            self.wanted.emit(path, segmenter)
