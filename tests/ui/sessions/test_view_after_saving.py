"""Tests of the window after saving: frame, view, selection and undo are as before, and playing goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from helpers.session_window import LONG, answer_save, begun, hold_moving, opened, wait_for
from scstream_app.session import Names
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow


def tab_of(window: MainWindow, title: str) -> QTabBar:
    """Tab bar with this tab."""
    return next(bar for bar in window.findChildren(QTabBar) if title in [bar.tabText(n) for n in range(bar.count())])


def front(window: MainWindow) -> str:
    """Title of the current tab."""
    bar = tab_of(window, "Objects")
    return bar.tabText(bar.currentIndex())


def as_it_stands(window: MainWindow) -> dict[str, object]:
    """Everything that the user sees and would miss after saving."""
    document, player, viewer = window.document, window.player, window.viewer
    return {
        "frame": document.display.index,
        "selection": document.display.selection,
        "isolated": document.display.isolated,
        "view": document.display.look,
        "objects": document.objects,
        "undo": (document.undo.count(), document.undo.index(), window.actions_["undo"].text()),
        "range": player.range(),
        "speed": player.speed,
        "zoom": (viewer.scale, viewer.fits),
        "picture": viewer.grab().toImage(),
        "tab": front(window),
        "segmenting": document.state,
    }


def arrange(window: MainWindow, qtbot: QtBot) -> None:
    """Go to a middle frame, choose a view and a tab, select a segment, zoom, mark a range, and undo something."""
    bar = tab_of(window, "Objects")
    objects = next(n for n in range(bar.count()) if bar.tabText(n) == "Objects")
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(objects).center())
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_I, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_O):
        before = window.document.display.index
        qtbot.keyClick(window.viewer, key)
        if key == Qt.Key.Key_Right:
            qtbot.waitUntil(lambda before=before: window.document.display.index == before + 1, timeout=LONG)
        elif key == Qt.Key.Key_Home:
            qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window.viewer, Qt.Key.Key_3)
    qtbot.keyClick(window.viewer, Qt.Key.Key_BracketRight)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=window.viewer.rect().center())
    window.actions_["zoom_in"].trigger()
    for _ in range(2):
        qtbot.keyClick(window.viewer, Qt.Key.Key_H)
    window.actions_["undo"].trigger()
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)


def settled(window: MainWindow) -> bool:
    """Whether the shown picture has the requested view, selection and hidden segments."""
    document, shown = window.document, window.document.display.shown
    if shown is None:
        return False
    requested = (
        document.display.look.view,
        document.display.selection,
        document.display.isolated,
        document.names.hidden,
    )
    return (shown.look.view, shown.look.selected, shown.look.isolated, shown.look.hidden) == requested


@pytest.mark.parametrize("works", [True, False], ids=["saved", "failed"])
def test_everything_stands_as_before_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    path, target = opened(window, qtbot, clip), tmp_path / "mine.scstream"
    arrange(window, qtbot)
    # The dashes around the selection move.
    window.viewer._outline.set_visible(False)
    before, size = as_it_stands(window), window.viewer.size()
    assert (before["frame"], before["range"], before["tab"]) == (3, (1, 3), "Objects")
    assert before["selection"]
    answer_save(monkeypatch, target if works else tmp_path / "nowhere" / "mine.scstream")
    left: list[object] = []
    window.document.closed.connect(lambda: left.append(None))
    with qtbot.waitSignal(window.document.run.worker.finished, timeout=LONG):
        qtbot.keyClick(window.viewer, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert wait_for(window, qtbot, "clip.mp4", 6) == (target if works else path)
    window.message.clear()
    # The message bar gives its room back to the picture.
    qtbot.waitUntil(lambda: window.viewer.size() == size, timeout=LONG)
    assert as_it_stands(window) == before
    assert left == []
    window.actions_["undo"].trigger()
    assert window.document.session.names == window.document.names == Names()
    window.player.step(-1)
    qtbot.waitUntil(lambda: window.document.display.index == 2, timeout=LONG)


def test_playing_goes_on_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    window.player.set_loop(True)
    qtbot.keyClick(window.viewer, Qt.Key.Key_Space)
    answer_save(monkeypatch, tmp_path / "mine")
    qtbot.keyClick(window.viewer, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"
    assert window.player.playing
    for _ in range(3):
        with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
            pass
    assert window.player.playing


def test_a_frame_that_was_asked_for_meanwhile_is_shown_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    window.timeline.setFocus()
    qtbot.keyClick(window.viewer, Qt.Key.Key_Home)
    go_on.set()
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"


def test_a_view_that_was_chosen_just_before_is_shown_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)
    answer_save(monkeypatch, tmp_path / "mine")
    # Before the frame can be drawn.
    window.actions_["view_boundaries"].trigger()
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)
    assert window.document.display.shown.look.view == "boundaries"


def test_paused_segmentation_stays_paused_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(window, qtbot, long)
    window.actions_["pause_segmenting"].trigger()
    assert window.document.state is State.PAUSED
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    target = tmp_path / "mine.scstream"
    with qtbot.waitSignal(
        window.document.run.worker.warming, timeout=LONG, check_params_cb=lambda done, total: done == total
    ):
        pass
    assert window.document.session.path == target
    assert window.document.state is State.PAUSED
    assert window.actions_["pause_segmenting"].isChecked()
    window.actions_["pause_segmenting"].trigger()
    assert wait_for(window, qtbot, "long.mp4", 16) == target


def test_while_it_is_saved_nothing_can_be_marked_and_what_was_undone_stays(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    undo_commands.rename(window.document, 0, "sea")
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    for id in ("undo", "hide", "group", "save", "export", "save_model", "restart"):
        assert not window.actions_[id].isEnabled()
    undo_commands.rename(window.document, 0, "sky")
    assert window.message.text == "The session is being saved. Try again in a moment."
    assert window.document.names.names == {0: "sea"}
    go_on.set()
    wait_for(window, qtbot, "clip.mp4", 6)
    assert window.document.session.names.names == {0: "sea"}
    window.actions_["undo"].trigger()
    assert window.document.session.names == Names()
