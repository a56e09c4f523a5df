"""Whether a newcomer finds things: menus where the mouse is, keys in tips, words where there is nothing yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSlider,
    QTableView,
    QToolBar,
    QToolButton,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.clips import blank_packets, moving_square, write_video
from helpers.menus import menu_called
from scstream_app.session.damage_report import describe_gaps
from scstream_app.session.library import Library
from scstream_app.settings import Settings
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.panels.segments_items import NAME
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def empty(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> Iterator[MainWindow]:
    window = MainWindow(settings, Library(tmp_path / "library"))
    window.document.set_settings(Settings(max_init_sweeps=20, threads=1))
    qtbot.addWidget(window)
    window.show()
    with qtbot.waitActive(window, timeout=LONG):
        window.activateWindow()
    yield window
    window.close()


@pytest.fixture
def window(empty: MainWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    empty.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(12))))
    qtbot.waitUntil(lambda: empty.document.state is State.DONE and empty.document.display.index == 11, timeout=LONG)
    return empty


def ask_menu(widget: object, where: QPoint) -> QMenu:
    """Press the right mouse button there; the menu that opens."""
    place = widget.mapToGlobal(where)  # type: ignore[attr-defined]
    QApplication.sendEvent(widget, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, place))  # type: ignore[arg-type]
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def titles(menu: QMenu) -> list[str]:
    return [action.text().partition("\t")[0] for action in menu.actions() if action.text()]


def test_the_viewer_has_a_menu_about_the_segment_there(window: MainWindow, qtbot: QtBot) -> None:
    centre = window.viewer.rect().center()
    id = window.viewer.id_at(centre)
    menu = ask_menu(window.viewer, centre)
    assert window.document.display.selection == {id}
    assert {"Hide", "Isolate", "Add to Object…", "Fit to Window"} <= set(titles(menu))
    next(action for action in menu.actions() if action.text().startswith("Hide")).trigger()
    menu.close()
    assert window.document.names.hidden == {id}


def test_a_menu_on_one_of_several_is_about_all_of_them(window: MainWindow) -> None:
    centre = window.viewer.rect().center()
    id = window.viewer.id_at(centre)
    both = {id, next(other for other in window.document.display.shown.result.statistics["id"].tolist() if other != id)}
    window.document.display.select(both)
    ask_menu(window.viewer, centre).close()
    assert window.document.display.selection == both


def test_the_timeline_has_a_menu(window: MainWindow, qtbot: QtBot) -> None:
    place = QPoint(round(window.timeline.x_of(4)), window.timeline.height() // 2)
    menu = ask_menu(window.timeline, place)
    assert {"Next Event", "Next Uncertain Frame", "Set In Point", "Clear In and Out"} <= set(titles(menu))
    qtbot.waitUntil(lambda: window.document.display.index == 4, timeout=LONG)
    next(action for action in menu.actions() if action.text() == "Set In Point").trigger()
    menu.close()
    assert window.player.in_point == 4


def test_tips_of_the_transport_tell_the_keys_that_are_in_force(window: MainWindow) -> None:
    play = window.transport.findChild(QToolButton, "play")
    assert play.toolTip() == "Play (Space)"
    window.actions_.set_keys("play", ["K"])
    assert play.toolTip() == "Play (K)"
    assert window.actions_["play"].toolTip().endswith("(K)")
    window.actions_.set_keys("set_in", [])
    assert window.transport.findChild(QToolButton, "in").toolTip() == "Set the in point"
    window.actions_.reset_keys()
    assert play.toolTip() == "Play (Space)"


def test_the_menu_of_segments_tells_the_keys_that_are_in_force(window: MainWindow) -> None:
    window.actions_.set_keys("hide", ["X"])
    menu = window.segments.make_menu()
    assert menu.actions()[0].text() == "Hide\tX"
    menu.deleteLater()
    window.actions_.reset_keys()
    assert menu.actions()[0].text() == "Hide\tH"


def test_the_matte_without_an_object_says_what_to_do(window: MainWindow, qtbot: QtBot) -> None:
    def middle() -> int:
        """How dark it gets in the middle: checkers are light, the plate of a note is not."""
        image, centre = window.viewer.grab().toImage(), window.viewer.rect().center()
        return min(image.pixelColor(centre.x() + x, centre.y()).lightness() for x in range(-40, 40))

    qtbot.keyClick(window, Qt.Key.Key_6)
    qtbot.waitUntil(lambda: window.document.display.shown.look.view == "matte", timeout=LONG)
    assert middle() < 100
    undo_commands.make_object(window.document, "far away", [10_000])
    qtbot.waitUntil(lambda: middle() > 100, timeout=LONG)


# --- what a key has done, or why it did nothing


def toast(window: MainWindow) -> str:
    """What is said over the picture; nothing if nothing is."""
    label = window.viewer.findChild(QLabel, "toast")
    return label.text() if label.isVisible() else ""


def add_to_object(window: MainWindow, qtbot: QtBot, name: str) -> None:
    """Press G and answer."""
    qtbot.keyClick(window, Qt.Key.Key_G)
    dialog = window.findChild(ObjectDialog)
    line = dialog.findChild(QLineEdit)
    line.selectAll()
    qtbot.keyClicks(line, name)
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(ObjectDialog) is None, timeout=LONG)
    with qtbot.waitActive(window, timeout=LONG):
        window.activateWindow()


def test_g_says_what_it_did_and_leaves_the_list_in_front(window: MainWindow, qtbot: QtBot) -> None:
    centre = window.viewer.rect().center()
    id = window.viewer.id_at(centre)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=centre)
    add_to_object(window, qtbot, "surfer")
    assert toast(window) == f"Segment {id} added to object 'surfer' from frame {window.document.display.index} on."
    # The object is outlined now: its segments would hide it on other frames.
    assert not window.document.display.selection
    assert window.segments.isVisible()
    table = window.segments.findChild(QTableView)
    # It follows the frames a few times a second.
    qtbot.waitUntil(
        lambda: table.model().rowCount() == len(window.document.display.shown.result.statistics), timeout=LONG
    )
    cells = {model_id(table, row): table.model().index(row, NAME) for row in range(table.model().rowCount())}
    marked = {id for id, cell in cells.items() if cell.data(Qt.ItemDataRole.DecorationRole) is not None}
    assert marked == {id}
    assert "in object 'surfer'" in table.model().tip(cells[id])
    qtbot.keyClicks(window.segments.findChild(QLineEdit), "surf")
    assert [model_id(table, row) for row in range(table.model().rowCount())] == [id]
    window.document.display.select([id])
    add_to_object(window, qtbot, "surfer")
    assert toast(window) == f"Segment {id}: already in object 'surfer'."
    qtbot.keyClick(window, Qt.Key.Key_Delete)
    assert toast(window).startswith(
        f"Segment {id} removed from object 'surfer' from frame {window.document.display.index} on."
    )
    qtbot.keyClick(window, Qt.Key.Key_Delete)
    assert toast(window) == f"Segment {id}: not in any object on this frame."


def model_id(table: QTableView, row: int) -> int:
    return int(table.model().index(row, 1).data())


def test_the_object_that_has_a_selected_segment_is_offered(window: MainWindow, qtbot: QtBot) -> None:
    first, second = window.document.display.shown.result.statistics["id"][:2].tolist()
    undo_commands.make_object(window.document, "kite", [first])
    undo_commands.make_object(window.document, "sea", [second])
    window.document.display.select([second])
    qtbot.keyClick(window, Qt.Key.Key_G)
    assert window.findChild(ObjectDialog).name == "sea"
    window.findChild(ObjectDialog).reject()


def test_the_object_used_last_is_offered_and_a_new_one_is_a_click_away(window: MainWindow, qtbot: QtBot) -> None:
    first, second, third = window.document.display.shown.result.statistics["id"][:3].tolist()
    undo_commands.make_object(window.document, "kite", [first])
    undo_commands.make_object(window.document, "sea", [second])
    undo_commands.recolour_object(window.document, "kite", (1, 2, 3))
    window.document.display.select([third])
    qtbot.keyClick(window, Qt.Key.Key_G)
    dialog = window.findChild(ObjectDialog)
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    assert (dialog.name, ok.text()) == ("kite", "Add")
    new = next(button for button in dialog.findChildren(QPushButton) if button.text() == "New Object")
    qtbot.mouseClick(new, Qt.MouseButton.LeftButton)
    assert (dialog.name, ok.text()) == ("object 1", "Make New Object")
    # The name proposed is typed over.
    qtbot.keyClicks(dialog.findChild(QLineEdit), "sky")
    qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)
    assert window.document.display.members() == {"kite": {first}, "sea": {second}, "sky": {third}}
    window.document.undo.undo()
    assert undo_commands.last_object(window.document) == "kite"
    window.document.undo.undo()
    assert undo_commands.last_object(window.document) == "sea"


def test_the_viewers_menu_takes_a_segment_out_of_its_object(window: MainWindow, qtbot: QtBot) -> None:
    def removal() -> QAction:
        menu = ask_menu(window.viewer, centre)
        return next(action for action in menu.actions() if action.text().startswith("Remove from Object"))

    centre = window.viewer.rect().center()
    id = window.viewer.id_at(centre)
    assert not removal().isEnabled()
    QApplication.activePopupWidget().close()
    undo_commands.make_object(window.document, "surfer", [id])
    removal().trigger()
    QApplication.activePopupWidget().close()
    assert window.document.display.members() == {"surfer": frozenset()}
    assert toast(window).startswith(
        f"Segment {id} removed from object 'surfer' from frame {window.document.display.index} on."
    )


def test_the_lists_menu_takes_a_segment_out_of_its_object(window: MainWindow) -> None:
    id = window.viewer.id_at(window.viewer.rect().center())
    undo_commands.make_object(window.document, "surfer", [id])
    window.document.display.select([id])
    menu = window.segments.make_menu()
    next(action for action in menu.actions() if action.text().startswith("Remove from Object")).trigger()
    assert window.document.display.members() == {"surfer": frozenset()}


def test_keys_that_can_do_nothing_say_why(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_H)
    assert toast(window) == "Select segments to hide them."
    qtbot.keyClick(window, Qt.Key.Key_G)
    assert toast(window) == "Select segments to add them to an object."
    qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert toast(window) == "Select one segment to split it."
    qtbot.keyClick(window, Qt.Key.Key_M)
    assert toast(window) == "Select two segments or more to merge them (Ctrl+click adds one)."
    assert "Segment Again from This Frame" in titles(menu_called(window, "Segmentation"))
    assert window.document.undo.count() == 0


def test_while_it_is_saved_panels_say_so_and_nothing_else(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.document
    id = int(document.display.shown.result.statistics["id"][0])
    undo_commands.make_object(document, "kite", [id])
    tree, table = window.objects.findChild(QTreeWidget), window.segments.findChild(QTableView)
    tree.setCurrentItem(tree.topLevelItem(0))
    document.display.select([id])
    before, count = document.objects, document.undo.count()
    go_on, real = threading.Event(), session_saver.move_session
    monkeypatch.setattr(session_saver, "move_session", lambda *paths: go_on.wait(LONG / 1000) and real(*paths))
    target = tmp_path / "mine.scstream"
    window.saving.save_to(target)
    wait = "Wait until the session is saved"
    assert {tip for panel in (window.segments, window.objects) for tip in tips(panel).values()} == {wait}
    expected = {"Add to Object…", "Remove from Object", "Select Its Segments", "Rename…", "Colour…", "Delete"}
    assert set(tips(window.objects)) == expected
    assert "Hide" in tips(window.segments)
    assert "Isolate" not in tips(window.segments)
    for view, key in ((tree, Qt.Key.Key_Delete), (tree, Qt.Key.Key_F2), (table, Qt.Key.Key_H), (table, Qt.Key.Key_F2)):
        window.viewer.show_toast("")
        qtbot.keyClick(view, key)
        assert toast(window) == f"{wait}."
    assert (document.objects, document.undo.count()) == (before, count)
    go_on.set()
    qtbot.waitUntil(lambda: not document.saving and document.session.path == target, timeout=LONG)
    assert tips(window.objects) == {}


def tips(panel: QWidget) -> dict[str, str]:
    """What the tips of buttons say that cannot be pressed now."""
    bar = panel.findChild(QToolBar)
    more = next(button for button in bar.findChildren(QToolButton) if button.text() == "More")
    actions = [*bar.actions(), *more.menu().actions()]
    return {action.iconText(): action.toolTip() for action in actions if action.iconText() and not action.isEnabled()}


@pytest.mark.parametrize("where", ["filtered", "closed", "behind"])
def test_a_segment_is_renamed_wherever_the_table_is(window: MainWindow, qtbot: QtBot, where: str) -> None:
    centre = window.viewer.rect().center()
    id = window.viewer.id_at(centre)
    if where == "filtered":
        qtbot.keyClicks(window.segments.findChild(QLineEdit), "nothing like it")
    elif where == "closed":
        window.panels["segments"].close()
    else:
        window.panels["objects"].raise_()
        qtbot.waitUntil(lambda: not seen(window.segments), timeout=LONG)
    menu = ask_menu(window.viewer, centre)
    rename = next(action for action in menu.actions() if action.iconText() == "Rename")
    menu.close()
    rename.trigger()
    table = window.segments.findChild(QTableView)
    editor = table.viewport().findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClicks(editor, "kite")
    assert seen(editor)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.document.names.names == {id: "kite"}, timeout=LONG)


def seen(widget: QWidget) -> bool:
    """Panels that are behind others are visible to Qt, outside the window."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def test_a_segment_that_is_not_there_cannot_be_renamed_and_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.document.display.select([10_000])
    qtbot.keyClick(window.segments.findChild(QTableView), Qt.Key.Key_F2)
    assert toast(window) == "Segment 10000 is not on this frame."


def test_what_is_said_goes_by_itself(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_H)
    assert toast(window)
    qtbot.waitUntil(lambda: not toast(window), timeout=LONG)


def test_adding_to_an_object_is_called_the_same_everywhere(window: MainWindow) -> None:
    names = {window.actions_["group"].text()}
    for panel in (window.segments, window.objects):
        names |= {text for text in buttons(panel) if "object" in text.lower() and "Remove" not in text}
    menu = {text for text in titles(window.segments.make_menu()) if "object" in text.lower()}
    removal = {window.actions_["ungroup"].text()}
    assert names | menu - removal == {"Add to Object…"}
    assert buttons(window.objects) & menu >= removal


def buttons(panel: QWidget) -> set[str]:
    return {button.text() for button in panel.findChild(QToolBar).findChildren(QToolButton)} - {""}


def test_what_is_under_the_mouse_is_said_once(window: MainWindow, qtbot: QtBot) -> None:
    def told() -> list[str]:
        # On a real screen the pointer may be there already.
        for place in (window.viewer.rect().center() / 2, window.viewer.rect().center()):
            qtbot.mouseMove(window.viewer, place)
        labels = [label for label in window.findChildren(QLabel) if label.isVisible() and "% sure" in label.text()]
        return [label.objectName() for label in labels]

    qtbot.waitUntil(lambda: bool(told()))
    assert told() == ["hover"]


# --- one clip after another


def test_panels_keep_their_place_between_two_clips(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.panels["controls"].raise_()
    qtbot.waitUntil(window.controls.isVisible, timeout=LONG)
    seen = list[tuple[bool, ...]]()
    document = window.document

    def look() -> None:
        seen.append((window.controls.isVisible(), window.statistics.isVisible(), window.viewer.isVisible()))

    for signal in (document.closed, document.state_changed, document.opened, document.display.shown_changed):
        signal.connect(look)
    window.open_address(str(write_video(tmp_path / "other.mp4", moving_square(6))))
    look()
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 5, timeout=LONG)
    assert set(seen) == {(True, True, True)}
    document.close()
    assert not window.statistics.isVisible()
    assert window.welcome.isVisible()


def test_panels_stay_when_the_other_clip_cannot_be_opened(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all " * 50)
    window.open_address(str(broken))
    qtbot.waitUntil(window.message.isVisible, timeout=LONG)
    assert not window.welcome.isVisible()
    assert window.segments.isVisible()
    assert window.statistics.isVisible()


def test_undo_says_what_it_undoes(window: MainWindow, qtbot: QtBot) -> None:
    id = window.viewer.id_at(window.viewer.rect().center())
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=window.viewer.rect().center())
    qtbot.keyClick(window, Qt.Key.Key_H)
    assert window.actions_["undo"].text() == f"Undo Hide segment {id}"
    window.actions_["undo"].trigger()
    assert window.actions_["undo"].text() == "Undo"
    assert window.actions_["redo"].text() == f"Redo Hide segment {id}"
    assert toast(window) == f"Undone: hide segment {id}."
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert toast(window) == f"Done again: hide segment {id}."


def test_the_opacity_slider_tints(window: MainWindow, qtbot: QtBot) -> None:
    slider = next(s for s in window.findChildren(QSlider) if s.accessibleName() == "Overlay opacity")
    before = window.document.display.shown.picture
    slider.setValue(0)
    qtbot.waitUntil(lambda: window.document.display.shown.look.opacity == 0.0, timeout=LONG)
    assert (window.document.display.shown.picture != before).any()
    qtbot.keyClick(window, Qt.Key.Key_1)
    assert not slider.isEnabled()


def test_u_goes_to_the_most_uncertain_frames(window: MainWindow, qtbot: QtBot) -> None:
    for index in range(12):
        window.document.summary.fill(index, {"uncertainty": 0.5 if index == 7 else 0.1})
    qtbot.keyClick(window, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_U)
    qtbot.waitUntil(lambda: window.document.display.index == 7, timeout=LONG)


def test_without_uncertain_frames_it_says_so(window: MainWindow, qtbot: QtBot) -> None:
    for index in range(12):
        window.document.summary.fill(index, {"uncertainty": 0.1})
    qtbot.keyClick(window, Qt.Key.Key_U)
    assert "uncertain" in window.message.text


def test_damage_is_reported_when_a_session_is_opened(window: MainWindow, qtbot: QtBot) -> None:
    path = window.document.session.path
    window.document.close()
    qtbot.waitUntil(lambda: window.document.state is State.EMPTY, timeout=LONG)
    (path / "objects.json").write_text("{ not whole")
    window.open_address(str(path))
    qtbot.waitUntil(lambda: "Cannot read objects.json" in window.message.text, timeout=LONG)
    assert "objects.json.damaged" in window.message.text
    assert "reopen the session" in window.message.text


def test_missing_frames_are_reported(empty: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    clip = write_video(tmp_path / "holes.mp4", moving_square(10), options={"g": "1", "bf": "0", "crf": "12"})
    blank_packets(clip, [4])
    empty.open_address(str(clip))
    qtbot.waitUntil(lambda: empty.document.state is State.DONE, timeout=LONG)
    path = empty.document.session.path
    assert describe_gaps(empty.document.summary.frames) == "frame 4"
    empty.document.close()
    qtbot.waitUntil(lambda: empty.document.state is State.EMPTY, timeout=LONG)
    empty.message.hide()
    empty.open_address(str(path))
    qtbot.waitUntil(lambda: "damaged: frame 4." in empty.message.text, timeout=LONG)
