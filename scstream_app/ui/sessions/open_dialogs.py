"""Dialogs that ask for a video, images, a camera, a URL or a session to open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QFileDialog, QInputDialog, QWidget

from scstream_app.sources import VIDEO_SUFFIXES
from scstream_app.ui.document.document import Document
from scstream_app.ui.sessions.camera_dialog import choose_camera
from scstream_app.ui.sessions.document_opener import DocumentOpener
from scstream_app.ui.sessions.recent_files import RecentFiles
from scstream_app.ui.sessions.recording_control import RecordingControl

VIDEO_FILTER = f"Videos ({' '.join(f'*{suffix}' for suffix in sorted(VIDEO_SUFFIXES))});;All files (*)"

_URL_WIDTH = 560


class OpenDialogs(QObject):
    """Shows the dialogs of the Open commands and opens what the user chooses."""

    def __init__(
        self,
        document: Document,
        addresses: RecentFiles,
        opening: DocumentOpener,
        recording: RecordingControl,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._addresses, self._opening = document, addresses, opening
        self._recording, self._window = recording, window

    def video(self) -> None:
        """Ask for a video file."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open Video", self._folder(), VIDEO_FILTER)
        if path:
            self._opening.open_address(path)

    def images(self) -> None:
        """Ask for a folder of images."""
        path = QFileDialog.getExistingDirectory(self._window, "Open Image Sequence", self._folder())
        if path:
            self._opening.open_address(path)

    def camera(self) -> None:
        """Ask for a camera. An open camera is closed first, which ends its recording."""
        if self._recording.end("Choose"):
            choose_camera(self._document, self._window, self._opening.open_address)

    def url(self) -> None:
        """Ask for a URL."""
        url = ask_url(self._window)
        if url is not None:
            self._opening.open_address(url)

    def session(self) -> None:
        """Ask for a session."""
        title = "Open Session (a folder NAME.scstream)"
        path = QFileDialog.getExistingDirectory(self._window, title, self._folder())
        if path:
            self._opening.open_session(Path(path))

    def _folder(self) -> str:
        return str(self._addresses.folder())


def ask_url(parent: QWidget) -> str | None:
    """Ask for an address; returns None if the user cancels or types nothing."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle("Open URL")
    dialog.setLabelText("Address of a video or stream:")
    dialog.resize(_URL_WIDTH, dialog.sizeHint().height())
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    address = dialog.textValue().strip()
    dialog.deleteLater()
    return address if accepted and address else None
