"""The window as a person uses it: open, watch, look, play, mark, save, close."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QTableView,
)
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images, write_video
from helpers.compiling import Compiling, said_below
from helpers.dialogs import answering
from helpers.held_worker import Holding
from helpers.menus import menu_called
from scstream_app.errors import SourceError
from scstream_app.session import Names, Session
from scstream_app.session.library import Library
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.qt.dialogs import display
from scstream_app.ui.sessions import recording_control, session_saver
from scstream_app.ui.sessions.opening import document_opener
from scstream_app.ui.sessions.shutdown import ShutdownDialog
from scstream_app.ui.window import help_dialogs
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status import status_bar

LONG = 60_000


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(12))


def drop(widget: object, paths: list[Path]) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    widget.dropEvent(event)  # type: ignore[attr-defined]


def opened(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    drop(window.welcome, [clip])
    qtbot.waitUntil(lambda: window.document.state is State.DONE and window.document.display.index == 11, timeout=LONG)


# --- opening


def test_a_dropped_video_segments_by_itself(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    assert window.welcome.isVisible()
    opened(window, qtbot, clip)
    assert window.viewer.isVisible()
    assert "clip.mp4" in window.windowTitle()
    assert window.segments.isVisible()
    assert window.document.display.shown is not None


def test_dropped_images_are_a_sequence(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_images(tmp_path / "frames", moving_square(4))
    drop(window.welcome, sorted(folder.glob("*.png")))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert len(window.document.summary) == 4


def test_the_sample_clips_are_one_click_away(window: MainWindow, qtbot: QtBot) -> None:
    samples = window.welcome.samples
    names = [samples.item(row).text().splitlines()[0] for row in range(samples.count())]
    assert "Kite surf" in names
    item = samples.item(names.index("Cut"))
    place = samples.visualItemRect(item).center()
    qtbot.mouseClick(samples.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: window.document.facts is not None, timeout=LONG)
    assert window.document.facts.name == "cut.mp4"


def submenu(window: MainWindow, qtbot: QtBot, title: str) -> QMenu:
    """A submenu of the File menu, unfolded."""
    menu = menu_called(window, title)
    assert menu.menuAction() in menu_called(window, "File").actions()
    menu.popup(window.mapToGlobal(QPoint(20, 20)))
    qtbot.waitUntil(menu.isVisible)
    return menu


def choose(qtbot: QtBot, menu: QMenu, text: str) -> None:
    qtbot.waitUntil(lambda: text in texts(menu), timeout=LONG)
    action = next(action for action in menu.actions() if action.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_the_file_menu_opens_a_sample_clip_at_once(window: MainWindow, qtbot: QtBot) -> None:
    menu = submenu(window, qtbot, "Sample Clips")
    assert "Kite surf" in texts(menu)
    choose(qtbot, menu, "Cut")
    qtbot.waitUntil(lambda: window.document.facts is not None, timeout=LONG)
    assert window.document.facts.name == "cut.mp4"


def test_the_file_menu_opens_what_was_opened_lately_and_forgets_it(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path
) -> None:
    menu = submenu(window, qtbot, "Open Recent")
    assert texts(menu) == ["No Recent Files", "Clear"]
    assert not any(action.isEnabled() for action in menu.actions() if not action.isSeparator())
    menu.close()
    (tmp_path / "b & c").mkdir()
    same = write_video(tmp_path / "b & c" / "clip.mp4", moving_square(3))
    opened(window, qtbot, clip)
    window.open_address(str(same))
    qtbot.waitUntil(lambda: window.document.state is State.DONE and len(window.document.summary) == 3, timeout=LONG)
    menu, session = submenu(window, qtbot, "Open Recent"), window.document.session.path
    older = f"clip.mp4 ({tmp_path.name})"
    newer = [f"clip.mp4 (b && c): {offer}" for offer in ("open (3 frames)", "segment again")]
    qtbot.waitUntil(lambda: texts(menu) == [*newer, older, "Clear"], timeout=LONG)
    assert [action.toolTip() for action in menu.actions()[:3]] == [str(session), str(same), str(clip)]
    choose(qtbot, menu, older)
    qtbot.waitUntil(lambda: len(window.document.summary) == 12, timeout=LONG)
    window.actions_["close"].trigger()
    recent = window.welcome.recent
    # Only the clip that was open has kept its session.
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 3, timeout=LONG)
    choose(qtbot, submenu(window, qtbot, "Open Recent"), "Clear")
    qtbot.waitUntil(lambda: not recent.isVisible(), timeout=LONG)
    assert window.addresses.recent() == []


@pytest.mark.parametrize(("title", "entry"), [("Sample Clips", "Cut"), ("Open Recent", "clip.mp4: segment again")])
def test_the_file_menu_asks_while_a_recording_runs(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch, title: str, entry: str
) -> None:
    opened(window, qtbot, clip)
    session, asked = window.document.session, []
    with monkeypatch.context() as patched:
        patched.setattr(LiveFeed, "recording", True)
        patched.setattr(recording_control, "confirm", lambda _window, _question, deed: asked.append(deed))
        choose(qtbot, submenu(window, qtbot, title), entry)
    assert asked == ["Stop Recording and Open"]
    assert window.document.session is session


def test_another_clip_begins_with_its_own_frame_number(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path
) -> None:
    opened(window, qtbot, clip)
    box = window.transport.findChild(QSpinBox, "frame")
    assert box.value() == 11
    seen: list[tuple[int | None, int]] = []
    for signal in (window.document.opened, window.document.display.shown_changed):
        signal.connect(lambda: seen.append((window.document.display.index, box.value())))
    # Somebody has begun to type, and changed their mind.
    box.setFocus()
    qtbot.keyClicks(box.lineEdit(), "1")
    window.open_address(str(write_video(tmp_path / "other.mp4", moving_square(4))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE and window.document.display.index == 3, timeout=LONG)
    assert seen[0] == (None, 0)
    assert all(index == shown for index, shown in seen[1:])


def held_up(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Have the engine stop in the midst of its preparation until the event is set."""
    compiling = Compiling()
    monkeypatch.setattr("scstream.warm_up", compiling)
    return compiling.go


def test_preparing_the_engine_shows_its_progress(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_bar, "_LONG", 600_000)
    go = held_up(monkeypatch)
    try:
        drop(window.welcome, [clip])
        qtbot.waitUntil(lambda: "Preparing the engine…" in said_below(window), timeout=LONG)
        bar = window.statusBar().findChild(QProgressBar)
        qtbot.waitUntil(lambda: (bar.value(), bar.maximum()) == (2, 5), timeout=LONG)
        assert bar.isVisible()
    finally:
        go.set()
    qtbot.waitUntil(lambda: "Segmented" in said_below(window), timeout=LONG)
    assert bar.maximum() == 12


def test_compiling_is_announced_when_it_takes_long(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_bar, "_LONG", 1)
    go = held_up(monkeypatch)
    try:
        drop(window.welcome, [clip])
        qtbot.waitUntil(lambda: any("compiling" in text for text in said_below(window)), timeout=LONG)
    finally:
        go.set()
    qtbot.waitUntil(lambda: "Segmented" in said_below(window), timeout=LONG)


def test_open_asks_for_a_file(window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(clip), ""))
    button = window.welcome.findChild(QPushButton, "welcome_open")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert window.addresses.recent()[0] == str(clip)


def test_a_failing_source_shows_its_message(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all " * 50)
    drop(window.welcome, [broken])
    qtbot.waitUntil(lambda: window.message.isVisible(), timeout=LONG)
    assert "broken.mp4" in window.message.text
    assert window.welcome.isVisible()


def test_what_takes_long_to_open_can_be_called_off(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = Event()

    def open_slowly(address: str) -> None:
        go.wait(LONG / 1000)
        raise SourceError(f"Cannot open '{address}'.")

    assert not window.actions_["close"].isEnabled()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(segmentation_worker, "open_source", open_slowly)
            window.open_address("http://127.0.0.1:9/slow.mp4")
            qtbot.waitUntil(lambda: window.document.state is State.OPENING, timeout=LONG)
            assert not window.welcome.isVisible()
            qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
            assert window.welcome.isVisible()
            assert not window.actions_["close"].isEnabled()
            go.set()
            qtbot.waitUntil(lambda: not window.document.run.busy, timeout=LONG)
    finally:
        go.set()
    # That it could not be opened is of no interest any more.
    assert not window.message.isVisible()
    opened(window, qtbot, clip)


# --- looking


def test_keys_change_the_view(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    for key, view in ((Qt.Key.Key_1, "original"), (Qt.Key.Key_3, "mean_colour"), (Qt.Key.Key_8, "wipe")):
        qtbot.keyClick(window, key)
        qtbot.waitUntil(lambda view=view: window.document.display.shown.look.view == view, timeout=LONG)
        assert window.actions_[f"view_{view}"].isChecked()


def test_keys_step_through_the_frames(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    qtbot.keyClick(window, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: window.document.display.index == 1, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: window.document.display.index == 11, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_Comma)
    qtbot.waitUntil(lambda: window.document.display.index == 10, timeout=LONG)


def test_space_plays_and_pauses(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    qtbot.keyClick(window, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: (window.document.display.index or 0) >= 4, timeout=LONG)
    window.player.pause()


def test_a_click_selects_and_h_hides(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    centre = QPoint(window.viewer.width() // 2, window.viewer.height() // 2)
    id = window.viewer.id_at(centre)
    assert id is not None
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=centre)
    assert window.document.display.selection == {id}
    qtbot.keyClick(window, Qt.Key.Key_H)
    assert window.document.names.hidden == {id}
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.document.names.hidden == frozenset()


@pytest.mark.parametrize("place", ["viewer", "filter"])
def test_esc_leaves_full_screen(window: MainWindow, qtbot: QtBot, clip: Path, place: str) -> None:
    opened(window, qtbot, clip)
    focus = window.viewer if place == "viewer" else window.segments.findChild(QLineEdit)
    focus.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    qtbot.waitUntil(window.isFullScreen)
    assert window.actions_["full_screen"].isChecked()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.isFullScreen())
    assert not window.actions_["full_screen"].isChecked()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not window.isFullScreen()


def test_esc_that_ends_typing_a_name_does_not_leave_full_screen(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    table = window.segments.findChild(QTableView)
    qtbot.waitUntil(lambda: table.model().rowCount() > 0, timeout=LONG)
    window.actions_["full_screen"].trigger()
    qtbot.waitUntil(window.isFullScreen)
    table.setFocus()
    name = next(
        column
        for column in range(table.model().columnCount())
        if table.model().headerData(column, Qt.Orientation.Horizontal) == "Name"
    )
    table.setCurrentIndex(table.model().index(0, name))
    qtbot.keyClick(table, Qt.Key.Key_F2)
    editor = table.viewport().findChild(QLineEdit)
    qtbot.keyClicks(editor, "sea")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert window.isFullScreen()
    assert window.document.names == Names()


def test_a_maximized_window_is_so_again_after_full_screen(window: MainWindow, qtbot: QtBot) -> None:
    window.showMaximized()
    qtbot.waitUntil(window.isMaximized)
    qtbot.keyClick(window, Qt.Key.Key_F11)
    qtbot.waitUntil(window.isFullScreen)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.isMaximized() and not window.isFullScreen())


def test_the_theme_is_changed_and_remembered(window: MainWindow, settings: QSettings) -> None:
    window.actions_["theme_dark"].trigger()
    palette = QApplication.instance().palette()  # type: ignore[union-attr]
    assert palette.color(QPalette.ColorRole.Window).lightness() < 128
    assert settings.value("theme") == "dark"
    window.actions_["theme_light"].trigger()
    assert QApplication.instance().palette().color(QPalette.ColorRole.Window).lightness() > 128  # type: ignore[union-attr]
    window.actions_["theme_system"].trigger()


def test_f1_shows_every_key(window: MainWindow, qtbot: QtBot) -> None:
    sheet = help_dialogs.show_keys(window, window.actions_)
    text = [sheet.table.item(row, 0).text() for row in range(sheet.table.rowCount())]
    assert any("Play or Pause" in line for line in text)
    sheet.close()


def test_keys_can_be_changed(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    window.actions_.set_keys("view_original", ["Y"])
    qtbot.keyClick(window, Qt.Key.Key_Y)
    qtbot.waitUntil(lambda: window.document.display.shown.look.view == "original", timeout=LONG)
    window.actions_.reset_keys()


# --- saving and closing


def test_save_close_reopen(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    ids = window.document.session.ids(5)
    target = tmp_path / "mine.scstream"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.actions_["save"].trigger()
    qtbot.waitUntil(
        lambda: window.document.state is State.DONE and window.document.session.path == target, timeout=LONG
    )
    window.actions_["close"].trigger()
    assert window.welcome.isVisible()
    assert list(window.library.unsaved_sessions()) == []
    window.open_address(str(target))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    np.testing.assert_array_equal(window.document.session.ids(5), ids)


def test_closing_the_window_in_the_midst_loses_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    clip = write_video(tmp_path / "long.mp4", moving_square(16))
    Holding(window.document.run.worker, 3)
    drop(window.welcome, [clip])
    qtbot.waitUntil(lambda: len(window.document.summary) >= 3, timeout=LONG)
    window.close()
    (path,) = (tmp_path / "library").glob("*.scstream")
    with Session.open(path, writable=True) as session:
        assert 3 <= len(session) < 16
    ((text, left),) = window.library.unsaved_sessions()
    assert left == str(path)
    assert "long.mp4" in text


def test_what_is_said_of_a_clip_goes_with_it(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    path = window.document.session.path
    window.document.set_names(Names({0: "sea"}))
    window.actions_["close"].trigger()
    (path / "names.json").write_text("torn")
    window.open_address(str(path))
    qtbot.waitUntil(lambda: window.message.isVisible(), timeout=LONG)
    assert "names.json" in window.message.text
    window.actions_["close"].trigger()
    assert window.welcome.isVisible()
    assert not window.message.isVisible()


def test_dropped_edits_are_reported_when_another_clip_is_opened(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path
) -> None:
    drop(window.welcome, [write_video(tmp_path / "long.mp4", moving_square(60, width=160))])
    worker = window.document.run.worker
    # A frame that is on its way when it is paused would still hear of what is done meanwhile: none is, right after one.
    pausing = worker.noted.connect(lambda record: worker.pause(record.index > 2), Qt.ConnectionType.DirectConnection)
    qtbot.waitUntil(lambda: len(window.document.summary) > 3, timeout=LONG)
    worker.noted.disconnect(pausing)
    window.actions_["pause_segmenting"].trigger()
    qtbot.waitUntil(lambda: window.document.display.index == window.document.summary.frames[-1], timeout=LONG)
    centre = QPoint(window.viewer.width() // 2, window.viewer.height() // 2)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=centre)
    assert window.document.display.selection
    window.actions_["lock"].trigger()
    drop(window.viewer, [clip])
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert window.message.text == ("Pending changes in 'long.mp4' (lock) were not applied because it was closed.")


class Gate:
    """Something that goes on until a test lets it end."""

    def __init__(self, work: Callable[..., None]) -> None:
        self._work, self._end = work, Event()
        self.begun = Event()

    def __call__(self, *given: object) -> None:
        self.begun.set()
        assert self._end.wait(LONG / 1000)
        self._work(*given)

    def open(self) -> None:
        self._end.set()


def close_and_watch(window: MainWindow, qtbot: QtBot, gate: Gate) -> str:
    """Close the window in the midst of something that goes on until it has been said what; what that was."""
    said: list[str] = []

    def look() -> None:
        dialog = window.findChild(ShutdownDialog)
        if dialog is None or not dialog.isVisible():
            return
        timer.stop()
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        dialog.close()
        said.append(dialog.text if dialog.isVisible() and window.isVisible() else "")
        gate.open()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(10)
    assert window.close()
    assert not window.isVisible()
    return said[0]


def test_closing_says_that_a_session_is_still_being_moved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, gate = tmp_path / "kept.scstream", Gate(session_saver.move_session)
    monkeypatch.setattr(session_saver, "move_session", gate)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    opened(window, qtbot, clip)
    window.actions_["save"].trigger()
    qtbot.waitUntil(gate.begun.is_set, timeout=LONG)
    assert close_and_watch(window, qtbot, gate).startswith("Moving the session to '")
    with Session.open(target) as session:
        assert len(session) == 12


def test_closing_says_that_a_session_is_still_being_deleted(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(document_opener.discard)
    monkeypatch.setattr(document_opener, "discard", gate)
    opened(window, qtbot, clip)
    first = window.document.session.path
    drop(window.viewer, [write_video(tmp_path / "other.mp4", moving_square(4))])
    qtbot.waitUntil(lambda: gate.begun.is_set() and window.document.state is State.DONE, timeout=LONG)
    assert close_and_watch(window, qtbot, gate) == "Deleting an unsaved session"
    assert not first.exists()


def test_closing_the_window_asks_while_an_export_runs(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    with monkeypatch.context() as patched:
        patched.setattr(window.document, "exporting", 1)
        with answering(qtbot, "Cancel"):
            assert not window.close()
        assert window.isVisible()
        assert window.document.is_open
        with answering(qtbot, "Stop and Close"):
            assert window.close()
    assert not window.isVisible()


def test_closing_says_nothing_when_there_is_nothing_to_wait_for(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    qtbot.waitUntil(lambda: not window.document.run.busy, timeout=LONG)
    window.close()
    assert not any(dialog.isVisible() for dialog in window.findChildren(ShutdownDialog))


def test_the_window_comes_back_as_it_was(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> None:
    sizes = []
    for height in (500, None):
        window = MainWindow(settings, Library(tmp_path / "library"))
        qtbot.addWidget(window)
        if height is not None:
            window.resize(window.width(), height)
            window.show()
        sizes.append(window.height())
        window.close()
    assert sizes == [500, 500]


def test_a_display_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(display.sys, "platform", "linux")
    assert not display.has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert display.has_display()
