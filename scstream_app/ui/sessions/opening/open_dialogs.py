"""Dialogs that ask for a video, images, a camera, a URL or a session to open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.sources import sequence_of
from scstream_app.ui.document.document import Document
from scstream_app.ui.sessions.opening.camera_dialog import choose_camera
from scstream_app.ui.sessions.opening.clip_chooser import IMAGE_FILTER, OPEN_IMAGES, VIDEO_FILTER, ask_clip_as_camera
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.sessions.opening.url_dialog import ask_url
from scstream_app.ui.sessions.recording_control import RecordingControl


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
        """Ask for an image, and open the sequence that it is part of: a dialog for folders would show no images."""
        path, _ = QFileDialog.getOpenFileName(self._window, OPEN_IMAGES, self._folder(), IMAGE_FILTER)
        if path:
            self._opening.open_address(sequence_of(Path(path)))

    def folder(self) -> None:
        """Ask for a folder of images, which can also be typed."""
        path = QFileDialog.getExistingDirectory(self._window, "Open Folder of Images", self._folder())
        if path:
            self._opening.open_address(path)

    def camera(self) -> None:
        """Ask for a camera. An open camera is closed first, which ends its recording."""
        if self._recording.end("Choose"):
            choose_camera(self._document, self._window, self._opening.open_address, self._folder())

    def clip_as_camera(self) -> None:
        """Ask for a video, and play it as if it came from a camera."""
        address = ask_clip_as_camera(self._window, self._folder())
        if address:
            self._opening.open_address(address)

    def url(self) -> None:
        """Ask for a URL."""
        url = ask_url(self._window, [address for address in self._addresses.recent() if "://" in address])
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
