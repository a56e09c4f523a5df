"""The dialog about an unexpected error: one at a time, and the program continues."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from scstream_app import logs
from scstream_app.ui.window.startup.crash_dialog import MOST_DIALOGS, CrashReporter, reporting_crashes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "log").mkdir()
    monkeypatch.setattr(logs, "log_folder", lambda: tmp_path / "log")
    return tmp_path / "log"


@pytest.fixture
def reporter(qtbot: QtBot, folder: Path) -> Iterator[CrashReporter]:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    with reporting_crashes(widget) as made:
        yield made


def button(box: QMessageBox, text: str) -> QAbstractButton:
    return next(one for one in box.buttons() if one.text().replace("&", "") == text)


def shown(qtbot: QtBot, reporter: CrashReporter) -> QMessageBox:
    qtbot.waitUntil(lambda: reporter.dialog is not None)
    assert reporter.dialog is not None
    return reporter.dialog


def hand_over(error: BaseException) -> None:
    sys.excepthook(type(error), error, error.__traceback__)


def test_an_error_is_shown_and_its_report_copied(qtbot: QtBot, reporter: CrashReporter) -> None:
    hand_over(RuntimeError("boom"))
    box = shown(qtbot, reporter)
    assert box.informativeText() == "RuntimeError: boom"
    qtbot.mouseClick(button(box, "Copy Report"), Qt.MouseButton.LeftButton)
    assert "RuntimeError: boom" in QGuiApplication.clipboard().text()
    assert box.isVisible()
    qtbot.mouseClick(button(box, "Close"), Qt.MouseButton.LeftButton)
    assert reporter.dialog is None


def test_an_error_of_another_thread_is_shown(qtbot: QtBot, reporter: CrashReporter) -> None:
    thread = threading.Thread(target=lambda: hand_over(RuntimeError("elsewhere")))
    thread.start()
    thread.join()
    box = shown(qtbot, reporter)
    assert box.informativeText() == "RuntimeError: elsewhere"
    box.close()


def test_there_is_one_dialog_at_a_time_and_an_end_of_them(qtbot: QtBot, reporter: CrashReporter) -> None:
    for number in range(MOST_DIALOGS):
        reporter.report(f"error {number}", "")
        reporter.report("one more while it is open", "")
        box = shown(qtbot, reporter)
        qtbot.wait(1)
        assert box.informativeText() == f"error {number}"
        box.close()
    reporter.report("one too many", "")
    qtbot.wait(1)
    assert reporter.dialog is None


def test_a_fault_of_the_last_run_is_shown_at_the_start(qtbot: QtBot, folder: Path) -> None:
    (folder / "fault-7.txt").write_text("Fatal Python error: Segmentation fault")
    widget = QWidget()
    qtbot.addWidget(widget)
    with reporting_crashes(widget) as reporter:
        box = shown(qtbot, reporter)
        assert "last time" in box.text()
        assert "Segmentation fault" in box.detailedText()
        box.close()


def test_warnings_of_qt_are_logged(reporter: CrashReporter, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        qWarning("something is odd")
    assert "Qt: something is odd" in caplog.text
