"""Windows and dialogs on small screens: sizes, scrolling, and bars that leave out what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QScrollArea,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from scstream_app.session.library import Library
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.qt.layout import screen_fit
from scstream_app.ui.sessions.opening.camera_dialog import CameraDialog
from scstream_app.ui.window.guide import GuideDialog
from scstream_app.ui.window.help_dialogs import KeysDialog, show_about
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.preferences.preferences_dialog import PreferencesDialog

LONG = 60_000
#: Room for a window below its title, in logical pixels: 1024 x 700 at 100 %, 1366 x 768 at 100 %, 1440 x 900 at 150 %,
#: 1920 x 1080 at 200 %.
ROOMS = [QSize(1024, 670), QSize(1366, 738), QSize(960, 570), QSize(960, 510)]
LEAST = QSize(960, 510)

DIALOGS: dict[str, Callable[[MainWindow], QDialog]] = {
    "export": lambda window: ExportDialog(window.document, window),
    "preferences": lambda window: PreferencesDialog(window.preferences, window),
    "keys": lambda window: KeysDialog(window, window.actions_),
    "guide": GuideDialog,
    "camera": CameraDialog,
    "object": lambda window: ObjectDialog(
        window, (), title="Object", prompt="Name:", start="dog", existing=True, done=lambda name: None
    ),
    "about": show_about,
}


def fits(size: QSize, room: QSize) -> bool:
    return size.width() <= room.width() and size.height() <= room.height()


def cut_texts(widget: QWidget) -> list[str]:
    """Texts of the visible buttons that are wider than their button."""
    buttons = [button for button in widget.findChildren(QAbstractButton) if button.isVisible() and shows_text(button)]
    return [
        button.text()
        for button in buttons
        if button.fontMetrics().horizontalAdvance(button.text().replace("&", "")) > button.width()
    ]


def shows_text(button: QAbstractButton) -> bool:
    only_icon = isinstance(button, QToolButton) and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    return not (only_icon and not button.icon().isNull())


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """The window with a finished session of five frames."""
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
        window.open_address(str(finished_session(story((48, 64)))))
    qtbot.waitUntil(window.panels["segments"].isVisible)
    return window


# --- the window


@pytest.mark.parametrize(
    ("screen", "size"), [((1920, 1080), (1280, 800)), ((1366, 768), (1229, 691)), ((960, 540), (864, 486))]
)
def test_a_new_window_is_inside_the_screen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int], size: tuple[int, int]
) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    available = QRect(QPoint(0, 24), QSize(*screen))
    monkeypatch.setattr(widget, "screen", lambda: _Screen(available))
    screen_fit.place_on_screen(widget, QSize(1280, 800))
    assert widget.size() == QSize(*size)
    assert available.contains(widget.geometry())


class _Screen:
    def __init__(self, available: QRect) -> None:
        self._available = available

    def availableGeometry(self) -> QRect:
        return self._available


def test_a_window_stored_on_a_screen_that_is_gone_comes_back(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> None:
    before = MainWindow(settings, Library(tmp_path / "library"))
    qtbot.addWidget(before)
    before.setGeometry(5000, 4000, 3000, 2000)
    before.close()
    again = MainWindow(settings, Library(tmp_path / "library"))
    qtbot.addWidget(again)
    available = QGuiApplication.primaryScreen().availableGeometry()
    assert available.contains(again.geometry())
    again.close()


def test_everything_is_inside_a_small_window(opened: MainWindow, qtbot: QtBot) -> None:
    assert fits(opened.minimumSizeHint(), LEAST)
    for room in ROOMS:
        opened.resize(room)
        qtbot.waitUntil(lambda room=room: opened.size() == room)
        inside = opened.rect()
        for part in (opened.viewer, opened.timeline, opened.transport, opened.statusBar(), opened.segments):
            assert part.isVisible()
            assert inside.contains(QRect(part.mapTo(opened, QPoint()), part.size()))
        assert opened.viewer.width() >= 300
        assert cut_texts(opened) == []


def test_the_playback_bar_leaves_out_texts_when_it_is_narrow(opened: MainWindow, qtbot: QtBot) -> None:
    bar = opened.transport
    frame, play = bar.findChild(QWidget, "frame"), bar.findChild(QWidget, "play")

    def texts() -> set[str]:
        return {label.text() for label in bar.findChildren(QLabel) if label.isVisible() and label.text()}

    for room in (QSize(1280, 800), *ROOMS[:2]):
        opened.resize(room)
        qtbot.waitUntil(lambda: "of 0 – 4" in texts())
        assert any(text.startswith("00:00.000 / ") for text in texts())
    opened.resize(opened.minimumSizeHint())
    qtbot.waitUntil(lambda: "of 0 – 4" not in texts())
    assert frame.isVisible()
    assert play.isVisible()
    assert bar.rect().contains(frame.geometry())
    opened.resize(1280, 800)
    qtbot.waitUntil(lambda: "of 0 – 4" in texts())


# --- dialogs


def test_every_dialog_fits_small_screens(opened: MainWindow, qtbot: QtBot) -> None:
    for make in DIALOGS.values():
        dialog = make(opened)
        with qtbot.waitExposed(dialog):
            dialog.show()
        assert fits(dialog.minimumSizeHint(), LEAST)
        assert fits(dialog.minimumSize(), LEAST)
        dialog.resize(dialog.size().boundedTo(LEAST))
        QApplication.processEvents()
        assert cut_texts(dialog) == []
        assert lost_buttons(dialog) == []
        dialog.close()


def lost_buttons(dialog: QDialog) -> list[str]:
    """Texts of the buttons outside of the dialog, unless they can be scrolled to."""
    return [
        button.text()
        for button in dialog.findChildren(QAbstractButton)
        if button.isVisible()
        and not _in_scroll_area(button, dialog)
        and not dialog.rect().contains(QRect(button.mapTo(dialog, QPoint()), button.size()))
    ]


def _in_scroll_area(widget: QWidget, top: QWidget) -> bool:
    found = widget.parentWidget()
    while found is not None and found is not top:
        if isinstance(found, QAbstractScrollArea):
            return True
        found = found.parentWidget()
    return False


def test_the_last_preference_is_reached_by_scrolling(window: MainWindow, qtbot: QtBot) -> None:
    dialog = window.show_preferences()
    with qtbot.waitExposed(dialog):
        dialog.resize(480, 300)
    area = dialog.findChild(QScrollArea)
    clear = dialog.findChild(QAbstractButton, "clear")
    assert clear.visibleRegion().isEmpty()
    area.ensureWidgetVisible(clear)
    with qtbot.waitSignal(dialog.requested) as asked:
        qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
    assert asked.args == ["clear"]


def test_the_wheel_over_a_choice_is_left_to_the_scrolling_area(window: MainWindow, qtbot: QtBot) -> None:
    dialog = window.show_preferences()
    with qtbot.waitExposed(dialog):
        dialog.resize(480, 300)
    box = dialog.findChild(QComboBox)
    accepted, before = list[bool](), box.currentIndex()
    for focused in (False, True):
        box.setFocus() if focused else box.clearFocus()
        wheel = QWheelEvent(
            box.rect().center().toPointF(),
            box.mapToGlobal(box.rect().center()).toPointF(),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(box, wheel)
        accepted.append(box.currentIndex() != before)
    assert accepted == [False, True]
    dialog.close()
