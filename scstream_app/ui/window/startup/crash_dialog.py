"""Dialog about an unexpected error: the program continues, and the report can be copied."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, Slot, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from scstream_app import crash_report

#: Dialogs of one run of the program; later errors are only logged.
MOST_DIALOGS = 5
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
}

_logger = logging.getLogger(__name__)


class CrashReporter(QObject):
    """Shows one dialog at a time, however many errors there are.

    Attributes
    ----------
    dialog : QMessageBox or None
        The dialog that is open.
    """

    _reported = Signal(str, str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._count = 0
        self.dialog: QMessageBox | None = None
        # Exceptions may come from any thread; a dialog belongs to the window's.
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def report(self, headline: str, text: str) -> None:
        """Show an error, unless a dialog is open or there were too many; may be called on any thread."""
        self._reported.emit(headline, text)

    def report_earlier_faults(self) -> None:
        """Show how an earlier run of the program ended, if it ended by a fault."""
        faults = crash_report.earlier_faults()
        if faults:
            self._open("ScStream Studio ended unexpectedly last time.", "", crash_report.report("\n\n".join(faults)))

    @Slot(str, str)
    def _show(self, headline: str, text: str) -> None:
        self._open("An unexpected error occurred. You can continue; your sessions are on the disk.", headline, text)

    def _open(self, title: str, headline: str, text: str) -> None:
        if self.dialog is not None or self._count >= MOST_DIALOGS:
            return
        self._count += 1
        box = self.dialog = QMessageBox(QMessageBox.Icon.Warning, "ScStream Studio", title, parent=self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(headline)
        box.setDetailedText(text)
        copy = box.addButton("Copy Report", QMessageBox.ButtonRole.ActionRole)
        # A button of a message box closes it; this one must not.
        copy.clicked.disconnect()
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        close = box.addButton(QMessageBox.StandardButton.Close)
        box.setDefaultButton(close)
        box.setEscapeButton(close)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(self._on_closed)
        box.open()

    @Slot()
    def _on_closed(self) -> None:
        self.dialog = None


@contextmanager
def reporting_crashes(window: QWidget) -> Iterator[CrashReporter]:
    """Report exceptions of all threads in dialogs of the window, and log Qt's messages."""
    reporter = CrashReporter(window)
    before = qInstallMessageHandler(_log_message)
    try:
        with crash_report.reporting_exceptions(reporter.report):
            reporter.report_earlier_faults()
            yield reporter
    finally:
        qInstallMessageHandler(before)


def _log_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    _logger.log(_LEVELS.get(kind, logging.ERROR), "Qt: %s", text)
