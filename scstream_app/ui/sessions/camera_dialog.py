"""Choosing a camera: by name, with what it shows now, and in which size and rate."""

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
from scstream_app.ui.qt.mailbox import Mailbox

_SIZE = QSize(480, 300)
#: Seconds between attempts to end a reading.
_GLANCE = 0.05
_NONE = "No camera was found.\nConnect one, allow this program to use it, and refresh."


class Preview(QObject):
    """Looks through a camera on a thread of its own, until it is stopped and has let go of it.

    ``looked`` says that there is a picture in the mailbox `newest`; ``offered`` carries the camera's modes, ``failed``
    why there is no picture, and ``ended`` comes when the camera is free again.
    """

    offered = Signal(object)
    looked = Signal()
    failed = Signal(str)
    ended = Signal()

    # A camera is for one at a time: the next one waits until the last one has let go.
    _latest: Preview | None = None

    def __init__(self, address: str, modes_of: int | None) -> None:
        # It may outlive the dialog, and must not be deleted by its own thread.
        super().__init__(QApplication.instance())
        self.newest: Mailbox[Picture] = Mailbox()
        self._address, self._modes_of = address, modes_of
        self._stopped = Event()
        self._source: Source | None = None
        self._before, Preview._latest = Preview._latest, self
        self._thread = Thread(target=self._run, name="scstream-preview", daemon=True)
        self.ended.connect(self._go)

    def start(self) -> None:
        """Begin; whoever wants to hear of it is connected by now."""
        self._thread.start()

    def stop(self) -> None:
        """Let go of the camera soon; ``ended`` follows."""
        self._stopped.set()
        Thread(target=self._wake, name="scstream-preview-end", daemon=True).start()

    def _wake(self) -> None:
        while self._thread.is_alive():
            source = self._source
            if source is not None:
                # Again and again: a reading that was just about to begin has not heard it.
                source.interrupt()
            self._thread.join(_GLANCE)

    def join(self) -> None:
        """Wait until it has let go."""
        self._thread.join()

    @Slot()
    def _go(self) -> None:
        # The thread may still be telling others that it has ended: they would not hear it from what is deleted.
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
                    self._look(source)
        except StudioError as error:
            self.failed.emit(str(error))
        except Exception as error:
            self.failed.emit(f"Cannot open the camera: {type(error).__name__}: {error}.")
        self.ended.emit()

    def _look(self, source: Source) -> None:
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
    """Finds out which cameras there are, which may take a moment; ``found`` carries the search's number and them.

    There is one for the whole program: searches outlive dialogs, and one that is made for a search and deleted after it
    can make the next one's signal get lost.
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
        """Begin a search; its number."""
        self._count += 1
        Thread(target=self._run, args=(self._count,), name="scstream-cameras", daemon=True).start()
        return self._count

    def _run(self, number: int) -> None:
        self.found.emit(number, list_cameras())


class CameraDialog(QDialog):
    """Lets a person choose; ``chosen`` carries the camera's address when its preview has let go of it.

    ``fallback`` is the address that is chosen by leaving the dialog otherwise, if any.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, fallback: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle("Open Camera")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preview: Preview | None = None
        self._fallback, self._leaving = fallback, ""
        self.cameras = self._box("Camera", self._on_camera)
        self.modes = self._box("Size and rate", self._on_mode)
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
        form.addRow("Size and rate", self.modes)
        column = QVBoxLayout(self)
        column.addWidget(self.picture)
        column.addLayout(form)
        column.addWidget(self.buttons)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)

    # --- what a person does

    @Slot()
    def search(self) -> None:
        """Look which cameras there are."""
        self._say("Looking for cameras …")
        self._allow(False)
        self.refresh.setEnabled(False)
        self._searching = self._search.start()

    @Slot(int)
    def _on_camera(self, place: int) -> None:
        self.modes.clear()
        self.modes.addItem("Automatic", "")
        self._look(modes_of=self.cameras.itemData(place))

    @Slot(int)
    def _on_mode(self, place: int) -> None:
        self._look()

    @Slot()
    def _on_open(self) -> None:
        self._leave_for(self.address)

    @Slot()
    def reject(self) -> None:
        """Choose nothing: what there is to fall back to follows when the preview has let go."""
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
            self._say("Letting go of the preview …")
            self._preview.stop()

    @property
    def address(self) -> str:
        """What was chosen, as `open_source` takes it."""
        return f"camera:{self.cameras.currentData()}{self.modes.currentData() or ''}"

    def done(self, result: int) -> None:
        """Let go of the camera, however the dialog is left."""
        if self._preview is not None:
            self._preview.stop()
            self._preview = None
        super().done(result)

    # --- what happens

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
            self._stop_looking()
            self.modes.clear()
            self._say(_NONE)
            return
        self.cameras.setCurrentIndex(max(self.cameras.findData(before), 0))
        self._on_camera(self.cameras.currentIndex())

    def _allow(self, allowed: bool) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(allowed)
        self.cameras.setEnabled(allowed)
        self.modes.setEnabled(allowed)

    def _look(self, modes_of: int | None = None) -> None:
        self._stop_looking()
        self._say("Opening …")
        preview = self._preview = Preview(self.address, modes_of)
        preview.offered.connect(self._on_offered)
        preview.looked.connect(self._on_looked)
        preview.failed.connect(self._on_failed)
        preview.ended.connect(self._on_ended)
        preview.start()

    def _stop_looking(self) -> None:
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
            self._say(message)

    @Slot()
    def _on_ended(self) -> None:
        if self.sender() is self._preview:
            self._preview = None
            if self._leaving:
                self._leave()

    def _leave(self) -> None:
        self.chosen.emit(self._leaving)
        self.accept()

    def _say(self, text: str) -> None:
        self.picture.setMargin(8)
        self.picture.setText(text)


def choose_camera(document: Document, parent: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for a camera; ``chosen`` gets its address.

    A camera that is on is let go of first, since it may be the one that is wanted, and a camera is for one at a time.
    If none is chosen, it is that one again.
    """
    facts = document.facts
    on = facts.address if facts is not None and document.live and is_camera(facts.address) else ""

    def ask() -> None:
        dialog = CameraDialog(parent, on)
        dialog.chosen.connect(chosen)
        dialog.open()

    if on:
        document.close()
        document.run.when_idle(ask)
    else:
        ask()
