"""Asking a person what is to be opened: a video, images, a camera, an address, a session."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.ui import dialogs
from scstream_app.ui.addresses import Addresses
from scstream_app.ui.camera_dialog import choose_camera
from scstream_app.ui.document import Document
from scstream_app.ui.opening import Opening
from scstream_app.ui.recording import Recording


class Choosing(QObject):
    """The dialogs behind the menu's entries that open something; what is chosen is opened."""

    def __init__(
        self, document: Document, addresses: Addresses, opening: Opening, recording: Recording, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._addresses, self._opening = document, addresses, opening
        self._recording, self._window = recording, window

    def video(self) -> None:
        """Ask for a file."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open Video", self._folder(), dialogs.VIDEO_FILTER)
        if path:
            self._opening.open_address(path)

    def images(self) -> None:
        """Ask for a folder of images."""
        path = QFileDialog.getExistingDirectory(self._window, "Open Image Sequence", self._folder())
        if path:
            self._opening.open_address(path)

    def camera(self) -> None:
        """Ask for a camera. One that is on has to be let go of for that, and what is recorded of it ends."""
        if self._recording.end("Choose"):
            choose_camera(self._document, self._window, self._opening.open_address)

    def url(self) -> None:
        """Ask for an address in a network."""
        url = dialogs.ask_url(self._window)
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
