"""The export dialog: what, which frames, how and where, with a preview, and then how far it has come."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import get_args

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from scstream_app.errors import StudioError
from scstream_app.export import FORMATS, needs_object, needs_picture
from scstream_app.export.files import Overwrite
from scstream_app.export.movie import Movies
from scstream_app.headless import Order
from scstream_app.palette import PALETTES
from scstream_app.render import VIEWS
from scstream_app.ui import exporting
from scstream_app.ui.document import Document
from scstream_app.ui.exporting import Exporting
from scstream_app.ui.objects import show_boxes

#: Formats by what people look for. One that is in none of them is listed under "Other".
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Pictures": ("overlay", "mean", "boundaries", "matte"),
    "Movies": ("mp4", "webm", "prores", "gif"),
    "Masks and ids": ("ids", "object", "davis", "coco", "yolo"),
    "Tables and volumes": ("csv", "parquet", "zarr", "tiff", "npz"),
}
_TITLES: Mapping[str, str] = {
    "overlay": "Overlay",
    "mean": "Mean colour",
    "boundaries": "Boundaries",
    "matte": "Object matte",
    "mp4": "MP4 (H.264)",
    "webm": "WebM (VP9)",
    "prores": "ProRes 4444",
    "gif": "GIF",
    "ids": "Ids, 16-bit PNG",
    "object": "Object masks",
    "davis": "DAVIS",
    "coco": "COCO / YouTube-VIS",
    "yolo": "YOLO-seg",
    "csv": "CSV tables",
    "parquet": "Parquet tables",
    "zarr": "Zarr volume",
    "tiff": "TIFF stack",
    "npz": "NumPy archive",
}
#: What gets lost in a format.
_WARNINGS: Mapping[str, str] = {
    "yolo": "YOLO-seg: polygons lose holes, and a segment's parts become polygons of their own.",
    "gif": "GIF: 256 colours a frame.",
}
#: What the preview shows for formats that are not movies; for all others the segments alone.
_PREVIEWS: Mapping[str, str] = {
    "overlay": "overlay",
    "mean": "mean_colour",
    "boundaries": "boundaries",
    "matte": "matte",
    "object": "mask",
    "davis": "mask",
}
_OVERWRITE: Mapping[str, str] = {
    "replace": "Replace",
    "skip": "Keep, and write what is missing",
    "refuse": "Stop with an error",
}
_PREVIEW_PIXELS = 480
_FORMAT = Qt.ItemDataRole.UserRole


class ExportDialog(QDialog):
    """Asks what to export, and does it on a thread of its own.

    Parameters
    ----------
    document : Document
    in_out : pair of int, optional
        First and last frame of the range that was marked on the timeline.

    ``exported`` carries the folder when all is written.
    """

    exported = Signal(object)

    def __init__(
        self, document: Document, parent: QWidget | None = None, *, in_out: tuple[int, int] | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._document, self._in_out = document, in_out
        self._running = self._closing = False
        self._count, self._began = 0, 0.0
        self._items: dict[str, QTreeWidgetItem] = {}
        self._exporting = Exporting()
        self._make_choices()
        self._make_progress()
        self._lay_out()
        self._connect()
        self._fill_formats()
        self._check()
        self._draw()

    # --- what it is made of

    def _make_choices(self) -> None:
        self._formats = QTreeWidget()
        self._formats.setAccessibleName("Formats")
        self._formats.setHeaderHidden(True)
        show_boxes(self._formats)
        self._formats.setMinimumSize(230, 360)
        self._formats.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._about = _text()
        self._preview = _Preview()
        self._make_frames()
        self._scale = QSpinBox()
        self._scale.setRange(1, 800)
        self._scale.setValue(100)
        self._scale.setSuffix(" %")
        self._size = QLabel()
        self._pattern = QLineEdit(Order().pattern)
        self._pattern.setToolTip("Fields: {frame} the frame's number, {time} its seconds, {name} the format or object")
        self._example = QLabel()
        self._example.setObjectName("example")
        self._view = _choice(self._views(), "overlay")
        self._palette = _choice({name: name.capitalize() for name in PALETTES}, self._document.look.palette)
        self._overwrite = _choice({name: _OVERWRITE.get(name, name) for name in get_args(Overwrite)}, "replace")
        self._folder = QLineEdit(str(self._default_folder()))
        self._browse = QPushButton("Browse…")
        self._browse.setAutoDefault(False)
        for widget, name in (
            (self._scale, "Size"),
            (self._pattern, "File names"),
            (self._view, "Movies show"),
            (self._palette, "Colours"),
            (self._overwrite, "Existing files"),
            (self._folder, "Folder"),
        ):
            widget.setAccessibleName(name)

    def _views(self) -> dict[str, str]:
        """Titles of the views that movies can show: sessions hold no uncertainty, and cut-outs need an object."""
        lacking = {"uncertainty"} if self._document.objects else {"uncertainty", "members"}
        return {name: view.title for name, view in VIEWS.items() if not lacking & view.needs}

    def _make_frames(self) -> None:
        frames = self._document.trace.frames
        self._all = QRadioButton(f"All {len(frames)}" if len(frames) else "All")
        marked = "In to out" if self._in_out is None else f"In to out ({self._in_out[0]} to {self._in_out[1]})"
        self._range = QRadioButton(marked)
        self._range.setEnabled(self._in_out is not None)
        self._range.setToolTip("" if self._in_out else "Set in and out points on the timeline first (I and O)")
        index = self._document.index
        self._current = QRadioButton("This one" if index is None else f"This one ({index})")
        self._which = QButtonGroup(self)
        for button in (self._all, self._range, self._current):
            self._which.addButton(button)
        (self._all if self._in_out is None else self._range).setChecked(True)

    def _make_progress(self) -> None:
        self._message = _text()
        self._message.setObjectName("message")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.hide()
        self._status = _text()
        self._status.setObjectName("status")
        self._buttons = QDialogButtonBox()
        self._show = self._buttons.addButton("Show in Folder", QDialogButtonBox.ButtonRole.ActionRole)
        self._show.hide()
        self._export = self._buttons.addButton("Export", QDialogButtonBox.ButtonRole.ApplyRole)
        self._export.setDefault(True)
        self._leave = self._buttons.addButton("Close", QDialogButtonBox.ButtonRole.RejectRole)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self._formats, 1)
        left.addWidget(self._about)
        self._options = QWidget()
        form = QFormLayout(self._options)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Frames", _row(self._all, self._range, self._current))
        form.addRow("Size", _row(self._scale, self._size))
        form.addRow("File names", _row(self._pattern, self._example))
        form.addRow("Movies show", self._view)
        form.addRow("Colours", self._palette)
        form.addRow("Existing files", self._overwrite)
        form.addRow("Folder", _row(self._folder, self._browse, stretch=0))
        right = QVBoxLayout()
        right.addWidget(self._preview, 1)
        right.addWidget(self._options)
        sides = QHBoxLayout()
        sides.addLayout(left, 0)
        sides.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(sides, 1)
        for widget in (self._message, self._bar, self._status, self._buttons):
            layout.addWidget(widget)
        self.resize(820, 640)

    def _connect(self) -> None:
        self._formats.itemChanged.connect(self._check)
        self._formats.currentItemChanged.connect(self._on_format)
        for box in (self._view, self._palette):
            box.currentIndexChanged.connect(self._draw)
        for box in (self._view, self._palette, self._overwrite):
            box.currentIndexChanged.connect(self._check)
        self._which.buttonToggled.connect(self._check)
        self._scale.valueChanged.connect(self._check)
        for line in (self._pattern, self._folder):
            line.textChanged.connect(self._check)
        self._browse.clicked.connect(self._ask_folder)
        self._export.clicked.connect(self._start)
        self._leave.clicked.connect(self._on_leave)
        self._show.clicked.connect(self._show_folder)
        self._exporting.progressed.connect(self._on_progress)
        self._exporting.failed.connect(self._on_failed)
        self._exporting.finished.connect(self._on_finished)
        self._document.shown_changed.connect(self._draw)
        self._document.closed.connect(self._on_document_closed)

    def _fill_formats(self) -> None:
        known = {name for names in _GROUPS.values() for name in names}
        groups = {**_GROUPS, "Other": tuple(name for name in FORMATS if name not in known)}
        with QSignalBlocker(self._formats):
            for title, names in groups.items():
                items = [self._format_item(name) for name in names if name in FORMATS]
                if items:
                    group = QTreeWidgetItem([title])
                    group.setFlags(Qt.ItemFlag.ItemIsEnabled)
                    font = group.font(0)
                    font.setBold(True)
                    group.setFont(0, font)
                    self._formats.addTopLevelItem(group)
                    group.addChildren(items)
            self._formats.expandAll()
        first = self._items["ids" if "ids" in FORMATS else next(iter(FORMATS))]
        with QSignalBlocker(self._formats):
            first.setCheckState(0, Qt.CheckState.Checked)
        self._formats.setCurrentItem(first)

    def _format_item(self, name: str) -> QTreeWidgetItem:
        item = self._items[name] = QTreeWidgetItem([_TITLES.get(name, name)])
        item.setData(0, _FORMAT, name)
        item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 6))
        item.setCheckState(0, Qt.CheckState.Unchecked)
        why = self._unavailable(name)
        item.setToolTip(0, why or f"{FORMATS[name].about}.")
        item.setDisabled(bool(why))
        return item

    def _unavailable(self, name: str) -> str:
        """Why a format cannot be chosen; nothing if it can."""
        facts = self._document.facts
        if needs_object(name) and not self._document.objects:
            return "Needs an object: select segments and press G to make one."
        if needs_picture([name]) and facts is not None and facts.live:
            return "Shows the camera's pictures, and those are not kept."
        if name == "parquet" and importlib.util.find_spec("pyarrow") is None:
            return "Needs the extra 'parquet': pip install scstream-studio[parquet]."
        return ""

    def _default_folder(self) -> Path:
        facts = self._document.facts
        address = Path(facts.address) if facts is not None else Path()
        beside = address.parent if facts is not None and address.exists() else Path.home()
        stem = "".join(sign if sign.isalnum() or sign in " -_." else "_" for sign in address.stem) or "video"
        return beside / f"{stem}_segments"

    # --- what is chosen

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats that are ticked, in the order of `FORMATS`."""
        items = self._items
        return tuple(name for name in FORMATS if name in items and items[name].checkState(0) == Qt.CheckState.Checked)

    @property
    def folder(self) -> Path:
        """Where everything goes."""
        return Path(self._folder.text().strip()).expanduser()

    @property
    def order(self) -> Order:
        """What is chosen, as `headless.export` takes it."""
        return Order(
            self.formats,
            scale=self._scale.value() / 100.0,
            pattern=self._pattern.text(),
            overwrite=self._overwrite.currentData(),
            view=self._view.currentData(),
            palette=self._palette.currentData(),
        )

    @property
    def frames(self) -> tuple[int, int]:
        """The first and the last frame to export."""
        there, index = self._document.trace.frames, self._document.index
        if self._current.isChecked() and index is not None:
            return index, index
        if self._range.isChecked() and self._in_out is not None:
            return self._in_out
        return (there[0], there[-1]) if len(there) else (0, -1)

    @Slot()
    def _check(self) -> None:
        """Say what the choices come to, or what is wrong with them."""
        formats = self.formats
        movies = any(issubclass(FORMATS[name], Movies) for name in formats)
        self._view.setEnabled(movies)
        trouble = self._trouble()
        warnings = [_WARNINGS[name] for name in formats if name in _WARNINGS]
        self._say(trouble or " ".join(warnings), error=bool(trouble))
        self._export.setEnabled(not trouble and not self._running)
        facts = self._document.facts
        if facts is not None:
            factor = self._scale.value() / 100.0
            width, height = max(1, round(facts.width * factor)), max(1, round(facts.height * factor))
            self._size.setText(f"{width} × {height} pixels")
        self._example.setText(self._told_example())

    def _trouble(self) -> str:
        if self._document.session is None or self._document.facts is None:
            return "There is nothing to export: nothing is open."
        if exporting.task(self._document, self.folder, self.order, self.frames) is None:
            return "There is nothing to export: none of these frames is segmented yet."
        if not self.formats:
            return "Choose at least one format."
        if not self._folder.text().strip():
            return "Choose a folder."
        if self.folder.is_file():
            return f"'{self.folder}' is a file: choose a folder."
        return exporting.trouble(self._document, self.folder, self.order)

    def _told_example(self) -> str:
        shown = self._document.shown
        if shown is None or self._document.facts is None:
            return ""
        name = next((name for name in self.formats if not issubclass(FORMATS[name], Movies)), "ids")
        try:
            return f"for example {exporting.job(self._document, self.order).stem(shown.result, name)}.png"
        except StudioError:
            return ""

    def _say(self, text: str, error: bool) -> None:
        self._message.setText(text)
        self._message.setProperty("error", error)
        # Red on dark needs to be lighter than red on light.
        dark = self.palette().window().color().lightness() < 128
        colour = "#ff8a80" if dark else "#b3261e"
        self._message.setStyleSheet(f"color: {colour}" if error else "")
        self._message.setVisible(bool(text))

    @Slot()
    def _on_format(self) -> None:
        name = self._current_format()
        if name:
            self._about.setText(self._unavailable(name) or f"{FORMATS[name].about}.")
        self._draw()

    def _current_format(self) -> str:
        item = self._formats.currentItem()
        return "" if item is None else str(item.data(0, _FORMAT) or "")

    @Slot()
    def _draw(self) -> None:
        """Preview the frame at hand as the highlighted format shows it."""
        name = self._current_format()
        movie = name in FORMATS and issubclass(FORMATS[name], Movies)
        view = str(self._view.currentData()) if movie else _PREVIEWS.get(name, "ids")
        picture = exporting.preview(self._document, view, self._palette.currentData(), _PREVIEW_PIXELS)
        if picture is None:
            self._preview.put(None)
            return
        height, width, depth = picture.shape
        kind = QImage.Format.Format_RGBA8888 if depth == 4 else QImage.Format.Format_RGB888
        self._preview.put(QPixmap.fromImage(QImage(picture.data, width, height, depth * width, kind).copy()))

    @Slot()
    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, "Export to", str(self.folder.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._folder.setText)
        dialog.open()

    # --- doing it

    @Slot()
    def _start(self) -> None:
        if self._running or self._trouble():
            return
        task = exporting.task(self._document, self.folder, self.order, self.frames)
        assert task is not None
        self._set_running(True)
        self._count, self._began = task.count, monotonic()
        self._bar.setRange(0, task.count)
        self._bar.setValue(0)
        self._bar.show()
        self._show.hide()
        self._say("", error=False)
        self._status.setText(f"Exporting {task.count} frames…")
        self._status.show()
        self._exporting.start(task)

    def _set_running(self, running: bool) -> None:
        self._document.exporting += running - self._running
        self._running = running
        self._options.setEnabled(not running)
        self._formats.setEnabled(not running)
        self._export.setEnabled(not running)
        self._leave.setText("Cancel" if running else "Close")
        self._leave.setEnabled(True)

    @Slot(int)
    def _on_progress(self, done: int) -> None:
        self._bar.setValue(done)
        seconds = monotonic() - self._began
        rate = done / seconds if seconds > 0.0 else math.nan
        if not done:
            return
        if done < self._count:
            left = told_seconds((self._count - done) / rate)
            self._status.setText(f"Frame {done} of {self._count}, {rate:.1f} a second, {left} left")
        else:
            self._status.setText("Completing the files…")

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self._say(message, error=True)

    @Slot(bool)
    def _on_finished(self, complete: bool) -> None:
        self._exporting.shut_down()
        self._set_running(False)
        seconds = told_seconds(monotonic() - self._began)
        failed = bool(self._message.property("error")) and bool(self._message.text())
        self._show.setVisible(complete and not failed)
        self._bar.setVisible(complete and not failed)
        if failed:
            self._status.setText("Not everything was written.")
        elif complete:
            self._status.setText(f"{self._count} frames written in {seconds}.")
            self.exported.emit(self.folder)
        else:
            self._status.setText("Cancelled. Files that were not complete have been removed.")
        if self._closing:
            self.reject()

    @Slot()
    def _on_leave(self) -> None:
        if self._running:
            self._cancel()
        else:
            self.reject()

    def _cancel(self) -> None:
        self._leave.setEnabled(False)
        self._status.setText("Cancelling…")
        self._exporting.cancel()

    @Slot()
    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.folder)))

    # --- closing

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            show_boxes(self._formats)

    def reject(self) -> None:
        """Close; in the midst of an export ask first. Closing the window comes here too."""
        if not self._running:
            super().reject()
        elif not self._closing:
            self._ask_to_stop()

    def _ask_to_stop(self) -> None:
        box = QMessageBox(QMessageBox.Icon.Question, "Export", "The export is not finished. Stop it?", parent=self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No)
        box.button(QMessageBox.StandardButton.Yes).setText("Stop")
        box.button(QMessageBox.StandardButton.No).setText("Go on")
        box.accepted.connect(self._stop_and_close)
        box.open()

    @Slot()
    def _stop_and_close(self) -> None:
        self._closing = True
        if self._running:
            self._cancel()
        else:
            self.reject()

    @Slot()
    def _on_document_closed(self) -> None:
        """What it exports is gone: it waits for its thread, so that nothing reads on."""
        if self._running:
            self._exporting.shut_down()
            self._set_running(False)
        self.reject()


class _Preview(QLabel):
    """A picture as large as there is room for."""

    def __init__(self) -> None:
        super().__init__()
        self._pixmap: QPixmap | None = None
        self.setAccessibleName("Preview")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(320, 180)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def put(self, pixmap: QPixmap | None) -> None:
        """Show this picture; None: there is none."""
        self._pixmap = pixmap
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._pixmap is None:
            self.setText("No preview")
            return
        way = Qt.TransformationMode.SmoothTransformation
        self.setPixmap(self._pixmap.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio, way))


def told_seconds(seconds: float) -> str:
    """A time in words.

    >>> told_seconds(0.4), told_seconds(42.0), told_seconds(200.0), told_seconds(7300.0)
    ('1 s', '42 s', '3 min 20 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    minutes, rest = divmod(whole, 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _choice(titles: Mapping[str, str], chosen: str) -> QComboBox:
    box = QComboBox()
    for name, title in titles.items():
        box.addItem(title, name)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    return box


def _text() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _row(*widgets: QWidget, stretch: int = -1) -> QWidget:
    """Widgets side by side; the one at ``stretch`` takes what is left, by default empty room at the end."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for place, widget in enumerate(widgets):
        layout.addWidget(widget, 1 if place == stretch else 0)
    if stretch < 0:
        layout.addStretch(1)
    return row
