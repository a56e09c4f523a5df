"""The form and the preview in the export dialog: frames, size, file names, look and folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QRectF, QSettings, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from scstream_app.export.atomic_files import Overwrite
from scstream_app.export.options import ExportOptions
from scstream_app.render.palette import PALETTES
from scstream_app.render.views import VIEWS
from scstream_app.ui.document.document import Document
from scstream_app.ui.export.export_folder import clip_key, expand_folder, proposed_folder
from scstream_app.ui.export.frame_choice import FrameChoice
from scstream_app.ui.qt.dialogs.folder_dialog import ask_folder
from scstream_app.ui.qt.widgets import paint_checkers

#: What to do with existing files; the dialog adds a question to the policies of `Overwrite`.
_ASK = "ask"
_OVERWRITE: Mapping[str, str] = {
    _ASK: "Ask before replacing",
    "replace": "Replace",
    "skip": "Keep, and write missing files",
    "refuse": "Stop with an error",
}
#: The choice of a view that depends on the format.
_BY_FORMAT = ""
#: Group of the stored choices in the settings.
_KEY = "export"
#: Letters of a choice for which there is always room.
_CHOICE_LETTERS = 16


class ExportForm(QWidget):
    """All options of an export except the formats.

    The signal ``changed`` follows every change, ``redraw`` those that affect the preview.

    Parameters
    ----------
    in_out : pair of int, optional
        First and last frame of the range marked on the timeline.
    kept : QSettings, optional
        Stores the choices for the next dialog. Colours and opacity default to those of the window.
    """

    changed = Signal()
    redraw = Signal()

    def __init__(self, document: Document, in_out: tuple[int, int] | None, kept: QSettings | None) -> None:
        super().__init__()
        self._document, self._kept = document, kept
        self._frames = FrameChoice(document, in_out)
        self._scale, self._opacity = _percent(1, 800), _percent(0, 100)
        self._opacity.setToolTip("Strength of the segments' colours over the picture")
        self._size = QLabel()
        self._pattern = QLineEdit()
        self._pattern.setToolTip("Fields: {frame} frame number, {time} time in seconds, {name} format or object")
        self._example = QLabel()
        self._example.setObjectName("example")
        self._view = _choice(self._views())
        self._soft_edges = QCheckBox("Soft edges")
        self._soft_edges.setToolTip("Cut-out objects become partly transparent along their outline")
        self._palette = _choice({name: name.capitalize() for name in PALETTES})
        self._overwrite = _choice({name: _OVERWRITE.get(name, name) for name in (_ASK, *get_args(Overwrite))})
        self._folder = QLineEdit()
        self._browse = QPushButton("Browse…")
        self._browse.setAutoDefault(False)
        self._arrange()
        self._restore()
        self._connect()

    def _views(self) -> dict[str, str]:
        """Titles of the views that movies can show: sessions hold no uncertainty, and some views need an object."""
        missing = {"uncertainty"} if self._document.objects else {"uncertainty", "mask"}
        titles = {name: view.title for name, view in VIEWS.items() if not missing & view.needs}
        if self._document.objects:
            return {_BY_FORMAT: "Objects cut out if the format has transparency, else overlay", **titles}
        return titles

    def _arrange(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Frames", self._frames)
        form.addRow("Size", _row(self._scale, self._size))
        form.addRow("File names", _row(self._pattern, self._example))
        form.addRow("Movies show", self._view)
        form.addRow("Mattes", self._soft_edges)
        form.addRow("Colours", _row(self._palette, QLabel("Opacity"), self._opacity))
        form.addRow("Existing files", self._overwrite)
        form.addRow("Folder", _row(self._folder, self._browse, stretch=0))
        for widget, name in (
            (self._scale, "Size"),
            (self._pattern, "File names"),
            (self._view, "Movies show"),
            (self._palette, "Colours"),
            (self._opacity, "Opacity"),
            (self._overwrite, "Existing files"),
            (self._folder, "Folder"),
        ):
            widget.setAccessibleName(name)

    def _connect(self) -> None:
        for box in (self._view, self._palette, self._overwrite):
            box.currentIndexChanged.connect(self.changed)
        for box in (self._view, self._palette):
            box.currentIndexChanged.connect(self.redraw)
        self._opacity.valueChanged.connect(self.redraw)
        self._scale.valueChanged.connect(self.changed)
        self._frames.changed.connect(self.changed)
        self._soft_edges.toggled.connect(self.changed)
        for line in (self._pattern, self._folder):
            line.textChanged.connect(self.changed)
        self._browse.clicked.connect(self._ask_folder)

    # --- stored choices

    def _restore(self) -> None:
        defaults, look = ExportOptions(), self._document.display.look
        self._scale.setValue(int(self._value("scale", "100")))
        self._pattern.setText(self._value("pattern", defaults.pattern))
        self._opacity.setValue(int(self._value("opacity", str(round(100.0 * look.opacity)))))
        self._soft_edges.setChecked(self._value("soft_edges", "") == "on")
        for box, name, default in (
            (self._view, "view", _BY_FORMAT if self._document.objects else "overlay"),
            (self._palette, "palette", look.palette),
            (self._overwrite, "overwrite", _ASK),
        ):
            place = box.findData(self._value(name, default))
            box.setCurrentIndex(place if place >= 0 else max(0, box.findData(default)))
        last_folder, last_clip = self._value("folder", ""), self._value("clip", "")
        self._folder.setText(str(proposed_folder(self._document, last_folder, last_clip)))

    def _value(self, name: str, default: str) -> str:
        value = None if self._kept is None else self._kept.value(f"{_KEY}/{name}")
        usable = value is not None and (name not in ("scale", "opacity") or str(value).isdigit())
        return str(value) if usable else default

    def kept_formats(self) -> list[str]:
        """The formats of the last export; empty if there was none."""
        return self._value("formats", "").split()

    def remember(self, formats: tuple[str, ...]) -> None:
        """Store the choices for the next dialog, except colours and opacity if they equal those of the window."""
        if self._kept is None:
            return
        look = self._document.display.look
        values = {
            "formats": " ".join(formats),
            "folder": str(self.folder),
            "clip": clip_key(self._document),
            "scale": str(self._scale.value()),
            "pattern": self._pattern.text(),
            "view": self._view.currentData(),
            "overwrite": self._overwrite.currentData(),
            "soft_edges": "on" if self._soft_edges.isChecked() else None,
            "palette": self._palette.currentData() if self._palette.currentData() != look.palette else None,
            "opacity": str(self._opacity.value()) if self._opacity.value() != round(100.0 * look.opacity) else None,
        }
        for name, value in values.items():
            if value is None:
                self._kept.remove(f"{_KEY}/{name}")
            else:
                self._kept.setValue(f"{_KEY}/{name}", value)

    # --- choices

    @property
    def folder_text(self) -> str:
        """The text of the folder field."""
        return self._folder.text().strip()

    @property
    def folder(self) -> Path:
        """The output folder."""
        return expand_folder(self.folder_text)

    @property
    def asks(self) -> bool:
        """Whether to ask the user before replacing files."""
        return bool(self._overwrite.currentData() == _ASK)

    @property
    def view(self) -> str | None:
        """The view that movies show; None if it depends on the format."""
        return str(self._view.currentData()) or None

    @property
    def palette_name(self) -> str:
        """The palette of the overlay."""
        return str(self._palette.currentData())

    @property
    def opacity(self) -> float:
        """The opacity of the overlay."""
        return self._opacity.value() / 100.0

    def options(self, formats: tuple[str, ...]) -> ExportOptions:
        """The export options for these formats."""
        return ExportOptions(
            formats,
            scale=self._scale.value() / 100.0,
            pattern=self._pattern.text(),
            overwrite="replace" if self.asks else self._overwrite.currentData(),
            view=self.view,
            palette=self.palette_name,
            opacity=self.opacity,
            soft_edges=self._soft_edges.isChecked(),
        )

    @property
    def frames(self) -> tuple[int, int]:
        """The first and the last frame to export."""
        return self._frames.frames

    def show_summary(self, example: str, movies: bool, transparent: bool) -> None:
        """Show an example of a file name and the output size; enable the choices that concern a chosen format.

        Parameters
        ----------
        example : str
            Text with the name of a file.
        movies : bool
            Whether a movie is written.
        transparent : bool
            Whether objects are cut out, with transparency.
        """
        self._view.setEnabled(movies)
        self._soft_edges.setEnabled(transparent)
        # A long path does not fit into the field.
        self._folder.setToolTip(self.folder_text)
        self._example.setText(example)
        facts = self._document.facts
        if facts is not None:
            factor = self._scale.value() / 100.0
            width, height = max(1, round(facts.width * factor)), max(1, round(facts.height * factor))
            self._size.setText(f"{width} × {height} pixels")

    @Slot()
    def _ask_folder(self) -> None:
        ask_folder(self, "Export to", self.folder.parent, self._folder.setText)


class Preview(QLabel):
    """A picture scaled to the available space."""

    def __init__(self) -> None:
        super().__init__()
        self._pixmap: QPixmap | None = None
        self.setAccessibleName("Preview")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(160, 90)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def put(self, pixmap: QPixmap | None) -> None:
        """Show a picture, or none."""
        self._pixmap = pixmap
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._pixmap is None:
            self.setText("No preview")
            return
        mode = Qt.TransformationMode.SmoothTransformation
        fitted = self._pixmap.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio, mode)
        self.setPixmap(on_checkers(fitted) if fitted.hasAlpha() else fitted)


def on_checkers(pixmap: QPixmap) -> QPixmap:
    """Draw a picture with transparency on a checkerboard."""
    whole = QPixmap(pixmap.size())
    painter = QPainter(whole)
    paint_checkers(painter, QRectF(whole.rect()), 1.0)
    painter.drawPixmap(0, 0, pixmap)
    painter.end()
    return whole


def _percent(low: int, high: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(low, high)
    box.setSuffix(" %")
    return box


def _choice(titles: Mapping[str, str]) -> QComboBox:
    box = QComboBox()
    # A long title must not widen the dialog; the list shows it in full.
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(min(max(map(len, titles.values())), _CHOICE_LETTERS))
    for name, title in titles.items():
        box.addItem(title, name)
    return box


def _row(*widgets: QWidget, stretch: int = -1) -> QWidget:
    """Arrange widgets in a row; the one at ``stretch`` takes the remaining space, by default a spacer at the end."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for place, widget in enumerate(widgets):
        layout.addWidget(widget, 1 if place == stretch else 0)
    if stretch < 0:
        layout.addStretch(1)
    return row
