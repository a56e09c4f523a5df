"""The export dialog: formats, options, preview and progress."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QSettings, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QImage, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QProgressBar,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from scstream_app.errors import StudioError
from scstream_app.export import FORMATS, ExportOptions
from scstream_app.export.movie import MovieWriter
from scstream_app.plural import counted, listed
from scstream_app.ui.document.document import Document
from scstream_app.ui.export import export_worker
from scstream_app.ui.export.export_folder import folder_error, is_empty
from scstream_app.ui.export.export_form import ExportForm, Preview
from scstream_app.ui.export.export_formats import FormatsTree
from scstream_app.ui.export.export_worker import ExportTask, ExportWorker
from scstream_app.ui.qt.durations import duration_text
from scstream_app.ui.qt.layout.screen_fit import ScrollBox, fit_dialog

_PREVIEW_PIXELS = 480
_SIZE = QSize(820, 640)
#: Lines of the longest description of a format, in the width of the list.
_ABOUT_LINES = 5


class ExportDialog(QDialog):
    """Dialog that exports the open session on a background thread.

    Parameters
    ----------
    document : Document
    in_out : pair of int, optional
        First and last frame of the range marked on the timeline.
    kept : QSettings, optional
        Stores the choices for the next dialog.

    The signal ``exported`` carries the folder after all files were written.
    """

    exported = Signal(object)

    def __init__(
        self,
        document: Document,
        parent: QWidget | None = None,
        *,
        in_out: tuple[int, int] | None = None,
        kept: QSettings | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._document = document
        self._running = self._closing = False
        self._count, self._started = 0, 0.0
        self._file_names: tuple[str, ...] = ()
        self._worker = ExportWorker()
        self._formats = FormatsTree(document)
        self._form = ExportForm(document, in_out, kept)
        self._about = _label()
        self._about.setAlignment(Qt.AlignmentFlag.AlignTop)
        # The list above keeps its height whatever the description's length.
        self._about.setMinimumHeight(_ABOUT_LINES * self._about.fontMetrics().lineSpacing())
        self._preview = Preview()
        self._make_progress()
        self._arrange()
        self._connect()
        self._formats.choose(self._form.kept_formats())
        self._check()
        self._draw()

    # --- layout

    def _make_progress(self) -> None:
        self._message = _label()
        self._message.setObjectName("message")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        # What is above stays where it is when the bar appears.
        room = self._bar.sizePolicy()
        room.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(room)
        self._bar.hide()
        self._status = _label()
        self._status.setObjectName("status")
        self._buttons = QDialogButtonBox()
        self._show_button = self._buttons.addButton("Show in Folder", QDialogButtonBox.ButtonRole.ActionRole)
        self._show_button.hide()
        self._export_button = self._buttons.addButton("Export", QDialogButtonBox.ButtonRole.ApplyRole)
        self._export_button.setDefault(True)
        self._close_button = self._buttons.addButton("Close", QDialogButtonBox.ButtonRole.RejectRole)

    def _arrange(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self._formats, 1)
        left.addWidget(self._about)
        right = QVBoxLayout()
        right.addWidget(self._preview, 1)
        right.addWidget(ScrollBox(self._form))
        sides = QHBoxLayout()
        sides.addLayout(left, 0)
        sides.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(sides, 1)
        for widget in (self._message, self._bar, self._status, self._buttons):
            layout.addWidget(widget)
        fit_dialog(self, _SIZE)

    def _connect(self) -> None:
        self._formats.itemChanged.connect(self._check)
        self._formats.currentItemChanged.connect(self._on_format_highlighted)
        self._form.changed.connect(self._check)
        self._form.redraw.connect(self._draw)
        self._export_button.clicked.connect(self._on_export_clicked)
        self._close_button.clicked.connect(self._on_close_clicked)
        self._show_button.clicked.connect(self._show_folder)
        self._worker.progressed.connect(self._on_progress)
        self._worker.failed.connect(self._on_failed)
        self._worker.finished.connect(self._on_finished)
        self._document.display.shown_changed.connect(self._draw)
        self._document.closed.connect(self._on_document_closed)

    # --- choices

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the checked formats, in the order of `FORMATS`."""
        return self._formats.chosen

    @property
    def folder(self) -> Path:
        """The output folder."""
        return self._form.folder

    @property
    def options(self) -> ExportOptions:
        """The chosen options, for `headless.export`."""
        return self._form.options(self.formats)

    def _task(self) -> ExportTask | None:
        return export_worker.make_task(self._document, self.folder, self.options, self._form.frames)

    @Slot()
    def _check(self) -> None:
        """Show problems and warnings, and update the summary of the choices."""
        formats = self.formats
        problem = self._problem()
        warnings = [FORMATS[name].warning for name in formats if FORMATS[name].warning]
        self._show_message(problem or " ".join(warnings), error=bool(problem))
        self._export_button.setEnabled(not problem and not self._running)
        movies = any(issubclass(FORMATS[name], MovieWriter) for name in formats)
        self._form.show_summary(self._example_text(), movies, any(map(self._has_transparency, formats)))

    def _problem(self) -> str:
        if self._document.session is None or self._document.facts is None:
            return "Nothing to export: no session is open."
        if self._task() is None:
            return "Nothing to export: none of these frames is segmented yet."
        if not self.formats:
            return "Choose at least one format."
        return folder_error(self._form.folder_text) or export_worker.find_problem(
            self._document, self.folder, self.options
        )

    def _example_text(self) -> str:
        shown = self._document.display.shown
        if shown is None or self._document.facts is None:
            return ""
        name = next((name for name in self.formats if not issubclass(FORMATS[name], MovieWriter)), "ids")
        try:
            return f"for example {export_worker.make_job(self._document, self.options).stem(shown.result, name)}.png"
        except StudioError:
            return ""

    def _show_message(self, text: str, error: bool) -> None:
        self._message.setText(text)
        self._message.setToolTip(text)
        self._message.setProperty("error", error)
        # Red text needs a lighter shade on a dark background.
        dark = self.palette().window().color().lightness() < 128
        colour = "#ff8a80" if dark else "#b3261e"
        self._message.setStyleSheet(f"color: {colour}" if error else "")
        self._message.setVisible(bool(text))

    @Slot()
    def _on_format_highlighted(self) -> None:
        name = self._formats.highlighted
        if name:
            self._about.setText(self._formats.about(name))
        self._draw()

    def _view_of(self, name: str) -> str:
        """The view that the files of a format show."""
        writer = FORMATS.get(name)
        if writer is None:
            return "ids"
        if not issubclass(writer, MovieWriter):
            return "mask" if writer.prefers_objects and self._document.objects else writer.view
        cut_out = writer.alpha_codec is not None and bool(self._document.objects)
        return self._form.view or ("matte" if cut_out else "overlay")

    def _has_transparency(self, name: str) -> bool:
        """Whether the files of a format show the objects cut out, with transparency."""
        writer = FORMATS[name]
        opaque = issubclass(writer, MovieWriter) and writer.alpha_codec is None
        return self._view_of(name) == "matte" and not opaque

    @Slot()
    def _draw(self) -> None:
        """Preview the current frame in the highlighted format."""
        name, form = self._formats.highlighted, self._form
        view = self._view_of(name)
        picture = export_worker.draw_preview(self._document, view, form.palette_name, form.opacity, _PREVIEW_PIXELS)
        if picture is None:
            self._preview.put(None)
            return
        height, width, depth = picture.shape
        kind = QImage.Format.Format_RGBA8888 if depth == 4 else QImage.Format.Format_RGB888
        self._preview.put(QPixmap.fromImage(QImage(picture.data, width, height, depth * width, kind).copy()))

    # --- export

    @Slot()
    def _on_export_clicked(self) -> None:
        if self._form.asks and not self._running and not is_empty(self.folder):
            self._ask_to_replace()
        else:
            self._start()

    def _ask_to_replace(self) -> None:
        text = f"The folder '{self.folder.name}' contains files. The export replaces files of the same names."
        ask(self, text, "Replace", "Cancel", self._start)

    @Slot()
    def _start(self) -> None:
        # The choices may have become invalid while the question was open.
        self._check()
        if self._running or self._problem():
            return
        task = self._task()
        assert task is not None
        self._form.remember(self.formats)
        self._set_running(True)
        self._count, self._started = task.count, monotonic()
        self._file_names = export_worker.file_names(self._document, task.options)
        self._bar.setRange(0, task.count)
        self._bar.setValue(0)
        self._bar.show()
        self._show_button.hide()
        self._show_message("", error=False)
        self._status.setText(f"Exporting {counted(task.count, 'frame')}…")
        self._status.show()
        self._worker.start(task)

    def _set_running(self, running: bool) -> None:
        self._document.exporting += running - self._running
        self._running = running
        self._form.setEnabled(not running)
        self._formats.setEnabled(not running)
        self._export_button.setEnabled(not running)
        self._close_button.setText("Cancel" if running else "Close")
        self._close_button.setEnabled(True)

    @Slot(int)
    def _on_progress(self, done: int) -> None:
        self._bar.setValue(done)
        seconds = monotonic() - self._started
        rate = done / seconds if seconds > 0.0 else math.nan
        if not done:
            return
        if done < self._count:
            left = duration_text((self._count - done) / rate)
            self._status.setText(f"Frame {done} of {self._count}, {rate:.1f} frames/s, {left} left")
        else:
            self._status.setText("Completing the files…")

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self._show_message(message, error=True)

    @Slot(bool)
    def _on_finished(self, complete: bool) -> None:
        self._worker.stop()
        self._set_running(False)
        seconds = duration_text(monotonic() - self._started)
        failed = bool(self._message.property("error")) and bool(self._message.text())
        self._show_button.setVisible(complete and not failed)
        self._bar.setVisible(complete and not failed)
        if failed:
            self._status.setText("Some files were not written.")
        elif complete:
            self._status.setText(f"{counted(self._count, 'frame')} written in {seconds}: {listed(self._file_names)}.")
            self.exported.emit(self.folder)
        else:
            self._status.setText("Cancelled. Incomplete files were removed.")
        if self._closing:
            self.reject()

    @Slot()
    def _on_close_clicked(self) -> None:
        if self._running:
            self._cancel()
        else:
            self.reject()

    def _cancel(self) -> None:
        self._close_button.setEnabled(False)
        self._status.setText("Cancelling…")
        self._worker.cancel()

    @Slot()
    def _show_folder(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.folder))):
            self._status.setText(f"Cannot open a file manager. The files are in '{self.folder}'.")

    # --- closing

    def reject(self) -> None:
        """Close the dialog; ask first while an export runs. Qt also calls this when the window is closed."""
        if not self._running:
            super().reject()
        elif not self._closing:
            self._ask_to_stop()

    def _ask_to_stop(self) -> None:
        ask(self, "The export is not finished. Stop it?", "Stop", "Continue", self._stop_and_close)

    @Slot()
    def _stop_and_close(self) -> None:
        self._closing = True
        if self._running:
            self._cancel()
        else:
            self.reject()

    @Slot()
    def _on_document_closed(self) -> None:
        """Close the dialog; wait for the thread, so that it does not read the closed session."""
        if self._running:
            self._worker.shut_down()
            self._set_running(False)
        self.reject()


def ask(parent: QWidget, question: str, yes: str, no: str, then: Callable[[], None]) -> None:
    """Open a question without blocking; the button ``yes`` calls ``then``."""
    box = QMessageBox(QMessageBox.Icon.Question, "Export", question, parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No)
    box.button(QMessageBox.StandardButton.Yes).setText(yes)
    box.button(QMessageBox.StandardButton.No).setText(no)
    box.setEscapeButton(QMessageBox.StandardButton.No)
    box.setDefaultButton(QMessageBox.StandardButton.No)
    box.accepted.connect(then)
    box.open()


def _label() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    # A long path cannot be wrapped, and must not make the dialog wider than the screen.
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
