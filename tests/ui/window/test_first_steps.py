"""Tests of what leads a new user: the welcome page, the hint over the first clip, messages, and progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QListWidget,
    QProgressBar,
    QPushButton,
    QToolButton,
)
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.export_scenes import story
from scstream_app.samples import sample_clips
from scstream_app.session.library import Library
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.next_step_hint import NextStepHint

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """Window with a session of five frames."""
    window.open_address(str(finished_session(story((48, 64)))))
    document = window.document
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.shown is not None, timeout=LONG)
    return window


# --- welcome page


def pixels(image: QImage) -> np.ndarray:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def icon_of(entries: QListWidget, row: int) -> np.ndarray:
    """Pixels of the picture of an entry, as they are on the screen."""
    rect = entries.visualItemRect(entries.item(row))
    size = entries.iconSize()
    top = rect.top() + (rect.height() - size.height()) // 2
    return pixels(entries.viewport().grab(QRect(rect.left() + 4, top, size.width() - 8, size.height())).toImage())


def colourful(picture: np.ndarray) -> bool:
    return bool((picture.max(axis=2).astype(int) - picture.min(axis=2)).max() > 60)


def test_samples_and_recent_clips_have_pictures(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.addresses.remember(str(write_images(tmp_path / "walk", moving_square(2))))
    window.addresses.remember("camera:0")
    window.welcome.refresh()
    samples, recent = window.welcome.samples, window.welcome.recent
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 2, timeout=LONG)
    qtbot.waitUntil(lambda: colourful(icon_of(recent, 1)), timeout=LONG)
    qtbot.waitUntil(lambda: all(colourful(icon_of(samples, row)) for row in range(samples.count())), timeout=LONG)
    assert samples.count() == len(sample_clips())
    assert not colourful(icon_of(recent, 0))


@pytest.mark.parametrize("size", [QSize(1024, 700), QSize(683, 384)])
def test_everything_on_the_page_can_be_reached(window: MainWindow, qtbot: QtBot, size: QSize) -> None:
    window.addresses.remember("/clips/a.mp4")
    window.welcome.set_unsaved([("clip.mp4\n6 frames", "/library/a.scstream")])
    window.welcome.refresh()
    qtbot.waitUntil(window.welcome.recent.isVisible, timeout=LONG)
    window.resize(size)
    qtbot.waitUntil(lambda: window.size() == size)
    page, inside = window.welcome, window.welcome.rect()
    shown: list[object] = [*page.findChildren(QPushButton), page.samples, page.recent]
    for widget in shown:
        place = QRect(widget.mapTo(page, QPoint()), widget.size())
        assert inside.contains(place), widget
    assert all(button.width() >= button.sizeHint().width() for button in page.findChildren(QPushButton))


def test_buttons_open_videos_images_cameras_and_sessions(window: MainWindow, qtbot: QtBot) -> None:
    wanted: list[str] = []
    window.welcome.action_requested.disconnect()
    window.welcome.action_requested.connect(wanted.append)
    for button in window.welcome.findChildren(QPushButton):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    known = ["open", "open_images", "open_camera", "open_clip_as_camera", "open_session"]
    assert wanted == [id for id in known if id in BY_ID]


# --- hint


def hint_of(window: MainWindow) -> NextStepHint:
    return window.viewer.findChild(NextStepHint)


def test_the_hint_says_what_to_do_and_is_closed_for_good(
    opened: MainWindow, qtbot: QtBot, settings: QSettings, tmp_path: Path
) -> None:
    hint = hint_of(opened)
    assert hint.isVisible()
    assert hint.text == (
        "Go where a thing first appears (Home: the first frame), drag over its segments or Ctrl+click them, "
        "press G to make an object."
    )
    qtbot.mouseClick(hint.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert hint.isHidden()
    opened.actions_["close"].trigger()
    settings.sync()
    again = MainWindow(QSettings(settings.fileName(), QSettings.Format.IniFormat), Library(tmp_path / "library"))
    qtbot.addWidget(again)
    again.open_address(opened.addresses.recent()[0])
    qtbot.waitUntil(lambda: again.document.display.shown is not None, timeout=LONG)
    assert hint_of(again).isHidden()


def test_the_hint_follows_the_user_and_ends_with_an_export(opened: MainWindow, qtbot: QtBot) -> None:
    hint, viewer = hint_of(opened), opened.viewer
    qtbot.mouseClick(viewer, Qt.MouseButton.LeftButton, pos=viewer.rect().center())
    qtbot.keyClick(opened, Qt.Key.Key_G)
    box = opened.findChild(ObjectDialog).findChild(QDialogButtonBox)
    qtbot.mouseClick(box.button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: opened.findChild(ObjectDialog) is None and bool(opened.document.objects), timeout=LONG)
    with qtbot.waitActive(opened, timeout=LONG):
        opened.activateWindow()
    assert hint.text == (
        "The object is followed through the clip. Step through it; Shift+N goes to the next doubtful frame. "
        "Del removes a selected segment, B and E draw and erase. Then Ctrl+E to export."
    )
    # It makes room while the user looks closer.
    viewer.zoom(2.0)
    assert hint.isHidden()
    viewer.fit()
    assert hint.isVisible()
    qtbot.keyClick(opened, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    dialog = opened.findChild(ExportDialog)
    assert dialog is not None
    assert hint.isHidden()
    dialog.reject()
    opened.document.marks_changed.emit()
    assert hint.isHidden()


def test_the_hint_ends_with_a_correction(opened: MainWindow, qtbot: QtBot) -> None:
    document = opened.document
    document.display.show(0)
    qtbot.waitUntil(lambda: document.display.index == 0, timeout=LONG)
    undo_commands.make_object(document, "square", [0, 1])
    assert hint_of(opened).isVisible()
    document.display.show(2)
    qtbot.waitUntil(lambda: document.display.index == 2, timeout=LONG)
    undo_commands.remove_from_objects(document, {"square": frozenset({1})})
    assert len(document.objects[0].edits) == 2
    assert hint_of(opened).isHidden()


def test_the_hint_names_the_keys_that_the_user_chose(opened: MainWindow) -> None:
    opened.actions_.set_keys("group", ["Ctrl+G"])
    assert "press Ctrl+G" in hint_of(opened).text
    opened.actions_.set_keys("export", [])
    undo_commands.make_object(opened.document, "square", [0, 1])
    assert hint_of(opened).text.endswith("export it from the File menu.")


def test_the_hint_neither_covers_the_centre_nor_moves_the_picture(opened: MainWindow, qtbot: QtBot) -> None:
    hint, viewer = hint_of(opened), opened.viewer
    for size in (QSize(1024, 700), QSize(1280, 800)):
        opened.resize(size)
        qtbot.waitUntil(lambda size=size: opened.size() == size)
        place = hint.geometry()
        assert viewer.rect().contains(place)
        assert place.top() > 0.7 * viewer.height()
    before = viewer.geometry(), viewer.image_rect()
    qtbot.mouseClick(hint.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert (viewer.geometry(), viewer.image_rect()) == before


def test_the_hint_waits_for_a_segmented_frame(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.document.autostart = False
    window.open_address(str(write_images(tmp_path / "walk", moving_square(3))))
    qtbot.waitUntil(lambda: window.document.state is State.PAUSED, timeout=LONG)
    assert hint_of(window).isHidden()
    window.document.pause(False)
    qtbot.waitUntil(hint_of(window).isVisible, timeout=LONG)


# --- messages


def test_a_message_does_not_move_the_picture(opened: MainWindow, qtbot: QtBot) -> None:
    viewer, message = opened.viewer, opened.message
    where, before = viewer.mapTo(opened, QPoint()), viewer.size()
    message.show_message("Cannot open it. " * 30, "error")
    QApplication.processEvents()
    assert (viewer.mapTo(opened, QPoint()), viewer.size()) == (where, before)
    assert message.mapTo(opened, QPoint()) == where
    assert message.width() == viewer.width()
    # All lines of the text can be read.
    assert message.height() >= message.heightForWidth(message.width())
    (close,) = (button for button in message.findChildren(QAbstractButton) if button.text() == "✕")
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert message.isHidden()
    assert (viewer.mapTo(opened, QPoint()), viewer.size()) == (where, before)


def test_a_message_keeps_to_the_edge_when_the_window_is_resized(opened: MainWindow, qtbot: QtBot) -> None:
    opened.message.show_message("Cannot open it.", "error")
    opened.resize(1024, 700)
    qtbot.waitUntil(lambda: opened.message.width() == opened.viewer.width())
    opened.actions_["close"].trigger()
    opened.message.show_message("Deleted.", "notice")
    qtbot.waitUntil(lambda: opened.message.width() == opened.welcome.width())


def test_messages_of_a_clip_go_with_it(opened: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> None:
    opened.message.show_message("Cannot split it.", "error")
    opened.message.show_message("Segmented again.", "notice", ("Back to the Run Before", bool))
    opened.open_address(str(finished_session(story((48, 64))[:3])))
    qtbot.waitUntil(lambda: len(opened.document.summary) == 3, timeout=LONG)
    assert opened.message.isHidden()


# --- progress of the first frame


def test_the_progress_bar_moves_during_the_first_frame(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    bar = window.statusBar().findChild(QProgressBar)
    seen: list[float] = []

    def look() -> None:
        if window.document.state is State.SETTLING:
            seen.append(bar.value() / bar.maximum())

    window.document.previewed.connect(look)
    window.open_address(str(write_images(tmp_path / "walk", moving_square(2, height=240, width=320))))
    qtbot.waitUntil(lambda: len(window.document.summary) == 2, timeout=LONG)
    assert len(set(seen)) >= 2
    assert seen == sorted(seen)
    assert seen[-1] > 0.1
