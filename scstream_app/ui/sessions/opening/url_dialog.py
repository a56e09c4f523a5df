"""Dialog that asks for the address of a stream, a video or images, with examples and the last addresses."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QGridLayout, QLabel, QVBoxLayout, QWidget

_WIDTH = 560
#: Kinds of addresses, each with an example.
_EXAMPLES = (
    ("Network camera", "rtsp://user:password@192.168.1.20:554/stream"),
    ("Web stream", "http://example.org/live/stream.m3u8"),
    ("Sender in this network", "udp://0.0.0.0:1234"),
    ("Video on a server", "https://example.org/clip.mp4"),
    ("Numbered images", "/data/frames/%05d.png#rate=12"),
    ("TIFF stack", "/data/stack.tif#range=100:4000&rate=10"),
)


class UrlDialog(QDialog):
    """Asks for an address.

    Parameters
    ----------
    last : iterable of str
        Addresses opened before, newest first.
    """

    def __init__(self, last: Iterable[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Open URL")
        self.field = QComboBox()
        self.field.setEditable(True)
        self.field.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.field.addItems(list(last))
        self.field.setCurrentIndex(-1)
        self.field.clearEditText()
        line = self.field.lineEdit()
        assert line is not None
        line.setPlaceholderText(_EXAMPLES[0][1])
        self.field.setAccessibleName("Address")
        self.field.editTextChanged.connect(self._on_text)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Open | kinds.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._lay_out()
        self._on_text()
        self.resize(_WIDTH, self.sizeHint().height())

    def _lay_out(self) -> None:
        label = QLabel("&Address of a stream, a video or images:")
        label.setBuddy(self.field)
        column = QVBoxLayout(self)
        column.addWidget(label)
        column.addWidget(self.field)
        column.addLayout(_examples())
        column.addStretch(1)
        column.addWidget(self.buttons)

    @Slot()
    def _on_text(self) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(bool(self.address))

    @property
    def address(self) -> str:
        """The address in the field."""
        return self.field.currentText().strip()


def _examples() -> QGridLayout:
    grid = QGridLayout()
    grid.setColumnStretch(1, 1)
    grid.addWidget(QLabel("Examples:"), 0, 0, 1, 2)
    for row, (kind, example) in enumerate(_EXAMPLES, 1):
        text = QLabel(example)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setCursor(Qt.CursorShape.IBeamCursor)
        grid.addWidget(QLabel(kind), row, 0)
        grid.addWidget(text, row, 1)
    return grid


def ask_url(parent: QWidget, last: Iterable[str] = ()) -> str | None:
    """Ask for an address; returns None if the user cancels or types nothing."""
    dialog = UrlDialog(last, parent)
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    address = dialog.address
    dialog.deleteLater()
    return address if accepted and address else None
