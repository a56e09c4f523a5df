"""Dialog to choose a camera, its resolution and its frame rate, with a preview."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from scstream_app.errors import StudioError
from scstream_app.render.image_types import Picture
from scstream_app.sources import (
    CameraInfo,
    CameraMode,
    CameraStalled,
    Source,
    camera_modes,
    is_camera,
    list_cameras,
    open_source,
)
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.threads.mailbox import Mailbox
from scstream_app.ui.sessions.opening.clip_chooser import PLAY_AS_CAMERA, ask_clip_as_camera

_SIZE = QSize(480, 300)
#: Seconds between attempts to interrupt a blocking read.
_GLANCE = 0.05
_NONE = (
    "No camera found.\nConnect one, allow this program to use it, and click Refresh. "
    "To try live mode without a camera, play a clip."
)


class Preview(QObject):
    """Reads pictures from a camera on its own thread until it is stopped and the camera is released.

    ``looked`` is emitted when there is a new picture in the mailbox `newest`; ``offered`` carries the camera's modes,
    ``failed`` an error message. ``ended`` is emitted when the camera is released.
    """

    offered = Signal(object)
    looked = Signal()
    failed = Signal(str)
    ended = Signal()

    # Only one reader can open a camera: the next preview waits until the previous one has released it.
    _latest: Preview | None = None

    def __init__(self, address: str, modes_of: int | None) -> None:
        # The object may outlive the dialog, and its own thread must not delete it.
        super().__init__(QApplication.instance())
        self.newest: Mailbox[Picture] = Mailbox()
        self._address, self._modes_of = address, modes_of
        self._stopped = Event()
        self._source: Source | None = None
        self._before, Preview._latest = Preview._latest, self
        self._thread = Thread(target=self._run, name="scstream-preview", daemon=True)
        self.ended.connect(self._delete)

    def start(self) -> None:
        """Start the thread; connect to the signals before."""
        self._thread.start()

    def stop(self) -> None:
        """Request the release of the camera; ``ended`` follows."""
        self._stopped.set()
        Thread(target=self._interrupt, name="scstream-preview-end", daemon=True).start()

    def _interrupt(self) -> None:
        while self._thread.is_alive():
            source = self._source
            if source is not None:
                # Repeat: a read that was about to start misses the first interrupt.
                source.interrupt()
            self._thread.join(_GLANCE)

    def join(self) -> None:
        """Wait until the camera is released."""
        self._thread.join()

    @Slot()
    def _delete(self) -> None:
        # The thread may still be emitting ``ended``; a deleted object would not deliver it.
        self._thread.join()
        self.deleteLater()

    def _run(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            before.join()
        try:
            if not self._stopped.is_set() and self._modes_of is not None:
                self.offered.emit(camera_modes(self._modes_of))
            if not self._stopped.is_set():
                with open_source(self._address) as source:
                    self._source = source
                    self._read(source)
        except StudioError as error:
            self.failed.emit(str(error))
        except Exception as error:
            self.failed.emit(f"Cannot open the camera: {type(error).__name__}: {error}.")
        self.ended.emit()

    def _read(self, source: Source) -> None:
        while not self._stopped.is_set():
            try:
                frame = source.read()
            except CameraStalled as stall:
                self.failed.emit(str(stall))
                continue
            if frame is None:
                return
            if self.newest.put(frame.rgb):
                self.looked.emit()


class _Search(QObject):
    """Lists the cameras on a thread; ``found`` carries the number of the search and the cameras.

    One object serves the whole program: searches outlive dialogs, and deleting the object after a search can lose the
    signal of the next one.
    """

    found = Signal(int, object)

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self._count = 0

    @classmethod
    def of_program(cls) -> _Search:
        app = QApplication.instance()
        there = None if app is None else app.findChild(cls)
        return there or cls(app)

    def start(self) -> int:
        """Start a search and return its number."""
        self._count += 1
        Thread(target=self._run, args=(self._count,), name="scstream-cameras", daemon=True).start()
        return self._count

    def _run(self, number: int) -> None:
        self.found.emit(number, list_cameras())


class CameraDialog(QDialog):
    """Dialog with camera, mode and preview. ``chosen`` carries the camera's address when its preview has released it.

    Cancelling the dialog chooses ``fallback``, if given. ``folder`` is where the user looks for a clip to play instead.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, fallback: str = "", folder: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle("Open Camera")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preview: Preview | None = None
        self._fallback, self._leaving, self._folder = fallback, "", folder
        self.cameras = self._box("Camera", self._on_camera)
        self.modes = self._box("Resolution", self._on_mode)
        self.refresh = QPushButton("Refresh")
        self.refresh.setAutoDefault(False)
        self.refresh.clicked.connect(self.search)
        self.picture = QLabel()
        self.picture.setAccessibleName("Preview")
        self.picture.setFixedSize(_SIZE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setWordWrap(True)
        self.picture.setMargin(8)
        self.picture.setStyleSheet("background: #16171a; color: #d8dade;")
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Open | kinds.Cancel)
        self.clip = self.buttons.addButton(f"{PLAY_AS_CAMERA}…", QDialogButtonBox.ButtonRole.ActionRole)
        self.clip.setToolTip("Play a video at its own rate, again and again, as if it came from a camera")
        self.clip.setAutoDefault(False)
        self.clip.clicked.connect(self._on_clip)
        self.buttons.accepted.connect(self._on_open)
        self.buttons.rejected.connect(self.reject)
        self._lay_out()
        self._search, self._searching = _Search.of_program(), 0
        self._search.found.connect(self._on_found)
        self.search()

    def _box(self, name: str, act: Callable[[int], None]) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.activated.connect(act)
        return box

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.cameras, 1)
        row.addWidget(self.refresh)
        form = QFormLayout()
        form.addRow("Camera", row)
        form.addRow("Resolution", self.modes)
        column = QVBoxLayout(self)
        column.addWidget(self.picture)
        column.addLayout(form)
        column.addWidget(self.buttons)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)

    # --- user input

    @Slot()
    def search(self) -> None:
        """Search for cameras."""
        self._show_text("Looking for cameras …")
        self._allow(False)
        self.refresh.setEnabled(False)
        self._searching = self._search.start()

    @Slot(int)
    def _on_camera(self, place: int) -> None:
        self.modes.clear()
        self.modes.addItem("Automatic", "")
        self._start_preview(modes_of=self.cameras.itemData(place))

    @Slot(int)
    def _on_mode(self, place: int) -> None:
        self._start_preview()

    @Slot()
    def _on_open(self) -> None:
        self._leave_for(self.address)

    @Slot()
    def _on_clip(self) -> None:
        # Not a child of this dialog, which may close meanwhile, and would delete it while it runs.
        address = ask_clip_as_camera(self.parentWidget() or self, self._folder)
        if address and isValid(self):
            self._leave_for(address)

    @Slot()
    def reject(self) -> None:
        """Cancel; a fallback address is chosen when the preview has released the camera."""
        if self._fallback and not self._leaving:
            self._leave_for(self._fallback)
        elif not self._leaving:
            super().reject()

    def _leave_for(self, address: str) -> None:
        self._leaving = address
        self.setEnabled(False)
        if self._preview is None:
            self._leave()
        else:
            self._show_text("Closing the preview …")
            self._preview.stop()

    @property
    def address(self) -> str:
        """Address of the chosen camera and mode, for `open_source`."""
        return f"camera:{self.cameras.currentData()}{self.modes.currentData() or ''}"

    def done(self, result: int) -> None:
        """Release the camera, however the dialog is closed."""
        if self._preview is not None:
            self._preview.stop()
            self._preview = None
        super().done(result)

    # --- updates

    @Slot(int, object)
    def _on_found(self, number: int, cameras: list[CameraInfo]) -> None:
        if number != self._searching:
            return
        self.refresh.setEnabled(True)
        before = self.cameras.currentData()
        self.cameras.clear()
        for camera in cameras:
            self.cameras.addItem(camera.name, camera.index)
        self._allow(bool(cameras))
        if not cameras:
            self._stop_preview()
            self.modes.clear()
            self._show_text(_NONE)
            return
        self.cameras.setCurrentIndex(max(self.cameras.findData(before), 0))
        self._on_camera(self.cameras.currentIndex())

    def _allow(self, allowed: bool) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(allowed)
        self.cameras.setEnabled(allowed)
        self.modes.setEnabled(allowed)

    def _start_preview(self, modes_of: int | None = None) -> None:
        self._stop_preview()
        self._show_text("Opening …")
        preview = self._preview = Preview(self.address, modes_of)
        preview.offered.connect(self._on_offered)
        preview.looked.connect(self._on_looked)
        preview.failed.connect(self._on_failed)
        preview.ended.connect(self._on_ended)
        preview.start()

    def _stop_preview(self) -> None:
        if self._preview is not None:
            self._preview.stop()
            self._preview = None

    @Slot(object)
    def _on_offered(self, modes: list[CameraMode]) -> None:
        if self.sender() is self._preview:
            for mode in modes:
                rate = f"@{mode.rate:g}" if mode.rate > 0 else ""
                text = f"{mode.width} × {mode.height}" + (f", {mode.rate:g} fps" if mode.rate > 0 else "")
                self.modes.addItem(text, f"@{mode.width}x{mode.height}{rate}")

    @Slot()
    def _on_looked(self) -> None:
        preview = self._preview
        rgb = preview.newest.take() if preview is not None and self.sender() is preview else None
        if rgb is not None and not self._leaving:
            height, width = rgb.shape[:2]
            image = QImage(rgb.data, width, height, 3 * width, QImage.Format.Format_RGB888)
            ratio = self.devicePixelRatioF()
            scaled = QPixmap.fromImage(image).scaled(
                _SIZE * ratio, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
            scaled.setDevicePixelRatio(ratio)
            self.picture.setMargin(0)
            self.picture.setPixmap(scaled)

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        if self.sender() is self._preview and not self._leaving:
            self._show_text(message)

    @Slot()
    def _on_ended(self) -> None:
        if self.sender() is self._preview:
            self._preview = None
            if self._leaving:
                self._leave()

    def _leave(self) -> None:
        self.chosen.emit(self._leaving)
        self.accept()

    def _show_text(self, text: str) -> None:
        self.picture.setMargin(8)
        self.picture.setText(text)


def choose_camera(document: Document, parent: QWidget, chosen: Callable[[str], None], folder: str = "") -> None:
    """Show the camera dialog; ``chosen`` is called with the address.

    Closes a camera that is open first, since only one reader can open a camera. If the user cancels, the same camera is
    opened again. ``folder`` is where the user looks for a clip to play instead of a camera.
    """
    facts = document.facts
    on = facts.address if facts is not None and document.live and is_camera(facts.address) else ""

    def ask() -> None:
        dialog = CameraDialog(parent, on, folder)
        dialog.chosen.connect(chosen)
        dialog.open()

    if on:
        document.close()
        document.run.when_idle(ask)
    else:
        ask()
